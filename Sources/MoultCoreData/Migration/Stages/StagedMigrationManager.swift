import Foundation
import MoultBasics
import MoultModel
import MoultObjects
import Synchronization

/// The stages that bring stores of any released version to the newest: `NSStagedMigrationManager`.
///
///     let manager = StagedMigrationManager([lightweight, decompose])
///     description.setOption(manager, forKey: PersistentStoreOption.stagedMigrationManager)
///
/// Stages are always walked edge by edge. Whatever is wrong with them is found when the store is opened, before
/// anything is done, and listed together; ``validate(_:in:)`` finds it in a test.
public final class StagedMigrationManager: @unchecked Sendable {
    /// The stages, in the order in which they follow each other.
    public let stages: [MigrationStage]
    private let current = Mutex<PersistentContainer?>(nil)
    /// Held while a handler runs: stores that migrate at the same time take turns.
    private let turn = RecursiveLock()

    /// - Parameter stages: in the order in which they follow each other.
    public init(_ stages: [MigrationStage]) { self.stages = stages }

    /// The store that a handler works on, opened with the model of the version that it has then; nil outside one.
    public var container: PersistentContainer? { current.withLock { $0 } }

    /// Checks that the stages lead, without gap or duplicate, through every version to the model.
    ///
    /// - Parameters:
    ///   - model: the one that stores are opened with.
    ///   - versions: all released versions, as far as they lie next to the model.
    /// - Throws: `stagesInvalid` with everything that is wrong.
    public func validate(_ model: ManagedObjectModel, in versions: ModelVersions? = nil) throws {
        _ = try StageChain(stages, model: model, versions: versions?.versions ?? [])
    }

    /// Runs a handler with the container of the store that its objects are of.
    func run(
        _ handler: CustomMigrationStage.Handler, of stage: CustomMigrationStage, on objects: ObjectCoordinator
    ) throws {
        try turn.withLock {
            let coordinator = try PersistentStoreCoordinator(over: objects)
            current.withLock { $0 = PersistentContainer(name: stage.label ?? "", coordinator: coordinator) }
            defer { current.withLock { $0 = nil } }
            try handler(self, stage)
        }
    }
}
