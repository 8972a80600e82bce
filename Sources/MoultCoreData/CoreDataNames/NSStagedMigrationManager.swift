import Foundation
import MoultModel
import Synchronization

/// A version of a model and the checksum that it was released with.
open class NSManagedObjectModelReference: NSObject, @unchecked Sendable {
    let base: ManagedObjectModelReference
    /// The checksum.
    open var versionChecksum: String { base.versionChecksum }
    /// The model. Ends the program if it cannot be read.
    open var resolvedModel: NSManagedObjectModel {
        NSManagedObjectModel(orRaise("NSManagedObjectModelReference.resolvedModel") { try base.resolvedModel })
    }

    /// A model that the program has already.
    public init(model: NSManagedObjectModel, versionChecksum: String) {
        let value = orRaise("NSManagedObjectModelReference(model:versionChecksum:)") { try model.value() }
        base = ManagedObjectModelReference(model: value, versionChecksum: versionChecksum)
    }

    /// The model at a URL.
    public init(fileURL: URL, versionChecksum: String) {
        base = ManagedObjectModelReference(fileURL: fileURL, versionChecksum: versionChecksum)
    }

    /// The version of that name among the models of a bundle.
    public init(name: String, in bundle: Bundle?, versionChecksum: String) {
        base = ManagedObjectModelReference(name: name, in: bundle, versionChecksum: versionChecksum)
    }

    /// The version with these hashes among the models of a bundle.
    public init(entityVersionHashes: [AnyHashable: Any], in bundle: Bundle?, versionChecksum: String) {
        let hashes = entityVersionHashes.reduce(into: [String: Data]()) { all, entry in
            if let name = entry.key.base as? String { all[name] = plainValue(entry.value) as? Data }
        }
        base = ManagedObjectModelReference(entityVersionHashes: hashes, in: bundle, versionChecksum: versionChecksum)
    }
}

/// One part of a way from version to version.
public typealias NSMigrationStage = MigrationStage
/// Versions that follow each other by inferred mappings.
public typealias NSLightweightMigrationStage = LightweightMigrationStage

/// An edge with code before and after its inferred mapping.
open class NSCustomMigrationStage: NSMigrationStage, @unchecked Sendable {
    /// A closure that changes the objects of a store.
    public typealias Handler = (NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void
    /// The version that the stage starts from.
    public let currentModel: NSManagedObjectModelReference
    /// The version that the stage leads to.
    public let nextModel: NSManagedObjectModelReference
    /// Runs on the store of the current version.
    open var willMigrateHandler: Handler? { didSet { stage.willMigrateHandler = bridged(willMigrateHandler) } }
    /// Runs on the store of the next version.
    open var didMigrateHandler: Handler? { didSet { stage.didMigrateHandler = bridged(didMigrateHandler) } }
    private let stage: CustomMigrationStage

    /// A stage between two versions.
    public init(
        migratingFrom currentModel: NSManagedObjectModelReference, to nextModel: NSManagedObjectModelReference
    ) {
        self.currentModel = currentModel
        self.nextModel = nextModel
        stage = CustomMigrationStage(migratingFrom: currentModel.base, to: nextModel.base)
        super.init()
    }

    /// The name of the stage in plans, progress and errors.
    open override var label: String? {
        get { stage.label }
        set { stage.label = newValue }
    }

    override var base: NSMigrationStage { stage }

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

/// The stages that bring stores of any released version to the newest.
open class NSStagedMigrationManager: NSObject, @unchecked Sendable {
    let base: StagedMigrationManager
    /// The stages in their order.
    public let stages: [NSMigrationStage]

    /// Stages in the order in which they follow each other.
    public convenience init(_ stages: [NSMigrationStage]) {
        self.init(StagedMigrationManager(stages), stages)
    }

    init(_ base: StagedMigrationManager, _ stages: [NSMigrationStage]) {
        self.base = base
        self.stages = stages
    }

    /// The store that a handler works on; nil outside one.
    open var container: NSPersistentContainer? {
        base.container.map { container in
            NSPersistentContainer(name: container.name, coordinator: .over(container.persistentStoreCoordinator))
        }
    }
}
