import Moult
import MoultBasics
import MoultModel

/// The rows of a file to import.
struct ImportTable {
    /// The path of the file.
    let path: String
    let columns: [String]
    let rows: [Row]

    /// The columns that `export` adds to the properties, under names that no property has.
    static let added = ["Z_PK": key, "entity": entity]
    static let key = "\0Z_PK"
    static let entity = "\0entity"

    /// A row of the file, with the number of its first line.
    struct Row {
        let line: Int
        /// The values by column.
        let values: [String: Value]
    }

    /// A value, as the file contains it.
    enum Value {
        /// A field of CSV.
        case text(String)
        /// A value of JSON, or NULL in CSV.
        case json(JSONValue)

        var isNull: Bool { if case .json(.null) = self { true } else { false } }
    }

    /// - Parameters:
    ///   - isExact: whether an apostrophe before a formula is part of the text.
    ///   - names: by column, the property that it holds, if it has another name.
    /// - Throws: `usage` with the line of invalid CSV or JSON Lines, or if two columns hold one property; any error from
    ///   reading the file.
    init(_ path: String, isExact: Bool, renaming names: [String: String], _ system: any System) throws {
        self.path = path
        let bytes = try system.read(path)
        if path.hasSuffix(".csv") {
            let csv = try CSVReader(bytes, place: path)
            try Self.check(csv.columns, path)
            let columns = csv.columns.map { names[$0] ?? $0 }
            try Self.check(columns, path)
            self.columns = columns
            rows = csv.rows.map { row in
                Row(
                    line: row.line,
                    values: Dictionary(
                        zip(columns, row.fields.map { Value($0, isExact: isExact) }),
                        uniquingKeysWith: { first, _ in first }))
            }
            return
        }
        var (columns, rows): ([String], [Row]) = ([], [])
        var known: Set<String> = []
        for (place, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated()
        where !line.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") }) {
            let document = try JSONValue(parsing: Array(line), place: "\(path):\(place + 1)", code: .usage)
            guard let members = document.members else {
                throw MigrationError(
                    .usage, "The line is not an object of JSON.", place: "\(path):\(place + 1)",
                    remedy: "Write one object on each line. Nothing was imported.")
            }
            for member in members where known.insert(member.key).inserted { columns.append(member.key) }
            rows.append(
                Row(
                    line: place + 1,
                    values: Dictionary(
                        members.map { (names[$0.key] ?? $0.key, Value.json($0.value)) },
                        uniquingKeysWith: { first, _ in first })))
        }
        columns = columns.map { names[$0] ?? $0 }
        try Self.check(columns, path)
        (self.columns, self.rows) = (columns, rows)
    }

    private static func check(_ columns: [String], _ path: String) throws {
        let repeated = Dictionary(grouping: columns) { $0 }.filter { $0.value.count > 1 }.keys.sorted()
        guard let name = repeated.first else { return }
        throw MigrationError(
            .usage, "The header has the column \(name) twice.", place: "\(path):1",
            remedy: "Rename or remove one of them. Nothing was imported.")
    }

    func place(of row: Row) -> String { "\(path):\(row.line)" }
}

extension ImportTable.Value {
    /// Creates the value of a field. It removes the apostrophe that `moult export` puts before a text that looks like a
    /// formula.
    fileprivate init(_ field: CSVReader.Field, isExact: Bool) {
        guard !field.text.isEmpty || field.isQuoted else {
            self = .json(.null)
            return
        }
        let isGuarded = !isExact && field.text.utf8.first == UInt8(ascii: "'") && CSVWriter.isFormula(field.text)
        self = .text(isGuarded ? String(field.text.unicodeScalars.dropFirst()) : field.text)
    }

    /// Returns the value as JSON for an attribute of a type; nil if it certainly does not fit the type. The caller checks
    /// the rest.
    ///
    /// - Parameter external: returns the contents of a file, for an attribute with external data.
    func document(_ type: AttributeType, external: (String) throws -> [UInt8]?) rethrows -> JSONValue? {
        switch self {
        case .json(.string(let text)) where type == .binary || type == .transformable:
            return .string(try external(text)?.base64 ?? text)
        case .json(.string(let text)) where type == .date: return .string(DateText.whole(text))
        case .json(.integer(let number)) where type == .date: return .double(Double(number))
        case .json(.integer(let number)) where type == .boolean:
            return number == 0 || number == 1 ? .bool(number == 1) : nil
        case .json(.integer(let number)) where type == .decimal: return .string("\(number)")
        case .json(.double(let number)) where type == .decimal: return .string("\(number)")
        case .json(let document):
            guard let usual = type.usualForm else { return document }
            return ReadableData.bytes(of: document, usual: usual).map { .string($0.base64) }
        case .text(let text):
            switch type {
            case .integer16, .integer32, .integer64: return Int64(text).map(JSONValue.integer)
            case .boolean: return ["1", "true"].contains(text) ? true : ["0", "false"].contains(text) ? false : nil
            case .double, .float: return Double(text).map { $0.isFinite ? .double($0) : .string(text) }
            case .date: return Double(text).map(JSONValue.double) ?? .string(DateText.whole(text))
            case .binary, .transformable:
                if let bytes = try external(text) { return .string(bytes.base64) }
                guard text.hasPrefix("x'"), text.hasSuffix("'") else {
                    let document = try? JSONValue(parsing: Array(text.utf8), place: "", code: .usage)
                    return document.flatMap { document in
                        type.usualForm.flatMap { ReadableData.bytes(of: document, usual: $0) }
                    }.map { .string($0.base64) }
                }
                return [UInt8](hexadecimal: text.dropFirst(2).dropLast()).map { .string($0.base64) }
            default: return .string(text)
            }
        }
    }
}

extension DateText {
    /// Returns the text of a whole moment for the texts of a day (`2020-01-31`) and of a time without seconds or zone
    /// (`2020-01-31 09:05`, in UTC); any other text as it is.
    fileprivate static func whole(_ text: String) -> String {
        var rest = text.utf8[...]
        guard rest.take("0000-00-00") else { return text }
        let day = text[..<rest.startIndex]
        guard let mark = rest.popFirst() else { return "\(day)T00:00:00Z" }
        let start = rest.startIndex
        guard " T".utf8.contains(mark), rest.take("00:00") else { return text }
        let isWhole = rest.take(":00")
        if isWhole, rest.take(".0") { while rest.take("0") {} }
        let clock = text[start..<rest.startIndex]
        _ = rest.take("Z")
        return rest.isEmpty ? "\(day)T\(clock)\(isWhole ? "" : ":00")Z" : text
    }
}

extension Substring.UTF8View {
    /// Removes a beginning of the given form, in which 0 is any digit. Returns false, and removes nothing, if the text
    /// begins otherwise.
    fileprivate mutating func take(_ form: String) -> Bool {
        var rest = self
        for mark in form.utf8 {
            guard let byte = rest.popFirst() else { return false }
            let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
            guard mark == UInt8(ascii: "0") ? digits.contains(byte) : byte == mark else { return false }
        }
        self = rest
        return true
    }
}

extension AttributeType {
    /// Whether a number of the type's kind is in its range.
    func holds(_ value: AttributeValue) -> Bool {
        guard case .integer(let number) = value else { return true }
        return switch self {
        case .integer16: Int16(exactly: number) != nil
        case .integer32: Int32(exactly: number) != nil
        default: true
        }
    }

    /// The forms in which an import reads a value of the type, in a sentence.
    var formsOfImport: String {
        switch self {
        case .integer16: "It takes a whole number from \(Int16.min) to \(Int16.max)."
        case .integer32: "It takes a whole number from \(Int32.min) to \(Int32.max)."
        case .integer64: "It takes a whole number, such as 42."
        case .boolean: "It takes true or false, or 1 or 0."
        case .double, .float: "It takes a number, such as 4.2."
        case .decimal: "It takes a number, such as 4.20."
        case .date:
            "It takes a time in UTC, such as 2020-01-31T09:05:00Z, a day, such as 2020-01-31, or the seconds since "
                + "2001-01-01."
        case .uuid: "It takes a UUID, such as 5B2C1E0A-93D4-4C55-8F6B-0D1E2F3A4B5C."
        case .uri: "It takes a URI, such as https://example.com."
        case .binary, .transformable:
            "It takes bytes as x'0AFF' in CSV and in base64 in JSON Lines, or the path of a file for external data."
        default: "It takes a string."
        }
    }
}

extension [UInt8] {
    /// Returns nil for a text that does not consist of pairs of hexadecimal digits.
    fileprivate init?(hexadecimal text: Substring) {
        let digits = text.compactMap(\.hexDigitValue)
        guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
        self = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}

/// A reader of CSV (RFC 4180) with a header line. Fields may be quoted, and lines may end with LF or CRLF.
struct CSVReader {
    /// A field. An empty one without quotation marks is NULL.
    struct Field: Equatable {
        var text: String
        var isQuoted: Bool
    }

    let columns: [String]
    /// The rows, each with the number of its first line.
    let rows: [(line: Int, fields: [Field])]

    /// - Throws: `usage` with the line of an unterminated field, text after a closing quotation mark, a row with more or
    ///   fewer fields than the header, or text that is not UTF-8; `usage` for a file without a header.
    init(_ bytes: [UInt8], place: String) throws {
        var records = Records(bytes: bytes, place: place)
        guard let header = try records.next() else { throw Records.wrong("The file has no header line.", place, 1) }
        columns = header.fields.map(\.text)
        var rows: [(line: Int, fields: [Field])] = []
        while let row = try records.next() {
            guard row.fields.count == columns.count else {
                throw Records.wrong(
                    "The row has \(Quantity.count(row.fields.count, "field")), but the header has \(columns.count).",
                    place, row.line)
            }
            rows.append(row)
        }
        self.rows = rows
    }

    /// The records of the bytes, read one after the other.
    private struct Records {
        let bytes: [UInt8]
        let place: String
        private var position: Int
        private var line = 1

        init(bytes: [UInt8], place: String) {
            self.bytes = bytes
            self.place = place
            // Some programs write a byte order mark.
            position = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        }

        static func wrong(_ message: String, _ place: String, _ line: Int) -> MigrationError {
            MigrationError(
                .usage, message, place: "\(place):\(line)", remedy: "Correct the file. Nothing was imported.")
        }

        /// Reads the next record; returns nil at the end.
        mutating func next() throws -> (line: Int, fields: [Field])? {
            guard position < bytes.count else { return nil }
            let start = line
            var fields = [try field()]
            while position < bytes.count, bytes[position] == UInt8(ascii: ",") {
                position += 1
                fields.append(try field())
            }
            if position < bytes.count, bytes[position] == UInt8(ascii: "\r") { position += 1 }
            if position < bytes.count {
                guard bytes[position] == UInt8(ascii: "\n") else {
                    throw Self.wrong("Something follows the closing quotation mark of a field.", place, line)
                }
                position += 1
                line += 1
            }
            return (start, fields)
        }

        private mutating func field() throws -> Field {
            guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
                let start = position
                while position < bytes.count, !",\n".utf8.contains(bytes[position]) { position += 1 }
                // A carriage return ends a line only before a line feed or the end of the file.
                let isLast = position == bytes.count || bytes[position] == UInt8(ascii: "\n")
                if isLast, position > start, bytes[position - 1] == UInt8(ascii: "\r") { position -= 1 }
                return Field(text: try text(bytes[start..<position]), isQuoted: false)
            }
            let start = line
            position += 1
            var value: [UInt8] = []
            while position < bytes.count {
                let byte = bytes[position]
                position += 1
                if byte == UInt8(ascii: "\"") {
                    guard position < bytes.count, bytes[position] == byte else {
                        return Field(text: try text(value[...]), isQuoted: true)
                    }
                    position += 1
                }
                if byte == UInt8(ascii: "\n") { line += 1 }
                value.append(byte)
            }
            throw Self.wrong("A field in quotation marks does not end.", place, start)
        }

        private func text(_ bytes: ArraySlice<UInt8>) throws -> String {
            let text = String(decoding: bytes, as: UTF8.self)
            guard text.utf8.elementsEqual(bytes) else { throw Self.wrong("The text is not UTF-8.", place, line) }
            return text
        }
    }
}
