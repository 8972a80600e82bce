import MoultModel

/// The queries on rows that both repairs and the rules of an app use.
///
/// The verification of a migration has queries of its own, because it is an independent witness.
package struct Consistency {
    private let layout: StoreLayout

    package init(_ layout: StoreLayout) { self.layout = layout }

    /// Returns a query for objects with the same values in all of the columns as an object with a smaller key. An
    /// object with NULL in one of them has no duplicates.
    ///
    /// - Parameter selected: the result columns, among `Z_PK`, `Z_ENT` and `keeper`, the key of the first object with
    ///   the values.
    package func repeated(
        _ columns: [String], of entity: EntityDescription, in table: EntityTable, selecting selected: SQLText
    ) -> SQLText {
        let present = columns.map { "\(name: $0) IS NOT NULL" as SQLText }.conditions(joinedBy: "AND")
        return """
            SELECT \(selected) FROM (SELECT Z_PK, Z_ENT, row_number() OVER same AS place, \
            first_value(Z_PK) OVER same AS keeper FROM main.\(name: table.name) \
            WHERE Z_ENT IN (\(list: layout.numbers(ofEntityAndDescendants: entity))) AND \(present) \
            WINDOW same AS (PARTITION BY \(names: columns) ORDER BY Z_PK)) WHERE place > 1 ORDER BY Z_PK
            """
    }

    /// Returns a query for rows `r` with a key in a column that matches no object of an entity.
    ///
    /// - Parameters:
    ///   - selected: the result columns of `r`.
    ///   - numbers: the entity numbers of the rows to check.
    ///   - isGiven: whether to omit rows without a key.
    package func leadingNowhere(
        _ table: String, _ column: String, numbers: [Int], to destination: EntityDescription, in target: String,
        isGiven: Bool, selecting selected: SQLText
    ) -> SQLText {
        """
        SELECT \(selected) FROM main.\(name: table) AS r WHERE r.Z_ENT IN (\(list: numbers))\
        \(isGiven ? " AND r.\(name: column) IS NOT NULL" : "") AND NOT EXISTS (SELECT 1 FROM main.\(name: target) AS t \
        WHERE t.Z_PK = r.\(name: column) AND t.Z_ENT IN (\(list: layout.numbers(ofEntityAndDescendants: destination)))) \
        ORDER BY r.Z_PK
        """
    }
}
