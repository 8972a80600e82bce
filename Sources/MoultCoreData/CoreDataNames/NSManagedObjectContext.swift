import Foundation
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
            let changes: [AnyHashable: Any] = [
                NSInsertedObjectsKey: insertedObjects, NSUpdatedObjectsKey: updatedObjects,
                NSDeletedObjectsKey: deletedObjects,
            ]
            let hadChanges = hasChanges
            try cocoaErrors(in: self) { try saved() }
            forget()
            guard hadChanges else { return }
            NotificationCenter.default.post(name: Self.didSaveObjectsNotification, object: self, userInfo: changes)
        }
    }

    /// Saves. A custom policy receives the conflicts before the policy of its kind is applied.
    private func saved() throws {
        let policy = base.mergePolicy
        guard policy.isSubclass else { return try base.save() }
        base.graphIfAny?.mergePolicy = .error
        defer { base.graphIfAny?.mergePolicy = policy.policy }
        do {
            try base.save()
        } catch let error as ManagedObjectMergeError {
            try policy.resolve(mergeConflicts: error.conflicts(in: self))
            base.graphIfAny?.mergePolicy = policy.policy
            try base.save()
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

    /// Applies delete rules, and posts the changes since the last call.
    public func processPendingChanges() {
        base.turn.withLock {
            orRaise("NSManagedObjectContext.processPendingChanges()") { try base.processPendingChanges() }
            let (inserted, deleted) = (insertedObjects, deletedObjects)
            // An object that was never saved is not among the deleted ones.
            let left = touched.filter { $0.isLeaving && announced.inserted.contains($0) }
            let (newlyInserted, newlyDeleted) = (
                inserted.subtracting(announced.inserted), deleted.subtracting(announced.deleted).union(left)
            )
            let changed: Set<NSManagedObject> = base.publicObjects(\.changedInEvent)
            let updated = changed.union(touched).filter { !$0.isLeaving }.subtracting(newlyInserted)
                .subtracting(deleted)
            announced = (inserted, deleted)
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
    func takeIn(_ changed: [(AnyObject, ChangeStep.Reversal)]) {
        for case (let object as NSManagedObject, let reversal) in changed {
            note(object)
            if reversal == .deletion { object.isLeaving = false }
            object.awake(fromSnapshotEvents: reversal.event)
        }
    }

    func announce(_ changes: [AnyHashable: Any]) {
        NotificationCenter.default.post(name: Self.didChangeObjectsNotification, object: self, userInfo: changes)
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
