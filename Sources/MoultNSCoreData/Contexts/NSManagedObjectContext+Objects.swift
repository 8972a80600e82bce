import Foundation
import MoultBasics
import MoultCoreData
import MoultModel
import MoultObjects

extension NSManagedObjectContext {
    /// Adds an object that was made without a context.
    public func insert(_ object: NSManagedObject) {
        guard let entity = object.entityIfDetached else {
            if object.managedObjectContext === self { return }
            raise("NSManagedObjectContext.insert(_:)", "The object is in another context already.")
        }
        let made = makeBase(entity.name ?? "")
        object.move(to: made)
        show(object, of: made)
    }

    /// Deletes an object at the next save, with all that its delete rules lead to.
    public func delete(_ object: NSManagedObject) {
        orRaise("NSManagedObjectContext.delete(_:)") {
            guard let base = object.base else {
                throw MigrationError(.usage, "The object is in no context.", remedy: "Insert it first.")
            }
            note(object)
            try self.base.delete(base)
        }
    }

    /// The object of that identity; nothing is read for it.
    public func object(with objectID: NSManagedObjectID) -> NSManagedObject {
        orRaise("NSManagedObjectContext.object(with:)") { try face(try base.object(with: objectID)) }
    }

    /// The object of that identity, read from the store.
    ///
    /// - Throws: 133000 where there is none.
    public func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
        try cocoaErrors { try face(try base.existingObject(with: objectID)) }
    }

    /// The object of that identity where the context holds it.
    public func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
        (base.registeredObject(for: objectID) as? ObjectBase)?.face
    }

    /// All objects that the context holds.
    public var registeredObjects: Set<NSManagedObject> { faces(base.registeredObjects) }
    /// The objects that the next save inserts.
    public var insertedObjects: Set<NSManagedObject> { faces(base.insertedObjects) }
    /// The saved objects that the next save changes.
    public var updatedObjects: Set<NSManagedObject> { faces(base.updatedObjects) }
    /// The objects that the next save deletes.
    public var deletedObjects: Set<NSManagedObject> { faces(base.deletedObjects) }

    /// Says in which store a new object is to be saved.
    public func assign(_ object: Any, to store: NSPersistentStore) {
        orRaise("NSManagedObjectContext.assign(_:to:)") {
            guard let object = (object as? NSManagedObject)?.base else {
                throw MigrationError(.usage, "The object is in no context.", remedy: "Insert it first.")
            }
            try base.assign(object, to: store.base)
        }
    }

    /// Gives new objects the identities that they will be saved under.
    public func obtainPermanentIDs(for objects: [NSManagedObject]) throws {
        try cocoaErrors { try base.obtainPermanentIDs(for: objects.compactMap(\.base)) }
    }

    /// Has an object read again what the store holds; what was changed here stays, or is given up.
    public func refresh(_ object: NSManagedObject, mergeChanges: Bool) {
        guard let base = object.base else { return }
        if !mergeChanges { object.willTurnIntoFault() }
        orRaise("NSManagedObjectContext.refresh(_:mergeChanges:)") {
            try self.base.refresh(base, mergeChanges: mergeChanges)
        }
        if !mergeChanges { object.didTurnIntoFault() }
        announce([NSRefreshedObjectsKey: Set([object])])
    }

    /// Refreshes every object of the context; changes stay.
    public func refreshAllObjects() {
        let all = registeredObjects
        orRaise("NSManagedObjectContext.refreshAllObjects()") { try base.refreshAllObjects() }
        announce([NSRefreshedObjectsKey: all])
    }

    /// Refreshes an object that was changed, to detect conflicts at the save.
    public func detectConflicts(for object: NSManagedObject) { note(object) }

    func face(_ object: ManagedObject) throws -> NSManagedObject {
        if let object = object as? ObjectBase { return object.face }
        throw MigrationError(
            .usage, "\(object) belongs to a context of MoultCoreData.",
            remedy: "Open the store with a NSPersistentStoreCoordinator.")
    }

    func faces(_ objects: Set<ManagedObject>) -> Set<NSManagedObject> {
        Set(objects.compactMap { ($0 as? ObjectBase)?.face })
    }
}
