import MoultModel
import MoultSQLite
import MoultStore

/// One save in its transaction. It checks everything before it writes anything.
final class ObjectSave {
    let store: ObjectStore
    let changes: ObjectChanges
    let writer: RowWriter
    var outcome = SaveOutcome()
    var conflicts: [SaveConflicts.Conflict] = []
    /// The known states of rows: those that the save names, except for ``freshKeys``, and the destinations looked up so
    /// far.
    lazy var rows = namedRows
    /// The first and last new key for each root entity. No other object has a key between them.
    var freshKeys: [(root: String, keys: ClosedRange<Int64>)] = []
    /// The keys of the new objects, in their order.
    var insertedKeys: [Int64] = []
    /// The same keys by temporary identity, for relationships to new objects.
    lazy var newKeys = Dictionary(zip(changes.inserted.lazy.map(\.id), insertedKeys)) { first, _ in first }
    var updates: [PendingUpdate] = []
    var deletions: [PendingDeletion] = []
    /// The lists to write once every row exists.
    var lists: [PendingList] = []
    var pairs: [PendingPair] = []
    var givenLists: Set<ListKey> = []
    var emptied: [EmptiedColumn] = []
    /// The changed columns of the updated objects, if the store keeps history.
    var changedColumns: [ChangedKeys] = []
    /// The changed columns of the last updated object; the next one usually has the same.
    var lastColumns: (entity: EntityColumns, given: [Int], written: [Int], bits: [UInt8])?
    var tombstones: [(entity: EntityColumns, key: Int64, kept: [SQLiteValue])] = []
    /// The rows that the save changes without naming them, each with the slots that change.
    var touched: [RowKey: [HistorySlots.Slot]] = [:]

    init(_ changes: ObjectChanges, in store: ObjectStore) {
        self.changes = changes
        self.store = store
        writer = store.writer
    }

    /// Checks for everything that prevents the save.
    func check() throws {
        try giveKeys()
        try readVersions()
        try checkDestinations()
        try checkUniqueness()
        guard conflicts.isEmpty else { throw SaveConflicts(conflicts: conflicts) }
    }

    func run() throws -> SaveOutcome {
        try check()
        outcome.updated.reserveCapacity(updates.count)
        try deleteRows()
        try emptyUniqueColumns()
        for update in updates { try write(update) }
        try insertRows()
        for pair in pairs { try write(pair) }
        for list in lists { try write(list) }
        try touchRows()
        noteRecomputed()
        try writeHistory()
        return outcome
    }
}

/// Objects with consecutive keys and the same changed columns.
struct ChangedKeys {
    let entity: EntityColumns
    var keys: ClosedRange<Int64>
    /// The changed columns: `ZCOLUMNS`; nil for new objects.
    let bits: [UInt8]?
}

extension [ChangedKeys] {
    /// Adds an object, to the last element if it fits there.
    mutating func append(_ entity: EntityColumns, _ key: Int64, _ bits: [UInt8]? = nil) {
        if let last, last.entity === entity, last.bits == bits, let keys = last.keys.extended(by: key) {
            self[count - 1].keys = keys
        } else {
            append(ChangedKeys(entity: entity, keys: key...key, bits: bits))
        }
    }
}

extension ClosedRange<Int64> {
    /// Returns the range extended by the key directly after it; nil for any other key.
    func extended(by key: Int64) -> Self? { key > upperBound && key == upperBound + 1 ? lowerBound...key : nil }
}

/// A row, identified by its table's root entity and its key.
struct RowKey: Hashable {
    let root: String
    let key: Int64

    // Keys almost always differ.
    func hash(into hasher: inout Hasher) { hasher.combine(key) }

    static func == (left: RowKey, right: RowKey) -> Bool { left.key == right.key && left.root == right.root }
}

/// The state of a row, as known to a save.
enum RowState {
    case inserted, updated, deleted, present, missing
}

struct PendingUpdate {
    let id: ObjectID
    let entity: EntityColumns
    /// The stored `Z_OPT`.
    let version: Int64
    let values: [(position: Int, value: ObjectValue)]
}

struct PendingDeletion {
    let id: ObjectID
    let entity: EntityColumns
}

struct ListKey: Hashable {
    let list: RelationshipReference
    let owner: Int64
}

struct PendingList {
    let owner: ObjectID
    let key: Int64
    let relationship: StoredRelationship
    let members: [ObjectID]
    /// Whether the owner is new, so that only the other ends can have written links.
    let isNew: Bool
}

/// A one-to-one relationship whose own end is written.
struct PendingPair {
    let relationship: StoredRelationship
    let entity: EntityColumns
    let own: Int64
    let new: Int64?
}

/// The changes of one save, written in one transaction: `NSSaveChangesRequest`.
package struct ObjectChanges: Sendable {
    /// The new objects, by their temporary identities.
    package var inserted: [Insertion] = []
    package var updated: [Update] = []
    package var deleted: [Deletion] = []
    /// The context's `transactionAuthor` and `name`, for persistent history.
    package var author: String?
    package var contextName: String?
    /// Whether `Z_OPT` stays unchanged: a migration sets up rows, which is not a save by the app.
    package var keepsVersions = false

    package init() {}

    package struct Insertion: Sendable {
        package var id: ObjectID
        /// One value for each property of the entity's ``EntityShape``; nil for no value or an empty list. Values of
        /// derived and transient attributes are not stored.
        package var values: [ObjectValue?]

        /// - Parameter id: a temporary identity, or a permanent one that was reserved for the object.
        package init(id: ObjectID, values: [ObjectValue?]) {
            self.id = id
            self.values = values
        }
    }

    package struct Update: Sendable {
        package var id: ObjectID
        /// The `Z_OPT` on which the change is based. If the store has another, it is a conflict; nil skips the
        /// comparison.
        package var version: Int64?
        /// The changed properties only; a to-many relationship is given whole, in its order. If there are none, the
        /// version is checked and nothing is written.
        package var values: Values

        package enum Values: Sendable {
            case named([String: ObjectValue])
            /// By position in the entity's ``EntityShape``, ascending.
            case positioned([(position: Int, value: ObjectValue)])

            var isEmpty: Bool {
                switch self {
                case .named(let values): values.isEmpty
                case .positioned(let values): values.isEmpty
                }
            }
        }

        package init(id: ObjectID, version: Int64?, values: Values) {
            (self.id, self.version, self.values) = (id, version, values)
        }

        package init(id: ObjectID, version: Int64?, values: [String: ObjectValue]) {
            self.init(id: id, version: version, values: .named(values))
        }
    }

    package struct Deletion: Sendable {
        package var id: ObjectID
        /// The `Z_OPT` on which the deletion is based, as in ``Update``.
        package var version: Int64?

        package init(id: ObjectID, version: Int64?) {
            self.id = id
            self.version = version
        }
    }
}

/// The outcome of a save.
package struct SaveOutcome: Sendable {
    /// The new objects in the order of the changes, with the identities used there. Their `Z_OPT` is 1.
    package var inserted: [(given: ObjectID, permanent: ObjectID)] = []
    /// The `Z_OPT` of each updated object, in the order of the changes; objects without values are left out.
    package var updated: [(id: ObjectID, version: Int64)] = []
    /// The `Z_OPT` of objects that the save had to change although it did not name them, or named them without values,
    /// such as the other end of a relationship.
    package var touched: [ObjectID: Int64] = [:]
    /// The objects that the store changed itself: through derived attributes, or at the other ends of relationships
    /// that the save did not name.
    package var recomputed: Set<ObjectID> = []

    package init() {}
}

/// The conflicts that prevented a save. Nothing was written.
package struct SaveConflicts: Error, Sendable {
    package var conflicts: [Conflict]

    package init(conflicts: [Conflict]) { self.conflicts = conflicts }

    package enum Conflict: Sendable, Hashable {
        /// The object was saved elsewhere in the meantime (`NSMergeConflict`). `stored` is nil if it is gone.
        case version(ObjectID, expected: Int64, stored: ObjectSnapshot?)
        /// Objects that would have the same values of a uniqueness constraint (`NSConstraintConflict`). `stored` is the
        /// object in the store; nil if all of them are in the save.
        case constraint(properties: [String], objects: [ObjectID], stored: ObjectSnapshot?)
        /// A relationship leads to an object that the store does not have, because it was deleted elsewhere or by this
        /// save.
        case missingDestination(of: ObjectID, relationship: String, ObjectID)
    }
}
