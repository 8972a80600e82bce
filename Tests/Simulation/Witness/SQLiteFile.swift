import CSQLite

/// What the simulator's witness says is wrong.
struct WitnessFailure: Error, CustomStringConvertible {
    let description: String
    /// Whether another connection holds a lock.
    let isBusy: Bool

    init(_ description: String, isBusy: Bool = false) { (self.description, self.isBusy) = (description, isBusy) }
}

/// A database file as the sqlite3 C API reads it, with no code of Moult's.
final class SQLiteFile {
    private var handle: OpaquePointer?
    private let path: String

    /// A value of a column, in SQLite's own types.
    enum Value: Hashable {
        case null
        case integer(Int64)
        case real(Double)
        case text([UInt8])
        case blob([UInt8])

        var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
        var text: String? {
            if case .text(let bytes) = self { String(decoding: bytes, as: UTF8.self) } else { nil }
        }
        var blob: [UInt8]? { if case .blob(let bytes) = self { bytes } else { nil } }
    }

    /// - Parameter isWatched: whether the calls go through the disk of the life; otherwise straight to the system.
    init(_ path: String, isReadOnly: Bool = false, isWatched: Bool = false) throws {
        self.path = path
        let flags = isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE
        guard sqlite3_open_v2(path, &handle, flags, isWatched ? nil : "unix") == SQLITE_OK else {
            sqlite3_close(handle)
            throw WitnessFailure("\(path) does not open")
        }
    }

    deinit { close() }

    func close() {
        sqlite3_close_v2(handle)
        handle = nil
    }

    var isInWALMode: Bool { get throws { try rows("PRAGMA journal_mode").first?.first?.text == "wal" } }

    @discardableResult
    func rows(_ sql: String, _ values: [Value] = []) throws -> [[Value]] {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else { throw failure(sql) }
        defer { sqlite3_finalize(statement) }
        for (place, value) in values.enumerated() { bind(value, to: statement, Int32(place + 1)) }
        var rows: [[Value]] = []
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: rows.append((0..<sqlite3_column_count(statement)).map { value(statement, $0) })
            case SQLITE_DONE: return rows
            default: throw failure(sql)
            }
        }
    }

    /// The rows of a table by the names of its columns.
    func table(_ name: String) throws -> [[String: Value]] {
        let names = try rows("SELECT name FROM pragma_table_info(\"\(name)\")").compactMap { $0[0].text }
        return try rows("SELECT * FROM \"\(name)\" ORDER BY 1").map { row in
            Dictionary(zip(names, row)) { first, _ in first }
        }
    }

    private func bind(_ value: Value, to statement: OpaquePointer?, _ place: Int32) {
        switch value {
        case .null: sqlite3_bind_null(statement, place)
        case .integer(let number): sqlite3_bind_int64(statement, place, number)
        case .real(let number): sqlite3_bind_double(statement, place, number)
        case .text(let bytes):
            bytes.withUnsafeBytes {
                _ = sqlite3_bind_text(
                    statement, place, $0.bindMemory(to: CChar.self).baseAddress, Int32($0.count),
                    moult_sqlite_transient)
            }
        case .blob(let bytes):
            bytes.withUnsafeBytes {
                _ = sqlite3_bind_blob(statement, place, $0.baseAddress, Int32($0.count), moult_sqlite_transient)
            }
        }
    }

    private func value(_ statement: OpaquePointer?, _ place: Int32) -> Value {
        func bytes() -> [UInt8] {
            let start = sqlite3_column_blob(statement, place)
            return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, place))))
        }
        switch sqlite3_column_type(statement, place) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, place))
        case SQLITE_FLOAT: return .real(sqlite3_column_double(statement, place))
        case SQLITE_TEXT: return .text(bytes())
        case SQLITE_BLOB: return .blob(bytes())
        default: return .null
        }
    }

    private func failure(_ sql: String) -> WitnessFailure {
        let message = sqlite3_errmsg(handle).map { String(cString: $0) } ?? "unknown"
        return WitnessFailure(
            "SQLite: \(message): \(sql.prefix(120))", isBusy: sqlite3_errcode(handle) == SQLITE_BUSY)
    }
}
