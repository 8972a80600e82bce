import MoultBasics
import MoultEngine
import MoultSQLite

/// The data of a store, read by plain SQL from a copy: schema and rows, the bytes of external data, and the quarantined
/// objects.
///
/// It is read without the engine, so that a fault of the engine cannot hide itself.
package struct LogicalState: Sendable, Hashable {
    /// A line for each entry of the schema and each row, sorted; a single line if there is no sound database.
    package var rows: [String]
    /// A line for each quarantined object that is not in the store again.
    package var quarantine: [String]

    /// - Parameters:
    ///   - store: a closed store; SQLite recovers the copy, and the store is not touched.
    ///   - scratch: a folder for the copy, which is emptied first.
    ///   - changing: columns whose values belong to one run; only whether a row has a value is compared.
    package init(of store: String, scratch: String, changing: Set<ChangingColumn> = []) throws {
        let system = POSIXSystem()
        try system.removeTree(scratch)
        try system.makeFolder(scratch)
        rows = try Self.rows(of: store, scratch, changing, system)
        quarantine = try Self.quarantine(of: store, scratch, system)
    }

    static func copy(_ path: String, to folder: String, _ system: POSIXSystem) throws -> String {
        let copy = Path.join(folder, Path.name(of: path))
        for suffix in ["", "-wal", "-journal"] {
            // An earlier state may have left a file of the same name.
            try system.remove(copy + suffix)
            guard try system.exists(path + suffix) else { continue }
            try system.copy(path + suffix, to: copy + suffix)
        }
        return copy
    }

    // MARK: - The store

    /// Returns the lines of the store at the path, without data that was moved elsewhere.
    private static func rows(
        of store: String, _ scratch: String, _ changing: Set<ChangingColumn>, _ system: POSIXSystem
    ) throws -> [String] {
        guard let status = try system.status(of: store) else { return ["nothing"] }
        guard status.size > 0 else { return ["an empty file"] }
        let copy = try copy(store, to: scratch, system)
        do {
            let connection = try Connection(copy, mode: .readWrite)
            defer { connection.close() }
            try connection.registerCoreDataStubs()
            let complaints = try connection.rows("PRAGMA integrity_check") { $0.text(0) ?? "" }
            if complaints == ["ok"] {
                return try lines(of: connection, externalData: StoreRecords.externalData(of: store), changing, system)
                    .sorted()
            }
        } catch is MigrationError {}
        // SQLite has recovered the copy as far as possible, from its WAL and by rolling back a journal.
        return ["damaged: \(try system.digest(of: copy).hexadecimal)"]
    }

    private static func lines(
        of connection: Connection, externalData: String, _ changing: Set<ChangingColumn>, _ system: POSIXSystem
    ) throws -> [String] {
        var lines: [String] = []
        for entry in try connection.catalogue().entries {
            lines.append("schema \(entry.kind) \(entry.name) \(entry.sql ?? "")")
            guard entry.kind == .table, let sql = entry.sql, !sql.uppercased().hasPrefix("CREATE VIRTUAL") else {
                continue
            }
            try connection.forEachRow("SELECT * FROM \(entry.name.quotedName)") { row in
                let values = try row.row.enumerated().map { place, value in
                    let column = ChangingColumn(table: entry.name, name: row.columnName(place))
                    // Most stores have no changing columns.
                    if !changing.isEmpty, changing.contains(column), value != .null { return "a value of the run" }
                    return try text(of: value, externalData, system)
                }
                lines.append("row \(entry.name) \(values.joined(separator: " | "))")
            }
        }
        return lines
    }

    static func text(of value: SQLiteValue, _ externalData: String, _ system: POSIXSystem) throws -> String {
        switch value {
        case .null: return "null"
        case .integer(let number): return "\(number)"
        case .real(let number): return "real \(number)"
        case .text(let text): return "'\(text)'"
        case .blob(let bytes):
            guard let name = externalName(bytes) else {
                return bytes.count > 64 ? "blob \(bytes.count) \(digest(bytes))" : "blob \(bytes.hexadecimal)"
            }
            let path = Path.join(externalData, name)
            return try system.exists(path) ? "file \(system.digest(of: path).hexadecimal)" : "A MISSING FILE"
        }
    }

    /// Returns the name in a reference to external data: the byte 2, a UUID of 36 characters, a zero byte.
    private static func externalName(_ bytes: [UInt8]) -> String? {
        guard bytes.count == 38, bytes.first == 2, bytes.last == 0 else { return nil }
        return String(decoding: bytes[1..<37], as: UTF8.self)
    }

    private static func digest(_ bytes: [UInt8]) -> String {
        var stream = SHA256Stream()
        bytes.withUnsafeBytes { stream.update($0) }
        return stream.finish().hexadecimal
    }

    // MARK: - The quarantine

    private static func quarantine(of store: String, _ scratch: String, _ system: POSIXSystem) throws -> [String] {
        let path = store + ".moult/quarantine.sqlite"
        guard try system.exists(path) else { return [] }
        let connection = try Connection(copy(path, to: scratch, system), mode: .readWrite)
        defer { connection.close() }
        let tables = try connection.catalogue().tables.map(\.name)
        guard tables.contains("quarantine") else { return [] }
        let counts = tables.contains("undone") ? "run NOT IN (SELECT run FROM undone)" : "1"
        let isLeft =
            tables.contains("restoration") ? "AND id NOT IN (SELECT entry FROM restoration WHERE \(counts))" : ""
        let sql = "SELECT entity, key, reason, object FROM quarantine WHERE \(counts) \(isLeft)"
        return try connection.rows(sql) { row in "\(row.row)" }.sorted()
    }
}

extension StoreRecords {
    /// Returns the folder of a store's external data, with its name written out independently of the engine.
    static func externalData(of store: String) -> String {
        Path.join(Path.folder(of: store), ".\(Path.stem(of: store))_SUPPORT/_EXTERNAL_DATA")
    }
}

/// A column that an app's code fills anew in each run, such as the time of the migration or a new identifier: two runs
/// from the same store leave different values.
package struct ChangingColumn: Sendable, Hashable, Comparable {
    package var table: String
    package var name: String

    package var place: String { "\(table).\(name)" }

    package static func < (left: ChangingColumn, right: ChangingColumn) -> Bool { left.place < right.place }

    /// Returns the sentence about these columns in a report.
    package static func sentence(_ columns: Set<ChangingColumn>) -> String? {
        guard !columns.isEmpty else { return nil }
        let places = columns.sorted().map(\.place).joined(separator: ", ")
        return
            "Two undisturbed runs left different values in \(places). There, only whether a row has a value is "
            + "compared."
    }

    /// Returns the columns in which two runs of one migration differ. If they differ in their tables or in the number
    /// of rows, no column explains it, and the rows are compared in any case.
    package static func all(between first: RunValues, and second: RunValues) -> Set<ChangingColumn> {
        var found: Set<ChangingColumn> = []
        for (table, one) in first.tables {
            guard let other = second.tables[table], one.columns == other.columns, one.rows.count == other.rows.count
            else { continue }
            for (left, right) in zip(one.rows, other.rows) where left != right {
                for (place, name) in one.columns.enumerated() where left[place] != right[place] {
                    found.insert(ChangingColumn(table: table, name: name))
                }
            }
        }
        // An app never chooses the columns that identify an object.
        return found.filter { !["Z_PK", "Z_ENT", "Z_OPT"].contains($0.name) }
    }
}

/// The values after a run, by table, in the order of the rows.
package struct RunValues: Sendable {
    struct Table: Sendable {
        let columns: [String]
        var rows: [[String]] = []
    }

    private(set) var tables: [String: Table] = [:]

    /// Waits between two runs, so that times stored in whole seconds differ too.
    static func pause() { usleep(1_050_000) }

    /// - Parameters:
    ///   - store: a closed store, which is not touched.
    ///   - scratch: a folder for a copy, which is emptied first.
    package init(of store: String, scratch: String) throws {
        let system = POSIXSystem()
        try system.removeTree(scratch)
        try system.makeFolder(scratch)
        let connection = try Connection(LogicalState.copy(store, to: scratch, system), mode: .readWrite)
        defer { connection.close() }
        try connection.registerCoreDataStubs()
        let externalData = StoreRecords.externalData(of: store)
        for entry in try connection.catalogue().tables {
            guard let sql = entry.sql, !sql.uppercased().hasPrefix("CREATE VIRTUAL") else { continue }
            var table = Table(columns: try connection.columns(of: entry.name).map(\.name))
            try connection.forEachRow("SELECT * FROM \(entry.name.quotedName)") { row in
                table.rows.append(try row.row.map { try LogicalState.text(of: $0, externalData, system) })
            }
            tables[entry.name] = table
        }
    }
}
