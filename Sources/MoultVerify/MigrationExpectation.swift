/// The rows and columns of the source that a migration must carry over unchanged, in SQL terms.
package struct MigrationExpectation: Sendable, Equatable {
    /// Rows of a source table that became rows of a destination table, with all keys shifted by the same number.
    package struct Rows: Sendable, Equatable {
        package var sourceTable: String
        package var table: String
        package var entities: [Entity]
        /// The number added to the keys.
        package var keyShift: Int64

        package init(sourceTable: String, table: String, entities: [Entity], keyShift: Int64 = 0) {
            (self.sourceTable, self.table, self.entities, self.keyShift) = (sourceTable, table, entities, keyShift)
        }
    }

    /// The rows of one entity, with the columns whose values stay unchanged.
    package struct Entity: Sendable, Equatable {
        package var sourceName: String
        package var sourceNumber: Int
        package var name: String
        package var number: Int
        package var columns: [Column]
        /// The columns for further conditions that select other rows of the same source entity for the same
        /// destination: each row must match one of the lists.
        package var alternatives: [[Column]] = []
        /// Whether a condition may have excluded some of the rows.
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
        /// The SQL expression that replaces NULL in the source.
        package var ifNil: String?

        package init(source: String, destination: String, ifNil: String? = nil) {
            (self.source, self.destination, self.ifNil) = (source, destination, ifNil)
        }
    }

    /// The pairs of a relationship in both stores.
    package struct Pairs: Sendable, Equatable {
        /// A place that stores pairs: rows of `table` with a key in each of two columns.
        package struct Place: Sendable, Hashable {
            package var table: String
            package var owner: String
            package var destination: String

            package init(table: String, owner: String, destination: String) {
                (self.table, self.owner, self.destination) = (table, owner, destination)
            }
        }

        /// The changes of the keys at one end: the numbers added, by the entity numbers of either store.
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
        /// Whether only some pairs can be kept, as for a to-many that became to-one.
        package var isLossy: Bool
        /// The key shifts of the owners and of their destinations; nil if every object keeps its key.
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

    /// The columns of a remaining table that do not belong to the model.
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
    /// The source entities whose rows are removed, by name and table.
    package var removed: [(name: String, number: Int, table: String)]
    package var pairs: [Pairs]
    /// The destination entities whose objects come from other sources too.
    package var open: Set<String> = []

    package init(rows: [Rows] = [], removed: [(name: String, number: Int, table: String)] = [], pairs: [Pairs] = []) {
        (self.rows, self.removed, self.pairs) = (rows, removed, pairs)
    }

    package static func == (left: MigrationExpectation, right: MigrationExpectation) -> Bool {
        left.rows == right.rows && left.own == right.own && left.pairs == right.pairs
            && left.removed.elementsEqual(right.removed, by: ==)
    }
}
