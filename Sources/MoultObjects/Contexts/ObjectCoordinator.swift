import MoultBasics
import MoultModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A model and the open stores that hold its objects: `NSPersistentStoreCoordinator`.
///
/// A single lock protects it, its contexts and all their objects, so that any thread may use them.
package final class ObjectCoordinator: @unchecked Sendable {
    package let model: ManagedObjectModel
    package let lock = RecursiveLock()
    private var openStores: [ObjectStore] = []
    /// The stores that were closed for a migration.
    private var retiredStores: [ObjectStore] = []
    /// The identifiers of the stores whose contents were destroyed or replaced while they were open here.
    private var replaced: Set<UUID> = []
    /// The files of the stores that were removed, as they were left.
    private var left: [UUID: StoreFile] = [:]
    private var shapes: [String: EntityShape] = [:]
    private var observers = SaveObservers()
    private var contexts: [WeakReference<ObjectContext>] = []
    /// The record of the properties that code reads; nil if reads are not recorded.
    package let reads: PropertyReads?

    package init(model: ManagedObjectModel, noting reads: PropertyReads? = nil) {
        self.model = model
        self.reads = reads
    }

    package var stores: [ObjectStore] { lock.withLock { openStores } }

    /// Returns the open stores.
    ///
    /// - Throws: `storeAhead` if one was closed for a migration.
    package func usableStores() throws -> [ObjectStore] {
        try lock.withLock {
            if let store = retiredStores.first { throw MigrationError.retired(store) }
            return openStores
        }
    }

    /// Returns the shape that all objects of an entity share; nil for an entity that is not in the model.
    package func shape(of entityName: String) -> EntityShape? {
        lock.withLock {
            if let known = shapes[entityName] { return known }
            guard let entity = model.entity(entityName) else { return nil }
            let shape = EntityShape(entity, in: model)
            shapes[entityName] = shape
            return shape
        }
    }

    /// Adds an open store. From now on, only this coordinator may use it.
    ///
    /// - Parameter file: the store's file before it was opened. If the store was removed from this coordinator, and the
    ///   file is no longer as it was left, contexts take its contents for other ones.
    /// - Throws: `usage` if a store with the same identifier is open already, or if the store was opened with another
    ///   model.
    package func add(_ store: ObjectStore, from file: StoreFile? = nil) throws {
        try lock.withLock {
            guard self.store(store.identifier) == nil else {
                throw MigrationError(
                    .usage, "The store \(store.identifier.uuidString) is already open.", place: store.path,
                    remedy: "Use the open one. A copy of it needs its own identifier.")
            }
            for entity in store.model == model ? [] : store.model.entities {
                guard let shape = store.shape(of: entity.name) else { continue }
                guard shape.properties.map(\.name) == self.shape(of: entity.name)?.properties.map(\.name) else {
                    throw MigrationError(
                        .usage, "The store was opened with another model: its \(entity.name) differs.",
                        place: store.path, remedy: "Open it with the coordinator's model.")
                }
            }
            openStores.append(store)
            store.coordinator = self
            let isChanged = left.removeValue(forKey: store.identifier).map { $0 != file } ?? false
            guard replaced.remove(store.identifier) != nil || isChanged else { return }
            for context in liveContexts { context.forgetRows(of: store.identifier) }
        }
    }

    /// Closes a store whose contents are to be destroyed or replaced.
    ///
    /// - Returns: false, without closing the store, while it is in a transaction.
    package func suspend(_ store: ObjectStore) -> Bool {
        lock.withLock {
            guard !store.connection.isInTransaction else { return false }
            openStores.removeAll { $0 === store }
            store.coordinator = nil
            store.close()
            return true
        }
    }

    /// Whether the store of an object was destroyed or replaced while it was open here, and was not added again.
    func hasLostStore(_ object: Object) -> Bool {
        !replaced.isEmpty && object.identity.store.map(replaced.contains) ?? false
    }

    /// Notes that the contents of a closed store were destroyed or replaced. If a store with this identifier is added
    /// later, contexts read its rows again, and refuse to save what they had changed in the old ones.
    package func noteReplacement(of identifier: UUID) { lock.withLock { _ = replaced.insert(identifier) } }

    /// Notes the file of a store that was removed and closed.
    package func noteRemoval(of store: ObjectStore) {
        lock.withLock { if !store.path.isEmpty { left[store.identifier] = StoreFile(store.path, on: store.system) } }
    }

    /// Removes a store. Its objects that are not faults keep their values but cannot be saved.
    package func remove(_ store: ObjectStore) throws {
        try lock.withLock {
            if retiredStores.contains(where: { $0 === store }) { return }
            guard openStores.contains(where: { $0 === store }) else {
                throw MigrationError(
                    .usage, "The store \(store.path) belongs to another coordinator.", place: store.path,
                    remedy: "Remove it from the coordinator to which it was added.")
            }
            openStores.removeAll { $0 === store }
            store.coordinator = nil
        }
    }

    /// Whether no context over the stores has unsaved changes, and this store is not in a transaction.
    package func canRetire(_ store: ObjectStore) -> Bool {
        lock.withLock { !store.connection.isInTransaction && !liveContexts.contains(where: \.holdsChanges) }
    }

    /// Closes a store that this process is about to migrate. Its objects keep the values already read; any other access
    /// to them throws `storeAhead`.
    ///
    /// - Returns: false, without closing the store, if unsaved changes would be lost.
    package func retire(_ store: ObjectStore) -> Bool {
        lock.withLock {
            guard canRetire(store) else { return false }
            openStores.removeAll { $0 === store }
            retiredStores.append(store)
            store.close()
            return true
        }
    }

    package func store(_ identifier: UUID) -> ObjectStore? {
        lock.withLock { openStores.first { $0.identifier == identifier } }
    }

    /// Returns the stores that hold objects of an entity, in the order they were added.
    ///
    /// - Parameter identifiers: the stores to choose from; nil for all.
    package func stores(holding entityName: String, among identifiers: Set<UUID>? = nil) -> [ObjectStore] {
        lock.withLock {
            openStores.filter { store in
                store.shape(of: entityName) != nil && identifiers?.contains(store.identifier) ?? true
            }
        }
    }

    // MARK: - Saves

    /// Calls `observer` after every save of a context that writes to a store, outside the lock.
    ///
    /// - Returns: the number to pass to `stopObserving(_:)`.
    package func observeSaves(_ observer: @escaping @Sendable (SavedChanges) -> Void) -> Int {
        lock.withLock { observers.add(observer) }
    }

    package func stopObserving(_ number: Int) { lock.withLock { observers.remove(number) } }

    var saveObservers: [SaveObservers.Observer] { observers.bodies + WritesObservation.observers(of: self) }

    func register(_ context: ObjectContext) {
        lock.withLock {
            contexts.removeAll { $0.object == nil }
            contexts.append(WeakReference(context))
        }
    }

    /// The contexts directly over the stores.
    var liveContexts: [ObjectContext] { contexts.compactMap(\.object) }
}

extension ObjectContext {
    /// Whether this context, or a child of it, has unsaved changes.
    fileprivate var holdsChanges: Bool { hasChanges || children.contains { $0.object?.holdsChanges ?? false } }

    /// Makes the context read the rows of a store again, whose contents were replaced. Changes of the old rows stay, but
    /// cannot be saved, and what was recorded for undo is forgotten.
    fileprivate func forgetRows(of store: UUID) {
        recorder?.withdraw()
        walked.forget()
        prefetched = []
        for object in registry.values.compactMap(\.object) where object.identity.store == store {
            if !object.isPending {
                object.becomeFault()
            } else if !object.state.contains(.inserted) || object.version < 0 {
                // A new object is of no contents, unless it is one whose deletion was undone.
                object.isOfReplacedRow = true
            }
        }
        for child in children.compactMap(\.object) { child.forgetRows(of: store) }
    }
}

extension MigrationError {
    /// Returns the error for an object whose store was destroyed or replaced while a context had the object.
    static func replaced(_ id: ObjectID) -> MigrationError {
        MigrationError(
            .objectGone, "The store of \(id) was destroyed or replaced after the object was read.",
            place: id.description, remedy: "Roll back or reset the context, and fetch the objects again.")
    }

    fileprivate static func retired(_ store: ObjectStore) -> MigrationError {
        MigrationError(
            .storeAhead,
            "The store was closed here, because this process has opened it with another version of the model.",
            place: store.path, remedy: "Use the container that was made last, and fetch the objects again.")
    }
}

// MARK: - Reading

extension ObjectCoordinator: ObjectSource {
    func snapshots(of ids: [ObjectID]) throws -> [ObjectSnapshot] {
        try byStore(ids).flatMap { store, ids in try store.snapshots(of: ids) }
    }

    func destinations(of relationship: String, owners: [ObjectID]) throws -> [ObjectID: [ObjectID]] {
        var result: [ObjectID: [ObjectID]] = [:]
        for (store, ids) in try byStore(owners) {
            let found = try store.destinations(of: relationship, owners: ids)
            if result.isEmpty { result = found } else { result.merge(found) { first, _ in first } }
        }
        return result
    }

    func isSpread(_ fetch: ObjectFetch) -> Bool { stores(holding: fetch.entityName, among: fetch.stores).count > 1 }

    func fetchIDs(_ fetch: ObjectFetch) throws -> [ObjectID] {
        try storesToFetch(fetch).flatMap { try $0.fetchIDs(fetch) }
    }

    func fetchSnapshots(_ fetch: ObjectFetch) throws -> [ObjectSnapshot] {
        let stores = try storesToFetch(fetch)
        // Avoids a copy when there is one store.
        guard stores.count > 1 else { return try stores.first?.fetchSnapshots(fetch) ?? [] }
        return try stores.flatMap { try $0.fetchSnapshots(fetch) }
    }

    func count(_ fetch: ObjectFetch) throws -> Int { try storesToFetch(fetch).reduce(0) { $0 + (try $1.count(fetch)) } }

    /// Returns dictionary results, of saved data only.
    func fetchRows(_ fetch: ObjectFetch) throws -> [FetchedRow] {
        let stores = try storesToFetch(fetch)
        guard stores.count > 1 else { return try stores.first?.fetchRows(fetch) ?? [] }
        throw MigrationError(
            .unsupported, "\(fetch.entityName) is in \(stores.count) stores, whose rows cannot be combined.",
            place: fetch.entityName, remedy: "Fetch objects, or fetch from each store separately.")
    }

    /// - Throws: `unknownKey` for an entity that is not in the model, `usage` if no store is open for it.
    private func storesToFetch(_ fetch: ObjectFetch) throws -> [ObjectStore] {
        guard model.entity(fetch.entityName) != nil else { throw noEntity(fetch.entityName) }
        let stores = stores(holding: fetch.entityName, among: fetch.stores)
        guard stores.isEmpty, fetch.stores == nil else { return stores }
        throw noStore(holding: fetch.entityName)
    }

    /// Returns the error for the lack of an open store that holds objects of an entity.
    package func noStore(holding entityName: String) -> MigrationError {
        let retired = lock.withLock { retiredStores.first { $0.shape(of: entityName) != nil } }
        return retired.map(MigrationError.retired)
            ?? MigrationError(
                .usage, "No open store contains \(entityName).", place: entityName,
                remedy: "Add a store whose configuration has the entity.")
    }

    func noEntity(_ name: String) -> MigrationError {
        MigrationError(
            .unknownKey, "The model has no entity \(name).", place: name,
            remedy: "Use one of: \(model.entities.map(\.name).joined(separator: ", ")).")
    }

    /// - Throws: `usage` for an object of a store that is not open here; `storeAhead` if it was closed for a migration.
    private func byStore(_ ids: [ObjectID]) throws -> [(ObjectStore, [ObjectID])] {
        if openStores.count == 1, let only = openStores.first,
            ids.allSatisfy({ $0.store == only.identifier })
        {
            return [(only, ids)]
        }
        var groups: [(ObjectStore, [ObjectID])] = []
        for id in ids where !id.isTemporary {
            if let place = groups.firstIndex(where: { $0.0.identifier == id.store }) {
                groups[place].1.append(id)
            } else {
                groups.append((try store(of: id), [id]))
            }
        }
        return groups
    }

    func store(of id: ObjectID) throws -> ObjectStore { try openStore(id.store, of: id) }

    /// Returns the open store with an identifier, for an object that is or will be in it.
    func openStore(_ identifier: UUID?, of id: ObjectID) throws -> ObjectStore {
        if let store = openStores.first(where: { $0.identifier == identifier }) { return store }
        if let store = retiredStores.first(where: { $0.identifier == identifier }) {
            throw MigrationError.retired(store)
        }
        if let identifier, replaced.contains(identifier) { throw MigrationError.replaced(id) }
        throw MigrationError(
            .objectGone, "\(id) is of a store that is not open here.", place: id.description,
            remedy: "Add its store, or use the context that the object came from.")
    }
}

/// The source of a context's objects: the stores, or a parent context with its unsaved changes.
protocol ObjectSource: AnyObject {
    /// Returns the states of objects, without those whose rows are gone.
    func snapshots(of ids: [ObjectID]) throws -> [ObjectSnapshot]
    func destinations(of relationship: String, owners: [ObjectID]) throws -> [ObjectID: [ObjectID]]
    /// Whether more than one store answers a fetch, so that the combined results must be sorted.
    func isSpread(_ fetch: ObjectFetch) -> Bool
    func fetchIDs(_ fetch: ObjectFetch) throws -> [ObjectID]
    func fetchSnapshots(_ fetch: ObjectFetch) throws -> [ObjectSnapshot]
    func count(_ fetch: ObjectFetch) throws -> Int
}

extension ObjectCoordinator {
    /// Returns the kind of value that the store holds for an attribute or a to-one relationship, such as `a text` or
    /// `NULL`; nil if that is unknown. Errors use it, as they never contain the value itself.
    package func storedKind(_ property: String, of id: ObjectID) -> String? {
        lock.withLock { try? store(of: id).storedKind(property, of: id) }
    }
}

extension ObjectStore {
    fileprivate func storedKind(_ property: String, of id: ObjectID) throws -> String? {
        let entity = try columns(of: id.entityName)
        guard let position = entity.shape.position(of: property) else { return nil }
        let column: String
        switch entity.places[position] {
        case .attribute(let name, _), .toOne(let name, _, _): column = name.quotedName
        case .none, .toMany: return nil
        }
        let kind =
            "CASE typeof(\(column)) WHEN 'null' THEN 'NULL' WHEN 'text' THEN 'a text' WHEN 'integer' THEN 'an integer' "
            + "WHEN 'real' THEN 'a real number' ELSE 'a blob of ' || length(\(column)) || ' bytes' END"
        return try reading {
            try connection.rows(
                "SELECT \(kind) FROM \(entity.table.quotedName) WHERE Z_PK = ?", [.integer(id.key)]
            ) { $0.text(0) }.first ?? nil
        }
    }
}
