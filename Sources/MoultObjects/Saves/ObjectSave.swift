import MoultModel
import MoultSQLite
import MoultStore

/// One save inside its transaction: everything is checked first, then written.
final class ObjectSave {
    let store: ObjectStore
    let changes: ObjectChanges
    let writer: RowWriter
    var outcome = SaveOutcome()
    var conflicts: [SaveConflicts.Conflict] = []
    /// The known states of rows: those that the save names but for ``freshKeys``, and destinations that were looked
    /// for.
    lazy var rows = namedRows
    /// The first to the last new key for each root entity. No other object has a key between them.
    var freshKeys: [(root: String, keys: ClosedRange<Int64>)] = []
    /// The keys of the new objects, in their order.
    var insertedKeys: [Int64] = []
    /// The same by temporary identity, for relationships that lead to new objects.
    lazy var newKeys = Dictionary(zip(changes.inserted.lazy.map(\.id), insertedKeys)) { first, _ in first }
    var updates: [PendingUpdate] = []
    var deletions: [PendingDeletion] = []
    /// Lists to write when every row is there.
    var lists: [PendingList] = []
    var pairs: [PendingPair] = []
    var givenLists: Set<ListKey> = []
    var emptied: [EmptiedColumn] = []
    /// The changed columns of the updated objects, where the store keeps history.
    var changedColumns: [ChangedKeys] = []
    /// The changed columns of the last updated object, which are most often those of the next one too.
    var lastColumns: (entity: EntityColumns, given: [Int], written: [Int], bits: [UInt8])?
    var tombstones: [(entity: EntityColumns, key: Int64, kept: [SQLiteValue])] = []
    /// Rows that the save changes without naming them, each with what changes.
    var touched: [RowKey: [HistorySlots.Slot]] = [:]

    init(_ changes: ObjectChanges, in store: ObjectStore) {
        self.changes = changes
        self.store = store
        writer = store.writer
    }

    /// Finds whatever keeps the save from being written.
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

/// Objects with successive keys of which the same columns changed.
struct ChangedKeys {
    let entity: EntityColumns
    var keys: ClosedRange<Int64>
    /// `ZCOLUMNS`; nil for new objects.
    let bits: [UInt8]?
}

extension [ChangedKeys] {
    /// Adds an object, to the last element if it belongs there.
    mutating func append(_ entity: EntityColumns, _ key: Int64, _ bits: [UInt8]? = nil) {
        if let last, last.entity === entity, last.bits == bits, let keys = last.keys.extended(by: key) {
            self[count - 1].keys = keys
        } else {
            append(ChangedKeys(entity: entity, keys: key...key, bits: bits))
        }
    }
}

extension ClosedRange<Int64> {
    /// The range with the key just behind it; nil for any other key.
    func extended(by key: Int64) -> Self? { key > upperBound && key == upperBound + 1 ? lowerBound...key : nil }
}

/// A row by its table's root entity and its key.
struct RowKey: Hashable {
    let root: String
    let key: Int64

    // Keys differ nearly always.
    func hash(into hasher: inout Hasher) { hasher.combine(key) }

    static func == (left: RowKey, right: RowKey) -> Bool { left.key == right.key && left.root == right.root }
}

/// The state of a row, as far as a save knows it.
enum RowState {
    case inserted, updated, deleted, present, missing
}

struct PendingUpdate {
    let id: ObjectID
    let entity: EntityColumns
    /// `Z_OPT` as it is stored.
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
    /// Whether the owner is new, so that only the other ends can have written anything.
    let isNew: Bool
}

/// A one to one whose own end is written.
struct PendingPair {
    let relationship: StoredRelationship
    let entity: EntityColumns
    let own: Int64
    let new: Int64?
}

/// Everything that one save writes, in one transaction: `NSSaveChangesRequest`.
package struct ObjectChanges: Sendable {
    /// New objects, under their temporary identities.
    package var inserted: [Insertion] = []
    package var updated: [Update] = []
    package var deleted: [Deletion] = []
    /// `transactionAuthor` and `name` of the context, for persistent history.
    package var author: String?
    package var contextName: String?
    /// Leave `Z_OPT` as it is: a migration makes rows what they are to be, and saves none for the app.
    package var keepsVersions = false

    package init() {}

    package struct Insertion: Sendable {
        package var id: ObjectID
        /// One for each property of the entity's ``EntityShape``; nil if there is no value or an empty list. What is
        /// given for a derived or transient attribute is not stored.
        package var values: [ObjectValue?]

        /// - Parameter id: a temporary identity, or a permanent one that was reserved for the object.
        package init(id: ObjectID, values: [ObjectValue?]) {
            self.id = id
            self.values = values
        }
    }

    package struct Update: Sendable {
        package var id: ObjectID
        /// The `Z_OPT` that the change was made over; another in the store is a conflict. Nil writes over any.
        package var version: Int64?
        /// The changed properties only; a to-many relationship whole, in its order. With none, the version is checked and
        /// nothing written.
        package var values: Values

        package enum Values: Sendable {
            case named([String: ObjectValue])
            /// By the positions of the entity's ``EntityShape``, ascending.
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
        /// As in ``Update``.
        package var version: Int64?

        package init(id: ObjectID, version: Int64?) {
            self.id = id
            self.version = version
        }
    }
}

/// The outcome of a save.
package struct SaveOutcome: Sendable {
    /// The new objects in the order of the changes, each as it was named there. Their `Z_OPT` is 1.
    package var inserted: [(given: ObjectID, permanent: ObjectID)] = []
    /// The `Z_OPT` of each object that was updated, in the order of the changes; without those that had no values.
    package var updated: [(id: ObjectID, version: Int64)] = []
    /// The `Z_OPT` of objects that the save did not name, or named without values, but had to change, such as the other
    /// end of a relationship.
    package var touched: [ObjectID: Int64] = [:]
    /// The objects that the store changed by itself: derived attributes of these and of other objects, the other ends
    /// of relationships that the save did not name.
    package var recomputed: Set<ObjectID> = []

    package init() {}
}

/// The conflicts that kept a save from being written: nothing of it was.
package struct SaveConflicts: Error, Sendable {
    package var conflicts: [Conflict]

    package init(conflicts: [Conflict]) { self.conflicts = conflicts }

    package enum Conflict: Sendable, Hashable {
        /// The object was saved by somebody else since (`NSMergeConflict`); nil for one that is gone.
        case version(ObjectID, expected: Int64, stored: ObjectSnapshot?)
        /// Objects that would have the same values of a uniqueness constraint (`NSConstraintConflict`). `stored` is the
        /// one that the store holds, nil if all of them are in the save.
        case constraint(properties: [String], objects: [ObjectID], stored: ObjectSnapshot?)
        /// A relationship leads to an object that the store does not have, because somebody else deleted it or this
        /// very save does.
        case missingDestination(of: ObjectID, relationship: String, ObjectID)
    }
}
