import MoultModel
import MoultObjects

extension ManagedObjectContext {
    // MARK: - Objects by identity

    /// The object of that identity: the one that is held already, or a fault that nothing was read for.
    ///
    /// - Throws: `unknownKey` for an entity that the model has not, `objectGone` for an identity of a store that is not
    ///   open here and for a temporary one of another context.
    public func object(with objectID: ManagedObjectID) throws -> ManagedObject {
        try inTurn { try face(try $0.object(with: objectID)) }
    }

    /// The object of that identity, read from the store.
    ///
    /// - Throws: `objectGone` (133000) where there is none.
    public func existingObject(with objectID: ManagedObjectID) throws -> ManagedObject {
        try inTurn { try face(try $0.existingObject(with: objectID)) }
    }

    /// The object of that identity where the context holds it.
    public func registeredObject(for objectID: ManagedObjectID) -> ManagedObject? {
        quietly(nil) { graph in try graph.registeredObject(for: objectID).map(face) }
    }

    /// All objects that the context holds, faults among them.
    public var registeredObjects: Set<ManagedObject> { faces { $0.registeredObjects } }
    /// The objects that the next save inserts.
    public var insertedObjects: Set<ManagedObject> { faces { $0.insertedObjects } }
    /// The saved objects that the next save changes.
    public var updatedObjects: Set<ManagedObject> { faces { $0.updatedObjects } }
    /// The objects that the next save deletes.
    public var deletedObjects: Set<ManagedObject> { faces { $0.deletedObjects } }

    /// Whether there is anything to save: an object that was inserted, changed or deleted since the last save.
    public var hasChanges: Bool { graphIfAny?.hasChanges ?? false }

    // MARK: - Making and deleting

    /// A new object with its defaults, of the class that is registered for the entity.
    ///
    /// - Throws: `unknownKey` for an entity that the model has not, `usage` for an abstract one.
    @discardableResult
    public func insertNewObject(forEntityName entityName: String) throws -> ManagedObject {
        try inTurn { graph in
            let object = try face(try graph.insert(entityName))
            object.keepWhileChanged()
            object.awakeFromInsert()
            return object
        }
    }

    /// Deletes an object at the next save, with all that its delete rules lead to.
    ///
    /// - Throws: `usage` for an object of another context.
    public func delete(_ object: ManagedObject) throws {
        try inTurn { graph in
            object.keepWhileChanged()
            object.prepareForDeletion()
            try graph.delete(object.object)
        }
    }

    /// Says in which store a new object is to be saved.
    public func assign(_ object: ManagedObject, to store: PersistentStore) throws {
        try inTurn { try $0.assign(object.object, to: store.store) }
    }

    /// Gives new objects the identities that they will be saved under.
    public func obtainPermanentIDs(for objects: [ManagedObject]) throws {
        try inTurn { try $0.obtainPermanentIDs(for: objects.map(\.object)) }
    }

    // MARK: - Reading again

    /// Has an object read again what the store holds; what was changed here stays, or is given up.
    public func refresh(_ object: ManagedObject, mergeChanges: Bool) throws {
        try inTurn { try $0.refresh(object.object, mergingChanges: mergeChanges) }
    }

    /// Refreshes every object of the context; changes stay.
    public func refreshAllObjects() throws { try inTurn { try $0.refreshAll() } }

    /// Gives up every change since the last save.
    public func rollback() {
        turn.withLock { registration?.registrar?.forget() }
        quietly(()) { $0.rollback() }
        forgetKept()
    }

    /// Forgets every object: those that somebody holds are of no use any more.
    public func reset() {
        turn.withLock { registration?.registrar?.forget() }
        quietly(()) { $0.reset() }
        forgetKept()
    }

    /// Follows the delete rules of what was deleted since the last time.
    public func processPendingChanges() throws { try inTurn { try $0.processPendingChanges() } }

    // MARK: - Faces

    /// The typed face of an object: the one that somebody holds, or a new one of the registered class.
    package func face(_ object: Object) throws -> ManagedObject {
        let coordinator = try coordinator()
        return try graph().perform { face(object, coordinator) }
    }

    func face(_ object: Object, _ coordinator: PersistentStoreCoordinator) -> ManagedObject {
        if let face = object.face as? ManagedObject { return face }
        let type = coordinator.classes.type(for: object.entityName, in: coordinator.managedObjectModel)
        let face = type.init(ManagedObjectHandle(object: object, context: self))
        object.face = face
        return face
    }

    /// The objects that have changed since ``endEvent()``; empty without ``tracksEvents``.
    package var changedInEvent: Set<ManagedObject> { faces(\.changedInEvent) }

    /// Ends an event of the objects' changes.
    package func endEvent() { graphIfAny?.endEvent() }

    private func faces(_ objects: (ObjectContext) -> [Object]) -> Set<ManagedObject> {
        quietly([]) { graph in Set(try objects(graph).map(face)) }
    }

    private func forgetKept() {
        turn.withLock {
            for face in keptFaces { face.isKept = false }
            keptFaces = []
            state.withLock { $0.notedErrors = [] }
        }
    }

    // MARK: - Turns

    package func inTurn<Result>(_ body: (ObjectContext) throws -> Result) throws -> Result {
        try turn.withLock { try publicErrors { try body(try graph()) } }
    }

    /// Runs what cannot throw; an error is noted and thrown by the next save.
    func quietly<Result>(_ fallback: Result, _ body: (ObjectContext) throws -> Result) -> Result {
        do {
            return try inTurn(body)
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
