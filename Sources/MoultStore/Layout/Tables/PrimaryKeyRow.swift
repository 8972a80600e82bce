import MoultSQLite

/// One row of `Z_PRIMARYKEY`: the number of an entity, and the highest key in its table.
package struct PrimaryKeyRow: Sendable, Hashable {
    package let number: Int
    package let name: String
    /// The number of the parent entity, 0 for a root.
    package let superNumber: Int
    /// The highest `Z_PK` ever given; kept on the root entity's row, 0 on the others.
    package var max: Int64

    package init(number: Int, name: String, superNumber: Int, max: Int64) {
        self.number = number
        self.name = name
        self.superNumber = superNumber
        self.max = max
    }

    package var insertStatement: String {
        "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) "
            + "VALUES (\(number), \(name.quotedLiteral), \(superNumber), \(max))"
    }
}
