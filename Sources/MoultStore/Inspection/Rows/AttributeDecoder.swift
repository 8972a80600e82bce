import MoultBasics
import MoultModel
import MoultModelFiles
import MoultSQLite

/// Decodes a column's value as the type of its attribute.
package struct AttributeDecoder {
    package let type: AttributeType
    /// Returns the contents of the external storage file with a name; nil if there is no such file. It is not kept for
    /// an attribute without external storage.
    private let externalData: ((String) throws -> [UInt8]?)?

    package init(type: AttributeType, isExternal: Bool, externalData: @escaping (String) throws -> [UInt8]?) {
        self.type = type
        self.externalData = isExternal ? externalData : nil
    }

    /// Whether a value may be stored in an external file.
    package var isExternal: Bool { externalData != nil }

    package func value(_ row: Statement, _ column: Int) -> PropertyValue {
        let cell = row.cell(column)
        let storage = cell.storageClass
        if storage == .null { return .attribute(nil) }
        if let plain = Self.plain(cell, storage, type, isExternal: externalData != nil) {
            return .attribute(AttributeValue(plain))
        }
        switch (type, storage) {
        case (.decimal, .real), (.decimal, .text): return decimal(cell, isReal: storage == .real)
        case (.string, .text): return text(cell) { .string($0) }
        case (.uri, .text): return text(cell) { .uri($0) }
        case (.binary, .blob): return bytes(cell) { .binary($0) }
        case (.transformable, .blob): return bytes(cell) { .transformable($0) }
        case (.boolean, .integer): return undecodable(cell, "a Boolean that is neither 0 nor 1")
        case (.uuid, .blob):
            return undecodable(cell, "a UUID of \(Quantity.count(cell.bytes.count, "byte")) instead of 16")
        default: return undecodable(cell, "\(storage.phrase) where \(type.phrase) is expected")
        }
    }

    /// Returns a value that needs no decoding, which is the most common case. The result is nil if ``value(_:_:)`` has
    /// to examine the value, or if the value cannot be of the type.
    ///
    /// - Parameter storage: the cell's own storage class, which is not NULL.
    package static func plain(
        _ cell: SQLiteCell, _ storage: SQLiteValue.StorageClass, _ type: AttributeType, isExternal: Bool
    ) -> PlainValue? {
        switch (type, storage) {
        case (.integer16, .integer), (.integer32, .integer), (.integer64, .integer): return .integer(cell.integer)
        case (.boolean, .integer):
            let number = cell.integer
            return number == 0 || number == 1 ? .boolean(number == 1) : nil
        case (.double, .real), (.float, .real), (.double, .integer), (.float, .integer): return .double(cell.real)
        // A whole number of seconds is read back as an integer, because the column has NUMERIC affinity.
        case (.date, .real), (.date, .integer): return .date(cell.real)
        case (.decimal, .integer): return .wholeDecimal(cell.integer)
        case (.decimal, .real):
            let number = cell.real
            // In this range Swift prints no exponent, so the printed digits are those of the decimal.
            return (0.001..<1e15).contains(number.magnitude) ? .realDecimal(number) : nil
        case (.string, .text): return cell.asciiText.map { .string($0) }
        case (.uri, .text): return cell.asciiText.map { .uri($0) }
        case (.uuid, .blob):
            let bytes = cell.ownBytes
            return bytes.count == 16 ? .uuid(bytes) : nil
        case (.binary, .blob): return isExternal ? nil : .binary(cell.ownBytes)
        case (.transformable, .blob): return isExternal ? nil : .transformable(cell.ownBytes)
        default: return nil
        }
    }

    /// Decodes a decimal. The column's affinity turns every well-formed text into a number that keeps at least fifteen
    /// digits; the shortest digits of a REAL are all that remains of the decimal.
    private func decimal(_ cell: SQLiteCell, isReal: Bool) -> PropertyValue {
        let text = isReal ? cell.real.description : cell.text ?? ""
        guard let number = DecimalNumber(text) else { return undecodable(cell, "not a decimal number") }
        return .attribute(.decimal(number.text))
    }

    private func text(_ cell: SQLiteCell, _ make: (String) -> AttributeValue) -> PropertyValue {
        guard let text = cell.text else { return undecodable(cell, "a text that cannot be read") }
        let mayBeReplaced = text.utf8.withContiguousStorageIfAvailable { $0.contains(0xEF) } ?? true
        guard !mayBeReplaced || cell.withBytes({ $0.elementsEqual(text.utf8) }) else {
            return undecodable(cell, "a text that is not UTF-8")
        }
        return .attribute(make(text))
    }

    private func bytes(_ cell: SQLiteCell, _ make: ([UInt8]) -> AttributeValue) -> PropertyValue {
        let bytes = cell.bytes
        guard let externalData else { return .attribute(make(bytes)) }
        switch ExternalStorage.Cell(bytes) {
        case .inline(let value): return .attribute(make(value))
        case .file(let name):
            do {
                if let contents = try externalData(name) { return .attribute(make(contents)) }
                return .undecodable(
                    UndecodableValue(
                        reason: "the external file \(name) is missing", bytes: cell.bytes, isMissingFile: true))
            } catch {
                let cause = (error as? MigrationError)?.message ?? "\(error)"
                return undecodable(cell, "the external file \(name) cannot be read: \(cause)")
            }
        case nil:
            return undecodable(cell, "neither inline bytes nor the name of an external file")
        }
    }

    private func undecodable(_ cell: SQLiteCell, _ reason: String) -> PropertyValue {
        .undecodable(UndecodableValue(reason: reason, bytes: cell.bytes))
    }
}

extension SQLiteCell {
    /// The bytes of a text if it is ASCII, which is always valid UTF-8; nil for any other text.
    fileprivate var asciiText: UnsafeRawBufferPointer? {
        let bytes = ownText
        return bytes.isASCII ? bytes : nil
    }
}

extension SQLiteValue.StorageClass {
    fileprivate var phrase: String {
        switch self {
        case .null: "NULL"
        case .integer: "an integer"
        case .real: "a real number"
        case .text: "a text"
        case .blob: "a blob"
        }
    }
}

extension AttributeType {
    fileprivate var phrase: String {
        switch self {
        case .integer16, .integer32, .integer64: "an \(name)"
        case .uuid, .uri: "a \(name)"
        default: "a \(name.lowercased())"
        }
    }
}

/// The value of a column as stored in a row, without memory of its own.
///
/// The bytes are valid only as long as the row, or other memory that holds them.
package enum PlainValue {
    case integer(Int64)
    case boolean(Bool)
    case double(Double)
    case date(Double)
    /// A decimal stored as a whole number.
    case wholeDecimal(Int64)
    /// A decimal whose digits are the shortest ones of a number that Swift prints without an exponent.
    case realDecimal(Double)
    /// UTF-8
    case string(UnsafeRawBufferPointer)
    /// UTF-8
    case uri(UnsafeRawBufferPointer)
    case binary(UnsafeRawBufferPointer)
    case uuid(UnsafeRawBufferPointer)
    case transformable(UnsafeRawBufferPointer)
}

extension AttributeValue {
    package init(_ plain: PlainValue) {
        self =
            switch plain {
            case .integer(let number): .integer(number)
            case .boolean(let flag): .boolean(flag)
            case .double(let number): .double(number)
            case .date(let seconds): .date(seconds)
            case .wholeDecimal(let number): .decimal(String(number))
            case .realDecimal(let number): .decimal(number.plainDigits)
            case .string(let bytes): .string(String(decoding: bytes, as: UTF8.self))
            case .uri(let bytes): .uri(String(decoding: bytes, as: UTF8.self))
            case .binary(let bytes): .binary(Array(bytes))
            case .uuid(let bytes): .uuid(Array(bytes))
            case .transformable(let bytes): .transformable(Array(bytes))
            }
    }
}

extension Double {
    /// The shortest digits that yield this number, without the `.0` of a whole one.
    fileprivate var plainDigits: String {
        let text = description
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}

extension UnsafeRawBufferPointer {
    /// Whether no byte has its highest bit set; checks eight bytes at a time.
    var isASCII: Bool {
        var offset = 0
        while offset + 8 <= count {
            if loadUnaligned(fromByteOffset: offset, as: UInt64.self) & 0x8080_8080_8080_8080 != 0 { return false }
            offset += 8
        }
        while offset < count {
            if self[offset] & 0x80 != 0 { return false }
            offset += 1
        }
        return true
    }
}
