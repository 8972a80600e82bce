import MoultBasics
import MoultSQLite

/// The rows of a fault, by their keys and, on request, by their values.
extension StoreVerifier {
    typealias Rows = (keys: [Int64], values: [String])

    /// Returns the number of rows that a clause selects; nil if there are none.
    ///
    /// - Parameter rows: a table with the alias `r`, and a condition.
    func count(_ rows: String) throws -> Int64? {
        let count = try connection.integer("SELECT count(*) FROM \(rows)") ?? 0
        return count > 0 ? count : nil
    }

    /// Returns whether a clause selects any row, which is known at the first.
    func exists(_ rows: String) throws -> Bool {
        try connection.integer("SELECT EXISTS (SELECT 1 FROM \(rows))") == 1
    }

    /// Returns the first keys of the rows that a clause selects; a pair may have none.
    func keys(_ rows: String, _ column: String = "Z_PK") throws -> Rows {
        let key = "r.\(column.quotedName)"
        let keys = try connection.rows("SELECT \(key) FROM \(rows) ORDER BY 1 LIMIT \(Finding.keyLimit)") {
            $0.storageClass(0) == .integer ? $0.integer(0) : nil
        }
        return (keys.compactMap { $0 }, [])
    }

    /// Returns the first rows that share their values with another row.
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

extension Connection {
    /// Returns whether a row of a table meets one of the conditions, reading the table once for as many of them as fit
    /// into a statement.
    ///
    /// - Parameters:
    ///   - table: its name as SQL. The conditions may call a row `r`.
    ///   - conditions: SQL that no index is to be used for.
    func hasRow(of table: String, meeting conditions: [String]) throws -> Bool {
        var rest = conditions[...]
        while !rest.isEmpty {
            var length = 0
            // A list of entity numbers may be long.
            let part = rest.prefix { condition in
                defer { length += condition.utf8.count }
                return length < 100_000
            }
            rest = rest.dropFirst(part.count)
            let isMet = part.map { "(\($0))" }.conditions(joinedBy: "OR")
            if try integer("SELECT EXISTS (SELECT 1 FROM \(table) AS r NOT INDEXED WHERE \(isMet))") == 1 {
                return true
            }
        }
        return false
    }
}

extension StoreVerifier.Violation {
    func naming(_ rows: StoreVerifier.Rows) -> Self {
        var violation = self
        (violation.finding.keys, violation.finding.values) = rows
        return violation
    }
}

/// The rows of persistent history.
extension StoreVerifier {
    /// Returns changes that readers cannot find, and transactions whose strings are missing.
    package func history() throws -> [Violation] {
        let tables = Dictionary(shape.history.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        guard let changes = tables["CHANGE"], let transactions = tables["TRANSACTION"] else { return [] }
        return try strayChanges(changes, transactions)
            + (tables["TRANSACTIONSTRING"].map { try lostTexts(transactions, $0) } ?? [])
    }

    private func strayChanges(
        _ changes: StoreShape.EntityNumber, _ transactions: StoreShape.EntityNumber
    ) throws -> [Violation] {
        let rows = """
            \(table(changes.table)) AS r WHERE r.ZCHANGETYPE IS NULL OR r.ZCHANGETYPE NOT IN (0, 1, 2) \
            OR typeof(r.ZENTITY) <> 'integer' OR typeof(r.ZENTITYPK) <> 'integer' OR NOT EXISTS (SELECT 1 FROM \(table(transactions.table)) AS t WHERE t.Z_PK = r.ZTRANSACTIONID)
            """
        return try violation(
            count(rows), "history-change", .error, place: changes.table, "change of persistent history belongs",
            plural: "changes of persistent history belong", "to no transaction or to no object.",
            "No app sees them: \(.repair) removes them."
        ).map { [try $0.naming(keys(rows))] } ?? []
    }

    private func lostTexts(
        _ transactions: StoreShape.EntityNumber, _ strings: StoreShape.EntityNumber
    ) throws -> [Violation] {
        try ["ZAUTHORTS", "ZBUNDLEIDTS", "ZCONTEXTNAMETS", "ZPROCESSIDTS"].compactMap { column in
            let rows = """
                \(table(transactions.table)) AS r WHERE r.\(column) IS NOT NULL \
                AND NOT EXISTS (SELECT 1 FROM \(table(strings.table)) AS t WHERE t.Z_PK = r.\(column))
                """
            return try violation(
                count(rows), "history-text", .error, place: "\(transactions.table).\(column)",
                "transaction of persistent history names", plural: "transactions of persistent history name",
                "a text that is not there.", "\(.repair) clears these references."
            )?.naming(keys(rows))
        }
    }
}
