import MoultSQLite

/// A sound database that receives the rows of a damaged one. Its tables have the original column names and types, but
/// no constraints.
///
/// The rows keep their keys. The names of internal tables begin with `moult_`.
package final class RecoveredDatabase {
    package static let orphans = "moult_orphans"
    /// The readable part of the schema of the damaged database.
    package static let schema = "moult_schema"
    private static let expected = "moult_expected"

    package let connection: Connection
    /// The statements that add rows, by table and number of values, each with the columns that it fills.
    private var inserts: [String: [Int: (statement: Statement, columns: [Int])]] = [:]
    private var expect: Statement?

    init(_ path: String) throws {
        connection = try Connection(path, mode: .readWrite, isProven: true)
        try connection.execute(
            """
            PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;
            CREATE TABLE \(Self.expected) (name TEXT, key INTEGER, PRIMARY KEY (name, key)) WITHOUT ROWID;
            CREATE TABLE \(Self.orphans) (page INTEGER, key INTEGER, tables TEXT, reason TEXT, position INTEGER, value);
            CREATE TABLE \(Self.schema) (type TEXT, name TEXT, tbl_name TEXT, sql TEXT)
            """)
    }

    /// Commits and closes the database.
    package func close() throws {
        for insert in inserts.values.flatMap(\.values) { insert.statement.finalise() }
        expect?.finalise()
        (inserts, expect) = ([:], nil)
        try connection.execute("COMMIT")
        try connection.proveWrites()
        connection.close()
    }

    /// - Returns: false if SQLite does not accept the table.
    func make(_ table: RecoveredTable) throws -> Bool {
        guard !table.name.lowercased().hasPrefix("moult_") else { return false }
        func text(_ defaults: Bool) -> String {
            let columns = table.columns.enumerated().map { position, column in
                let type = Self.isPlain(column.declaredType) ? column.declaredType : "BLOB"
                let value = defaults ? column.defaultValue.map { " DEFAULT (\($0))" } ?? "" : ""
                let key = position == table.keyColumn ? " PRIMARY KEY" : ""
                return "\(column.name.quotedName) \(type)\(key)\(value)"
            }
            let names = table.columns.filter { $0.primaryKeyPosition > 0 }.map(\.name.quotedName)
            let key = table.isKeyed ? ["PRIMARY KEY (\(names.joined(separator: ", ")))"] : []
            return "CREATE TABLE \(table.name.quotedName) (\((columns + key).joined(separator: ", ")))"
                + (table.isKeyed ? " WITHOUT ROWID" : "")
        }
        for defaults in [true, false] where (try? connection.run(text(defaults))) != nil { return true }
        return false
    }

    private static func isPlain(_ type: String) -> Bool {
        type.unicodeScalars.allSatisfy {
            $0.isASCII
                && ($0.properties.isAlphabetic || $0.properties.numericType != nil
                    || " (),".unicodeScalars.contains($0))
        }
    }

    /// - Returns: false if a row with the key exists.
    func insert(_ key: Int64, _ record: StoredRecord, into table: RecoveredTable) throws -> Bool {
        let count = min(record.values.count, table.columns.count)
        let insert = try inserts[table.name]?[count] ?? prepare(table, count)
        let first = table.isKeyed ? 1 : 2
        if !table.isKeyed { try insert.statement.bind(key, at: 1) }
        for (place, column) in insert.columns.enumerated() {
            try insert.statement.bind(record.values[column] ?? .null, at: first + place)
        }
        try insert.statement.run()
        return connection.changes > 0
    }

    /// Prepares a statement that adds rows of the first `count` columns.
    private func prepare(_ table: RecoveredTable, _ count: Int) throws -> (statement: Statement, columns: [Int]) {
        let columns = (0..<count).filter { $0 != table.keyColumn }
        let names = (table.isKeyed ? [] : [table.keyName]) + columns.map { table.columns[$0].name.quotedName }
        let marks = [String](repeating: "?", count: names.count).joined(separator: ", ")
        let statement = try connection.prepare(
            "INSERT OR IGNORE INTO \(table.name.quotedName) (\(names.joined(separator: ", "))) VALUES (\(marks))")
        inserts[table.name, default: [:]][count] = (statement, columns)
        return (statement, columns)
    }

    /// Records one entry of the schema.
    func note(_ entry: Catalogue.Entry) throws {
        try connection.run(
            "INSERT INTO \(Self.schema) VALUES (?, ?, ?, ?)",
            [
                .text(entry.kind.rawValue), .text(entry.name), .text(entry.tableName),
                entry.sql.map(SQLiteValue.text) ?? .null,
            ])
    }

    /// Sets aside a row that could not be added to a table.
    ///
    /// - Parameter tables: the tables to which the row may belong.
    func keepAside(_ key: Int64, _ record: StoredRecord, page: Int, tables: [String], reason: String) throws {
        for (position, value) in record.values.enumerated() {
            try connection.run(
                "INSERT INTO \(Self.orphans) VALUES (?, ?, ?, ?, ?, ?)",
                [
                    .integer(Int64(page)), .integer(key), .text(tables.joined(separator: ", ")), .text(reason),
                    .integer(Int64(position)), value ?? .null,
                ])
        }
    }

    // MARK: - Keys

    /// Records that an index lists a row.
    func expect(_ key: Int64, in table: String) throws {
        let statement = try expect ?? connection.prepare("INSERT OR IGNORE INTO \(Self.expected) VALUES (?, ?)")
        expect = statement
        try statement.run([.text(table), .integer(key)])
    }

    func isExpected(_ key: Int64, in table: String) throws -> Bool {
        try connection.integer(
            "SELECT 1 FROM \(Self.expected) WHERE name = ? AND key = ?", [.text(table), .integer(key)])
            == 1
    }

    func highestExpected(in table: String) throws -> Int64? {
        try connection.integer("SELECT max(key) FROM \(Self.expected) WHERE name = ?", [.text(table)])
    }

    func has(_ key: Int64, in table: RecoveredTable) throws -> Bool {
        try connection.integer(
            "SELECT 1 FROM \(table.name.quotedName) WHERE \(table.keyName) = ?", [.integer(key)]) == 1
    }

    /// Returns the keys that an index lists and that were not read.
    func missing(in table: RecoveredTable) throws -> KeyRanges {
        var missing = KeyRanges()
        try connection.forEachRow(
            """
            SELECT key FROM \(Self.expected) WHERE name = ? AND key NOT IN (SELECT \(table.keyName) \
            FROM \(table.name.quotedName)) ORDER BY key
            """, [.text(table.name)]
        ) { missing.append($0.integer(0)...$0.integer(0)) }
        return missing
    }

    /// Returns the keys in a range that have no row.
    func unread(in keys: ClosedRange<Int64>, of table: RecoveredTable) throws -> [ClosedRange<Int64>] {
        var (low, isDone, ranges): (Int64, Bool, [ClosedRange<Int64>]) = (keys.lowerBound, false, [])
        try connection.forEachRow(
            "SELECT \(table.keyName) FROM \(table.name.quotedName) WHERE \(table.keyName) BETWEEN ? AND ? ORDER BY 1",
            [.integer(keys.lowerBound), .integer(keys.upperBound)]
        ) { row in
            let key = row.integer(0)
            if low < key { ranges.append(low...(key - 1)) }
            isDone = key == .max
            if !isDone { low = key + 1 }
        }
        if !isDone, low <= keys.upperBound { ranges.append(low...keys.upperBound) }
        return ranges
    }
}
