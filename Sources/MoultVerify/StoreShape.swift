import MoultSQLite

/// The expected shape of a store, in SQL terms.
///
/// The verifier shares no code with the writer of the store: it receives names and numbers, and queries the file
/// itself.
package struct StoreShape: Sendable, Equatable {
    /// A table, index or trigger of a new store, with its SQL.
    package struct Object: Sendable, Hashable {
        package var kind: String
        package var name: String
        package var sql: String

        package init(kind: String, name: String, sql: String) { (self.kind, self.name, self.sql) = (kind, name, sql) }
    }

    /// A row of `Z_PRIMARYKEY`, and the table whose keys it counts.
    package struct EntityNumber: Sendable, Hashable {
        package var number: Int
        package var name: String
        package var superNumber: Int
        package var table: String

        package init(number: Int, name: String, superNumber: Int, table: String) {
            (self.number, self.name, self.superNumber, self.table) = (number, name, superNumber, table)
        }
    }

    /// A column with keys of objects: of a to-one relationship, of one without an inverse, or of one side of a pair.
    package struct Reference: Sendable, Hashable {
        /// `Entity.relationship`
        package var place: String
        package var table: String
        package var column: String
        /// The entity numbers of the rows that have the column; empty for a join table.
        package var numbers: [Int]
        package var targetTable: String
        package var targetNumbers: [Int]
        /// The column next to it with the target's entity number.
        package var entityColumn: String?

        package init(
            place: String, table: String, column: String, numbers: [Int], targetTable: String, targetNumbers: [Int],
            entityColumn: String? = nil
        ) {
            (self.place, self.table, self.column, self.numbers) = (place, table, column, numbers)
            (self.targetTable, self.targetNumbers, self.entityColumn) = (targetTable, targetNumbers, entityColumn)
        }
    }

    /// The two columns of a one-to-one relationship, which must refer to each other.
    package struct OneToOne: Sendable, Hashable {
        package var place: String
        package var table: String
        package var column: String
        package var numbers: [Int]
        package var inverseTable: String
        package var inverseColumn: String

        package init(
            place: String, table: String, column: String, numbers: [Int], inverseTable: String, inverseColumn: String
        ) {
            (self.place, self.table, self.column) = (place, table, column)
            (self.numbers, self.inverseTable, self.inverseColumn) = (numbers, inverseTable, inverseColumn)
        }
    }

    /// The two columns of a relationship that is its own inverse, which hold each pair in both directions.
    package struct Reflexive: Sendable, Hashable {
        /// `Entity.relationship`
        package var place: String
        package var table: String
        package var column: String
        package var inverseColumn: String

        package init(place: String, table: String, column: String, inverseColumn: String) {
            (self.place, self.table, self.column, self.inverseColumn) = (place, table, column, inverseColumn)
        }
    }

    /// The two key columns of a join table that may hold a pair more than once.
    package struct Pairs: Sendable, Hashable {
        /// `Entity.relationship`
        package var place: String
        package var table: String
        package var columns: [String]

        package init(place: String, table: String, columns: [String]) {
            (self.place, self.table, self.columns) = (place, table, columns)
        }
    }

    /// A column of the rows of some entities: a required value, or a value with external storage.
    package struct Column: Sendable, Hashable {
        /// `Entity.property`
        package var place: String
        package var table: String
        package var column: String
        package var numbers: [Int]

        package init(place: String, table: String, column: String, numbers: [Int]) {
            (self.place, self.table, self.column, self.numbers) = (place, table, column, numbers)
        }
    }

    /// Columns whose values must be unique among the rows of some entities.
    package struct Uniqueness: Sendable, Hashable {
        package var place: String
        package var table: String
        package var columns: [String]
        package var numbers: [Int]

        package init(place: String, table: String, columns: [String], numbers: [Int]) {
            (self.place, self.table, self.columns, self.numbers) = (place, table, columns, numbers)
        }
    }

    package var objects: [Object]
    package var entities: [EntityNumber]
    /// The tables of persistent history that have all their columns.
    package var history: [EntityNumber] = []
    package var references: [Reference]
    package var oneToOnes: [OneToOne]
    package var reflexives: [Reflexive] = []
    package var pairs: [Pairs] = []
    package var required: [Column]
    package var unique: [Uniqueness]
    package var external: [Column]

    package init(
        objects: [Object] = [], entities: [EntityNumber] = [], references: [Reference] = [],
        oneToOnes: [OneToOne] = [], required: [Column] = [], unique: [Uniqueness] = [], external: [Column] = []
    ) {
        (self.objects, self.entities, self.references, self.oneToOnes) = (objects, entities, references, oneToOnes)
        (self.required, self.unique, self.external) = (required, unique, external)
    }
}

/// SQL for whether rows contain two keys, at a cost that does not depend on the store's indexes: SQLite looks up a pair
/// of a list in an index, or in a sorted copy of the list that it makes once. `NOT EXISTS` would scan all rows for each
/// pair without an index; so would `NOT IN` for a missing pair, because of NULL.
package enum Lookup {
    /// Returns SQL that is 1 for a row whose keys are not a row of a table.
    ///
    /// - Parameters:
    ///   - keys: the two keys as SQL.
    ///   - columns: the columns to search for them; one may be the table's own key, `Z_PK`.
    package static func misses(_ keys: [String], _ columns: [String], in table: String) -> String {
        let isByKey = columns.contains("Z_PK")
        // A row found by its key has one value to compare, for which `+` rules out an index.
        let equal = zip(keys, columns).map { "q.\($1.quotedName) = \($1 == "Z_PK" ? $0 : "+\($0)")" }
        let list = columns.map(\.quotedName).joined(separator: ", ")
        let isFound =
            isByKey
            ? "EXISTS (SELECT 1 FROM \(table) AS q WHERE \(equal.joined(separator: " AND ")))"
            : "(\(keys.joined(separator: ", "))) IN (SELECT \(list) FROM \(table))"
        return "CASE WHEN \(isFound) THEN 0 ELSE 1 END"
    }
}
