import MoultSQLite

/// Whether rows hold two keys, in SQL whose cost does not depend on the indexes that a store has: SQLite looks for a pair
/// in a list in an index, or in a sorted copy of the list that it makes once. `NOT EXISTS` would go through all rows for
/// each pair where no index helps, and so would `NOT IN`, for the sake of NULL, where a pair is not found.
package enum Lookup {
    /// 1 for a row whose keys are no row of a table, as SQL.
    ///
    /// - Parameters:
    ///   - keys: two keys as SQL.
    ///   - columns: the columns that may hold them; one may be the table's own key, `Z_PK`.
    package static func misses(_ keys: [String], _ columns: [String], in table: String) -> String {
        let isByKey = columns.contains("Z_PK")
        // A row that is found by its key has one value to compare: no index of that value is asked.
        let equal = zip(keys, columns).map { "q.\($1.quotedName) = \($1 == "Z_PK" ? $0 : "+\($0)")" }
        let list = columns.map(\.quotedName).joined(separator: ", ")
        let isFound =
            isByKey
            ? "EXISTS (SELECT 1 FROM \(table) AS q WHERE \(equal.joined(separator: " AND ")))"
            : "(\(keys.joined(separator: ", "))) IN (SELECT \(list) FROM \(table))"
        return "CASE WHEN \(isFound) THEN 0 ELSE 1 END"
    }
}
