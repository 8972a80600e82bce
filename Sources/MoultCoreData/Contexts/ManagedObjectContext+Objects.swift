import MoultBasics
import MoultModel
import MoultObjects

extension ManagedObjectContext {
    // MARK: - Objects by identity

    /// The object of that identity: the one that is held already, or a fault that nothing was read for.
    ///
    /// - Throws: `unknownKey` for an entity that the model has not, `objectGone` for an identity of a store that is not
    ///   open here and for a temporary one of another context.
    public func object(with objectID: ManagedObjectID) throws -> ManagedObject {
        try withLock { try publicObject(try $0.object(with: objectID), as: ManagedObject.self) }
    }

    /// The object of that identity, read from the store.
    ///
    /// - Throws: `objectGone` (133000) where there is none.
    public func existingObject(with objectID: ManagedObjectID) throws -> ManagedObject {
        try withLock { try publicObject(try $0.existingObject(with: objectID), as: ManagedObject.self) }
    }

    /// The object of that identity where the context holds it.
    public func registeredObject(for objectID: ManagedObjectID) -> ManagedObject? {
        notingErrors(nil) { graph in
            try graph.registeredObject(for: objectID).map { try publicObject($0, as: ManagedObject.self) }
        }
    }

    /// All objects that the context holds, faults among them.
    public var registeredObjects: Set<ManagedObject> { publicObjects { $0.registeredObjects } }
    /// The objects that the next save inserts.
    public var insertedObjects: Set<ManagedObject> { publicObjects { $0.insertedObjects } }
    /// The saved objects that the next save changes.
    public var updatedObjects: Set<ManagedObject> { publicObjects { $0.updatedObjects } }
    /// The objects that the next save deletes.
    public var deletedObjects: Set<ManagedObject> { publicObjects { $0.deletedObjects } }

    /// Whether there is anything to save: an object that was inserted, changed or deleted since the last save.
    public var hasChanges: Bool { graphIfAny?.hasChanges ?? false }

    // MARK: - Making and deleting

    /// A new object with its defaults, of the class that is registered for the entity.
    ///
    /// - Throws: `unknownKey` for an entity that the model has not, `usage` for an abstract one.
    @discardableResult
    public func insertNewObject(forEntityName entityName: String) throws -> ManagedObject {
        try withLock { graph in
            let object = try publicObject(try graph.insert(entityName), as: ManagedObject.self)
            object.keepWhileChanged()
            object.awakeFromInsert()
            return object
        }
    }

    /// Deletes an object at the next save, with all that its delete rules lead to.
    ///
    /// - Throws: `usage` for an object of another context.
    public func delete(_ object: ManagedObject) throws {
        try delete(object.object, object)
    }

    func delete(_ stored: Object, _ object: any PublicObject) throws {
        try withLock { graph in
            object.keepWhileChanged()
            object.prepareForDeletion()
            try graph.delete(stored)
        }
    }

    /// Says in which store a new object is to be saved.
    public func assign(_ object: ManagedObject, to store: PersistentStore) throws {
        try withLock { try $0.assign(object.object, to: store.store) }
    }

    /// Gives new objects the identities that they will be saved under.
    public func obtainPermanentIDs(for objects: [ManagedObject]) throws {
        try withLock { try $0.obtainPermanentIDs(for: objects.map(\.object)) }
    }

    // MARK: - Reading again

    /// Has an object read again what the store holds; what was changed here stays, or is given up.
    public func refresh(_ object: ManagedObject, mergeChanges: Bool) throws {
        try withLock { try $0.refresh(object.object, mergingChanges: mergeChanges) }
    }

    /// Refreshes every object of the context; changes stay.
    public func refreshAllObjects() throws { try withLock { try $0.refreshAll() } }

    /// Gives up every change since the last save.
    public func rollback() {
        turn.withLock { registration?.registrar?.forget() }
        notingErrors(()) { $0.rollback() }
        forgetKept()
    }

    /// Forgets every object: those that somebody holds are of no use any more.
    public func reset() {
        turn.withLock { registration?.registrar?.forget() }
        notingErrors(()) { $0.reset() }
        forgetKept()
    }

    /// Follows the delete rules of what was deleted since the last time.
    public func processPendingChanges() throws { try withLock { try $0.processPendingChanges() } }

    // MARK: - Public objects

    /// The public object of a stored one: the one that somebody holds, or a new one of the registered class.
    func publicObject(_ object: Object) throws -> AnyObject { publicObject(object, try coordinator()) }

    func publicObject(_ object: Object, _ coordinator: PersistentStoreCoordinator) -> AnyObject {
        object.publicObject { coordinator.classes.type(for: object.entityName).make(object, in: self) }
    }

    func publicObject(with objectID: ManagedObjectID) throws -> AnyObject {
        try withLock { try publicObject(try $0.object(with: objectID)) }
    }

    /// - Throws: `wrongType` for an object of another class.
    func publicObject<Kind>(_ object: Object, as kind: Kind.Type) throws -> Kind {
        try typed(object, try coordinator())
    }

    /// - Throws: as above.
    func publicObjects<Kind>(_ objects: [Object], as kind: Kind.Type) throws -> [Kind] {
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

    /// Some objects of the context; none where they cannot be had.
    func publicObjects<Kind: Hashable>(_ objects: (ObjectContext) -> [Object]) -> Set<Kind> {
        notingErrors([]) { graph in Set(try publicObjects(objects(graph), as: Kind.self)) }
    }

    /// Lets go of the objects with changes.
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

    // MARK: - Turns

    package func withLock<Result>(_ body: (ObjectContext) throws -> Result) throws -> Result {
        try turn.withLock { try publicErrors { try body(try graph()) } }
    }

    /// Runs what cannot throw; an error is noted and thrown by the next save.
    func notingErrors<Result>(_ fallback: Result, _ body: (ObjectContext) throws -> Result) -> Result {
        do {
            return try withLock(body)
        } catch {
            note(error)
            return fallback
        }
    }

    /// Keeps an error that could not be thrown where it happened, for the next save to throw.
    func note(_ error: any Error) { state.withLock { $0.notedErrors.append(error) } }
}

extension EntityDescription {
    /// A new object of the entity of that name, as `NSEntityDescription` makes it.
    @discardableResult
    public static func insertNewObject(
        forEntityName entityName: String, into context: ManagedObjectContext
    ) throws -> ManagedObject {
        try context.insertNewObject(forEntityName: entityName)
    }

    /// The entity of that name in the context's model; nil if it has none.
    public static func entity(forEntityName name: String, in context: ManagedObjectContext) -> EntityDescription? {
        context.persistentStoreCoordinator?.managedObjectModel.entitiesByName[name]
    }
}

extension ManagedObjectContext {
    /// Returns the results of a request, unsaved changes included; dictionaries are of what is saved only.
    ///
    /// - Throws: `unknownKey` for an entity or key that the model has not; `invalidPredicate`; `fetchUnsupported` for a
    ///   predicate that a store cannot answer, with that part of it; `wrongType` if an object is of another class.
    public func fetch<Result: FetchRequestResult>(_ request: FetchRequest<Result>) throws -> [Result] {
        try withLock { graph in
            let fetch = try objectFetch(request)
            switch request.resultType {
            case .managedObject: return try publicObjects(try graph.fetch(fetch), as: Result.self)
            case .managedObjectID: return try graph.fetchIDs(fetch).compactMap { $0 as? Result }
            case .count: return [try graph.count(fetch)].compactMap { $0 as? Result }
            case .dictionary:
                return try graph.fetchRows(fetch).compactMap { row in
                    try row.compactMapValues { value -> Any? in
                        if case .object(let id) = value { return id }
                        return try value.foundation(in: nil)
                    } as? Result
                }
            }
        }
    }

    /// Returns the number of objects that a request finds, unsaved changes included.
    public func count<Result: FetchRequestResult>(for request: FetchRequest<Result>) throws -> Int {
        try withLock { try $0.count(try objectFetch(request)) }
    }

    /// Calls `body` for each object that a request finds. What is not changed is released batch by batch, so that only
    /// identities, 16 bytes each, stay in memory for long.
    public func enumerate<Result: ManagedObject>(
        _ request: FetchRequest<Result>, _ body: (Result) throws -> Void
    ) throws {
        try withLock { graph in
            try graph.forEachObject(try objectFetch(request)) { object in
                try body(try publicObject(object, as: Result.self))
            }
        }
    }

    /// The request that the model keeps under a name, with values for its predicate's variables.
    ///
    /// - Throws: `unknownKey` if the model has none of that name.
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

    // MARK: - Parts

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
