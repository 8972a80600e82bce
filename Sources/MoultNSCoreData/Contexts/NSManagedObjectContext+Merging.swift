// swift-format-ignore-file: AlwaysUseLowerCamelCase
// These are the names of Core Data.

import Foundation
import MoultCoreData

extension NSManagedObjectContext {
    /// Posted before a save.
    public static let willSaveObjectsNotification = ManagedObjectContext.willSaveObjectsNotification
    /// Posted after a save, with sets of objects under ``NSInsertedObjectsKey`` and its like.
    public static let didSaveObjectsNotification = Notification.Name("NSManagingContextDidSaveChangesNotification")
    /// Posted after a save, with sets of identities under ``NSInsertedObjectIDsKey`` and its like.
    public static let didSaveObjectIDsNotification = ManagedObjectContext.didSaveObjectIDsNotification
    /// Posted when changes were merged, with sets of identities.
    public static let didMergeChangesObjectIDsNotification = Notification.Name(
        "NSManagedObjectContextDidMergeChangesObjectIDsNotification")
    /// Posted by ``processPendingChanges()``, merging and refreshing, with sets of objects.
    public static let didChangeObjectsNotification = Notification.Name(
        "NSObjectsChangedInManagingContextNotification")

    /// The keys of a notification.
    public enum NotificationKey: String, Sendable {
        case insertedObjects = "inserted"
        case updatedObjects = "updated"
        case deletedObjects = "deleted"
        case refreshedObjects = "refreshed"
        case invalidatedAllObjects = "invalidatedAll"
        case insertedObjectIDs = "inserted_objectIDs"
        case updatedObjectIDs = "updated_objectIDs"
        case deletedObjectIDs = "deleted_objectIDs"
    }

    /// Takes in what another context has saved; what was changed here stays, property by property.
    public func mergeChanges(fromContextDidSave notification: Notification) {
        let names = [Self.didSaveObjectsNotification, Self.didSaveObjectIDsNotification]
        guard names.contains(notification.name) else {
            raise(
                "NSManagedObjectContext.mergeChanges(fromContextDidSave:)",
                "\(notification.name.rawValue) does not say what was saved.")
        }
        Self.mergeChanges(fromRemoteContextSave: notification.userInfo ?? [:], into: [self])
    }

    /// Takes in what a batch request, or another process, has changed.
    public static func mergeChanges(
        fromRemoteContextSave changes: [AnyHashable: Any], into contexts: [NSManagedObjectContext]
    ) {
        let keys = [
            (NSInsertedObjectIDsKey, NSInsertedObjectsKey), (NSUpdatedObjectIDsKey, NSUpdatedObjectsKey),
            (NSDeletedObjectIDsKey, NSDeletedObjectsKey),
        ]
        var ids: [AnyHashable: Any] = [:]
        for (idKey, key) in keys { ids[idKey] = identities(changes[idKey]).union(identities(changes[key])) }
        for context in contexts {
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

    /// Announces the changes that another context over the same stores has saved and this one has merged by itself.
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
            Set(Self.identities(ids[key]).compactMap { try? existingObject(with: $0) })
        }
        var changes: [AnyHashable: Any] = [:]
        let (inserted, updated) = (objects(NSInsertedObjectIDsKey), objects(NSUpdatedObjectIDsKey))
        let deleted = Set(Self.identities(ids[NSDeletedObjectIDsKey]).compactMap { registeredObject(for: $0) })
        if !inserted.isEmpty { changes[NSInsertedObjectsKey] = inserted }
        if !updated.isEmpty { changes[NSRefreshedObjectsKey] = updated }
        changes[NSDeletedObjectsKey] = deleted
        announce(changes)
        NotificationCenter.default.post(
            name: Self.didMergeChangesObjectIDsNotification, object: self, userInfo: ids)
    }
}

extension Notification.Name {
    /// Posted before a save.
    public static let NSManagedObjectContextWillSave = NSManagedObjectContext.willSaveObjectsNotification
    /// Posted after a save.
    public static let NSManagedObjectContextDidSave = NSManagedObjectContext.didSaveObjectsNotification
    /// Posted when objects have changed.
    public static let NSManagedObjectContextObjectsDidChange = NSManagedObjectContext.didChangeObjectsNotification
    /// Posted after a save to a store that asks for it, with the store's UUID, URL and history token.
    public static let NSPersistentStoreRemoteChange = Notification.Name("NSPersistentStoreRemoteChangeNotification")
}
