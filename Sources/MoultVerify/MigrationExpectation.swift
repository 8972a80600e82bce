/// The rows and columns of the source that a migration had to carry over unchanged, in SQL's own words.
package struct MigrationExpectation: Sendable, Equatable {
    /// Rows of one table of the source that became rows of one table of the destination, with keys that differ by the
    /// same number.
    package struct Rows: Sendable, Equatable {
        package var sourceTable: String
        package var table: String
        package var entities: [Entity]
        /// The number that was added to their keys.
        package var keyShift: Int64

        package init(sourceTable: String, table: String, entities: [Entity], keyShift: Int64 = 0) {
            (self.sourceTable, self.table, self.entities, self.keyShift) = (sourceTable, table, entities, keyShift)
        }
    }

    /// One entity's rows, with the columns whose values stay.
    package struct Entity: Sendable, Equatable {
        package var sourceName: String
        package var sourceNumber: Int
        package var name: String
        package var number: Int
        package var columns: [Column]
        /// The columns of further conditions that pick other rows of the same entity for the same one: each row is as
        /// one of them says.
        package var alternatives: [[Column]] = []
        /// Whether a condition may have left some of the rows out.
        package var isPicked: Bool

        package init(
            sourceName: String, sourceNumber: Int, name: String, number: Int, columns: [Column], isPicked: Bool = false
        ) {
            (self.isPicked, self.sourceName, self.sourceNumber) = (isPicked, sourceName, sourceNumber)
            (self.name, self.number, self.columns) = (name, number, columns)
        }
    }

    package struct Column: Sendable, Hashable {
        package var source: String
        package var destination: String
        /// SQL that stands in for a value that is nil in the source.
        package var ifNil: String?

        package init(source: String, destination: String, ifNil: String? = nil) {
            (self.source, self.destination, self.ifNil) = (source, destination, ifNil)
        }
    }

    /// The pairs of one relationship on both sides.
    package struct Pairs: Sendable, Equatable {
        /// The place where pairs are kept: rows of `table` with a key in each of two columns.
        package struct Place: Sendable, Hashable {
            package var table: String
            package var owner: String
            package var destination: String

            package init(table: String, owner: String, destination: String) {
                (self.table, self.owner, self.destination) = (table, owner, destination)
            }
        }

        /// The changes of the keys of the objects at one end: the numbers added, by the entity numbers of either store.
        package struct KeyShifts: Sendable, Equatable {
            /// The tables of the objects.
            package var sourceTable: String
            package var table: String
            package var bySource: [Int: Int64]
            package var byDestination: [Int: Int64]

            package init(sourceTable: String, table: String, bySource: [Int: Int64], byDestination: [Int: Int64]) {
                (self.sourceTable, self.table) = (sourceTable, table)
                (self.bySource, self.byDestination) = (bySource, byDestination)
            }
        }

        /// `Entity.relationship`
        package var place: String
        package var source: Place
        package var destination: Place
        package var ownerTable: String
        package var destinationTable: String
        /// Whether only some pairs can be kept: a to-many that became to-one.
        package var isLossy: Bool
        /// Of the owners and of their destinations; nil where every object keeps its key.
        package var ownerShifts: KeyShifts?
        package var destinationShifts: KeyShifts?

        package init(
            place: String, source: Place, destination: Place, ownerTable: String, destinationTable: String,
            isLossy: Bool, ownerShifts: KeyShifts? = nil, destinationShifts: KeyShifts? = nil
        ) {
            (self.ownerShifts, self.destinationShifts, self.place) = (ownerShifts, destinationShifts, place)
            (self.source, self.destination, self.ownerTable) = (source, destination, ownerTable)
            (self.destinationTable, self.isLossy) = (destinationTable, isLossy)
        }
    }

    /// Columns of a table that stays which are none of the model's.
    package struct Own: Sendable, Equatable {
        package let table: String
        package let columns: [String]

        package init(table: String, columns: [String]) {
            self.table = table
            self.columns = columns
        }
    }

    package var rows: [Rows]
    package var own: [Own] = []
    /// The source entities whose rows leave, by name and table.
    package var removed: [(name: String, number: Int, table: String)]
    package var pairs: [Pairs]
    /// The entities of the destination of which others make objects too.
    package var open: Set<String> = []

    package init(rows: [Rows] = [], removed: [(name: String, number: Int, table: String)] = [], pairs: [Pairs] = []) {
        (self.rows, self.removed, self.pairs) = (rows, removed, pairs)
    }

    package static func == (left: MigrationExpectation, right: MigrationExpectation) -> Bool {
        left.rows == right.rows && left.own == right.own && left.pairs == right.pairs
            && left.removed.elementsEqual(right.removed, by: ==)
    }
}
