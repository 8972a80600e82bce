import Foundation
import MoultBasics
import MoultModel
import MoultObjects

extension ManagedObjectContext {
    /// Saves every change to the stores, or to the parent context.
    ///
    /// - Throws: ``ManagedObjectValidationError`` with every violated rule, ``ManagedObjectMergeError`` if the merge
    ///   policy reports conflicts, and `MigrationError` for anything else, including an error in an earlier assignment
    ///   that could not throw. After any error, the changes remain.
    public func save() throws { try save {} }

    /// Saves, and calls `prepared` when all changes are known.
    package func save(_ prepared: () -> Void) throws {
        try withLock { graph in
            try throwNoted()
            // Before the app's code reads the objects, whose rows are gone.
            try graph.checkRows()
            NotificationCenter.default.post(name: Self.willSaveObjectsNotification, object: publicContext ?? self)
            let called = try callWillSave(graph)
            prepared()
            try validate(called, graph)
            state.withLock { $0.isSaving = true }
            defer { state.withLock { $0.isSaving = false } }
            let deleted = called.compactMap(\.storedObject).filter(\.isDeleted)
            try graph.save()
            releaseKept()
            graph.showingDeleted(deleted) { for object in called { object.didSave() } }
        }
    }

    private func throwNoted() throws {
        let noted = state.withLock { state in
            defer { state.notedErrors = [] }
            return state.notedErrors
        }
        if let first = noted.first { throw first }
    }

    /// Calls `willSave` on every changed object of a registered class, and again on those that such calls change in
    /// turn, themselves included, other than by a primitive value.
    ///
    /// - Throws: `usage` if there are still changes after as many rounds as in Core Data.
    private func callWillSave(_ graph: ObjectContext) throws -> [any PublicObject] {
        let coordinator = try coordinator()
        guard coordinator.classes.isUsed else { return [] }
        var called: [any PublicObject] = []
        defer { state.withLock { $0.moments = [:] } }
        for _ in 0..<Self.mostAttempts {
            let changed = graph.insertedObjects + graph.updatedObjects + graph.deletedObjects
            let moments = state.withLock { $0.moments }
            let next = changed.filter { moments[ObjectIdentifier($0)].map($0.hasChanged) ?? true }
            var isDone = true
            for object in next {
                guard let shown = ofOwnClass(object, coordinator) else { continue }
                isDone = false
                let moment = object.moment
                if state.withLock({ $0.moments.updateValue(moment, forKey: ObjectIdentifier(object)) }) == nil {
                    called.append(shown)
                }
                shown.willSave()
            }
            if isDone { return called }
        }
        throw MigrationError(
            .usage,
            "Failed to process pending changes before save. The context is still dirty after \(Self.mostAttempts) attempts.",
            remedy: "In willSave(), set a value only if it differs from the present one, and only as often as needed.")
    }

    private static let mostAttempts = 1000

    /// Notes that a primitive value was set, for which `willSave` is not called again.
    package func notePrimitive(_ key: String, of object: Object) {
        state.withLock { state in
            guard var moment = state.moments[ObjectIdentifier(object)] else { return }
            object.ignore(key, in: &moment)
            state.moments[ObjectIdentifier(object)] = moment
        }
    }

    /// Returns the public object, creating it if needed; nil if its class is not one of the app's.
    private func ofOwnClass(_ object: Object, _ coordinator: PersistentStoreCoordinator) -> (any PublicObject)? {
        let known = object.publicObject as? any PublicObject
        let type = known.map { Swift.type(of: $0) } ?? coordinator.classes.type(for: object.entityName)
        if type == type.base { return nil }
        return known ?? publicObject(object, coordinator) as? any PublicObject
    }

    /// Validates with the app's classes and, if one of them reports a failure, with the model too, so that all failures
    /// are reported together.
    private func validate(_ called: [any PublicObject], _ graph: ObjectContext) throws {
        var failures: [ManagedObjectValidationError.Failure] = []
        state.withLock { $0.isSaving = true }
        graph.withoutNotingReads { for object in called { failures += object.ownFailures() } }
        state.withLock { $0.isSaving = false }
        guard !failures.isEmpty else { return }
        for object in graph.insertedObjects + graph.updatedObjects {
            do {
                try object.validateForUpdate()
            } catch let error as ValidationErrors {
                failures += error.violations.map(ManagedObjectValidationError.Failure.init)
            }
        }
        throw ManagedObjectValidationError(failures: failures)
    }

    /// `NSManagedObjectContextWillSave`
    public static let willSaveObjectsNotification = Notification.Name("NSManagedObjectContextWillSaveNotification")
    /// `NSManagedObjectContextDidSaveObjectIDs`. Its `userInfo` has sets of identities under ``NotificationKey``.
    public static let didSaveObjectIDsNotification = Notification.Name(
        "NSManagedObjectContextDidSaveObjectIDsNotification")

    /// The keys of a notification. Each key of ``ManagedObjectContext/didSaveObjectIDsNotification`` has a
    /// `Set<ManagedObjectID>` as its value.
    public enum NotificationKey: String, Sendable {
        case insertedObjects = "inserted"
        case updatedObjects = "updated"
        case deletedObjects = "deleted"
        case refreshedObjects = "refreshed"
        case invalidatedObjects = "invalidated"
        case invalidatedAllObjects = "invalidatedAll"
        case insertedObjectIDs = "inserted_objectIDs"
        case updatedObjectIDs = "updated_objectIDs"
        case deletedObjectIDs = "deleted_objectIDs"
        case refreshedObjectIDs = "refreshed_objectIDs"
        case invalidatedObjectIDs = "invalidated_objectIDs"
    }

    func postDidSave(_ saved: SavedChanges) {
        NotificationCenter.default.post(
            name: Self.didSaveObjectIDsNotification, object: publicContext ?? self, userInfo: saved.userInfo)
    }

    /// Merges the changes that another context has saved. Properties changed in this context keep their values.
    ///
    /// - Throws: `usage` for any other notification.
    public func mergeChanges(fromContextDidSave notification: Notification) throws {
        guard notification.name == Self.didSaveObjectIDsNotification else {
            throw MigrationError(
                .usage, "\(notification.name.rawValue) does not say what was saved.",
                remedy: "Observe ManagedObjectContext.didSaveObjectIDsNotification.")
        }
        let saved = try SavedChanges(notification.userInfo ?? [:])
        try withLock { try $0.merge(saved) }
    }

    /// Merges the changes made by a batch request or another process.
    ///
    /// - Parameter changes: sets or arrays of identities under ``NotificationKey``.
    public static func mergeChanges(
        fromRemoteContextSave changes: [AnyHashable: Any], into contexts: [ManagedObjectContext]
    ) throws {
        let saved = try SavedChanges(changes)
        for context in contexts { try context.withLock { try $0.merge(saved) } }
    }
}

extension SavedChanges {
    fileprivate typealias Key = ManagedObjectContext.NotificationKey

    fileprivate var userInfo: [AnyHashable: Any] {
        [
            Key.insertedObjectIDs.rawValue: inserted, Key.updatedObjectIDs.rawValue: updated,
            Key.deletedObjectIDs.rawValue: deleted,
        ]
    }

    fileprivate init(_ userInfo: [AnyHashable: Any]) throws {
        self.init(
            inserted: try Self.identities(userInfo, .insertedObjectIDs),
            updated: try Self.identities(userInfo, .updatedObjectIDs),
            deleted: try Self.identities(userInfo, .deletedObjectIDs))
    }

    private static func identities(_ userInfo: [AnyHashable: Any], _ key: Key) throws -> Set<ObjectID> {
        switch userInfo[key.rawValue] ?? userInfo[key] {
        case nil: return []
        case let set as Set<ObjectID>: return set
        case let list as [ObjectID]: return Set(list)
        case let other?:
            throw MigrationError(
                .usage, "\(key.rawValue) holds a \(type(of: other)).", place: key.rawValue,
                remedy: "Give a set or an array of ManagedObjectID.")
        }
    }
}

extension ManagedObjectContext {
    /// Inserts objects from dictionaries in one transaction. If another object already has the same unique values, the
    /// merge policy decides whether the dictionary updates that object or is skipped.
    ///
    /// - Throws: `unknownKey` for an entity or key that the model does not have; `wrongType`; `fetchUnsupported`;
    ///   `readOnly`.
    @discardableResult
    public func execute(_ request: BatchInsertRequest) throws -> BatchResult {
        BatchResult(request.resultType, try insert(request))
    }

    /// Updates properties of all objects that match the request, in one transaction for each store that holds the
    /// entity.
    ///
    /// - Throws: the same errors as for a ``BatchInsertRequest``.
    @discardableResult
    public func execute(_ request: BatchUpdateRequest) throws -> BatchResult {
        var fetch = ObjectFetch(entityName: request.entityName, predicate: request.predicate?.predicate)
        fetch.variables = request.predicate?.variables ?? [:]
        fetch.includesSubentities = request.includesSubentities
        return BatchResult(request.resultType, try update(fetch, request.changes))
    }

    /// Deletes all objects that match the request, in one transaction for each store that holds the entity.
    ///
    /// - Throws: the same errors as for a ``BatchInsertRequest``.
    @discardableResult
    public func execute(_ request: BatchDeleteRequest) throws -> BatchResult {
        BatchResult(request.resultType, try delete(request.fetch))
    }

    /// - Parameter identifiers: the stores to choose from; nil for all.
    package func insert(_ request: BatchInsertRequest, among identifiers: Set<UUID>? = nil) throws -> [ObjectID] {
        let ids = try withLock { graph in
            guard let store = try stores(holding: request.entityName, among: identifiers).first else {
                throw try coordinator().objects.noStore(holding: request.entityName)
            }
            return try store.insertAll(
                request.entityName, request.objects, policy: graph.mergePolicy, author: transactionAuthor,
                contextName: name)
        }
        try coordinator().objects.noteBatch(SavedChanges(inserted: Set(ids)))
        return ids
    }

    package func update(_ fetch: ObjectFetch, _ changes: [String: MoultModel.Expression]) throws -> [ObjectID] {
        let fetch = try fetch.readingNumbers(in: coordinator().managedObjectModel)
        let ids = try withLock { graph in
            var read = fetch
            read.columns = changes.map { ObjectFetch.Column($0.key, $0.value) }
            graph.noteReads(of: read)
            return try stores(holding: fetch.entityName, among: fetch.stores).flatMap {
                try $0.updateAll(fetch, set: changes, author: transactionAuthor, contextName: name)
            }
        }
        try coordinator().objects.noteBatch(SavedChanges(updated: Set(ids)))
        return ids
    }

    package func delete(_ fetch: ObjectFetch) throws -> [ObjectID] {
        let fetch = try fetch.readingNumbers(in: coordinator().managedObjectModel)
        let ids = try withLock { graph in
            graph.noteReads(of: fetch)
            return try stores(holding: fetch.entityName, among: fetch.stores).flatMap {
                try $0.deleteAll(fetch, author: transactionAuthor, contextName: name)
            }
        }
        try coordinator().objects.noteBatch(SavedChanges(deleted: Set(ids)))
        return ids
    }

    /// - Throws: `unknownKey` for an entity that the model does not have.
    private func stores(holding entityName: String, among identifiers: Set<UUID>?) throws -> [ObjectStore] {
        let coordinator = try coordinator()
        guard coordinator.managedObjectModel.entity(entityName) != nil else {
            throw MigrationError(
                .unknownKey, "The model has no entity \(entityName).", place: entityName,
                remedy: "It has: \(coordinator.managedObjectModel.entities.map(\.name).joined(separator: ", ")).")
        }
        let stores = coordinator.objects.stores(holding: entityName, among: identifiers)
        guard !stores.isEmpty || identifiers != nil else { throw coordinator.objects.noStore(holding: entityName) }
        return stores
    }
}

extension BatchDeleteRequest {
    fileprivate var fetch: ObjectFetch {
        var predicate = predicate?.predicate
        if let objectIDs {
            let values = objectIDs.map(ExpressionValue.object)
            predicate = .comparison(.init(.evaluatedObject, .in, .constant(.collection(values))))
        }
        var fetch = ObjectFetch(
            entityName: entityName, predicate: predicate,
            sort: sortDescriptors.map { .init($0.key, isAscending: $0.ascending, options: $0.options.predicateOptions) }
        )
        fetch.variables = self.predicate?.variables ?? [:]
        fetch.includesSubentities = includesSubentities
        fetch.limit = fetchLimit
        fetch.offset = fetchOffset
        return fetch
    }
}
