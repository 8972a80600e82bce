import MoultModel
import MoultSQLite

/// The rows of `sqlite_schema` that were read of a damaged database.
package struct SchemaRows {
    struct Index {
        var name: String
        var table: String
        var root: Int
        /// Whether it may leave rows out.
        var isPartial: Bool
    }

    private(set) var tables: [RecoveredTable] = []
    private(set) var indexes: [Index] = []
    /// Everything that has a text, as the schema lists it.
    private(set) var entries: [Catalogue.Entry] = []
    /// Tables that are not read.
    package private(set) var unreadable: [String] = []
    private var names: Set<String> = []
    /// Parses `CREATE TABLE` in a database of its own.
    private let parser: Connection

    init() throws { parser = try Connection(":memory:", mode: .create) }

    /// Whether a record can be a row of the schema.
    static func isRow(_ record: StoredRecord) -> Bool {
        guard record.values.count == 5, case .text(let type)?? = record.values.first else { return false }
        return Catalogue.Kind(rawValue: type) != nil
    }

    mutating func add(_ record: StoredRecord) throws {
        guard Self.isRow(record), let kind = record.values[0]?.text.flatMap(Catalogue.Kind.init(rawValue:)),
            let name = record.values[1]?.text, let table = record.values[2]?.text
        else { return }
        let root = record.values[3]?.integer.flatMap(Int.init(exactly:)) ?? 0
        let sql = record.values[4]?.text
        if sql != nil { entries.append(Catalogue.Entry(kind: kind, name: name, tableName: table, sql: sql)) }
        switch kind {
        case .table: try addTable(name, root, sql ?? "")
        case .index:
            guard root > 1 else { return }
            let isPartial = sql.map { $0.uppercased().contains(" WHERE ") } ?? false
            indexes.append(Index(name: name, table: table, root: root, isPartial: isPartial))
        case .trigger, .view: break
        }
    }

    /// Notes that a table is not read.
    mutating func leaveOut(_ table: String) { unreadable.append(table) }

    /// - Parameter root: nil where it is not known.
    mutating func addTable(_ name: String, _ root: Int?, _ sql: String) throws {
        guard !name.lowercased().hasPrefix("sqlite_"), !names.contains(name) else { return }
        // A virtual table has its rows in tables of other names.
        if sql.uppercased().hasPrefix("CREATE VIRTUAL") { return }
        guard let (columns, isKeyed) = try columns(sql) else { return unreadable.append(name) }
        names.insert(name)
        tables.append(
            RecoveredTable(name: name, root: root.flatMap { $0 > 1 ? $0 : nil }, columns: columns, isKeyed: isKeyed))
    }

    /// The columns of which a row has a value, in the order of the values (the SQLite file format, sections 2.3 and
    /// 2.4), and whether the table is one `WITHOUT ROWID`. Nil where SQLite does not take the text. Only what SQLite
    /// itself writes into a schema is run.
    private func columns(_ sql: String) throws -> (columns: [Catalogue.Column], isKeyed: Bool)? {
        guard let name = Self.name(in: sql), sql.utf8.count < 1_000_000, let statement = try? parser.prepare(sql) else {
            return nil
        }
        defer { statement.finalise() }
        guard (try? statement.run()) != nil else { return nil }
        let columns = try parser.storedColumns(of: name)
        let isKeyed = try parser.integer("SELECT wr FROM pragma_table_list WHERE name = ?", [.text(name)]) == 1
        try parser.run("DROP TABLE \(name.quotedName)")
        if columns.isEmpty { return nil }
        let key = columns.filter { $0.primaryKeyPosition > 0 }
            .sorted { $0.primaryKeyPosition < $1.primaryKeyPosition }
        return isKeyed ? (key + columns.filter { $0.primaryKeyPosition == 0 }, true) : (columns, false)
    }

    /// The table that a text makes; nil where it is not followed by its columns, as in `CREATE TABLE … AS SELECT`.
    static func name(in sql: String) -> String? {
        let start = "CREATE TABLE "
        guard sql.hasPrefix(start) else { return nil }
        var rest = sql.dropFirst(start.count)
        var name = ""
        if let mark = rest.first, "\"'`".contains(mark) {
            rest = rest.dropFirst()
            while let end = rest.firstIndex(of: mark) {
                name += rest[..<end]
                rest = rest[rest.index(after: end)...]
                guard rest.first == mark else { break }
                name.append(mark)
                rest = rest.dropFirst()
            }
        } else {
            name = String(rest.prefix { !$0.isWhitespace && $0 != "(" })
            rest = rest.dropFirst(name.count)
        }
        return rest.first { !$0.isWhitespace } == "(" && !name.isEmpty ? name : nil
    }
}
