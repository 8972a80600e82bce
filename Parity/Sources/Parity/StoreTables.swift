import Foundation

/// The tables of a store, as the sqlite3 shell reads them: columns, indexes and rows.
struct StoreTables {
    /// The declared type of each column, by table and name. Columns are asked for by name, so their order says nothing.
    private(set) var columns: [String: [String: String]] = [:]
    private(set) var indexes: [String: String] = [:]
    /// Rows by table and key, with SQLite's literal of each value.
    private(set) var rows: [String: [String: [String: String]]] = [:]

    /// What each migration writes for itself: when it was, for whom, the model in the store, history.
    private static let ownTables = ["Z_METADATA", "Z_MODELCACHE"]

    /// - Parameter sqlite: the shell of the system.
    init(_ store: URL, _ sqlite: Program) throws {
        let path = store.path
        for line in try Self.lines(path, "SELECT type, name, tbl_name, sql FROM sqlite_master", sqlite) {
            guard let type = line["type"], let name = line["name"], !name.hasPrefix("sqlite_") else { continue }
            if type == "index" { indexes[name] = line["sql"] ?? "" }
            guard type == "table", !Self.ownTables.contains(name), !name.hasPrefix("ATRANSACTION"),
                !name.hasPrefix("ACHANGE")
            else { continue }
            let information = try Self.lines(path, "PRAGMA table_info(\(Self.quoted(name)))", sqlite)
            columns[name] = information.reduce(into: [:]) { $0[$1["name"] ?? ""] = $1["type"] ?? "" }
            rows[name] = try Self.contents(of: name, columns[name, default: [:]].keys.sorted(), path, sqlite)
        }
    }

    /// What this store, which Moult migrated, has other than the one that Core Data migrated.
    func differences(from apple: StoreTables) -> [Difference] {
        var found: [Difference] = []
        func compare(_ kind: Difference.Kind, _ place: String, _ mine: String?, _ theirs: String?) {
            guard mine != theirs else { return }
            found.append(Difference(kind, place, moult: mine ?? "missing", apple: theirs ?? "missing"))
        }
        for table in Set(columns.keys).union(apple.columns.keys).sorted() {
            guard let mine = columns[table], let theirs = apple.columns[table] else {
                compare(.table, table, columns[table].map { _ in "there" }, apple.columns[table].map { _ in "there" })
                continue
            }
            for name in Set(mine.keys).union(theirs.keys).sorted() {
                compare(.column, "\(table).\(name)", mine[name], theirs[name])
            }
            let (left, right) = (rows[table, default: [:]], apple.rows[table, default: [:]])
            for key in Set(left.keys).union(right.keys).sorted() {
                guard let mine = left[key], let theirs = right[key] else {
                    compare(.row, "\(table) \(key)", left[key].map { _ in "there" }, right[key].map { _ in "there" })
                    continue
                }
                for name in Set(mine.keys).intersection(theirs.keys).sorted() {
                    compare(.value, "\(table) \(key).\(name)", mine[name], theirs[name])
                }
            }
        }
        for index in Set(indexes.keys).union(apple.indexes.keys).sorted() {
            compare(.index, index, indexes[index], apple.indexes[index])
        }
        return found
    }

    /// How many rows there are.
    var count: Int { rows.values.reduce(0) { $0 + $1.count } }

    private static func contents(
        of table: String, _ columns: [String], _ path: String, _ sqlite: Program
    ) throws -> [String: [String: String]] {
        guard !columns.isEmpty else { return [:] }
        let key =
            columns.contains("Z_PK") ? "Z_PK" : columns.contains("Z_ENT") && table == "Z_PRIMARYKEY" ? "Z_NAME" : nil
        let list = columns.map { "quote(\(quoted($0))) AS \(quoted($0))" }.joined(separator: ", ")
        var result: [String: [String: String]] = [:]
        for row in try lines(path, "SELECT \(list) FROM \(quoted(table))", sqlite) {
            // A join table has no key: its rows are what they hold.
            let name = key.flatMap { row[$0] } ?? columns.map { row[$0] ?? "" }.joined(separator: ",")
            result[name] = row.filter { $0.key != "Z_OPT" }
        }
        return result
    }

    private static func lines(_ path: String, _ sql: String, _ sqlite: Program) throws -> [[String: String]] {
        let text = try sqlite(["-readonly", "-json", path, sql])
        guard !text.allSatisfy(\.isWhitespace) else { return [] }
        let rows = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]] ?? []
        return rows.map { row in
            row.compactMapValues { value in
                switch value {
                case let text as String: text
                case let number as NSNumber: "\(number)"
                default: nil
                }
            }
        }
    }

    private static func quoted(_ name: String) -> String { "\"\(name.replacingOccurrences(of: "\"", with: "\"\""))\"" }
}
