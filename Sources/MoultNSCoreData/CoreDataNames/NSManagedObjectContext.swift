import Foundation
import MoultCoreData
import MoultModel
import MoultObjects
import Synchronization

/// The queue type of a context, with Core Data's numbers. Both types behave alike on Linux.
public enum NSManagedObjectContextConcurrencyType: UInt, Sendable {
    case privateQueueConcurrencyType = 1
    case mainQueueConcurrencyType = 2
}

/// A set of objects that are read, changed and saved together.
open class NSManagedObjectContext: NSObject, PublicContext, @unchecked Sendable {
    let base: ManagedObjectContext
    /// The queue type that the context was created with.
    public let concurrencyType: NSManagedObjectContextConcurrencyType
    /// The app's own annotations.
    public let userInfo = NSMutableDictionary()
    private var saves: (any NSObjectProtocol)?
    /// Keeps the coordinator or the parent alive as long as the context.
    private var standing: (coordinator: NSPersistentStoreCoordinator?, parent: NSManagedObjectContext?) = (nil, nil)
    /// The running migration that provides the context's objects.
    weak var migration: PolicyBridge?
    /// The nesting depth of the running `perform` blocks.
    var turns = 0
    /// All objects the context has returned, if it keeps them; nil otherwise.
    var retained: Set<NSManagedObject>?
    /// The objects changed since the last change notification.
    private var touched: [NSManagedObject] = []
    private var announced: (inserted: Set<NSManagedObject>, deleted: Set<NSManagedObject>) = ([], [])

    /// The queue types, in the newer spelling.
    public typealias ConcurrencyType = ManagedObjectContext.ConcurrencyType

    /// Creates a context that needs a coordinator or a parent before use.
    public init(concurrencyType type: NSManagedObjectContextConcurrencyType) {
        base = ManagedObjectContext(type == .mainQueueConcurrencyType ? .mainQueue : .privateQueue)
        concurrencyType = type
        super.init()
        base.publicContext = self
        saves = NotificationCenter.default.addObserver(
            forName: Self.didSaveObjectIDsNotification, object: nil, queue: nil
        ) { [weak self] notification in self?.takeIn(notification) }
    }

    /// Creates a context that needs a coordinator or a parent before use.
    public convenience init(_ type: ConcurrencyType) {
        self.init(concurrencyType: type == .mainQueue ? .mainQueueConcurrencyType : .privateQueueConcurrencyType)
    }

    deinit { if let saves { NotificationCenter.default.removeObserver(saves) } }

    // MARK: - Coordinator and parent

    /// The coordinator whose stores the context reads and writes.
    open var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
        get { standing.coordinator ?? standing.parent?.persistentStoreCoordinator }
        set {
            standing = (newValue, nil)
            base.persistentStoreCoordinator = newValue?.base
        }
    }

    /// The context from which this one reads and to which it saves.
    open var parent: NSManagedObjectContext? {
        get { standing.parent }
        set {
            standing = (nil, newValue)
            base.parent = newValue?.base
        }
    }

    // MARK: - Settings

    /// The merge policy, a ``NSMergePolicy``.
    open var mergePolicy: Any {
        get { base.mergePolicy }
        set {
            guard let policy = newValue as? NSMergePolicy else {
                raise("NSManagedObjectContext.mergePolicy", "\(newValue) is no NSMergePolicy.")
            }
            base.mergePolicy = policy
        }
    }
    /// The name of the context in persistent history.
    open var name: String? {
        get { base.name }
        set { base.name = newValue }
    }
    /// The transaction author that persistent history records for a save.
    open var transactionAuthor: String? {
        get { base.transactionAuthor }
        set { base.transactionAuthor = newValue }
    }
    /// Whether the context merges saves of other contexts as they happen.
    open var automaticallyMergesChangesFromParent: Bool {
        get { base.automaticallyMergesChangesFromParent }
        set { base.automaticallyMergesChangesFromParent = newValue }
    }
    /// The undo manager that registers the changes in this context; nil, the default, for no undo.
    ///
    /// Changes are registered by ``processPendingChanges()``, and whenever the manager opens, closes or runs a group.
    /// The manager's event group ends with each `perform`. ``rollback()`` and ``reset()`` clear the undo history.
    open var undoManager: UndoManager? {
        get { base.undoManager }
        set { base.undoManager = newValue }
    }
    /// Undoes the last group of changes.
    open func undo() { base.undo() }
    /// Redoes the last undone group of changes.
    open func redo() { base.redo() }
    /// Whether the context keeps every object that it has returned, until ``reset()``. The default is false: it keeps
    /// only objects with changes.
    open var retainsRegisteredObjects: Bool {
        get { base.turn.withLock { retained != nil } }
        set { base.turn.withLock { retained = newValue ? registeredObjects : nil } }
    }
    /// Whether an object whose row no longer exists reads as nil values, which is the default. Otherwise reading it
    /// ends the program.
    open var shouldDeleteInaccessibleFaults = true
    /// Called when the row of an object no longer exists. Returns whether the object then reads as nil values, by
    /// default ``shouldDeleteInaccessibleFaults``.
    open func shouldHandleInaccessibleFault(
        _ fault: NSManagedObject, for oid: NSManagedObjectID, triggeredByProperty property: NSPropertyDescription?
    ) -> Bool { shouldDeleteInaccessibleFaults }
    /// Whether the delete rules of a deleted object are followed at the end of the event. It has no effect: they are
    /// followed before the next access to what they change.
    open var propagatesDeletesAtEndOfEvent = true
    /// The number of seconds that cached values stay valid; negative, the default, for ever. It has no effect: there is
    /// no cache between a context and its store, and a fault is always filled from the store.
    open var stalenessInterval: TimeInterval = -1

    // MARK: - Saving

    /// Whether there is anything to save.
    open var hasChanges: Bool { base.hasChanges }

    /// Saves every change to the stores, or to the parent context.
    ///
    /// - Throws: an `NSError` of the Cocoa domain with Core Data's number and Moult's own error as the underlying
    ///   error.
    open func save() throws {
        try base.turn.withLock {
            processPendingChanges()
            var changes: [AnyHashable: Any] = [:]
            var hadChanges = false
            try cocoaErrors(in: self) {
                // Throws what kept the pending changes from being processed.
                try base.processPendingChanges()
                try saved {
                    hadChanges = hasChanges
                    changes = [
                        NSInsertedObjectsKey: insertedObjects, NSUpdatedObjectsKey: updatedObjects,
                        NSDeletedObjectsKey: deletedObjects,
                    ]
                }
            }
            forget()
            guard hadChanges else { return }
            NotificationCenter.default.post(name: Self.didSaveObjectsNotification, object: self, userInfo: changes)
        }
    }

    /// Saves. A custom policy receives the conflicts before the policy of its kind is applied.
    private func saved(_ prepared: () -> Void) throws {
        let policy = base.mergePolicy
        guard policy.isSubclass else { return try base.save(prepared) }
        base.graphIfAny?.mergePolicy = .error
        defer { base.graphIfAny?.mergePolicy = policy.policy }
        do {
            try base.save(prepared)
        } catch let error as ManagedObjectMergeError {
            try policy.resolve(mergeConflicts: error.conflicts(in: self))
            base.graphIfAny?.mergePolicy = policy.policy
            try base.save(prepared)
        }
    }

    /// Discards every change since the last save.
    open func rollback() {
        let changed = updatedObjects.union(deletedObjects)
        base.rollback()
        forget()
        for object in changed { object.awake(fromSnapshotEvents: .rollback) }
        announce([NSInvalidatedAllObjectsKey: []])
    }

    /// Forgets every object.
    open func reset() {
        base.reset()
        forget()
        if retained != nil { retained = [] }
        announce([NSInvalidatedAllObjectsKey: []])
    }

    private func forget() {
        base.turn.withLock {
            forgetTouched()
            announced = ([], [])
        }
        base.graphIfAny?.endEvent()
    }

    // MARK: - Changes

    /// Keeps a changed object until the next save, and notes the change.
    func note(_ object: NSManagedObject) {
        guard !object.isKept || !object.isTouched else { return }
        base.turn.withLock {
            object.keepWhileChanged()
            guard !object.isTouched else { return }
            object.isTouched = true
            touched.append(object)
        }
    }

    private func forgetTouched() {
        for object in touched { (object.isTouched, object.isLeaving) = (false, false) }
        touched = []
    }

    /// Whether there are changes to save, or an object was deleted before its first save.
    var hasUnannouncedChanges: Bool { hasChanges || touched.contains(where: \.isLeaving) }

    /// Applies delete rules, and posts the changes since the last call. Rules that cannot be applied, because the store
    /// cannot be read, are applied later; until then, ``save()`` throws the error.
    open func processPendingChanges() {
        base.turn.withLock {
            try? base.processPendingChanges()
            // Only what the event has changed: a context may hold many changes, and process them often.
            let changed = base.publicObjects(\.changedInEvent).union(touched)
            let inserted = changed.filter(\.isInserted)
            let deleted = changed.filter { $0.storedObject?.isDeleted == true }
            // An object that was never saved is not among the deleted ones.
            let left = touched.filter { $0.isLeaving && announced.inserted.contains($0) }
            let newlyInserted = inserted.filter { !announced.inserted.contains($0) }
            let newlyDeleted = deleted.filter { !announced.deleted.contains($0) }.union(left)
            let updated = changed.filter { !$0.isLeaving && $0.storedObject?.isDetached != true }
                .subtracting(newlyInserted).subtracting(deleted)
            announced.inserted.subtract(changed)
            announced.inserted.formUnion(inserted)
            announced.deleted.subtract(changed)
            announced.deleted.formUnion(deleted)
            var changes: [AnyHashable: Any] = [:]
            if !newlyInserted.isEmpty { changes[NSInsertedObjectsKey] = newlyInserted }
            if !updated.isEmpty { changes[NSUpdatedObjectsKey] = updated }
            if !newlyDeleted.isEmpty { changes[NSDeletedObjectsKey] = newlyDeleted }
            forgetTouched()
            if !changes.isEmpty { announce(changes) }
            base.graphIfAny?.endEvent()
        }
    }

    /// Notes the objects that an undo or redo has changed.
    package func takeIn(_ changed: [(AnyObject, ChangeStep.Reversal)]) {
        for case (let object as NSManagedObject, let reversal) in changed {
            note(object)
            if reversal == .deletion { object.isLeaving = false }
            object.awake(fromSnapshotEvents: reversal.event)
        }
    }

    func announce(_ changes: [AnyHashable: Any]) {
        NotificationCenter.default.post(name: Self.didChangeObjectsNotification, object: self, userInfo: changes)
    }

    // MARK: - Calls and events

    /// Runs a block asynchronously on another thread, with exclusive access to the context.
    open func perform(_ block: @escaping () -> Void) { enqueue(block) }

    /// Executes a batch request, a persistent history request, or an asynchronous fetch.
    ///
    /// - Throws: an `NSError` of the Cocoa domain.
    @discardableResult
    open func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult { try executed(request) }

    /// Merges the changes that another context has saved, by the keys of the notification. Properties changed in this
    /// context keep their values.
    open func mergeChanges(fromContextDidSave notification: Notification) {
        Self.mergeChanges(fromRemoteContextSave: notification.userInfo ?? [:], into: [self])
    }

    // MARK: - Objects

    /// Adds an object that was created without a context, or takes back its deletion, as far as its delete rules have
    /// changed nothing else. Does nothing to an object whose deletion was saved, or whose context was reset or is gone.
    open func insert(_ object: NSManagedObject) {
        if let stored = object.storedObject {
            if orRaise("NSManagedObjectContext.insert(_:)", { try base.withLock { try $0.insertAgain(stored) } }) {
                object.isLeaving = false
                note(object)
                for (key, value) in object.takeLate() { object.setValue(value, forKey: key) }
            } else if let other = object.managedObjectContext, other !== self {
                raise("NSManagedObjectContext.insert(_:)", "The object is in another context already.")
            }
        } else if let detached = object.detached, let entity = detached.entity {
            object.move(to: newHandle(entity.name ?? "", as: detached.objectID))
            show(object)
        } else {
            raise("NSManagedObjectContext.insert(_:)", "The object has no entity.")
        }
    }

    /// Marks an object for deletion at the next save, along with the objects that its delete rules cascade to. Does
    /// nothing to an object whose deletion was saved, or whose context was reset or is gone.
    open func delete(_ object: NSManagedObject) {
        if let stored = object.storedObject, stored.context == nil { return }
        _ = object.takeLate()
        orRaise("NSManagedObjectContext.delete(_:)") {
            let stored = try stored(object)
            note(object)
            let isNew = stored.isInserted
            try base.delete(stored, object)
            if isNew { object.isLeaving = true }
        }
    }

    /// Returns the object with the given identity without reading the store: always an object, which is deleted once an
    /// access finds no row. The temporary identity that an object of this context had before its save leads to it.
    open func object(with objectID: NSManagedObjectID) -> NSManagedObject {
        orRaise("NSManagedObjectContext.object(with:)") {
            try base.withLock { graph in
                try base.publicObject(try graph.object(with: objectID, always: true), as: NSManagedObject.self)
            }
        }
    }

    /// Returns the object with the given identity, read from the store.
    ///
    /// - Throws: 133000 if there is no such object.
    open func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
        try cocoaErrors {
            let object = try existing(objectID)
            try object.access {}
            return object
        }
    }

    /// Returns the object with the given identity if it is registered with the context; nil otherwise.
    open func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
        base.notingErrors(nil) { graph in
            try graph.registeredObject(for: objectID).map { try base.publicObject($0, as: NSManagedObject.self) }
        }
    }

    /// All objects registered with the context.
    open var registeredObjects: Set<NSManagedObject> { base.publicObjects(\.registeredObjects) }
    /// The objects that the next save will insert.
    open var insertedObjects: Set<NSManagedObject> { base.publicObjects(\.insertedObjects) }
    /// The saved objects that the next save will update.
    open var updatedObjects: Set<NSManagedObject> { base.publicObjects(\.updatedObjects) }
    /// The objects that the next save will delete.
    open var deletedObjects: Set<NSManagedObject> { base.publicObjects(\.deletedObjects) }

    /// Assigns a new object to the store in which it will be saved.
    open func assign(_ object: Any, to store: NSPersistentStore) {
        orRaise("NSManagedObjectContext.assign(_:to:)") {
            let stored = try stored(object as? NSManagedObject)
            try base.withLock { try $0.assign(stored, to: store.base.store) }
        }
    }

    /// Gives new objects their permanent identities before they are saved.
    open func obtainPermanentIDs(for objects: [NSManagedObject]) throws {
        try cocoaErrors {
            try base.withLock { try $0.obtainPermanentIDs(for: objects.compactMap(\.storedObject)) }
        }
    }

    /// Rereads an object from the store. Unsaved changes are kept if `mergeChanges` is true, and discarded otherwise.
    /// An object without changes turns into a fault.
    open func refresh(_ object: NSManagedObject, mergeChanges: Bool) {
        guard let stored = object.storedObject else { return }
        let becomesFault = !mergeChanges || !object.hasChanges
        if becomesFault { object.willTurnIntoFault() }
        orRaise("NSManagedObjectContext.refresh(_:mergeChanges:)") {
            try base.withLock { try $0.refreshIfThere(stored, mergingChanges: mergeChanges) }
        }
        if !stored.isDeleted { base.turn.withLock { _ = announced.deleted.remove(object) } }
        if becomesFault { object.didTurnIntoFault() }
        announce([NSRefreshedObjectsKey: Set([object])])
    }

    /// Refreshes every object of the context, and keeps unsaved changes. Objects without changes turn into faults.
    open func refreshAllObjects() {
        let all = registeredObjects
        orRaise("NSManagedObjectContext.refreshAllObjects()") {
            try base.withLock { graph in
                for object in graph.registeredObjects { try graph.refreshIfThere(object, mergingChanges: true) }
            }
        }
        announce([NSRefreshedObjectsKey: all])
    }

    /// Marks an object as changed, so that the save detects conflicts.
    open func detectConflicts(for object: NSManagedObject) { note(object) }
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
