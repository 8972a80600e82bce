import CSQLite
import MoultBasics

/// A compiled statement. Parameters count from 1 and columns from 0, as in SQLite.
package final class Statement {
    package let connection: Connection
    package let sql: String
    private var handle: OpaquePointer?

    convenience init(_ connection: Connection, _ sql: String) throws {
        var text = sql
        let handle = try text.withUTF8 { bytes in
            var rest = bytes
            return try Self.compile(connection, &rest)
        }
        guard let handle else {
            throw MigrationError(
                .internal, "There is no SQL in a statement.", place: connection.place, remedy: "Report this as a bug.")
        }
        self.init(connection, sql, handle)
    }

    /// Compiles the first statement of `rest` and advances `rest` past it; nil if only whitespace and comments remain, or
    /// a NUL, where SQLite ends.
    convenience init?(_ connection: Connection, next rest: inout UnsafeBufferPointer<UInt8>) throws {
        while let first = rest.first, first != 0 {
            let start = rest
            if let handle = try Self.compile(connection, &rest) {
                let sql = String(decoding: start[..<(start.count - rest.count)], as: UTF8.self)
                self.init(connection, sql, handle)
                return
            }
        }
        return nil
    }

    private init(_ connection: Connection, _ sql: String, _ handle: OpaquePointer) {
        (self.connection, self.sql, self.handle) = (connection, sql, handle)
        connection.register(self)
    }

    deinit { finalise() }

    /// Finalises the statement, which cannot be used afterwards.
    package func finalise() {
        guard handle != nil else { return }
        sqlite3_finalize(handle)
        handle = nil
        connection.unregister(self)
    }

    private static func compile(_ connection: Connection, _ rest: inout UnsafeBufferPointer<UInt8>) throws
        -> OpaquePointer?
    {
        guard let database = connection.handle else { throw connection.closedError }
        var handle: OpaquePointer?
        var tail: UnsafePointer<CChar>?
        let result = rest.withMemoryRebound(to: CChar.self) {
            sqlite3_prepare_v3(
                database, $0.baseAddress, Int32(clamping: $0.count), UInt32(SQLITE_PREPARE_PERSISTENT), &handle, &tail)
        }
        if result != SQLITE_OK { throw connection.error(result, sql: String(decoding: rest, as: UTF8.self)) }
        let used = tail.flatMap { tail in
            rest.baseAddress.map { UnsafeRawPointer(tail) - UnsafeRawPointer($0) }
        }
        rest = UnsafeBufferPointer(rebasing: rest[(used ?? rest.count)...])
        return handle
    }
}

extension Connection {
    var closedError: MigrationError {
        MigrationError(.internal, "A closed connection was used.", place: path, remedy: "Report this as a bug.")
    }
}

// MARK: - Parameters

extension Statement {
    package func bind(_ value: SQLiteValue, at index: Int) throws {
        let place = Int32(clamping: index)
        let result =
            switch value {
            case .null: sqlite3_bind_null(handle, place)
            case .integer(let number): sqlite3_bind_int64(handle, place, number)
            case .real(let number): sqlite3_bind_double(handle, place, number)
            case .text(let text): bindText(text, place)
            case .blob(let bytes): bytes.withUnsafeBytes { bindBytes($0, place) }
            }
        try connection.check(result, sql: sql)
    }

    /// Binds the values to the parameters, starting with the first.
    package func bind(_ values: [SQLiteValue]) throws {
        for (offset, value) in values.enumerated() { try bind(value, at: offset + 1) }
    }

    package func bind(_ value: Int64, at index: Int) throws {
        try connection.check(sqlite3_bind_int64(handle, Int32(clamping: index), value), sql: sql)
    }

    package func bind(_ value: Double, at index: Int) throws {
        try connection.check(sqlite3_bind_double(handle, Int32(clamping: index), value), sql: sql)
    }

    package func bind(_ value: String, at index: Int) throws {
        try connection.check(bindText(value, Int32(clamping: index)), sql: sql)
    }

    /// Copies the bytes into a blob.
    package func bind(_ bytes: UnsafeRawBufferPointer, at index: Int) throws {
        try connection.check(bindBytes(bytes, Int32(clamping: index)), sql: sql)
    }

    package func bindNull(at index: Int) throws {
        try connection.check(sqlite3_bind_null(handle, Int32(clamping: index)), sql: sql)
    }

    /// Binds a column of another statement's current row without a copy. Run this statement before the other one moves
    /// to its next row.
    ///
    /// - Returns: whether the value is not NULL.
    @discardableResult
    package func bind(lending column: Int, of row: Statement, at index: Int) throws -> Bool {
        let place = Int32(clamping: index)
        // The value can be read without a lock, because no other thread uses the connection at the same time.
        let value = sqlite3_column_value(row.handle, Int32(clamping: column))
        let type = sqlite3_value_type(value)
        let result: Int32
        switch type {
        case SQLITE_INTEGER: result = sqlite3_bind_int64(handle, place, sqlite3_value_int64(value))
        case SQLITE_FLOAT: result = sqlite3_bind_double(handle, place, sqlite3_value_double(value))
        case SQLITE_TEXT:
            let bytes = UnsafeRawPointer(sqlite3_value_text(value))?.assumingMemoryBound(to: CChar.self)
            // A nil destructor means that the bytes stay valid and need no copy.
            result = sqlite3_bind_text(handle, place, bytes, sqlite3_value_bytes(value), nil)
        case SQLITE_BLOB:
            let bytes = sqlite3_value_blob(value)
            let count = sqlite3_value_bytes(value)
            result =
                count == 0
                ? sqlite3_bind_zeroblob(handle, place, 0) : sqlite3_bind_blob(handle, place, bytes, count, nil)
        default: result = sqlite3_bind_null(handle, place)
        }
        try connection.check(result, sql: sql)
        return type != SQLITE_NULL
    }

    package var parameterCount: Int { Int(sqlite3_bind_parameter_count(handle)) }

    private func bindText(_ text: String, _ place: Int32) -> Int32 {
        text.withBytes {
            sqlite3_bind_text64(
                handle, place, $0.baseAddress, UInt64($0.count), moult_sqlite_transient, UInt8(SQLITE_UTF8))
        }
    }

    private func bindBytes(_ bytes: UnsafeRawBufferPointer, _ place: Int32) -> Int32 {
        // A null pointer would bind NULL, not an empty blob.
        bytes.isEmpty
            ? sqlite3_bind_zeroblob(handle, place, 0)
            : sqlite3_bind_blob64(handle, place, bytes.baseAddress, UInt64(bytes.count), moult_sqlite_transient)
    }

    // MARK: - Running

    /// Moves to the next row. Returns false at the end, after which the statement can be bound and run again.
    package func step() throws -> Bool {
        guard handle != nil else { throw connection.closedError }
        let result = sqlite3_step(handle)
        if result == SQLITE_ROW { return true }
        // Reset at once, while the connection still has the error's message, and so that no lock outlives the last row.
        defer { sqlite3_reset(handle) }
        if result == SQLITE_DONE { return false }
        throw connection.error(result, sql: sql)
    }

    /// Runs the statement to completion and resets it for the next values.
    package func run(_ values: [SQLiteValue] = []) throws {
        if !values.isEmpty { try bind(values) }
        while try step() {}
    }

    /// Discards the rows not yet read.
    package func reset() { sqlite3_reset(handle) }
    package func clearBindings() { sqlite3_clear_bindings(handle) }

    // MARK: - Columns of the current row

    package func cell(_ column: Int) -> SQLiteCell {
        SQLiteCell(value: sqlite3_column_value(handle, Int32(clamping: column)))
    }

    /// Whether the statement writes to no database.
    package var isReadOnly: Bool { sqlite3_stmt_readonly(handle) != 0 }

    package var columnCount: Int { Int(sqlite3_column_count(handle)) }

    package func columnName(_ column: Int) -> String {
        sqlite3_column_name(handle, Int32(clamping: column)).map { String(cString: $0) } ?? ""
    }

    /// Returns the declared type of the table's column that a column of the result takes directly; nil for an expression
    /// and for a column without a type.
    package func declaredType(_ column: Int) -> String? {
        sqlite3_column_decltype(handle, Int32(clamping: column)).map { String(cString: $0) }
    }

    package func storageClass(_ column: Int) -> SQLiteValue.StorageClass { cell(column).storageClass }
    package func isNull(_ column: Int) -> Bool { cell(column).isNull }
    /// Returns the value converted to an integer by SQLite's rules; zero for NULL.
    package func integer(_ column: Int) -> Int64 { cell(column).integer }
    /// Returns the value converted to a floating-point number by SQLite's rules; zero for NULL.
    package func real(_ column: Int) -> Double { cell(column).real }
    /// Returns the value converted to text by SQLite's rules, with invalid UTF-8 replaced; nil for NULL.
    package func text(_ column: Int) -> String? { cell(column).text }

    /// Returns a copy of the bytes of a blob or text; nil for NULL.
    package func blob(_ column: Int) -> [UInt8]? {
        let cell = cell(column)
        return cell.isNull ? nil : cell.bytes
    }

    /// Calls `body` with the bytes of a blob or text in SQLite's own memory, valid only inside `body`; empty for NULL.
    package func withBytes<Result>(_ column: Int, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result
    {
        try cell(column).withBytes(body)
    }

    package func value(_ column: Int) -> SQLiteValue { cell(column).copy }

    /// Every column of the current row.
    package var row: [SQLiteValue] { (0..<columnCount).map(value) }
}

extension String {
    /// Calls `body` with the string's UTF-8 bytes in place, in the form that SQLite's C functions take.
    func withBytes<Result>(_ body: (UnsafeBufferPointer<CChar>) -> Result) -> Result {
        if let result = utf8.withContiguousStorageIfAvailable({ $0.withMemoryRebound(to: CChar.self, body) }) {
            return result
        }
        // A bridged Objective-C string may not be contiguous; `withUTF8` makes it so.
        var text = self
        return text.withUTF8 { $0.withMemoryRebound(to: CChar.self, body) }
    }
}
