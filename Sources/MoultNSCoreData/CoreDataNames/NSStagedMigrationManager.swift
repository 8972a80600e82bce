import Foundation
import MoultCoreData
import MoultModel
import Synchronization

/// A version of a model, with the checksum at its release.
open class NSManagedObjectModelReference: NSObject, @unchecked Sendable {
    let base: ManagedObjectModelReference
    /// The checksum.
    open var versionChecksum: String { base.versionChecksum }
    /// The model. Ends the program if it cannot be read.
    open var resolvedModel: NSManagedObjectModel {
        NSManagedObjectModel(orRaise("NSManagedObjectModelReference.resolvedModel") { try base.resolvedModel })
    }

    /// Creates a reference to a loaded model.
    public init(model: NSManagedObjectModel, versionChecksum: String) {
        let value = orRaise("NSManagedObjectModelReference(model:versionChecksum:)") { try model.value() }
        base = ManagedObjectModelReference(model: value, versionChecksum: versionChecksum)
    }

    /// Creates a reference to the model at a URL.
    public init(fileURL: URL, versionChecksum: String) {
        base = ManagedObjectModelReference(fileURL: fileURL, versionChecksum: versionChecksum)
    }

    /// Creates a reference to the named version among the models of a bundle.
    public init(name: String, in bundle: Bundle?, versionChecksum: String) {
        base = ManagedObjectModelReference(name: name, in: bundle, versionChecksum: versionChecksum)
    }

    /// Creates a reference to the version with these hashes among the models of a bundle.
    public init(entityVersionHashes: [AnyHashable: Any], in bundle: Bundle?, versionChecksum: String) {
        let hashes = entityVersionHashes.reduce(into: [String: Data]()) { all, entry in
            if let name = entry.key.base as? String { all[name] = plainValue(entry.value) as? Data }
        }
        base = ManagedObjectModelReference(entityVersionHashes: hashes, in: bundle, versionChecksum: versionChecksum)
    }
}

/// One stage of a migration through several versions.
public typealias NSMigrationStage = MigrationStage
/// A stage through consecutive versions, migrated with inferred mappings.
public typealias NSLightweightMigrationStage = LightweightMigrationStage

/// A stage between two versions, with code that runs before and after the inferred mapping.
open class NSCustomMigrationStage: NSMigrationStage, @unchecked Sendable {
    /// A closure that changes the objects of a store.
    public typealias Handler = (NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void
    /// The version at which the stage starts.
    public let currentModel: NSManagedObjectModelReference
    /// The version at which the stage ends.
    public let nextModel: NSManagedObjectModelReference
    /// Code that runs on the store at the current version.
    open var willMigrateHandler: Handler? { didSet { stage.willMigrateHandler = bridged(willMigrateHandler) } }
    /// Code that runs on the store at the next version.
    open var didMigrateHandler: Handler? { didSet { stage.didMigrateHandler = bridged(didMigrateHandler) } }
    private let stage: CustomMigrationStage

    /// Creates a stage between two versions.
    public init(
        migratingFrom currentModel: NSManagedObjectModelReference, to nextModel: NSManagedObjectModelReference
    ) {
        self.currentModel = currentModel
        self.nextModel = nextModel
        stage = CustomMigrationStage(migratingFrom: currentModel.base, to: nextModel.base)
        super.init(over: stage)
    }

    /// The name of the stage in plans, progress and errors.
    open override var label: String? {
        get { stage.label }
        set { stage.label = newValue }
    }

    private func bridged(_ handler: Handler?) -> CustomMigrationStage.Handler? {
        guard let handler else { return nil }
        let block = UncheckedHandler(stage: self, run: handler)
        return { manager, _ in try block.call(manager) }
    }
}

private struct UncheckedHandler: @unchecked Sendable {
    weak var stage: NSCustomMigrationStage?
    let run: NSCustomMigrationStage.Handler

    func call(_ manager: StagedMigrationManager) throws {
        guard let stage else { return }
        try run(NSStagedMigrationManager(manager, []), stage)
    }
}

/// The stages that bring a store of any released version to the newest one.
open class NSStagedMigrationManager: NSObject, @unchecked Sendable {
    let base: StagedMigrationManager
    /// The stages in order.
    public let stages: [NSMigrationStage]

    /// Creates a manager with consecutive stages.
    public convenience init(_ stages: [NSMigrationStage]) {
        self.init(StagedMigrationManager(stages), stages)
    }

    init(_ base: StagedMigrationManager, _ stages: [NSMigrationStage]) {
        self.base = base
        self.stages = stages
    }

    /// A container with the store for the running handler; nil outside a handler.
    open var container: NSPersistentContainer? {
        base.container.map { container in
            NSPersistentContainer(name: container.name, over: .over(container.persistentStoreCoordinator))
        }
    }
}
