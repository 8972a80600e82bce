import MoultBasics
import MoultSQLite
import MoultStore

/// A unique index that can be made once no value of its columns occurs twice.
struct WaitingIndex: Sendable {
    private let index: IndexDefinition
    /// The quoted names of its columns.
    private let columns: [String]
    /// Whether the store has a different index of that name.
    private let isThere: Bool
    private let rows: Int64

    var name: String { index.name }

    /// - Parameters:
    ///   - table: the statement that made its table.
    ///   - rows: the number of rows in its table.
    /// - Returns: nil for an index that has no columns of the table.
    init?(_ index: IndexDefinition, on table: String?, isThere: Bool, rows: Int64) throws {
        let shape = try table.flatMap { try IndexShape(of: index.name, index.sql, on: $0) }
        columns = (shape?.columns ?? []).compactMap { $0.name?.quotedName }
        (self.index, self.isThere, self.rows) = (index, isThere, rows)
        if columns.isEmpty { return nil }
    }

    private var shared: String {
        let present = columns.map { "\($0) IS NOT NULL" }.conditions(joinedBy: "AND")
        let names = columns.joined(separator: ", ")
        return
            "SELECT \(names) FROM main.\(index.table.quotedName) WHERE \(present) GROUP BY \(names) HAVING count(*) > 1"
    }

    /// Returns the number of values that occur more than once.
    func doubles(_ connection: Connection) throws -> Int64 {
        try connection.integer("SELECT count(*) FROM (\(shared))") ?? 0
    }

    /// Makes the index if its values are unique now; otherwise leaves it as it is and adds a remark.
    func make(_ connection: Connection) throws -> RepairReport {
        var finding = found
        finding.left = try doubles(connection)
        guard finding.left == 0 else {
            return RepairReport(faults: [finding], remarks: [try remark(finding.left, repairsRows: false, connection)])
        }
        if isThere { try connection.run("DROP INDEX main.\(index.name.quotedName)") }
        try connection.run(index.sql)
        return RepairReport(faults: [finding])
    }

    /// The fault as found before any repair.
    var found: RepairReport.Fault { .init(rule: .indexes, place: index.name, count: rows, keys: []) }

    /// - Parameter repairsRows: whether repairing the rows can make the values unique.
    func remark(_ doubles: Int64, repairsRows: Bool, _ connection: Connection) throws -> Finding {
        let next: Remedy =
            repairsRows
            ? ", or let the repair of duplicates keep the first of each (\(option: .only(["duplicates"])))" : ""
        var finding = Finding(
            code: "not-unique", severity: .error, place: index.name,
            message: "The unique index \(index.name) cannot be made: "
                + "\(Quantity.count(doubles, "value occurs", plural: "values occur")) more than once.",
            remedy: "Merge or change the rows that share a value\(next); then run \(.repair) again.")
        finding.keys = try connection.rows(
            """
            SELECT Z_PK FROM main.\(index.table.quotedName) WHERE (\(columns.joined(separator: ", "))) IN (\(shared)) \
            ORDER BY Z_PK LIMIT \(Finding.keyLimit)
            """
        ) { $0.integer(0) }
        return finding
    }

    /// Whether the catalogues differ only in the waiting indexes, each of which is as before or as required.
    static func account(for waiting: [WaitingIndex], before: Catalogue, after: Catalogue) -> Bool {
        let wanted = Dictionary(waiting.map { ($0.name, $0.index.sql) }, uniquingKeysWith: { first, _ in first })
        func others(_ catalogue: Catalogue) -> Set<Catalogue.Entry> {
            Set(catalogue.entries.filter { $0.kind != .index || wanted[$0.name] == nil })
        }
        let old = Set(before.entries)
        return others(before) == others(after)
            && after.entries.allSatisfy { entry in
                guard entry.kind == .index, let sql = wanted[entry.name] else { return true }
                return entry.sql == sql || old.contains(entry)
            }
    }
}
