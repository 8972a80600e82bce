import MoultModel
import MoultSQLite

/// The rows of persistent history.
extension StoreVerifier {
    /// Changes that no reader finds, and transactions whose texts are gone.
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
