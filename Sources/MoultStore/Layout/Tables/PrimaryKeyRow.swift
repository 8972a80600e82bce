import MoultSQLite

/// One row of `Z_PRIMARYKEY`: the number of an entity, and the highest key in its table.
package struct PrimaryKeyRow: Sendable, Hashable {
    package let number: Int
    package let name: String
    /// The number of the parent entity, 0 for a root.
    package let superNumber: Int
    /// The highest `Z_PK` ever given; kept on the root entity's row, 0 on the others.
    package var max: Int64
    /// Whether Core Data cannot count on from it: it is no number that another one follows.
    package var isUncountable = false

    package init(number: Int, name: String, superNumber: Int, max: Int64) {
        self.number = number
        self.name = name
        self.superNumber = superNumber
        self.max = max
    }

    /// The highest key of a row of `Z_PRIMARYKEY` as SQL: a number, as SQLite reads what is none; 0 where no key could
    /// come after it.
    package static let highestSQL =
        "ifnull(CAST(Z_MAX AS INTEGER) * (CAST(Z_MAX AS INTEGER) < 9223372036854775807), 0)"
    /// Whether Core Data cannot count on in a row of `Z_PRIMARYKEY`, as SQL.
    package static let isUncountableSQL = "(typeof(Z_MAX) <> 'integer' OR Z_MAX NOT BETWEEN 0 AND 9223372036854775806)"

    package var insertStatement: String {
        "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) "
            + "VALUES (\(number), \(name.quotedLiteral), \(superNumber), \(max))"
    }
}
