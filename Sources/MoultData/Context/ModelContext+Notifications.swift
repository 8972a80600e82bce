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
        /// In ``ModelContext/didSave``, a ``DefaultHistoryToken`` of the save's transactions; not there where no store
        /// keeps a history.
        case historyTokens = "historyTokens"
    }
}

extension SavedChanges {
    var userInfo: [AnyHashable: Any] {
        let parts: [(ModelContext.NotificationKey, Set<ObjectID>)] = [
            (.insertedIdentifiers, inserted), (.updatedIdentifiers, updated), (.deletedIdentifiers, deleted),
        ]
        var info: [AnyHashable: Any] = [:]
        func add(_ key: ModelContext.NotificationKey, _ value: Any) {
            info[key] = value
            info[key.rawValue] = value
        }
        for (key, ids) in parts { add(key, ids.map(PersistentIdentifier.init).sorted()) }
        if !transactions.isEmpty {
            let numbers = transactions.map { ($0.uuidString, $1) }
            add(.historyTokens, DefaultHistoryToken(Dictionary(uniqueKeysWithValues: numbers)))
        }
        return info
    }
}
