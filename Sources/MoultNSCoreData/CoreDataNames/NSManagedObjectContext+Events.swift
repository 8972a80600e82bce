// swift-format-ignore-file: AlwaysUseLowerCamelCase
// These are the names of Core Data.

import Dispatch
import Foundation
import MoultCoreData

extension NSManagedObjectContext {
    /// Posted before a save.
    public static let willSaveObjectsNotification = ManagedObjectContext.willSaveObjectsNotification
    /// Posted after a save, with sets of objects under ``NSInsertedObjectsKey`` and the related keys.
    public static let didSaveObjectsNotification = Notification.Name("NSManagingContextDidSaveChangesNotification")
    /// Posted after a save, with sets of identities under ``NSInsertedObjectIDsKey`` and the related keys.
    public static let didSaveObjectIDsNotification = ManagedObjectContext.didSaveObjectIDsNotification
    /// Posted after changes were merged, with sets of identities.
    public static let didMergeChangesObjectIDsNotification = Notification.Name(
        "NSManagedObjectContextDidMergeChangesObjectIDsNotification")
    /// Posted by ``processPendingChanges()``, merges and refreshes, with sets of objects.
    public static let didChangeObjectsNotification = Notification.Name("NSObjectsChangedInManagingContextNotification")

    /// The keys of a notification.
    public typealias NotificationKey = ManagedObjectContext.NotificationKey

    /// Merges the changes made by a batch request or another process.
    public static func mergeChanges(
        fromRemoteContextSave changes: [AnyHashable: Any], into contexts: [NSManagedObjectContext]
    ) {
        let keys = [
            (NSInsertedObjectIDsKey, NSInsertedObjectsKey), (NSUpdatedObjectIDsKey, NSUpdatedObjectsKey),
            (NSDeletedObjectIDsKey, NSDeletedObjectsKey),
        ]
        var ids: [AnyHashable: Any] = [:]
        for (idKey, key) in keys { ids[idKey] = identities(changes[idKey]).union(identities(changes[key])) }
        for context in contexts where context.base.graphIfAny != nil {
            orRaise("NSManagedObjectContext.mergeChanges(fromRemoteContextSave:into:)") {
                try ManagedObjectContext.mergeChanges(fromRemoteContextSave: ids, into: [context.base])
            }
            context.announceMerged(ids)
        }
    }

    private static func identities(_ value: Any?) -> Set<NSManagedObjectID> {
        switch value {
        case let ids as Set<NSManagedObjectID>: ids
        case let objects as Set<NSManagedObject>: Set(objects.map(\.objectID))
        case let list as [Any]: Set(list.compactMap(identity))
        case let set as NSSet: Set(set.allObjects.compactMap(identity))
        default: []
        }
    }

    private static func identity(_ value: Any) -> NSManagedObjectID? {
        switch value {
        case let id as NSManagedObjectID: id
        case let object as NSManagedObject: object.objectID
        case let uri as URL: NSManagedObjectID(uri: uri.absoluteString)
        default: nil
        }
    }

    /// Announces changes that another context of the same stores has saved and that this one has merged automatically.
    func takeIn(_ notification: Notification) {
        guard let sender = notification.object as? NSManagedObjectContext, sender !== self,
            automaticallyMergesChangesFromParent, let info = notification.userInfo,
            parent == nil
                ? sender.base.persistentStoreCoordinator === base.persistentStoreCoordinator
                    && sender.parent == nil : sender === parent
        else { return }
        announceMerged(info)
    }

    private func announceMerged(_ ids: [AnyHashable: Any]) {
        func objects(_ key: String) -> Set<NSManagedObject> {
            Set(Self.identities(ids[key]).compactMap { try? existing($0) })
        }
        var changes: [AnyHashable: Any] = [:]
        let (inserted, updated) = (objects(NSInsertedObjectIDsKey), objects(NSUpdatedObjectIDsKey))
        let deleted = Set(Self.identities(ids[NSDeletedObjectIDsKey]).compactMap { registeredObject(for: $0) })
        if !inserted.isEmpty { changes[NSInsertedObjectsKey] = inserted }
        if !updated.isEmpty { changes[NSRefreshedObjectsKey] = updated }
        changes[NSDeletedObjectsKey] = deleted
        announce(changes)
        NotificationCenter.default.post(name: Self.didMergeChangesObjectIDsNotification, object: self, userInfo: ids)
    }
}

extension Notification.Name {
    /// Posted before a save.
    public static let NSManagedObjectContextWillSave = NSManagedObjectContext.willSaveObjectsNotification
    /// Posted after a save.
    public static let NSManagedObjectContextDidSave = NSManagedObjectContext.didSaveObjectsNotification
    /// Posted when objects have changed.
    public static let NSManagedObjectContextObjectsDidChange = NSManagedObjectContext.didChangeObjectsNotification
    /// Posted after a save to a store with this option, with the store's UUID, URL and history token.
    public static let NSPersistentStoreRemoteChange = Notification.Name("NSPersistentStoreRemoteChangeNotification")
    /// Posted by a coordinator before its stores change.
    public static let NSPersistentStoreCoordinatorStoresWillChange = Notification.Name(
        "NSPersistentStoreCoordinatorStoresWillChangeNotification")
    /// Posted by a coordinator after a store was added or removed, with arrays of stores under
    /// ``NSAddedPersistentStoresKey`` and ``NSRemovedPersistentStoresKey``.
    public static let NSPersistentStoreCoordinatorStoresDidChange = Notification.Name(
        "_NSPersistentStoreCoordinatorStoresDidChangeNotification")
    /// Posted by a coordinator before it closes a store, with the store as the object.
    public static let NSPersistentStoreCoordinatorWillRemoveStore = Notification.Name(
        "_NSPersistentStoreCoordinatorWillRemoveStoreNotification")
}

extension NSManagedObjectContext {
    /// The time at which a block runs.
    public enum ScheduledTaskType: Sendable {
        case immediate
        case enqueued
    }

    func enqueue(_ block: @escaping () -> Void) {
        let block = UncheckedBlock(run: block)
        base.perform { [self] in run(block.run) }
    }

    /// Runs a block on this thread, with exclusive access to the context and after the blocks that ``perform(_:)`` was
    /// called with before, and returns when it is done. A nested call runs at once.
    public func performAndWait<Result, Failure: Error>(
        _ block: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try base.performAndWait { () throws(Failure) -> Result in try run(block) }
    }

    /// Runs a block off the caller's thread, with exclusive access to the context.
    public func perform<Result, Failure: Error>(
        schedule: ScheduledTaskType = .immediate, _ block: @escaping () throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let block = UncheckedBlock { () -> Swift.Result<Result, Failure> in
            do throws(Failure) {
                return .success(try block())
            } catch {
                return .failure(error)
            }
        }
        let done = await withCheckedContinuation { continuation in
            base.perform { [self] in
                continuation.resume(returning: UncheckedBlock { [result = run(block.run)] in result })
            }
        }
        return try done.run().get()
    }

    /// The context whose block is running.
    @TaskLocal static var current: NSManagedObjectContext?

    /// Runs a block and announces its changes when it ends, as at the end of an event.
    private func run<Result, Failure: Error>(_ block: () throws(Failure) -> Result) throws(Failure) -> Result {
        turns += 1
        defer { turns -= 1 }
        let result = try Self.$current.withValue(self) { () -> Swift.Result<Result, Failure> in
            do throws(Failure) {
                return .success(try block())
            } catch {
                return .failure(error)
            }
        }.get()
        if hasUnannouncedChanges { processPendingChanges() }
        if turns == 1 { base.endUndoEvent() }
        return result
    }
}

/// A block that is passed to the context's thread without a `Sendable` check, as in Core Data.
private struct UncheckedBlock<Result>: @unchecked Sendable {
    let run: () -> Result
}
