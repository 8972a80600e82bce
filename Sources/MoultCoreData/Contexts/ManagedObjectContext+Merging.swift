import Foundation
import MoultBasics
import MoultModel
import MoultObjects

extension ManagedObjectContext {
    /// `NSManagedObjectContextWillSave`
    public static let willSaveObjectsNotification = Notification.Name("NSManagedObjectContextWillSaveNotification")
    /// `NSManagedObjectContextDidSaveObjectIDs`: its `userInfo` has sets of identities under ``NotificationKey``.
    public static let didSaveObjectIDsNotification = Notification.Name(
        "NSManagedObjectContextDidSaveObjectIDsNotification")

    /// The keys of a notification, each for a `Set<ManagedObjectID>`.
    public enum NotificationKey: String, Sendable {
        case insertedObjectIDs = "inserted_objectIDs"
        case updatedObjectIDs = "updated_objectIDs"
        case deletedObjectIDs = "deleted_objectIDs"
    }

    func postDidSave(_ saved: SavedChanges) {
        NotificationCenter.default.post(
            name: Self.didSaveObjectIDsNotification, object: face ?? self, userInfo: saved.userInfo)
    }

    /// Takes in what another context has saved; what was changed here stays, property by property.
    ///
    /// - Throws: `usage` for a notification of something else.
    public func mergeChanges(fromContextDidSave notification: Notification) throws {
        guard notification.name == Self.didSaveObjectIDsNotification else {
            throw MigrationError(
                .usage, "\(notification.name.rawValue) does not say what was saved.",
                remedy: "Observe ManagedObjectContext.didSaveObjectIDsNotification.")
        }
        let saved = try SavedChanges(notification.userInfo ?? [:])
        try inTurn { try $0.merge(saved) }
    }

    /// Takes in what a batch request, or another process, has changed.
    ///
    /// - Parameter changes: sets or arrays of identities under ``NotificationKey``.
    public static func mergeChanges(
        fromRemoteContextSave changes: [AnyHashable: Any], into contexts: [ManagedObjectContext]
    ) throws {
        let saved = try SavedChanges(changes)
        for context in contexts { try context.inTurn { try $0.merge(saved) } }
    }
}

extension SavedChanges {
    fileprivate typealias Key = ManagedObjectContext.NotificationKey

    fileprivate var userInfo: [AnyHashable: Any] {
        [
            Key.insertedObjectIDs.rawValue: inserted, Key.updatedObjectIDs.rawValue: updated,
            Key.deletedObjectIDs.rawValue: deleted,
        ]
    }

    fileprivate init(_ userInfo: [AnyHashable: Any]) throws {
        self.init(
            inserted: try Self.identities(userInfo, .insertedObjectIDs),
            updated: try Self.identities(userInfo, .updatedObjectIDs),
            deleted: try Self.identities(userInfo, .deletedObjectIDs))
    }

    private static func identities(_ userInfo: [AnyHashable: Any], _ key: Key) throws -> Set<ObjectID> {
        switch userInfo[key.rawValue] ?? userInfo[key] {
        case nil: return []
        case let set as Set<ObjectID>: return set
        case let list as [ObjectID]: return Set(list)
        case let other?:
            throw MigrationError(
                .usage, "\(key.rawValue) holds a \(type(of: other)).", place: key.rawValue,
                remedy: "Give a set or an array of ManagedObjectID.")
        }
    }
}
