import MoultModel
import MoultModelFiles
import MoultSQLite

/// Reads a column's value as the attribute's type wants it (STORE_FORMAT 6).
package struct AttributeDecoder {
    let type: AttributeType
    /// The contents of a file of external storage by its name; nil where there is no such file. An attribute that has
    /// none of them carries nothing about with it.
    private let externalData: ((String) throws -> [UInt8]?)?

    package init(type: AttributeType, isExternal: Bool, externalData: @escaping (String) throws -> [UInt8]?) {
        self.type = type
        self.externalData = isExternal ? externalData : nil
    }

    package func value(_ row: Statement, _ column: Int) -> PropertyValue {
        let storage = row.storageClass(column)
        if storage == .null { return .attribute(nil) }
        switch (type, storage) {
        case (.integer16, .integer), (.integer32, .integer), (.integer64, .integer):
            return .attribute(.integer(row.integer(column)))
        case (.boolean, .integer): return boolean(row, column)
        case (.double, .real), (.float, .real), (.double, .integer), (.float, .integer):
            return .attribute(.double(row.real(column)))
        // A whole number of seconds comes back as an integer: the column's affinity is NUMERIC.
        case (.date, .real), (.date, .integer): return .attribute(.date(row.real(column)))
        case (.decimal, .integer): return .attribute(.decimal(String(row.integer(column))))
        case (.decimal, .real), (.decimal, .text): return decimal(row, column)
        case (.string, .text): return text(row, column) { .string($0) }
        case (.uri, .text): return text(row, column) { .uri($0) }
        case (.uuid, .blob): return uuid(row, column)
        case (.binary, .blob): return bytes(row, column) { .binary($0) }
        case (.transformable, .blob): return bytes(row, column) { .transformable($0) }
        default: return undecodable(row, column, "\(storage.phrase) where \(type.phrase) is expected")
        }
    }

    private func boolean(_ row: Statement, _ column: Int) -> PropertyValue {
        switch row.integer(column) {
        case 0: .attribute(.boolean(false))
        case 1: .attribute(.boolean(true))
        default: undecodable(row, column, "a Boolean that is neither 0 nor 1")
        }
    }

    /// The column's affinity makes a number of every well-formed text, with fifteen digits kept for certain; the
    /// shortest digits of a REAL are what is left of the decimal.
    private func decimal(_ row: Statement, _ column: Int) -> PropertyValue {
        let isReal = row.storageClass(column) == .real
        let text = isReal ? row.real(column).description : row.text(column) ?? ""
        // In this range Swift prints no power of ten, so that the digits are the decimal's own.
        if isReal, (0.001..<1e15).contains(row.real(column).magnitude) {
            return .attribute(.decimal(text.hasSuffix(".0") ? String(text.dropLast(2)) : text))
        }
        guard let number = DecimalNumber(text) else { return undecodable(row, column, "no decimal number") }
        return .attribute(.decimal(number.text))
    }

    private func text(_ row: Statement, _ column: Int, _ make: (String) -> AttributeValue) -> PropertyValue {
        // Asking for the text first has SQLite convert another encoding to UTF-8.
        guard let text = row.text(column) else { return undecodable(row, column, "a text that cannot be read") }
        let mayBeReplaced = text.utf8.withContiguousStorageIfAvailable { $0.contains(0xEF) } ?? true
        guard !mayBeReplaced || row.withBytes(column, { $0.elementsEqual(text.utf8) }) else {
            return undecodable(row, column, "a text that is not UTF-8")
        }
        return .attribute(make(text))
    }

    private func uuid(_ row: Statement, _ column: Int) -> PropertyValue {
        let bytes = row.blob(column) ?? []
        guard bytes.count == 16 else {
            return undecodable(row, column, "a UUID of \(bytes.count) bytes instead of 16")
        }
        return .attribute(.uuid(bytes))
    }

    private func bytes(_ row: Statement, _ column: Int, _ make: ([UInt8]) -> AttributeValue) -> PropertyValue {
        let bytes = row.blob(column) ?? []
        guard let externalData else { return .attribute(make(bytes)) }
        switch ExternalStorage.Cell(bytes) {
        case .inline(let value): return .attribute(make(value))
        case .file(let name):
            do {
                if let contents = try externalData(name) { return .attribute(make(contents)) }
                return undecodable(row, column, "the external file \(name) is missing")
            } catch {
                let cause = (error as? MigrationError)?.message ?? "\(error)"
                return undecodable(row, column, "the external file \(name) cannot be read: \(cause)")
            }
        case nil:
            return undecodable(row, column, "neither inline bytes nor the name of an external file")
        }
    }

    private func undecodable(_ row: Statement, _ column: Int, _ reason: String) -> PropertyValue {
        .undecodable(UndecodableValue(reason: reason, row, column))
    }
}

extension UndecodableValue {
    init(reason: String, _ row: Statement, _ column: Int) {
        self.init(reason: reason, bytes: row.withBytes(column) { Array($0) })
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
