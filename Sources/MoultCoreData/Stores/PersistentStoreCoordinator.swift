import Foundation
import MoultBasics
import MoultEngine
import MoultModel
import MoultObjects
import MoultSession
import MoultStore
import Synchronization

/// A model and the open stores that hold its objects: `NSPersistentStoreCoordinator`.
///
/// The coordinator and its contexts can be used from any thread.
public final class PersistentStoreCoordinator: @unchecked Sendable {
    /// The model of every open store.
    public let managedObjectModel: ManagedObjectModel
    package let objects: ObjectCoordinator
    /// The Core Data named coordinator that wraps this one.
    package weak var publicCoordinator: AnyObject?
    package let classes: ClassRegistry
    let transformers = TransformerRegistry()
    /// The versions found next to the model, for stores with older versions.
    package let modelVersions: ModelVersions?
    private let stores = Mutex<[PersistentStore]>([])

    /// - Parameter versions: the versions that stores may have, oldest first. A store with none of them is migrated by
    ///   means of the model stored in it.
    public init(managedObjectModel: ManagedObjectModel, versions: ModelVersions? = nil) {
        self.managedObjectModel = managedObjectModel
        modelVersions = versions
        objects = ObjectCoordinator(model: managedObjectModel)
        classes = ClassRegistry(managedObjectModel)
    }

    /// Creates a coordinator for stores opened by someone else: by a migration, while the app's code runs.
    init(over objects: ObjectCoordinator) throws {
        managedObjectModel = objects.model
        classes = ClassRegistry(objects.model)
        modelVersions = nil
        self.objects = objects
        let options = try StoreOptions(nil)
        let open = objects.stores.map { store in
            PersistentStore(
                store, url: URL(fileURLWithPath: store.path), type: .sqlite, configuration: nil, options: options)
        }
        stores.withLock { $0 = open }
    }

    /// The open stores, in the order in which they were added.
    public var persistentStores: [PersistentStore] {
        stores.withLock { stores in
            stores.removeAll(where: \.isDiscarded)
            return stores
        }
    }

    /// Returns the open store at a URL, also one that leads there by symbolic links; nil if there is none.
    public func persistentStore(for url: URL) -> PersistentStore? {
        persistentStores.first { $0.url?.resolvingSymlinksInPath() == url.resolvingSymlinksInPath() }
    }

    /// Returns the location of a store; `/dev/null` for a store in memory.
    public func url(for store: PersistentStore) -> URL { store.url ?? .inMemory }

    // MARK: - Adding

    /// Opens a store, creating it if it does not exist. As in Core Data, it migrates the store only if the options
    /// allow it.
    ///
    /// - Throws: `usage` for an option that Moult does not know; `storeAhead` (134100), `noPath` (134140),
    ///   `storeUnknown` (134130), `cannotInfer` (134190) or `question` if the store does not have the model's version;
    ///   `locked` if another process is changing it.
    @discardableResult
    public func addPersistentStore(
        type: PersistentStore.StoreType = .sqlite, configuration: String? = nil, at url: URL?,
        options: [String: any Sendable]? = nil
    ) throws -> PersistentStore {
        let loader = StoreLoader(
            model: managedObjectModel, versions: modelVersions, url: url, type: type, configuration: configuration,
            options: try StoreOptions(options))
        return try add(loader)
    }

    /// Opens the described store, and calls `completion` exactly once: before it returns, or later on another thread if
    /// the description requests that.
    public func addPersistentStore(
        with description: PersistentStoreDescription,
        completionHandler completion: @escaping @Sendable (PersistentStoreDescription, (any Error)?) -> Void
    ) {
        add(description) { result in
            switch result {
            case .success: completion(description, nil)
            case .failure(let error): completion(description, error)
            }
        }
    }

    /// Opens the described store in the same way, and passes the opened store to `completion`.
    package func add(
        _ description: PersistentStoreDescription,
        completion: @escaping @Sendable (Result<PersistentStore, any Error>) -> Void
    ) {
        @Sendable func run() { completion(Result { try add(description) }) }
        if description.shouldAddStoreAsynchronously {
            DispatchQueue(label: "addPersistentStore").async { run() }
        } else {
            run()
        }
    }

    @discardableResult
    package func add(
        _ description: PersistentStoreDescription, on system: any System = POSIXSystem()
    ) throws -> PersistentStore {
        defer { description.endMigrationUpdates() }
        var loader = try StoreLoader(description, model: managedObjectModel, versions: modelVersions)
        loader.system = system
        return try add(loader)
    }

    private func add(_ loader: StoreLoader) throws -> PersistentStore {
        let file = loader.url.map { StoreFile($0.path) }
        let store = try loader.open()
        try objects.add(store.store, from: file)
        stores.withLock { $0.append(store) }
        do {
            if let task = loader.migration.afterMigration { try runTask(task, on: store) }
        } catch {
            try remove(store)
            throw error
        }
        return store
    }

    /// Runs the task due after a migration. The task and the record of its completion are one transaction.
    private func runTask(_ task: @Sendable (ManagedObjectContext) throws -> Void, on store: PersistentStore) throws {
        try objects.lock.withLock {
            guard try store.store.metadata().isTaskDue else { return }
            try store.store.writing {
                let context = ManagedObjectContext(persistentStoreCoordinator: self)
                try context.performAndWait {
                    try task(context)
                    if context.hasChanges { try context.save() }
                }
                try store.store.updateMetadata { $0[StoreMetadata.taskKey] = nil }
            }
        }
    }

    // MARK: - Removing

    /// Closes a store. Objects already read from it keep their values but cannot be saved, unless the store is added
    /// again as it is.
    ///
    /// - Throws: `usage` for a store of another coordinator.
    public func remove(_ store: PersistentStore) throws {
        try objects.lock.withLock {
            if store.isDiscarded { return }
            try objects.remove(store.store)
            stores.withLock { $0.removeAll { $0 === store } }
            store.close()
            // Closing may write.
            objects.noteRemoval(of: store.store)
        }
    }

    /// Continues with a copy of a store in its place.
    func replace(_ store: PersistentStore, by copy: PersistentStore) throws {
        try objects.remove(store.store)
        try objects.add(copy.store)
        stores.withLock { $0 = $0.map { $0 === store ? copy : $0 } }
        store.close()
    }

    // MARK: - Identities

    /// Returns the identity for a URI; nil unless it is the URI of an object in an open store.
    public func managedObjectID(forURIRepresentation uri: URL) -> ManagedObjectID? {
        guard let id = ObjectID(uri: uri.absoluteString), let identifier = id.store,
            objects.store(identifier) != nil, managedObjectModel.entity(id.entityName) != nil
        else { return nil }
        return id
    }

    // MARK: - Classes and transformers

    /// Registers the classes for the objects of their entities.
    ///
    /// - Throws: `unknownKey` if the model has no entity for the class.
    public func register(_ classes: ManagedObject.Type...) throws {
        for type in classes { try self.classes.register(type) }
    }

    /// Sets the transformer for transformable attributes with that `valueTransformerName`.
    public func setTransformer(_ transformer: some AttributeTransformer, forName name: String) {
        transformers.set(transformer, for: name)
    }
}

extension PersistentStoreCoordinator {
    /// Completes all tasks that deferred migrations have left in the open stores:
    /// `finishDeferredLightweightMigration()`.
    ///
    /// A store with remaining tasks has the key ``PersistentStoreOption/deferredLightweightMigration`` in its metadata.
    /// The stores are closed and reopened for the work, while contexts wait; their objects stay valid. A store is
    /// backed up before values are removed from it permanently.
    ///
    /// - Parameters:
    ///   - onProgress: called often, on this thread, with the progress of one store at a time.
    ///   - isCancelled: called often; return true to end the work soon. By default, the cancellation of the task that
    ///     calls this method ends it.
    /// - Throws: `locked` if another process has a store open, `insufficientStorage`, `cancelled`. Completed tasks stay
    ///   completed, and an incomplete one has changed nothing.
    public func finishDeferredLightweightMigration(
        onProgress: @escaping @Sendable (MigrationProgress) -> Void = { _ in },
        isCancelled: @escaping @Sendable () -> Bool = { Task.isCancelled }
    ) throws {
        let observer = MigrationObserver(telling: onProgress, isCancelled: isCancelled)
        for store in persistentStores where try isPending(store) { try finish(store, .all, observer) }
    }

    /// Completes the next task that a deferred migration has left, if there is one.
    ///
    /// Call it repeatedly, such as in a background task, until no store's metadata has
    /// ``PersistentStoreOption/deferredLightweightMigration``. The stores are consistent between calls.
    ///
    /// - Parameters:
    ///   - onProgress: called often, on this thread, with the progress of this task.
    ///   - isCancelled: called often; return true to end the work soon. By default, the cancellation of the task that
    ///     calls this method ends it.
    /// - Throws: the same errors as the method for all tasks.
    public func finishDeferredLightweightMigrationTask(
        onProgress: @escaping @Sendable (MigrationProgress) -> Void = { _ in },
        isCancelled: @escaping @Sendable () -> Bool = { Task.isCancelled }
    ) throws {
        guard let store = try persistentStores.first(where: isPending) else { return }
        try finish(store, .one, MigrationObserver(telling: onProgress, isCancelled: isCancelled))
    }

    private func isPending(_ store: PersistentStore) throws -> Bool {
        guard store.type == .sqlite, !store.isReadOnly else { return false }
        return try objects.lock.withLock { try store.store.metadata().hasDeferredWork }
    }

    /// Runs deferred tasks of a store and reopens it for its contexts, even if the work fails.
    private func finish(_ store: PersistentStore, _ limit: CallLimit, _ observer: MigrationObserver) throws {
        guard let url = store.url else { return }
        try objects.lock.withLock {
            try objects.remove(store.store)
            store.close()
            let result = Result {
                var options = RunOptions()
                options.patience = store.options.patience
                _ = try options.migrator().finishDeferred(url.path, versions: modelVersions, limit, observer)
            }
            try store.reopen(in: objects)
            try result.get()
        }
    }
}
