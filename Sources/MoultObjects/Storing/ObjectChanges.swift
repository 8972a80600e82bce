import MoultModel

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
            self.id = id
            self.version = version
            self.values = values
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
