import Foundation
import MoultCoreData
import MoultModel
import MoultObjects
import Synchronization

/// A model and the open stores that hold its objects.
open class NSPersistentStoreCoordinator: NSObject, @unchecked Sendable {
    let base: PersistentStoreCoordinator
    /// The model of every open store.
    public let managedObjectModel: NSManagedObjectModel
    /// The coordinator's name, set by the app.
    open var name: String?
    private let open = Mutex<[NSPersistentStore]>([])
    private let queue = DispatchQueue(label: "NSPersistentStoreCoordinator")
    private static let all = Mutex<[Weak]>([])

    private struct Weak: @unchecked Sendable { weak var coordinator: NSPersistentStoreCoordinator? }

    /// Creates a coordinator for a model, which becomes immutable. Ends the program if the model is invalid.
    public init(managedObjectModel model: NSManagedObjectModel) {
        let value = orRaise("NSPersistentStoreCoordinator(managedObjectModel:)") { try model.frozen() }
        base = PersistentStoreCoordinator(managedObjectModel: value, versions: model.versions)
        managedObjectModel = model
        super.init()
        register()
    }

    private init(_ base: PersistentStoreCoordinator) {
        self.base = base
        managedObjectModel = NSManagedObjectModel(base.managedObjectModel)
        // The base coordinator has checked the model.
        _ = try? managedObjectModel.frozen()
        super.init()
        register()
    }

    /// Registers the coordinator with its base coordinator and in the list of open ones.
    private func register() {
        _ = NSPersistentHistoryToken.formerName
        base.publicCoordinator = self
        base.classes.use(NSManagedObject.self)
        let box = Weak(coordinator: self)
        Self.all.withLock { all in
            all.removeAll { $0.coordinator == nil }
            all.append(box)
        }
    }

    /// Returns the coordinator that wraps the given base coordinator, creating it if needed.
    static func over(_ base: PersistentStoreCoordinator) -> NSPersistentStoreCoordinator {
        base.publicCoordinator as? NSPersistentStoreCoordinator ?? NSPersistentStoreCoordinator(base)
    }

    /// Returns the entity of a class in the newest open model that has one.
    static func openEntityIfAny(of type: NSManagedObject.Type) -> NSEntityDescription? {
        for coordinator in newestFirst {
            if let name = try? coordinator.base.classes.entityName(for: type),
                let entity = coordinator.managedObjectModel.entitiesByName[name]
            {
                return entity
            }
        }
        return nil
    }

    /// Returns the entity of a class in the open models. Ends the program if there is none.
    static func openEntity(of type: NSManagedObject.Type) -> NSEntityDescription {
        openEntityIfAny(of: type) ?? { raise("\(type).entity()", "No open model has an entity for the class.") }()
    }

    /// Returns the entity of an object in the model of its store, or else in any open model, or else one without
    /// properties.
    static func openEntity(of id: NSManagedObjectID) -> NSEntityDescription {
        openEntity(named: id.entityName, preferring: { $0.store(of: id) != nil })
    }

    /// Returns the entity with a name in the newest open model that has it, or else one without properties.
    static func openEntity(
        named name: String, preferring isOwner: (NSPersistentStoreCoordinator) -> Bool = { _ in false }
    ) -> NSEntityDescription {
        let coordinators = newestFirst
        for coordinator in coordinators.filter(isOwner) + coordinators {
            if let entity = coordinator.managedObjectModel.entitiesByName[name] { return entity }
        }
        let entity = NSEntityDescription()
        entity.name = name
        return entity
    }

    /// Returns the open store of an object.
    static func openStore(of id: NSManagedObjectID) -> NSPersistentStore? {
        newestFirst.lazy.compactMap { $0.store(of: id) }.first
    }

    private static var newestFirst: [NSPersistentStoreCoordinator] {
        all.withLock { $0.compactMap(\.coordinator) }.reversed()
    }

    private func store(of id: NSManagedObjectID) -> NSPersistentStore? {
        persistentStores.first { $0.base.identifier == id.store }
    }

    // MARK: - Stores

    /// The open stores.
    open var persistentStores: [NSPersistentStore] {
        open.withLock { open in
            open = base.persistentStores.map { store in
                open.first { $0.base === store } ?? NSPersistentStore(store, self)
            }
            return open
        }
    }

    /// Returns the open store at a URL; nil if there is none.
    open func persistentStore(for url: URL) -> NSPersistentStore? {
        base.persistentStore(for: url).flatMap { found in persistentStores.first { $0.base === found } }
    }

    /// Returns the URL of a store.
    open func url(for store: NSPersistentStore) -> URL { base.url(for: store.base) }

    /// Opens a store, creating it if it does not exist.
    @discardableResult
    open func addPersistentStore(
        type: NSPersistentStore.StoreType, configuration: String? = nil, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        try addPersistentStore(ofType: type.rawValue, configurationName: configuration, at: url, options: options)
    }

    /// Opens a store, creating it if it does not exist.
    @discardableResult
    open func addPersistentStore(
        ofType type: String, configurationName configuration: String?, at url: URL?,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        let added = try cocoaErrors {
            try base.addPersistentStore(
                type: try NSPersistentStore.StoreType(rawValue: type).moult(),
                configuration: configuration, at: url, options: Self.moult(options))
        }
        let posts = (options?[NSPersistentStoreRemoteChangeNotificationPostOptionKey] as? NSNumber)?.boolValue
        return adopt(added, options, postsRemoteChanges: posts ?? false)
    }

    /// Opens the described store.
    open func addPersistentStore(
        with description: NSPersistentStoreDescription,
        completionHandler completion: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        let done = UncheckedCompletion(run: completion)
        if let unknown = description.unknownType {
            done.run(description, cocoaError(unknown))
            return
        }
        base.add(description.base) { [self] result in
            do {
                adopt(try result.get(), description.options, postsRemoteChanges: description.postsRemoteChanges)
                done.run(description, nil)
            } catch {
                done.run(description, cocoaError(error))
            }
        }
    }

    /// Closes a store.
    open func remove(_ store: NSPersistentStore) throws {
        try Self.removing(isOpen(store) ? [store] : []) { try base.remove(store.base) }
    }

    /// Runs `body`, which removes stores, between the notifications of their coordinators about them.
    private static func removing(_ stores: [NSPersistentStore], _ body: () throws -> Void) throws {
        for store in stores {
            _ = store.metadata
            NotificationCenter.default.post(name: .NSPersistentStoreCoordinatorWillRemoveStore, object: store)
            store.coordinator?.post(
                .NSPersistentStoreCoordinatorStoresWillChange, [NSRemovedPersistentStoresKey: [store]])
        }
        try cocoaErrors(body)
        for store in stores {
            store.writes = nil
            store.coordinator?.post(
                .NSPersistentStoreCoordinatorStoresDidChange, [NSRemovedPersistentStoresKey: [store]])
        }
    }

    /// Runs `body`, which destroys or replaces the store at a URL, between the notifications of the coordinators that
    /// have it open.
    private func changing(
        _ url: URL, _ type: NSPersistentStore.StoreType, _ body: (PersistentStore.StoreType) throws -> Void
    ) throws {
        let type = try cocoaErrors { try type.moult() }
        try Self.removing(Self.newestFirst.compactMap { $0.persistentStore(for: url) }) { try body(type) }
    }

    private func post(_ name: Notification.Name, _ info: [AnyHashable: Any]) {
        NotificationCenter.default.post(name: name, object: self, userInfo: info)
    }

    @discardableResult
    private func adopt(
        _ store: PersistentStore, _ options: [AnyHashable: Any]?, postsRemoteChanges: Bool
    ) -> NSPersistentStore {
        let made = persistentStores.first { $0.base === store } ?? NSPersistentStore(store, self)
        made.options = options
        post(.NSPersistentStoreCoordinatorStoresDidChange, [NSAddedPersistentStoresKey: [made]])
        guard postsRemoteChanges else { return made }
        let identifier = store.identifier
        made.writes = WritesObservation { [weak self] saved, writer in
            let ids = [saved.inserted, saved.updated, saved.deleted]
            guard let self, ids.contains(where: { $0.contains { $0.store == identifier } }) else { return }
            if writer === base.objects { return postRemoteChange(of: identifier) }
            // Reading the history here would wait for this coordinator's lock while the writer's may be held.
            Self.remoteChanges.async { [weak self] in self?.postRemoteChange(of: identifier) }
        }
        return made
    }

    private static let remoteChanges = DispatchQueue(label: "NSPersistentStoreRemoteChange")

    private func postRemoteChange(of identifier: UUID) {
        guard let store = base.persistentStores.first(where: { $0.identifier == identifier }) else { return }
        var info: [AnyHashable: Any] = [NSStoreUUIDKey: identifier.uuidString]
        if let url = store.url { info[NSPersistentStoreURLKey] = url }
        info[NSPersistentHistoryTokenKey] = currentPersistentHistoryToken(fromStores: nil)
        NotificationCenter.default.post(name: .NSPersistentStoreRemoteChange, object: self, userInfo: info)
    }

    static func moult(_ options: [AnyHashable: Any]?) -> [String: any Sendable]? {
        options?.reduce(into: [:]) { all, option in
            let key = "\(option.key.base)"
            // Apps also pass keys of their own and keys for Apple's platforms, which Core Data ignores too.
            if PersistentStoreOption.all.contains(key) { all[key] = storeOption(option.value) }
        }
    }

    // MARK: - Identities

    /// Returns the identity for a URI.
    open func managedObjectID(forURIRepresentation uri: URL) -> NSManagedObjectID? {
        base.managedObjectID(forURIRepresentation: uri)
    }

    /// Runs a block on another thread, after those of earlier calls.
    open func perform(_ block: @escaping () -> Void) {
        let done = UncheckedCompletion { _, _ in block() }
        queue.async { done.run(NSPersistentStoreDescription(), nil) }
    }

    /// Runs a block on another thread.
    open func perform<Result, Failure: Error>(
        _ block: @escaping () throws(Failure) -> Result
    ) async throws(Failure) -> Result { try performAndWait(block) }

    /// Runs a block on this thread while the coordinator's contexts wait.
    open func performAndWait<Result, Failure: Error>(
        _ block: () throws(Failure) -> Result
    ) throws(Failure) -> Result { try base.objects.lock.withLock(block) }
}

private struct UncheckedCompletion: @unchecked Sendable {
    let run: (NSPersistentStoreDescription, (any Error)?) -> Void
}

extension NSPersistentStoreCoordinator {
    /// Returns the metadata of a store, which need not be open.
    public class func metadataForPersistentStore(
        type: NSPersistentStore.StoreType, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        try cocoaErrors {
            _ = try type.moult()
            return try PersistentStoreCoordinator.metadataForPersistentStore(at: url)
        }
    }

    /// Returns the metadata of a store, which need not be open.
    public class func metadataForPersistentStore(
        ofType type: String, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        try metadataForPersistentStore(type: .init(rawValue: type), at: url)
    }

    /// Writes the app's own entries to the metadata of a store, which need not be open.
    public class func setMetadata(
        _ metadata: [String: Any]?, type: NSPersistentStore.StoreType, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) throws {
        try cocoaErrors {
            _ = try type.moult()
            try PersistentStoreCoordinator.setMetadata(metadata, at: url)
        }
    }

    /// Writes the app's own entries to the metadata of a store, which need not be open.
    public class func setMetadata(
        _ metadata: [String: Any]?, forPersistentStoreOfType type: String, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) throws {
        try setMetadata(metadata, type: .init(rawValue: type), at: url)
    }

    /// Returns the metadata of a store: of a closed one, as it was last known.
    public func metadata(for store: NSPersistentStore) -> [String: Any] {
        if isOpen(store), let metadata = try? base.metadata(for: store.base) { store.lastMetadata = metadata }
        return store.lastMetadata
    }

    /// Writes the app's own entries to the metadata of an open store immediately. The metadata of a closed store, and
    /// of one that was opened read-only, change only in memory.
    public func setMetadata(_ metadata: [String: Any]?, for store: NSPersistentStore) {
        guard isOpen(store), !store.isReadOnly else {
            store.lastMetadata = metadata ?? [:]
            return
        }
        orRaise("NSPersistentStoreCoordinator.setMetadata(_:for:)") {
            try base.setMetadata(metadata, for: store.base)
        }
    }

    private func isOpen(_ store: NSPersistentStore) -> Bool { base.persistentStores.contains { $0 === store.base } }

    /// Removes the contents of a store and its external data, and leaves an empty database, which the next store at the
    /// URL fills. Moult's backups stay. If the store is open in this process, its coordinators lose it: add it again.
    public func destroyPersistentStore(
        at url: URL, type: NSPersistentStore.StoreType, options: [AnyHashable: Any]? = nil
    ) throws {
        try changing(url, type) { type in
            try PersistentStoreCoordinator.destroy(url, type, Self.moult(options), leavingFile: true)
        }
    }

    /// Removes the contents of a store and its external data, and leaves an empty database, which the next store at the
    /// URL fills. Moult's backups stay. If the store is open in this process, its coordinators lose it: add it again.
    public func destroyPersistentStore(at url: URL, ofType type: String, options: [AnyHashable: Any]? = nil) throws {
        try destroyPersistentStore(at: url, type: .init(rawValue: type), options: options)
    }

    /// Replaces a store with a copy of another one. If the store is open in this process, its coordinators lose it: add
    /// it again.
    public func replacePersistentStore(
        at destination: URL, destinationOptions: [AnyHashable: Any]? = nil, withPersistentStoreFrom source: URL,
        sourceOptions: [AnyHashable: Any]? = nil, type: NSPersistentStore.StoreType
    ) throws {
        try changing(destination, type) { type in
            try PersistentStoreCoordinator.replacePersistentStore(
                at: destination, withPersistentStoreFrom: source, type: type)
        }
    }

    /// Replaces a store with a copy of another one. If the store is open in this process, its coordinators lose it: add
    /// it again.
    public func replacePersistentStore(
        at destination: URL, destinationOptions: [AnyHashable: Any]? = nil, withPersistentStoreFrom source: URL,
        sourceOptions: [AnyHashable: Any]? = nil, ofType type: String
    ) throws {
        try replacePersistentStore(at: destination, withPersistentStoreFrom: source, type: .init(rawValue: type))
    }

    /// Copies an open store to another URL and continues with the copy.
    @discardableResult
    public func migratePersistentStore(
        _ store: NSPersistentStore, to url: URL, options: [AnyHashable: Any]? = nil,
        type: NSPersistentStore.StoreType
    ) throws -> NSPersistentStore {
        let copy = try cocoaErrors {
            try base.migratePersistentStore(
                store.base, to: url, options: Self.moult(options), type: try type.moult())
        }
        let made = persistentStores.first { $0.base === copy } ?? NSPersistentStore(copy, self)
        made.writes = store.writes
        return made
    }

    /// Copies an open store to another URL and continues with the copy.
    @discardableResult
    public func migratePersistentStore(
        _ store: NSPersistentStore, to url: URL, options: [AnyHashable: Any]? = nil, withType type: String
    ) throws -> NSPersistentStore {
        try migratePersistentStore(store, to: url, options: options, type: .init(rawValue: type))
    }

    /// Returns the model that is kept inside a store.
    ///
    /// - Throws: an `NSError` for a file that is not a store, or a store without a readable model.
    public class func cachedModelForPersistentStore(
        at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> NSManagedObjectModel {
        try cocoaErrors { NSManagedObjectModel(try PersistentStoreCoordinator.modelInStore(at: url)) }
    }

    /// Executes a fetch, a batch request or a history request in a context, and returns its result.
    public func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext) throws -> Any {
        if let fetch = request as? NSFetchRequest<any NSFetchRequestResult> { return try context.fetch(fetch) }
        return try context.execute(request)
    }

    /// Completes all tasks that deferred migrations have left. If the task that calls it is cancelled, it ends soon with
    /// 134120; completed tasks stay completed.
    public func finishDeferredLightweightMigration() throws {
        try cocoaErrors { try base.finishDeferredLightweightMigration() }
    }

    /// Completes the next task that a deferred migration has left. If the task that calls it is cancelled, it ends soon
    /// with 134120, and the store is unchanged.
    public func finishDeferredLightweightMigrationTask() throws {
        try cocoaErrors { try base.finishDeferredLightweightMigrationTask() }
    }
}
