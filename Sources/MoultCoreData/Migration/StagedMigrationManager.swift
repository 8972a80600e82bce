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
    public init(_ stages: [MigrationStage]) { self.stages = stages.map(\.base) }

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

/// One part of a way from version to version. See ``LightweightMigrationStage`` and ``CustomMigrationStage``.
open class MigrationStage: NSObject, @unchecked Sendable {
    private let name = Mutex<String?>(nil)

    override init() {}

    /// The name of the stage in plans, progress and errors.
    open var label: String? {
        get { name.withLock { $0 } }
        set { name.withLock { $0 = newValue } }
    }

    /// The stage as a chain of stages has it.
    var base: MigrationStage { self }
}

/// Versions that follow each other by inferred mappings.
open class LightweightMigrationStage: MigrationStage, @unchecked Sendable {
    /// The checksums of the versions, oldest first, each as `ManagedObjectModel.versionChecksum` gives it.
    public let versionChecksums: [String]

    /// A stage through versions.
    public init(_ versionChecksums: [String]) {
        self.versionChecksums = versionChecksums
        super.init()
    }
}

/// An edge with code before and after its inferred mapping: `NSCustomMigrationStage`.
///
/// Use it for what inference cannot do and needs the whole store: to move an attribute into an entity of its own, to
/// recompute a total, to merge objects. The code works with untyped objects of just that version, on a copy: the store
/// sees one commit when everything has gone well. It may run again from the start, after a process died, on a store
/// that has never seen it.
public final class CustomMigrationStage: MigrationStage, @unchecked Sendable {
    /// Changes the objects of the store by the manager's ``StagedMigrationManager/container``; what it has not saved
    /// when it returns is lost, as in Core Data.
    public typealias Handler = @Sendable (StagedMigrationManager, CustomMigrationStage) throws -> Void

    /// The version that the stage starts from, which ``willMigrateHandler`` sees.
    public let currentModel: ManagedObjectModelReference
    /// The version that the stage leads to, which ``didMigrateHandler`` sees.
    public let nextModel: ManagedObjectModelReference
    private let handlers = Mutex<(will: Handler?, did: Handler?)>((nil, nil))

    /// A stage between two versions, without handlers yet. Whether they follow each other is checked when a store is
    /// opened.
    public init(migratingFrom currentModel: ManagedObjectModelReference, to nextModel: ManagedObjectModelReference) {
        self.currentModel = currentModel
        self.nextModel = nextModel
        super.init()
    }

    /// Runs on the store of the current version, before it is changed.
    public var willMigrateHandler: Handler? {
        get { handlers.withLock { $0.will } }
        set { handlers.withLock { $0.will = newValue } }
    }

    /// Runs on the store of the next version.
    public var didMigrateHandler: Handler? {
        get { handlers.withLock { $0.did } }
        set { handlers.withLock { $0.did = newValue } }
    }
}

/// A version of a model and the checksum that it was released with: `NSManagedObjectModelReference`.
///
/// The checksum is frozen in the program's source: a model that was changed by accident is found before any store is.
public struct ManagedObjectModelReference: Sendable {
    /// As `ManagedObjectModel.versionChecksum` and Xcode's build log give it.
    public let versionChecksum: String
    private let resolve: @Sendable () throws -> ManagedObjectModel

    /// A model that the program has already, and the checksum that it must have.
    public init(model: ManagedObjectModel, versionChecksum: String) {
        self.versionChecksum = versionChecksum
        resolve = { model }
    }

    /// The model at a URL, such as one version inside a `.momd`.
    public init(fileURL: URL, versionChecksum: String) {
        self.versionChecksum = versionChecksum
        resolve = { try ManagedObjectModel(contentsOf: fileURL) }
    }

    /// The version of that name among the models of a bundle; nil stands for the main bundle.
    public init(name: String, in bundle: Bundle?, versionChecksum: String) {
        self.init(in: bundle, versionChecksum: versionChecksum, what: name) { $0.names.contains(name) }
    }

    /// The version with these hashes among the models of a bundle; nil stands for the main bundle.
    public init(entityVersionHashes: [String: Data], in bundle: Bundle?, versionChecksum: String) {
        self.init(in: bundle, versionChecksum: versionChecksum, what: versionChecksum) {
            $0.model.entityVersionHashesByName == entityVersionHashes
        }
    }

    private init(
        in bundle: Bundle?, versionChecksum: String, what: String,
        where isMeant: @escaping @Sendable (ModelVersion) -> Bool
    ) {
        self.versionChecksum = versionChecksum
        let folders = [(bundle ?? .main).resourceURL, (bundle ?? .main).bundleURL].compactMap(\.self)
        resolve = {
            for url in ModelLocation.models(in: folders) {
                if let version = try ModelVersions(contentsOf: url).versions.first(where: isMeant) {
                    return version.model
                }
            }
            throw MigrationError(
                .modelNotFound, "No model of the bundle has the version \(what).", place: what,
                remedy: "Keep every released version among the bundle's resources.")
        }
    }

    /// The model.
    ///
    /// - Throws: `modelNotFound`, `modelInvalid` if it cannot be read.
    public var resolvedModel: ManagedObjectModel { get throws { try resolve() } }
}
