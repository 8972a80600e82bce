import CSQLite

/// One value as SQLite stores it, in one of its five storage classes.
package enum SQLiteValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])

    /// The names that SQLite's `typeof` returns.
    package enum StorageClass: String, Sendable, Hashable {
        case null, integer, real, text, blob
    }

    package var storageClass: StorageClass {
        switch self {
        case .null: .null
        case .integer: .integer
        case .real: .real
        case .text: .text
        case .blob: .blob
        }
    }

    package var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    package var text: String? { if case .text(let value) = self { value } else { nil } }
    package var blob: [UInt8]? { if case .blob(let value) = self { value } else { nil } }
}

extension SQLiteValue: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral, ExpressibleByNilLiteral {
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(stringLiteral value: String) { self = .text(value) }
    package init(nilLiteral: ()) { self = .null }
}

/// The type affinity of a column, which determines how SQLite converts the values stored in it. It follows from the
/// column's declared type (sqlite.org/datatype3.html, 3.1).
package enum ColumnAffinity: Sendable {
    case integer, text, blob, real, numeric

    package init(declaredType: String) {
        let type = declaredType.uppercased()
        func has(_ words: String...) -> Bool { words.contains { type.contains($0) } }
        self =
            has("INT")
            ? .integer
            : has("CHAR", "CLOB", "TEXT")
                ? .text : type.isEmpty || has("BLOB") ? .blob : has("REAL", "FLOA", "DOUB") ? .real : .numeric
    }
}

/// One value in SQLite's own memory: a column of the current row, or an argument of a function. It is valid until the
/// statement continues, or the function returns.
///
/// No other thread uses the connection at the same time, so its values can be read without a lock.
package struct SQLiteCell {
    let value: OpaquePointer?

    package var isNull: Bool { sqlite3_value_type(value) == SQLITE_NULL }

    package var storageClass: SQLiteValue.StorageClass {
        switch sqlite3_value_type(value) {
        case SQLITE_INTEGER: .integer
        case SQLITE_FLOAT: .real
        case SQLITE_TEXT: .text
        case SQLITE_BLOB: .blob
        default: .null
        }
    }

    /// The value converted to an integer by SQLite's rules; zero for NULL.
    package var integer: Int64 { sqlite3_value_int64(value) }
    /// The value converted to a floating-point number by SQLite's rules; zero for NULL.
    package var real: Double { sqlite3_value_double(value) }

    /// The value converted to text by SQLite's rules, with invalid UTF-8 replaced; nil for NULL.
    package var text: String? {
        // Asking for the text first makes SQLite convert other encodings to UTF-8.
        guard let start = sqlite3_value_text(value) else { return nil }
        return String(decoding: bytes(from: start), as: UTF8.self)
    }

    /// Returns the text of a text value; nil for any other storage class.
    ///
    /// - Parameter room: the number of bytes that can be appended to a text of more than 15 bytes without another
    ///   allocation.
    package func ownText(room: Int) -> String? {
        guard sqlite3_value_type(value) == SQLITE_TEXT, let start = sqlite3_value_text(value) else { return nil }
        let bytes = bytes(from: start)
        // Shorter texts are stored inline in the String.
        guard bytes.count > 15 else { return String(decoding: bytes, as: UTF8.self) }
        return String(unsafeUninitializedCapacity: bytes.count + room) { $0.initialize(fromContentsOf: bytes) }
    }

    private func bytes(from start: UnsafePointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
    }

    /// The UTF-8 bytes of a text in SQLite's own memory, valid until the statement leaves the row or the value is
    /// converted to another form.
    package var ownText: UnsafeRawBufferPointer {
        guard let start = sqlite3_value_text(value) else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(bytes(from: start))
    }

    /// The bytes of a blob in SQLite's own memory, valid for as long as ``ownText`` would be.
    package var ownBytes: UnsafeRawBufferPointer {
        let start = sqlite3_value_blob(value)
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
    }

    /// A copy of the bytes of a blob or text; empty for NULL.
    package var bytes: [UInt8] { withBytes { Array($0) } }

    /// Calls `body` with the bytes of a blob or text in SQLite's own memory, valid only inside `body`; empty for NULL.
    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try body(ownBytes)
    }

    /// A copy of the value.
    package var copy: SQLiteValue {
        switch storageClass {
        case .null: .null
        case .integer: .integer(integer)
        case .real: .real(real)
        case .text: .text(text ?? "")
        case .blob: .blob(bytes)
        }
    }
}
