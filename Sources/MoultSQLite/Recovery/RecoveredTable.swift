/// A table of the damaged database, as its CREATE TABLE statement declares it.
package struct RecoveredTable {
    package let name: String
    /// Nil where that is not known.
    package let root: Int?
    /// The columns stored in a record, in record order.
    let columns: [Catalogue.Column]
    /// Whether the table is one `WITHOUT ROWID`: its rows are the entries of an index, without numbers.
    package let isKeyed: Bool
    /// The column that is another name of the key: the row itself holds no value there.
    let keyColumn: Int?
    /// The numbers that its rows may have as `Z_ENT`; empty where that is not known.
    var entityNumbers: Set<Int64> = []
    /// The ranges of keys that the walk could not read.
    package var gaps: [KeyGap] = []
    package var rows: Int64 = 0
    /// Keys of rows of which some values are damaged.
    package var partial: [Int64] = []
    var highestRead: Int64?
    var lowestRead: Int64?
    /// Rows by an index that lists all of them and that could be read as a whole.
    package var counted: Int64?
    /// Whether all of its keys that an index lists were noted.
    var isListed = false
    /// The highest key that was handed out, by the store's own counter.
    package var counter: Int64?
    /// Whether rows above those that are named may be lost: nothing says what the highest key was.
    package var endsOpen = false
    /// Leaves that nothing led to and that were found to be its own.
    var orphans = 0

    /// Rows that one leaf can have at most.
    func capacity(usable: Int) -> Int64 { Int64(max((usable - 8) / (columns.count + 5), 1)) }

    init(name: String, root: Int?, columns: [Catalogue.Column], isKeyed: Bool = false) {
        (self.name, self.root, self.columns, self.isKeyed) = (name, root, columns, isKeyed)
        let keys = isKeyed ? [] : columns.indices.filter { columns[$0].primaryKeyPosition > 0 }
        let isInteger = keys.count == 1 && columns[keys[0]].declaredType.uppercased() == "INTEGER"
        keyColumn = isInteger ? keys[0] : nil
    }

    /// Whether rows without numbers may be missing: an index that lists them all says how many, if there is one.
    package var lacksKeyedRows: Bool { isKeyed && !gaps.isEmpty && counted != rows }

    /// A name of the key that no column has.
    var keyName: String {
        let names = Set(columns.map { $0.name.lowercased() })
        return ["rowid", "_rowid_", "oid"].first { !names.contains($0) } ?? "rowid"
    }

    /// Whether a row of the table can have these values.
    func allows(_ record: StoredRecord) -> Bool {
        guard !record.values.isEmpty, record.values.count <= columns.count else { return false }
        guard let keyColumn, keyColumn < record.values.count, let value = record.values[keyColumn] else { return true }
        return value == .null
    }

    /// Whether a row is of an entity of another table.
    func isStranger(_ record: StoredRecord) -> Bool {
        guard !entityNumbers.isEmpty, let place = columns.firstIndex(where: { $0.name == "Z_ENT" }),
            place < record.values.count, let number = record.values[place]?.integer
        else { return false }
        return !entityNumbers.contains(number)
    }

    /// Whether the values are such as the table's rows have: their number, their types, the number of the entity.
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
        let key = columns.filter { $0.primaryKeyPosition > 0 }.sorted { $0.primaryKeyPosition < $1.primaryKeyPosition }
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
