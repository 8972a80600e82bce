import Foundation
import MoultModel
import MoultObjects

extension ModelContext {
    /// Posted before a save that has something to write; the object is the context.
    public static let willSave = Notification.Name("NSModelContextWillSave")
    /// Posted after a save; the object is the context, and the user info has what was written (``NotificationKey``).
    public static let didSave = Notification.Name("NSModelContextDidSave")

    /// The keys of a notification's user info, which has its values under the keys and under their raw values. Each of
    /// the first three has a `[PersistentIdentifier]`, of permanent identities.
    public enum NotificationKey: String, Sendable, CaseIterable {
        case insertedIdentifiers = "inserted"
        case updatedIdentifiers = "updated"
        case deletedIdentifiers = "deleted"
        /// Never there: no save invalidates what it did not write.
        case invalidatedAllIdentifiers = "invalidatedAll"
        /// Never there: stores are read as they are.
        case queryGeneration = "queryGeneration"
    }
}

extension SavedChanges {
    var userInfo: [AnyHashable: Any] {
        let parts: [(ModelContext.NotificationKey, Set<ObjectID>)] = [
            (.insertedIdentifiers, inserted), (.updatedIdentifiers, updated), (.deletedIdentifiers, deleted),
        ]
        return parts.reduce(into: [:]) { info, part in
            let ids = part.1.map(PersistentIdentifier.init).sorted()
            info[part.0] = ids
            info[part.0.rawValue] = ids
        }
    }
}
