import Foundation
import MoultBasics
import MoultCoreData
import MoultModel
import Synchronization

/// Migrates one store to another file by a mapping model.
open class NSMigrationManager: NSObject, @unchecked Sendable {
    /// The version of the store.
    public let sourceModel: NSManagedObjectModel
    /// The version that it is migrated to.
    public let destinationModel: NSManagedObjectModel
    /// Notes of the policies for one another.
    open var userInfo: [AnyHashable: Any]?
    /// The migration that policies are called for; used on its thread only.
    var running: MigrationFace?
    private let state = Mutex((progress: Float(0), isCancelled: false))

    /// A manager between two versions.
    public init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) {
        self.sourceModel = sourceModel
        self.destinationModel = destinationModel
    }

    /// From 0 to 1.
    open var migrationProgress: Float { state.withLock { $0.progress } }

    /// Ends a migration that is running; the destination is removed.
    open func cancelMigrationWithError(_ error: any Error) { state.withLock { $0.isCancelled = true } }

    /// Makes a store of the destination's version at another URL, where there is none; the source stays as it is.
    ///
    /// - Throws: 134110 and its like; there is no store at the destination then. Where there is a file already, it stays:
    ///   Core Data would add the objects to that store.
    open func migrateStore(
        from source: URL, type sourceType: NSPersistentStore.StoreType, options: [AnyHashable: Any]? = nil,
        mapping: NSMappingModel, to destination: URL, type: NSPersistentStore.StoreType,
        options destinationOptions: [AnyHashable: Any]? = nil
    ) throws {
        try cocoaErrors {
            try PersistentStoreCoordinator.checkIsFree(destination)
            try PersistentStoreCoordinator.replacePersistentStore(
                at: destination, withPersistentStoreFrom: source, type: try sourceType.moult("migrateStore"))
            do {
                try migrate(destination, mapping, destinationOptions)
            } catch {
                try? PersistentStoreCoordinator.destroyPersistentStore(at: destination)
                throw error
            }
        }
    }

    /// Makes a store of the destination's version at another URL; the source stays as it is.
    open func migrateStore(
        from source: URL, sourceType: String, options: [AnyHashable: Any]? = nil, with mapping: NSMappingModel?,
        toDestinationURL destination: URL, destinationType: String, destinationOptions: [AnyHashable: Any]? = nil
    ) throws {
        let inferred =
            try mapping ?? .inferredMappingModel(forSourceModel: sourceModel, destinationModel: destinationModel)
        try migrateStore(
            from: source, type: .init(rawValue: sourceType), options: options, mapping: inferred, to: destination,
            type: .init(rawValue: destinationType), options: destinationOptions)
    }

    private func migrate(_ url: URL, _ mapping: NSMappingModel, _ options: [AnyHashable: Any]?) throws {
        let (source, destination) = (try sourceModel.value(), try destinationModel.value())
        let versions = ModelVersions([("the source model", source), ("the destination model", destination)])
        let description = PersistentStoreDescription(url: url)
        description.keepsMigrationBackup = false
        for (key, value) in NSPersistentStoreCoordinator.moult(options) ?? [:] {
            description.setOption(value, forKey: key)
        }
        description.migrationRegistry.register(
            mapping: mapping.value, from: "the source model", to: "the destination model")
        for name in Set(mapping.entityMappings.compactMap(\.entityMigrationPolicyClassName)) {
            guard let type = NSClassFromString(name) as? NSEntityMigrationPolicy.Type else {
                throw MigrationError(
                    .usage, "There is no class \(name) that is an NSEntityMigrationPolicy.", place: name,
                    remedy: "Set entityMigrationPolicyClassName to NSStringFromClass of the policy.")
            }
            let made = PolicyType(type: type)
            description.migrationRegistry.register(
                policy: { [self] in PolicyBridge(made.type.init(), self) }, named: name)
        }
        defer { running = nil }
        description.migrationProgress = { [weak self] progress in
            self?.state.withLock { $0.progress = Float(progress.fractionCompleted) }
        }
        description.isMigrationCancelled = { [weak self] in self?.state.withLock { $0.isCancelled } ?? true }
        let coordinator = PersistentStoreCoordinator(managedObjectModel: destination, versions: versions)
        let failure = Mutex<(any Error)?>(nil)
        coordinator.addPersistentStore(with: description) { _, error in failure.withLock { $0 = error } }
        if let error = failure.withLock({ $0 }) { throw error }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        state.withLock { $0.progress = 1 }
    }
}

private struct PolicyType: @unchecked Sendable { let type: NSEntityMigrationPolicy.Type }
