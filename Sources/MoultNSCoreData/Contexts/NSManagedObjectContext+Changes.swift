import Foundation
import MoultBasics
import MoultCoreData
import MoultObjects

extension NSManagedObjectContext {
    // MARK: - Changes

    /// Keeps an object that has changed until the next save, and takes down that it has.
    func note(_ object: NSManagedObject) {
        base.performAndWait {
            kept.insert(object)
            touched.insert(object)
        }
    }

    /// Follows delete rules, and posts what has changed since the last time.
    public func processPendingChanges() {
        base.performAndWait {
            orRaise("NSManagedObjectContext.processPendingChanges()") { try base.processPendingChanges() }
            let (inserted, deleted) = (insertedObjects, deletedObjects)
            let (newlyInserted, newlyDeleted) = (
                inserted.subtracting(announced.inserted), deleted.subtracting(announced.deleted)
            )
            let updated = touched.union(faces(base.changedInEvent)).subtracting(newlyInserted).subtracting(deleted)
            announced = (inserted, deleted)
            var changes: [AnyHashable: Any] = [:]
            if !newlyInserted.isEmpty { changes[NSInsertedObjectsKey] = newlyInserted }
            if !updated.isEmpty { changes[NSUpdatedObjectsKey] = updated }
            if !newlyDeleted.isEmpty { changes[NSDeletedObjectsKey] = newlyDeleted }
            touched = []
            if !changes.isEmpty { announce(changes) }
            base.endEvent()
        }
    }

    /// Takes down what an undo or redo has changed.
    func takeIn(_ changed: [(ManagedObject, ChangeStep.Reversal)]) {
        for case (let object as ObjectBase, let reversal) in changed {
            note(object.face)
            object.face.awake(fromSnapshotEvents: reversal.event)
        }
    }

    func announce(_ changes: [AnyHashable: Any]) {
        NotificationCenter.default.post(name: Self.didChangeObjectsNotification, object: self, userInfo: changes)
    }

    // MARK: - Making objects

    func makeBase(_ entityName: String) -> ObjectBase {
        base.performAndWait {
            isMakingObject = true
            defer { isMakingObject = false }
            return orRaise("NSEntityDescription.insertNewObject(forEntityName: \"\(entityName)\")") {
                guard let made = try base.insertNewObject(forEntityName: entityName) as? ObjectBase else {
                    throw MigrationError(
                        .usage, "The context has no coordinator of this module.", place: entityName,
                        remedy: "Set persistentStoreCoordinator or parent first.")
                }
                return made
            }
        }
    }

    func show(_ object: NSManagedObject, of made: ObjectBase) {
        base.performAndWait {
            made.show(object)
            note(object)
            object.awakeFromInsert()
        }
    }

    func insertNew(_ entityName: String) -> NSManagedObject {
        if let migration {
            return orRaise("NSEntityDescription.insertNewObject(forEntityName: \"\(entityName)\")") {
                try migration.insert(entityName)
            }
        }
        let made = makeBase(entityName)
        let object = made.face
        show(object, of: made)
        return object
    }

    func entityName(for type: NSManagedObject.Type, call: String) -> String {
        guard let coordinator = persistentStoreCoordinator else {
            raise(call, "The context has neither a coordinator nor a parent.")
        }
        return orRaise(call) { try coordinator.classes.entityName(for: type) }
    }
}

extension ChangeStep.Reversal {
    fileprivate var event: NSSnapshotEventType {
        switch self {
        case .insertion: .undoInsertion
        case .deletion: .undoDeletion
        case .update: .undoUpdate
        }
    }
}
