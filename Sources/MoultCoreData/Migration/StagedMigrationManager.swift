import Foundation
import MoultBasics
import MoultModel
import MoultObjects
import Synchronization

/// The stages that bring a store of any released version to the newest one: `NSStagedMigrationManager`.
///
///     let manager = StagedMigrationManager([lightweight, decompose])
///     description.setOption(manager, forKey: PersistentStoreOption.stagedMigrationManager)
///
/// The migration always goes through the stages one by one. Opening a store checks the stages before it changes
/// anything, and lists all problems together. Use ``validate(_:in:)`` to find them in a test.
public final class StagedMigrationManager: @unchecked Sendable {
    /// The stages in order.
    public let stages: [MigrationStage]
    private let current = Mutex<PersistentContainer?>(nil)
    /// The lock held while a handler runs, so that concurrent migrations take turns.
    private let turn = RecursiveLock()

    /// - Parameter stages: the stages in order.
    public init(_ stages: [MigrationStage]) { self.stages = stages.map(\.base) }

    /// A container with the store for the running handler, opened with the model of the store's version at that point;
    /// nil outside a handler.
    public var container: PersistentContainer? { current.withLock { $0 } }

    /// Checks that the stages lead through every version to the model, without gaps or duplicates.
    ///
    /// - Parameters:
    ///   - model: the model with which stores are opened.
    ///   - versions: the released versions stored with the model.
    /// - Throws: `stagesInvalid`, listing every problem.
    public func validate(_ model: ManagedObjectModel, in versions: ModelVersions? = nil) throws {
        _ = try StageChain(stages, model: model, versions: versions?.versions ?? [])
    }

    /// Runs a handler with a container for the store of the given objects.
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

/// One stage of a migration through several versions. See ``LightweightMigrationStage`` and ``CustomMigrationStage``.
open class MigrationStage: NSObject, @unchecked Sendable {
    private let name = Mutex<String?>(nil)
    private let wrapped: MigrationStage?

    /// Creates a stage, or one that stands for another.
    package init(over wrapped: MigrationStage?) { self.wrapped = wrapped }

    /// The name of the stage in plans, progress and errors.
    open var label: String? {
        get { name.withLock { $0 } }
        set { name.withLock { $0 = newValue } }
    }

    /// The underlying stage that a chain of stages uses.
    package var base: MigrationStage { wrapped ?? self }
}

/// A stage through consecutive versions, migrated with inferred mappings.
open class LightweightMigrationStage: MigrationStage, @unchecked Sendable {
    /// The checksums of the versions, oldest first, each in the form of `ManagedObjectModel.versionChecksum`.
    public let versionChecksums: [String]

    /// Creates a stage through the given versions.
    public init(_ versionChecksums: [String]) {
        self.versionChecksums = versionChecksums
        super.init(over: nil)
    }
}

/// A stage between two versions, with code that runs before and after the inferred mapping: `NSCustomMigrationStage`.
///
/// Use it for changes that cannot be inferred and that need the whole store: to move an attribute to an entity of its
/// own, to recompute a total, to merge objects. The code works with untyped objects of that version, on a copy; the
/// store sees one commit when everything has succeeded. If the process dies, the code may run again from the start, on
/// a copy that it has never changed.
public final class CustomMigrationStage: MigrationStage, @unchecked Sendable {
    /// A closure that changes the objects of the store through the manager's ``StagedMigrationManager/container``.
    /// Changes that it has not saved when it returns are lost, as in Core Data.
    public typealias Handler = @Sendable (StagedMigrationManager, CustomMigrationStage) throws -> Void

    /// The version at which the stage starts, as seen by ``willMigrateHandler``.
    public let currentModel: ManagedObjectModelReference
    /// The version at which the stage ends, as seen by ``didMigrateHandler``.
    public let nextModel: ManagedObjectModelReference
    private let handlers = Mutex<(will: Handler?, did: Handler?)>((nil, nil))

    /// Creates a stage between two versions, without handlers. Opening a store checks whether the versions are
    /// consecutive.
    public init(migratingFrom currentModel: ManagedObjectModelReference, to nextModel: ManagedObjectModelReference) {
        self.currentModel = currentModel
        self.nextModel = nextModel
        super.init(over: nil)
    }

    /// Code that runs on the store at the current version, before its schema changes.
    public var willMigrateHandler: Handler? {
        get { handlers.withLock { $0.will } }
        set { handlers.withLock { $0.will = newValue } }
    }

    /// Code that runs on the store at the next version.
    public var didMigrateHandler: Handler? {
        get { handlers.withLock { $0.did } }
        set { handlers.withLock { $0.did = newValue } }
    }
}

/// A version of a model, with the checksum at its release: `NSManagedObjectModelReference`.
///
/// The checksum is fixed in the program's source, so an accidental change of the model is detected before any store is
/// touched.
public struct ManagedObjectModelReference: Sendable {
    /// The checksum, in the form of `ManagedObjectModel.versionChecksum` and Xcode's build log.
    public let versionChecksum: String
    private let resolve: @Sendable () throws -> ManagedObjectModel

    /// Creates a reference to a loaded model and the checksum that it must have.
    public init(model: ManagedObjectModel, versionChecksum: String) {
        self.versionChecksum = versionChecksum
        resolve = { model }
    }

    /// Creates a reference to the model at a URL, such as one version inside a `.momd`.
    public init(fileURL: URL, versionChecksum: String) {
        self.versionChecksum = versionChecksum
        resolve = { try ManagedObjectModel(contentsOf: fileURL) }
    }

    /// Creates a reference to the named version among the models of a bundle; nil means the main bundle.
    public init(name: String, in bundle: Bundle?, versionChecksum: String) {
        self.init(in: bundle, versionChecksum: versionChecksum, what: name) { $0.names.contains(name) }
    }

    /// Creates a reference to the version with these hashes among the models of a bundle; nil means the main bundle.
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
