import MoultEngine
import MoultModel
import MoultSQLite
import MoultSystem

/// Everything that a store says, by plain SQL over a copy: schema and rows, the bytes of external data, and the objects
/// that lie in the quarantine.
///
/// It is read without the engine, so that the engine cannot be wrong twice in the same way.
package struct LogicalState: Sendable, Hashable {
    /// A line for each entry of the schema and each row, sorted; one line for what is no sound database.
    package var rows: [String]
    /// A line for each object of the quarantine that was not put back.
    package var quarantine: [String]

    /// - Parameters:
    ///   - store: closed; the copy is healed by SQLite, the store is not touched.
    ///   - scratch: a folder for the copy, emptied before.
    package init(of store: String, scratch: String) throws {
        let system = POSIXSystem()
        try system.removeTree(scratch)
        try system.makeFolder(scratch)
        rows = try Self.rows(of: store, scratch, system)
        quarantine = try Self.quarantine(of: store, scratch, system)
    }

    private static func copy(_ path: String, to folder: String, _ system: POSIXSystem) throws -> String {
        let copy = Path.join(folder, Path.name(of: path))
        for suffix in ["", "-wal", "-journal"] where try system.exists(path + suffix) {
            try system.write(try system.read(path + suffix), to: copy + suffix)
        }
        return copy
    }

    // MARK: - The store

    private static func rows(of store: String, _ scratch: String, _ system: POSIXSystem) throws -> [String] {
        guard try system.exists(store), try system.status(of: store)?.size ?? 0 > 0 else {
            return try damaged(beside: store, scratch, system)
        }
        do {
            let connection = try Connection(copy(store, to: scratch, system), mode: .readWrite)
            defer { connection.close() }
            try connection.registerCoreDataStubs()
            let complaints = try connection.rows("PRAGMA integrity_check") { $0.text(0) ?? "" }
            guard complaints == ["ok"] else { return try unreadable(store, complaints.joined(separator: "; "), system) }
            let lines = try lines(of: connection, externalData: Sidecar.externalData(of: store), system)
            // A restore that died may have begun a new file.
            return lines.isEmpty ? try damaged(beside: store, scratch, system) : lines.sorted()
        } catch let error as MigrationError {
            return try unreadable(store, error.cause ?? error.message, system)
        }
    }

    private static func unreadable(_ store: String, _ cause: String, _ system: POSIXSystem) throws -> [String] {
        ["damaged: \(try system.digest(of: store).hexadecimal)", cause]
    }

    /// A store that could not be read and was set aside is still there.
    private static func damaged(beside store: String, _ scratch: String, _ system: POSIXSystem) throws -> [String] {
        let folder = store + ".moult/damaged"
        guard try system.exists(folder) else { return ["nothing"] }
        for name in try system.list(folder) {
            let path = Path.join(Path.join(folder, name), Path.name(of: store))
            if try system.exists(path) { return try rows(of: path, scratch, system) }
        }
        return ["nothing"]
    }

    private static func lines(of connection: Connection, externalData: String, _ system: POSIXSystem) throws -> [String]
    {
        var lines: [String] = []
        for entry in try connection.catalogue().entries {
            lines.append("schema \(entry.kind) \(entry.name) \(entry.sql ?? "")")
            guard entry.kind == .table, let sql = entry.sql, !sql.uppercased().hasPrefix("CREATE VIRTUAL") else {
                continue
            }
            try connection.forEachRow("SELECT * FROM \(entry.name.quotedName)") { row in
                let values = try row.row.map { try text(of: $0, externalData, system) }
                lines.append("row \(entry.name) \(values.joined(separator: " | "))")
            }
        }
        return lines
    }

    private static func text(of value: SQLiteValue, _ externalData: String, _ system: POSIXSystem) throws -> String {
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

    /// STORE_FORMAT_MORE 2: the byte 2, a UUID of 36 characters, a zero.
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

extension Sidecar {
    /// Where a store's external data lies (STORE_FORMAT_MORE 2), by plain words.
    fileprivate static func externalData(of store: String) -> String {
        Path.join(Path.folder(of: store), ".\(Path.stem(of: store))_SUPPORT/_EXTERNAL_DATA")
    }
}
