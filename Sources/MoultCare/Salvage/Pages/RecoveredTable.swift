import MoultSQLite

/// A table of the damaged database, as its CREATE TABLE statement declares it.
package struct RecoveredTable {
    package let name: String
    /// The root page; nil if unknown.
    package let root: Int?
    /// The columns stored in a record, in record order.
    let columns: [Catalogue.Column]
    /// Whether this is a `WITHOUT ROWID` table, whose rows are index entries without rowids.
    package let isKeyed: Bool
    /// The column that is an alias of the rowid. The row itself stores no value for it.
    let keyColumn: Int?
    /// The column with the number of the row's entity.
    private let entityColumn: Int?
    /// The values of `Z_ENT` that its rows may have; empty if unknown.
    var entityNumbers: Set<Int64> = []
    /// The ranges of keys that the walk could not read.
    package var gaps: [KeyGap] = []
    package var rows: Int64 = 0
    /// The keys of rows with damaged values.
    package var partial: [Int64] = []
    var highestRead: Int64?
    var lowestRead: Int64?
    /// The number of rows in an index that lists all of them and is completely readable.
    package var counted: Int64?
    /// Whether all of its keys in an index were recorded.
    var isListed = false
    /// The highest key ever assigned, from the store's own counter.
    package var counter: Int64?
    /// Whether rows beyond the listed keys may be lost, because the highest key is unknown.
    package var endsOpen = false
    /// The number of its leaves that nothing pointed to.
    var orphans = 0

    /// Returns the maximum number of rows in one leaf.
    func capacity(usable: Int) -> Int64 { Int64(max((usable - 8) / (columns.count + 5), 1)) }

    init(name: String, root: Int?, columns: [Catalogue.Column], isKeyed: Bool = false) {
        (self.name, self.root, self.columns, self.isKeyed) = (name, root, columns, isKeyed)
        let keys = isKeyed ? [] : columns.indices.filter { columns[$0].primaryKeyPosition > 0 }
        let isInteger = keys.count == 1 && columns[keys[0]].declaredType.uppercased() == "INTEGER"
        keyColumn = isInteger ? keys[0] : nil
        entityColumn = columns.firstIndex { $0.name == "Z_ENT" }
    }

    /// Whether rows without rowids may be missing. A complete index, if there is one, gives the exact number.
    package var lacksKeyedRows: Bool { isKeyed && !gaps.isEmpty && counted != rows }

    /// A name for the rowid that no column has.
    var keyName: String {
        let names = Set(columns.map { $0.name.lowercased() })
        return ["rowid", "_rowid_", "oid"].first { !names.contains($0) } ?? "rowid"
    }

    /// Returns whether a row of the table can have these values.
    func allows(_ record: StoredRecord) -> Bool {
        guard !record.values.isEmpty, record.values.count <= columns.count else { return false }
        guard let keyColumn, keyColumn < record.values.count, let value = record.values[keyColumn] else { return true }
        return value == .null
    }

    /// Returns whether a row's entity belongs to another table.
    func isStranger(_ record: StoredRecord) -> Bool {
        guard !entityNumbers.isEmpty, let place = entityColumn, place < record.values.count,
            let number = record.values[place]?.integer
        else { return false }
        return !entityNumbers.contains(number)
    }

    /// Returns whether the values look like a row of the table: their number, their types, and the entity number.
    func fits(_ record: StoredRecord) -> Bool {
        guard allows(record), record.values.count == columns.count else { return false }
        for (column, value) in zip(columns, record.values) {
            guard let value, value != .null else { continue }
            if column.name == "Z_ENT", keyColumn != nil, !entityNumbers.isEmpty {
                guard let number = value.integer, entityNumbers.contains(number) else { return false }
            }
            let type = column.declaredType.uppercased()
            switch value {
            case .text where type.contains("INT") || type == "TIMESTAMP" || type == "FLOAT": return false
            case .integer where type.hasPrefix("VARCHAR"), .real where type.hasPrefix("VARCHAR"): return false
            case .blob where type != "BLOB" && !type.isEmpty: return false
            case .real where type.contains("INT"): return false
            default: break
            }
        }
        return true
    }
}

/// The rows of `sqlite_schema` read from a damaged database.
package struct SchemaRows {
    struct Index {
        var name: String
        var table: String
        var root: Int
        /// Whether the index may leave rows out.
        var isPartial: Bool
    }

    private(set) var tables: [RecoveredTable] = []
    private(set) var indexes: [Index] = []
    /// Every entry with SQL text, in the order of the schema.
    private(set) var entries: [Catalogue.Entry] = []
    /// The tables that are not read.
    package private(set) var unreadable: [String] = []
    private var names: Set<String> = []
    /// A separate database that parses `CREATE TABLE` statements.
    private let parser: Connection

    init() throws { parser = try Connection(":memory:", mode: .create) }

    /// Returns whether a record can be a row of the schema.
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

    /// Records that a table is not read.
    mutating func leaveOut(_ table: String) { unreadable.append(table) }

    /// - Parameter root: the root page; nil if unknown.
    mutating func addTable(_ name: String, _ root: Int?, _ sql: String) throws {
        guard !name.lowercased().hasPrefix("sqlite_"), !names.contains(name) else { return }
        // A virtual table keeps its rows in tables with other names.
        if sql.uppercased().hasPrefix("CREATE VIRTUAL") { return }
        guard let (columns, isKeyed) = try columns(sql) else { return unreadable.append(name) }
        names.insert(name)
        tables.append(
            RecoveredTable(name: name, root: root.flatMap { $0 > 1 ? $0 : nil }, columns: columns, isKeyed: isKeyed))
    }

    /// Returns the columns stored in a row, in the order of the values (the SQLite file format, sections 2.3 and 2.4),
    /// and whether the table is `WITHOUT ROWID`. Returns nil if SQLite rejects the text. Only statements of the form
    /// that SQLite itself writes into a schema are run.
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
        let key = columns.filter { $0.primaryKeyPosition > 0 }.sorted { $0.primaryKeyPosition < $1.primaryKeyPosition }
        return isKeyed ? (key + columns.filter { $0.primaryKeyPosition == 0 }, true) : (columns, false)
    }

    /// Returns the name of the created table; nil without a column list, as in `CREATE TABLE … AS SELECT`.
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
