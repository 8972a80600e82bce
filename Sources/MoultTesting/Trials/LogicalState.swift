import MoultBasics
import MoultEngine
import MoultSQLite

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Everything that a store says, by plain SQL over a copy: schema and rows, the bytes of external data, and the objects
/// that lie in the quarantine.
///
/// It is read without the engine, so that the engine cannot be wrong twice in the same way.
package struct LogicalState: Sendable, Hashable {
    /// A line for each entry of the schema and each row, sorted; one line where there is no sound database.
    package var rows: [String]
    /// A line for each object of the quarantine that was not put back.
    package var quarantine: [String]

    /// - Parameters:
    ///   - store: closed; the copy is recovered by SQLite, the store is not touched.
    ///   - scratch: a folder for the copy, emptied before.
    ///   - changing: columns whose values are of one run; only whether there is one counts.
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
            // One of the same name may have been looked at before.
            try system.remove(copy + suffix)
            guard try system.exists(path + suffix) else { continue }
            try system.copy(path + suffix, to: copy + suffix)
        }
        return copy
    }

    // MARK: - The store

    /// Returns the lines of the store at the path. Nothing that was put elsewhere counts.
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
        // Healed by SQLite, as far as it can: with a log that is its own, and what a journal undoes.
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
                    // There are none in most stores.
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

    /// A reference to a file of external data: the byte 2, a UUID of 36 characters, a zero.
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
        let isLeft = tables.contains("restoration") ? "WHERE id NOT IN (SELECT entry FROM restoration)" : ""
        let sql = "SELECT entity, key, reason, object FROM quarantine \(isLeft)"
        return try connection.rows(sql) { row in "\(row.row)" }.sorted()
    }
}

extension StoreRecords {
    /// Returns the folder of a store's external data, with its name spelled out.
    static func externalData(of store: String) -> String {
        Path.join(Path.folder(of: store), ".\(Path.stem(of: store))_SUPPORT/_EXTERNAL_DATA")
    }
}

/// A column whose values an app's code rebuilds in each run, such as the time of the migration or a new identifier: two
/// runs from the same store leave others.
package struct ChangingColumn: Sendable, Hashable, Comparable {
    package var table: String
    package var name: String

    package var place: String { "\(table).\(name)" }

    package static func < (left: ChangingColumn, right: ChangingColumn) -> Bool { left.place < right.place }

    /// The sentence about them in a report.
    package static func sentence(_ columns: Set<ChangingColumn>) -> String? {
        guard !columns.isEmpty else { return nil }
        let places = columns.sorted().map(\.place).joined(separator: ", ")
        return
            "Two undisturbed runs left different values in \(places). There, only whether a row has a value is "
            + "compared."
    }

    /// The columns in which two runs of one migration differ. Where they differ in their tables or in the number of
    /// rows, no column says so: these are compared in any case.
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
        // What makes a row an object is never the app's to choose.
        return found.filter { !["Z_PK", "Z_ENT", "Z_OPT"].contains($0.name) }
    }
}

/// The values that a run has left, by table in the order of the rows.
package struct RunValues: Sendable {
    struct Table: Sendable {
        let columns: [String]
        var rows: [[String]] = []
    }

    private(set) var tables: [String: Table] = [:]

    /// Between two runs, so that times which an app keeps in whole seconds differ too.
    static func pause() { usleep(1_050_000) }

    /// - Parameters:
    ///   - store: closed; it is not touched.
    ///   - scratch: a folder for a copy, emptied before.
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
