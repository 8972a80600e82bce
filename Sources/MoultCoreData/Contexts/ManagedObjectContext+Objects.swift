import MoultBasics
import MoultModel
import MoultObjects

extension ManagedObjectContext {
    // MARK: - Objects by identity

    /// Returns the object with the given identity: the registered object, or a fault created without reading the store.
    ///
    /// - Throws: `unknownKey` for an entity that the model does not have, `objectGone` for an identity of a store that
    ///   is not open here, or for a temporary identity of another context.
    public func object(with objectID: ManagedObjectID) throws -> ManagedObject {
        try withLock { try publicObject(try $0.object(with: objectID), as: ManagedObject.self) }
    }

    /// Returns the object with the given identity, read from the store.
    ///
    /// - Throws: `objectGone` (133000) if there is no such object.
    public func existingObject(with objectID: ManagedObjectID) throws -> ManagedObject {
        let object = try withLock { try publicObject(try $0.existingObject(with: objectID), as: ManagedObject.self) }
        try object.access {}
        return object
    }

    /// Returns the object with the given identity if it is registered with the context; nil otherwise.
    public func registeredObject(for objectID: ManagedObjectID) -> ManagedObject? {
        notingErrors(nil) { graph in
            try graph.registeredObject(for: objectID).map { try publicObject($0, as: ManagedObject.self) }
        }
    }

    /// All objects registered with the context, including faults.
    public var registeredObjects: Set<ManagedObject> { publicObjects { $0.registeredObjects } }
    /// The objects that the next save will insert.
    public var insertedObjects: Set<ManagedObject> { publicObjects { $0.insertedObjects } }
    /// The saved objects that the next save will update.
    public var updatedObjects: Set<ManagedObject> { publicObjects { $0.updatedObjects } }
    /// The objects that the next save will delete.
    public var deletedObjects: Set<ManagedObject> { publicObjects { $0.deletedObjects } }

    /// Whether there is anything to save: an object inserted, changed or deleted since the last save, or a value that
    /// could not be read, so that the save throws.
    public var hasChanges: Bool { graphIfAny.map { $0.hasChanges || $0.hasFailedReads } ?? false }

    // MARK: - Creating and deleting

    /// Creates an object with default values, of the class registered for the entity.
    ///
    /// - Throws: `unknownKey` for an entity that the model does not have, `usage` for an abstract entity.
    @discardableResult
    public func insertNewObject(forEntityName entityName: String) throws -> ManagedObject {
        try withLock { graph in
            let object = try publicObject(try graph.insert(entityName), as: ManagedObject.self)
            object.keepWhileChanged()
            object.awakeFromInsert()
            return object
        }
    }

    /// Marks an object for deletion at the next save, along with the objects that its delete rules cascade to.
    ///
    /// - Throws: `usage` for an object of another context.
    public func delete(_ object: ManagedObject) throws {
        try delete(object.object, object)
    }

    package func delete(_ stored: Object, _ object: any PublicObject) throws {
        try withLock { graph in
            object.keepWhileChanged()
            object.prepareForDeletion()
            try graph.delete(stored)
        }
    }

    /// Assigns a new object to the store in which it will be saved.
    public func assign(_ object: ManagedObject, to store: PersistentStore) throws {
        try withLock { try $0.assign(object.object, to: store.store) }
    }

    /// Gives new objects their permanent identities before they are saved.
    public func obtainPermanentIDs(for objects: [ManagedObject]) throws {
        try withLock { try $0.obtainPermanentIDs(for: objects.map(\.object)) }
    }

    // MARK: - Refreshing

    /// Rereads an object from the store. Unsaved changes are kept if `mergeChanges` is true, and discarded otherwise.
    public func refresh(_ object: ManagedObject, mergeChanges: Bool) throws {
        try withLock { try $0.refresh(object.object, mergingChanges: mergeChanges) }
    }

    /// Refreshes every object of the context, and keeps unsaved changes.
    public func refreshAllObjects() throws { try withLock { try $0.refreshAll() } }

    /// Discards every change since the last save.
    public func rollback() {
        turn.withLock { registration?.registrar?.forget() }
        notingErrors(()) { $0.rollback() }
        forgetKept()
    }

    /// Forgets every object. Objects that the app still references become unusable.
    public func reset() {
        turn.withLock { registration?.registrar?.forget() }
        notingErrors(()) { $0.reset() }
        forgetKept()
    }

    /// Applies the delete rules of the objects deleted since the last call.
    public func processPendingChanges() throws { try withLock { try $0.processPendingChanges() } }

    // MARK: - Public objects

    /// Returns the public object of a stored one: the existing one if it is still referenced, or else a new one of the
    /// registered class.
    func publicObject(_ object: Object) throws -> AnyObject { publicObject(object, try coordinator()) }

    func publicObject(_ object: Object, _ coordinator: PersistentStoreCoordinator) -> AnyObject {
        object.publicObject { coordinator.classes.type(for: object.entityName).make(object, in: self) }
    }

    func publicObject(with objectID: ManagedObjectID) throws -> AnyObject {
        try withLock { try publicObject(try $0.object(with: objectID)) }
    }

    /// - Throws: `wrongType` for an object of another class.
    package func publicObject<Kind>(_ object: Object, as kind: Kind.Type) throws -> Kind {
        try typed(object, try coordinator())
    }

    /// - Throws: `wrongType` for an object of another class.
    package func publicObjects<Kind>(_ objects: [Object], as kind: Kind.Type) throws -> [Kind] {
        let coordinator = try coordinator()
        return try coordinator.objects.lock.withLock {
            try objects.map { object throws in try typed(object, coordinator) }
        }
    }

    private func typed<Kind>(_ object: Object, _ coordinator: PersistentStoreCoordinator) throws -> Kind {
        let found = publicObject(object, coordinator)
        if let typed = found as? Kind { return typed }
        throw MigrationError.wrongClass(found, of: object.id, Kind.self, place: object.entityName)
    }

    /// Returns some objects of the context; an empty set if they cannot be obtained.
    package func publicObjects<Kind: Hashable>(_ objects: (ObjectContext) -> [Object]) -> Set<Kind> {
        notingErrors([]) { graph in Set(try publicObjects(objects(graph), as: Kind.self)) }
    }

    /// Releases the objects with changes.
    func releaseKept() {
        turn.withLock {
            for object in kept { object.isKept = false }
            kept = []
        }
    }

    private func forgetKept() {
        releaseKept()
        state.withLock { $0.notedErrors = [] }
    }

    // MARK: - Exclusive access

    package func withLock<Result>(_ body: (ObjectContext) throws -> Result) throws -> Result {
        try turn.withLock { try publicErrors { try body(try graph()) } }
    }

    /// Runs code from a call that cannot throw. An error is kept, and the next save throws it.
    package func notingErrors<Result>(_ fallback: Result, _ body: (ObjectContext) throws -> Result) -> Result {
        do {
            return try withLock(body)
        } catch {
            note(error)
            return fallback
        }
    }

    /// Keeps an error that could not be thrown where it occurred. The next save throws it.
    package func note(_ error: any Error) { state.withLock { $0.notedErrors.append(error) } }
}

extension EntityDescription {
    /// Creates an object of the named entity, as `NSEntityDescription` does.
    @discardableResult
    public static func insertNewObject(
        forEntityName entityName: String, into context: ManagedObjectContext
    ) throws -> ManagedObject {
        try context.insertNewObject(forEntityName: entityName)
    }

    /// Returns the named entity in the context's model; nil if there is none.
    public static func entity(forEntityName name: String, in context: ManagedObjectContext) -> EntityDescription? {
        context.persistentStoreCoordinator?.managedObjectModel.entitiesByName[name]
    }
}

extension ManagedObjectContext {
    /// Returns the results of a request, including unsaved changes. Dictionary results contain only saved values.
    ///
    /// - Throws: `unknownKey` for an entity or key that the model does not have; `invalidPredicate`; `fetchUnsupported`
    ///   for a predicate that a store cannot evaluate, naming the part at fault; `wrongType` if an object is of another
    ///   class.
    public func fetch<Result: FetchRequestResult>(_ request: FetchRequest<Result>) throws -> [Result] {
        try withLock { graph in
            let fetch = try objectFetch(request)
            switch request.resultType {
            case .managedObject: return try publicObjects(try graph.fetch(fetch), as: Result.self)
            case .managedObjectID: return try graph.fetchIDs(fetch).compactMap { $0 as? Result }
            case .count: return [try graph.count(fetch)].compactMap { $0 as? Result }
            case .dictionary:
                return try graph.fetchRows(fetch).compactMap { row in
                    try row.compactMapValues { value in
                        if case .object(let id) = value { return id }
                        return try value.foundation(in: nil)
                    } as? Result
                }
            }
        }
    }

    /// Returns the number of objects that match a request, including unsaved changes.
    public func count<Result: FetchRequestResult>(for request: FetchRequest<Result>) throws -> Int {
        try withLock { try $0.count(try objectFetch(request)) }
    }

    /// Calls `body` for each object that matches a request. Unchanged objects are released batch by batch, so only
    /// their identities, 16 bytes each, stay in memory.
    public func enumerate<Result: ManagedObject>(
        _ request: FetchRequest<Result>, _ body: (Result) throws -> Void
    ) throws {
        try withLock { graph in
            try graph.forEachObject(try objectFetch(request)) { object in
                try body(try publicObject(object, as: Result.self))
            }
        }
    }

    /// Returns the model's fetch request template with the given name, with values for its predicate's variables.
    ///
    /// - Throws: `unknownKey` if the model has no template with that name.
    public func fetchRequestFromTemplate<Result: FetchRequestResult>(
        withName name: String, substitutionVariables variables: [String: Any?] = [:],
        resultType: Result.Type = ManagedObject.self
    ) throws -> FetchRequest<Result> {
        let templates = try coordinator().managedObjectModel.fetchRequestTemplates
        guard let template = templates.first(where: { $0.name == name }) else {
            throw MigrationError(
                .unknownKey, "The model has no fetch request named \(name).", place: name,
                remedy: "It has: \(templates.map(\.name).joined(separator: ", ")).")
        }
        var request = FetchRequest<Result>(entityName: template.entityName)
        request.predicate = try template.predicate.map {
            try FetchPredicate(format: $0).withSubstitutionVariables(variables)
        }
        request.fetchLimit = template.options["fetchLimit"].flatMap { Int($0) } ?? 0
        return request
    }

    // MARK: - Helpers

    func objectFetch<Result: FetchRequestResult>(_ request: FetchRequest<Result>) throws -> ObjectFetch {
        let coordinator = try coordinator()
        let model = coordinator.managedObjectModel
        let type = Result.self as? ManagedObject.Type
        if let name = request.entityName {
            if let type { coordinator.classes.registerIfNone(type, entity: name) }
            return request.fetch(of: name, model: model)
        }
        let name = try coordinator.classes.entityName(for: type ?? ManagedObject.self)
        if let type { coordinator.classes.registerIfNone(type, entity: name) }
        return request.fetch(of: name, model: model)
    }
}
