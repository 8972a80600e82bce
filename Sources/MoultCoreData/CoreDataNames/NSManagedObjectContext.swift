import Foundation
import MoultModel
import MoultObjects
import Synchronization

/// The queue that a context belongs to, with Core Data's numbers. Both work alike on Linux.
public enum NSManagedObjectContextConcurrencyType: UInt, Sendable {
    case privateQueueConcurrencyType = 1
    case mainQueueConcurrencyType = 2
}

/// Objects that are read, changed and saved together.
open class NSManagedObjectContext: NSObject, PublicContext, @unchecked Sendable {
    let base: ManagedObjectContext
    /// The type that the context was made with.
    public let concurrencyType: NSManagedObjectContextConcurrencyType
    /// Notes of the app.
    public let userInfo = NSMutableDictionary()
    private var saves: (any NSObjectProtocol)?
    /// Keeps the coordinator while the context does.
    private var standing: (coordinator: NSPersistentStoreCoordinator?, parent: NSManagedObjectContext?) = (nil, nil)
    /// The running migration whose objects the context has.
    weak var migration: PolicyBridge?
    /// The number of blocks of `perform` that are running, one in another.
    var turns = 0
    /// Every object that was given out, where all are to be kept.
    var retained: Set<NSManagedObject>?
    /// The objects that were touched since the last notification of changes.
    private var touched: [NSManagedObject] = []
    private var announced: (inserted: Set<NSManagedObject>, deleted: Set<NSManagedObject>) = ([], [])

    /// The kinds of contexts, as newer code writes them.
    public typealias ConcurrencyType = ManagedObjectContext.ConcurrencyType

    /// A context that is to be given a coordinator or a parent before it is used.
    public init(concurrencyType type: NSManagedObjectContextConcurrencyType) {
        base = ManagedObjectContext(type == .mainQueueConcurrencyType ? .mainQueue : .privateQueue)
        concurrencyType = type
        super.init()
        base.publicContext = self
        saves = NotificationCenter.default.addObserver(
            forName: Self.didSaveObjectIDsNotification, object: nil, queue: nil
        ) { [weak self] notification in self?.takeIn(notification) }
    }

    /// A context that is to be given a coordinator or a parent before it is used.
    public convenience init(_ type: ConcurrencyType) {
        self.init(concurrencyType: type == .mainQueue ? .mainQueueConcurrencyType : .privateQueueConcurrencyType)
    }

    deinit { if let saves { NotificationCenter.default.removeObserver(saves) } }

    // MARK: - What it stands on

    /// The coordinator whose stores the context reads and writes.
    open var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
        get { standing.coordinator ?? standing.parent?.persistentStoreCoordinator }
        set {
            standing = (newValue, nil)
            base.persistentStoreCoordinator = newValue?.base
        }
    }

    /// The context whose objects this one reads, and into which it saves.
    open var parent: NSManagedObjectContext? {
        get { standing.parent }
        set {
            standing = (nil, newValue)
            base.parent = newValue?.base
        }
    }

    // MARK: - Settings

    /// A ``NSMergePolicy``.
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
    /// Whether saves of other contexts are merged as they happen.
    open var automaticallyMergesChangesFromParent: Bool {
        get { base.automaticallyMergesChangesFromParent }
        set { base.automaticallyMergesChangesFromParent = newValue }
    }
    /// Registers what changes in this context, so that it can be undone and redone; nil, as at first, for no undo.
    ///
    /// Changes are registered by ``processPendingChanges()``, and whenever the manager opens, closes or runs a group. Its
    /// group of an event ends with each `perform`. ``rollback()`` and ``reset()`` forget what could be undone.
    open var undoManager: UndoManager? {
        get { base.undoManager }
        set { base.undoManager = newValue }
    }
    /// Undoes the last group of changes.
    open func undo() { base.undo() }
    /// Does again what was undone last.
    open func redo() { base.redo() }
    /// Whether the context keeps every object that it has given out, until ``reset()``; false at first: only objects with
    /// changes are kept.
    open var retainsRegisteredObjects: Bool {
        get { base.performAndWait { retained != nil } }
        set { base.performAndWait { retained = newValue ? registeredObjects : nil } }
    }
    /// Whether the values of an object whose row is gone are nil, true by default; otherwise reading one ends the
    /// program.
    open var shouldDeleteInaccessibleFaults = true
    /// Always negative: what an object has read does not become stale. A fault is always filled from the store.
    open var stalenessInterval: TimeInterval { -1 }

    // MARK: - Saving

    /// Whether there is anything to save.
    open var hasChanges: Bool { base.hasChanges }

    /// Saves every change: into the stores, or into the parent context.
    ///
    /// - Throws: an `NSError` of the Cocoa domain with Core Data's number; Moult's own error is the underlying one.
    open func save() throws {
        try base.performAndWait {
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

    /// A policy of the app's own sees the conflicts before the kind that it was made with decides.
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

    /// Gives up every change since the last save.
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
        base.performAndWait {
            forgetTouched()
            announced = ([], [])
        }
        base.graphIfAny?.endEvent()
    }

    // MARK: - Changes

    /// Keeps an object that has changed until the next save, and takes down that it has.
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
        for object in touched { object.isTouched = false }
        touched = []
    }

    /// Follows delete rules, and posts what has changed since the last time.
    public func processPendingChanges() {
        base.performAndWait {
            orRaise("NSManagedObjectContext.processPendingChanges()") { try base.processPendingChanges() }
            let (inserted, deleted) = (insertedObjects, deletedObjects)
            let (newlyInserted, newlyDeleted) = (
                inserted.subtracting(announced.inserted), deleted.subtracting(announced.deleted)
            )
            let changed: Set<NSManagedObject> = base.publicObjects(\.changedInEvent)
            let updated = changed.union(touched).subtracting(newlyInserted).subtracting(deleted)
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

    /// Takes down what an undo or redo has changed.
    func takeIn(_ changed: [(AnyObject, ChangeStep.Reversal)]) {
        for case (let object as NSManagedObject, let reversal) in changed {
            note(object)
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
