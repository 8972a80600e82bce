import Foundation
import Moult
import MoultEngine
import MoultModel
import MoultObjects
import MoultStore
import Synchronization

/// A model and the open stores that hold its objects: `NSPersistentStoreCoordinator`.
///
/// It may be used from any thread, as may every context over it.
public final class PersistentStoreCoordinator: @unchecked Sendable {
    /// The model of every store that is open here.
    public let managedObjectModel: ManagedObjectModel
    package let objects: ObjectCoordinator
    /// The coordinator of Core Data's own names that stands over this one.
    weak var publicCoordinator: AnyObject?
    let classes: ClassRegistry
    let transformers = TransformerRegistry()
    /// The versions found next to the model, for stores that are behind.
    let modelVersions: ModelVersions?
    private let stores = Mutex<[PersistentStore]>([])

    /// - Parameter versions: the versions of the model, oldest first, that stores may be of. A store of none of them is
    ///   migrated by the model that it carries.
    public init(managedObjectModel: ManagedObjectModel, versions: ModelVersions? = nil) {
        self.managedObjectModel = managedObjectModel
        modelVersions = versions
        objects = ObjectCoordinator(model: managedObjectModel)
        classes = ClassRegistry(managedObjectModel)
    }

    /// A coordinator over stores that another user has open: a migration, while an app's code runs.
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

    /// The stores that are open here, in the order in which they were added.
    public var persistentStores: [PersistentStore] { stores.withLock { $0 } }

    /// The store at a URL; nil if none is open from there.
    public func persistentStore(for url: URL) -> PersistentStore? {
        persistentStores.first { $0.url?.standardizedFileURL == url.standardizedFileURL }
    }

    /// Returns the location of a store; `/dev/null` for one in memory.
    public func url(for store: PersistentStore) -> URL { store.url ?? URL(fileURLWithPath: "/dev/null") }

    // MARK: - Adding

    /// Opens a store, making it where there is none. As Core Data's, it migrates only where the options say so.
    ///
    /// - Throws: `usage` for an option that Moult does not know; `storeAhead` (134100), `noPath` (134140),
    ///   `storeUnknown` (134130), `cannotInfer` (134190), `question` if the store is not of the model; `locked` where
    ///   somebody else is changing it.
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

    /// Opens the store that a description is of, and calls `completion` exactly once: before it returns, or later on
    /// another thread where the description says so.
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

    /// The same, with the store that was opened.
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
    func add(_ description: PersistentStoreDescription) throws -> PersistentStore {
        defer { description.endMigrationUpdates() }
        return try add(StoreLoader(description, model: managedObjectModel, versions: modelVersions))
    }

    private func add(_ loader: StoreLoader) throws -> PersistentStore {
        let store = try loader.open()
        try objects.add(store.store)
        stores.withLock { $0.append(store) }
        do {
            if let task = loader.migration.afterMigration { try runTask(task, on: store) }
        } catch {
            try remove(store)
            throw error
        }
        return store
    }

    /// Runs a task that is due after a migration; it and the note that it is done are one transaction.
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

    /// Closes a store. Objects of it that have been read keep their values and cannot be saved.
    ///
    /// - Throws: `usage` for a store of another coordinator.
    public func remove(_ store: PersistentStore) throws {
        try objects.lock.withLock {
            try objects.remove(store.store)
            stores.withLock { $0.removeAll { $0 === store } }
            store.close()
        }
    }

    /// Goes on with a copy of a store in its place.
    func replace(_ store: PersistentStore, by copy: PersistentStore) throws {
        try objects.remove(store.store)
        try objects.add(copy.store)
        exchange(store, for: copy)
        store.close()
    }

    func exchange(_ store: PersistentStore, for other: PersistentStore) {
        stores.withLock { $0 = $0.map { $0 === store ? other : $0 } }
    }

    // MARK: - Identities

    /// The identity that a URI stands for; nil for anything but the URI of an object of a store that is open here.
    public func managedObjectID(forURIRepresentation uri: URL) -> ManagedObjectID? {
        guard let id = ObjectID(uri: uri.absoluteString), let identifier = id.store,
            objects.store(identifier) != nil, managedObjectModel.entity(id.entityName) != nil
        else { return nil }
        return id
    }

    // MARK: - Classes and transformers

    /// Says which class the objects of its entity have.
    ///
    /// - Throws: `unknownKey` if the model has no entity for the class.
    public func register(_ classes: ManagedObject.Type...) throws {
        for type in classes { try self.classes.register(type) }
    }

    /// Says how the values of transformable attributes with that `valueTransformerName` are kept.
    public func setTransformer(_ transformer: some AttributeTransformer, forName name: String) {
        transformers.set(transformer, for: name)
    }
}

extension PersistentStoreCoordinator {
    /// Does everything that deferred migrations have left in the open stores: `finishDeferredLightweightMigration()`.
    ///
    /// Which stores have something left, their metadata say under
    /// ``PersistentStoreOption/deferredLightweightMigration``. The stores are closed in the meantime and opened again,
    /// so contexts wait; the objects that they have stay valid. A store is backed up before values leave it for good.
    ///
    /// - Parameter onProgress: told often, on this thread, how far the work on one store is; of several, on each in
    ///   turn.
    /// - Throws: `locked` if another process has a store open, `insufficientStorage`; what was done stays done.
    public func finishDeferredLightweightMigration(
        onProgress: @escaping @Sendable (MigrationProgress) -> Void = { _ in }
    ) throws {
        for store in persistentStores where try isPending(store) { try finish(store, .all, onProgress) }
    }

    /// Does the next task that a deferred migration has left, if there is one.
    ///
    /// To be called again and again, such as in a background task, until no store's metadata have
    /// ``PersistentStoreOption/deferredLightweightMigration``; between two calls everything is whole.
    ///
    /// - Parameter onProgress: told often, on this thread, how far this task is.
    /// - Throws: as above.
    public func finishDeferredLightweightMigrationTask(
        onProgress: @escaping @Sendable (MigrationProgress) -> Void = { _ in }
    ) throws {
        guard let store = try persistentStores.first(where: isPending) else { return }
        try finish(store, .one, onProgress)
    }

    private func isPending(_ store: PersistentStore) throws -> Bool {
        guard store.type == .sqlite, !store.isReadOnly else { return false }
        return try objects.lock.withLock { try store.store.metadata().hasDeferredWork }
    }

    /// Contexts find the store's place taken by one that was opened again, whatever became of the work.
    private func finish(
        _ store: PersistentStore, _ limit: CallLimit, _ onProgress: @escaping @Sendable (MigrationProgress) -> Void
    ) throws {
        guard let url = store.url else { return }
        try objects.lock.withLock {
            try objects.remove(store.store)
            store.close()
            let result = Result {
                var options = RunOptions()
                options.patience = .milliseconds(max(store.options.busyTimeout, 0))
                _ = try options.migrator().finishDeferred(
                    url.path, versions: modelVersions, limit,
                    MigrationObserver(telling: onProgress, isCancelled: { false }))
            }
            try reopen(store, at: url)
            try result.get()
        }
    }

    private func reopen(_ store: PersistentStore, at url: URL) throws {
        let opened = try ObjectStore(
            url.path, model: managedObjectModel, configuration: store.configurationName,
            busyTimeout: store.options.busyTimeout)
        try opened.configure(store.options)
        try objects.add(opened)
        exchange(
            store,
            for: PersistentStore(
                opened, url: url, type: store.type, configuration: store.configurationName, options: store.options))
    }
}
