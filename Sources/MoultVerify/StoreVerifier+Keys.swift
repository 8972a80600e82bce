import MoultModel
import MoultSQLite

/// The rows that a fault is about: by their keys, and by what they hold where that is asked for.
extension StoreVerifier {
    typealias Rows = (keys: [Int64], values: [String])

    /// Returns the number of rows that a clause selects; nil for none.
    ///
    /// - Parameter rows: a table with the alias `r`, and a condition.
    func count(_ rows: String) throws -> Int64? {
        let count = try connection.integer("SELECT count(*) FROM \(rows)") ?? 0
        return count > 0 ? count : nil
    }

    /// The first keys of the rows that a clause selects; a pair may have none.
    func keys(_ rows: String, _ column: String = "Z_PK") throws -> Rows {
        let key = "r.\(column.quotedName)"
        let keys = try connection.rows("SELECT \(key) FROM \(rows) ORDER BY 1 LIMIT \(Finding.keyLimit)") {
            $0.storageClass(0) == .integer ? $0.integer(0) : nil
        }
        return (keys.compactMap { $0 }, [])
    }

    /// The first rows that share their values with another row.
    func repeated(_ constraint: StoreShape.Uniqueness) throws -> Rows {
        let columns = constraint.columns.map(\.quotedName)
        let owners = "Z_ENT IN (\(list(constraint.numbers)))"
        let present = columns.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
        let names = columns.joined(separator: ", ")
        let values = columns.map { "quote(r.\($0))" }.joined(separator: " || ', ' || ")
        var found: Rows = ([], [])
        try connection.forEachRow(
            """
            SELECT r.Z_PK, \(withValues ? values : "NULL") FROM \(table(constraint.table)) AS r WHERE r.\(owners) \
            AND (\(columns.map { "r.\($0)" }.joined(separator: ", "))) IN (SELECT \(names) FROM \(table(constraint.table)) \
            WHERE \(owners) AND \(present) GROUP BY \(names) HAVING count(*) > 1) ORDER BY 1 LIMIT \(Finding.keyLimit)
            """
        ) { row in
            found.keys.append(row.integer(0))
            if withValues { found.values.append("\(row.integer(0)): \(row.text(1) ?? "NULL")") }
        }
        return found
    }
}

extension StoreVerifier.Violation {
    func naming(_ rows: StoreVerifier.Rows) -> Self {
        var violation = self
        (violation.finding.keys, violation.finding.values) = rows
        return violation
    }
}
