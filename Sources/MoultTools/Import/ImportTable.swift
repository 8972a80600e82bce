import Moult
import MoultBasics
import MoultModel

/// The rows of a file to import. Each pass over them reads the file again, so that no file is too large for the memory.
struct ImportTable {
    /// The path of the file.
    let path: String
    /// The properties that the columns hold.
    let columns: [String]
    /// The number of rows.
    let count: Int
    private let isExact: Bool
    /// By column, the property that it holds, if it has another name.
    private let names: [String: String]

    /// The columns that `export` adds to the properties, under names that no property has.
    static let added = ["Z_PK": key, "entity": entity]
    static let key = "\0Z_PK"
    static let entity = "\0entity"

    /// A row of the file, with the number of its first line.
    struct Row {
        let line: Int
        fileprivate let source: Source

        fileprivate enum Source {
            case fields([CSVReader.Field], places: [String: Int], isExact: Bool)
            case members([String: JSONValue])
        }

        /// The value of a column; nil if the row has none.
        subscript(column: String) -> Value? {
            switch source {
            case .fields(let fields, let places, let isExact):
                places[column].map { Value(fields[$0], isExact: isExact) }
            case .members(let members): members[column].map(Value.json)
            }
        }
    }

    /// A value, as the file contains it.
    enum Value {
        /// A field of CSV.
        case text(String)
        /// A value of JSON, or NULL in CSV.
        case json(JSONValue)

        var isNull: Bool { if case .json(.null) = self { true } else { false } }
    }

    /// Reads the whole file once; of CSV no values, which the first pass over the rows checks.
    ///
    /// - Parameters:
    ///   - isExact: whether an apostrophe before a formula is part of the text.
    ///   - names: by column, the property that it holds, if it has another name.
    /// - Throws: `usage` with the line of invalid CSV or JSON Lines, or if two columns hold one property; any error from
    ///   reading the file.
    init(_ path: String, isExact: Bool, renaming names: [String: String]) throws {
        (self.path, self.isExact, self.names) = (path, isExact, names)
        var (columns, count): ([String], Int) = ([], 0)
        if path.hasSuffix(".csv") {
            var csv = try CSVReader(FileBytes(path))
            columns = csv.columns
            try Self.check(columns, path)
            while try csv.skip() { count += 1 }
        } else {
            var known: Set<String> = []
            try Self.forEachObject(of: path) { _, members in
                for member in members where known.insert(member.key).inserted { columns.append(member.key) }
                count += 1
            }
        }
        columns = columns.map { names[$0] ?? $0 }
        try Self.check(columns, path)
        (self.columns, self.count) = (columns, count)
    }

    /// Calls `body` with each row, in order.
    func forEachRow(_ body: (Row) throws -> Void) throws {
        guard path.hasSuffix(".csv") else {
            return try Self.forEachObject(of: path) { line, members in
                let values = members.map { (names[$0.key] ?? $0.key, $0.value) }
                try body(
                    Row(line: line, source: .members(Dictionary(values, uniquingKeysWith: { first, _ in first }))))
            }
        }
        var csv = try CSVReader(FileBytes(path))
        let places = Dictionary(zip(columns, columns.indices), uniquingKeysWith: { first, _ in first })
        while let row = try csv.next() {
            try body(Row(line: row.line, source: .fields(row.fields, places: places, isExact: isExact)))
        }
    }

    /// Calls `body` with each object of JSON Lines, and the number of its line.
    private static func forEachObject(
        of path: String, _ body: (_ line: Int, _ members: [JSONValue.Member]) throws -> Void
    ) throws {
        var bytes = FileBytes(path)
        var number = 0
        while let line = try bytes.line() {
            number += 1
            if line.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") }) { continue }
            let document = try JSONValue(parsing: line, place: "\(path):\(number)", code: .usage)
            guard let members = document.members else {
                throw MigrationError(
                    .usage, "The line is not an object of JSON.", place: "\(path):\(number)",
                    remedy: "Write one object on each line. Nothing was imported.")
            }
            try body(number, members)
        }
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
    private static let digits = Array("0123456789abcdefABCDEF".utf8)

    /// Returns nil for a text that does not consist of pairs of hexadecimal digits.
    fileprivate init?(hexadecimal text: Substring) {
        let digits = text.utf8.compactMap(Self.digits.firstIndex(of:)).map { UInt8($0 < 16 ? $0 : $0 - 6) }
        guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
        self = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}

/// The bytes of a file, which are read a piece at a time.
struct FileBytes {
    let path: String
    private var piece: [UInt8] = []
    private var position = 0
    private var offset: Int64 = 0
    private var isAtEnd = false

    init(_ path: String) { self.path = path }

    /// Returns the next byte, which stays the next one; nil at the end of the file.
    mutating func peek() throws -> UInt8? {
        if position == piece.count, !isAtEnd {
            piece = try POSIXSystem().bytes(of: path, from: offset, count: 1 << 20)
            (offset, position, isAtEnd) = (offset + Int64(piece.count), 0, piece.isEmpty)
        }
        return position < piece.count ? piece[position] : nil
    }

    /// Steps over the next byte if it is the given one.
    mutating func take(_ byte: UInt8) throws -> Bool {
        guard try peek() == byte else { return false }
        position += 1
        return true
    }

    /// Steps over the byte order mark that some programs write at the beginning of a file.
    mutating func takeMark() throws {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        if try peek() != nil, piece[position...].starts(with: mark) { position += mark.count }
    }

    /// Appends the bytes before the next `end` or `other`, which is not stepped over, or before the end of the file.
    ///
    /// - Throws: `usage` if there are more than fit into memory.
    mutating func take(before end: UInt8, or other: UInt8? = nil, into taken: inout [UInt8]) throws {
        let path = path
        try step(before: end, or: other) { bytes in
            taken += bytes
            guard taken.count <= POSIXSystem.largestText else {
                throw MigrationError(
                    .usage, "A line or field has more than \(POSIXSystem.largestText) bytes.", place: path,
                    remedy: "Correct the file. Nothing was imported.")
            }
        }
    }

    /// Steps over the bytes before the next `end` or `other`, or before the end of the file, and gives them to `body` in
    /// pieces.
    mutating func step(
        before end: UInt8, or other: UInt8? = nil, _ body: (ArraySlice<UInt8>) throws -> Void = { _ in }
    ) throws {
        let other = other ?? end
        while try peek() != nil {
            let begin = position
            position = piece.withUnsafeBufferPointer { bytes in
                var place = begin
                while place < bytes.count, bytes[place] != end, bytes[place] != other { place += 1 }
                return place
            }
            try body(piece[begin..<position])
            if position < piece.count { break }
        }
    }

    /// Returns the next line without its line feed; nil at the end of the file.
    mutating func line() throws -> [UInt8]? {
        guard try peek() != nil else { return nil }
        var line: [UInt8] = []
        try take(before: UInt8(ascii: "\n"), into: &line)
        _ = try take(UInt8(ascii: "\n"))
        return line
    }
}

/// A reader of CSV (RFC 4180) with a header line. Fields may be quoted, and lines may end with LF or CRLF.
struct CSVReader {
    /// A field. An empty one without quotation marks is NULL.
    struct Field: Equatable {
        var text: String
        var isQuoted: Bool
    }

    private(set) var columns: [String] = []
    private var bytes: FileBytes
    private var line = 1
    private let comma = UInt8(ascii: ",")
    private let feed = UInt8(ascii: "\n")
    private let quote = UInt8(ascii: "\"")

    /// Reads the header.
    ///
    /// - Throws: `usage` for a file without a header; otherwise as ``next()``.
    init(_ bytes: FileBytes) throws {
        self.bytes = bytes
        try self.bytes.takeMark()
        guard let header = try record() else { throw wrong("The file has no header line.", 1) }
        columns = header.fields.map(\.text)
    }

    /// Reads the next row, with the number of its first line; returns nil at the end.
    ///
    /// - Throws: `usage` with the line of an unterminated field, text after a closing quotation mark, a row with more or
    ///   fewer fields than the header, or text that is not UTF-8.
    mutating func next() throws -> (line: Int, fields: [Field])? {
        guard let row = try record() else { return nil }
        guard row.fields.count == columns.count else {
            throw wrong(
                "The row has \(Quantity.count(row.fields.count, "field")), but the header has \(columns.count).",
                row.line)
        }
        return row
    }

    /// Steps over the next row without a look at its values; returns false at the end. What is wrong in the row shows when
    /// it is read.
    mutating func skip() throws -> Bool {
        guard try bytes.peek() != nil else { return false }
        repeat {
            guard try bytes.take(quote) else {
                try bytes.step(before: comma, or: feed)
                continue
            }
            repeat {
                try bytes.step(before: quote)
                guard try bytes.take(quote) else { return true }
            } while try bytes.take(quote)
            // Text after the closing mark is an error of the row.
            try bytes.step(before: comma, or: feed)
        } while try bytes.take(comma)
        _ = try bytes.take(feed)
        return true
    }

    private mutating func record() throws -> (line: Int, fields: [Field])? {
        guard try bytes.peek() != nil else { return nil }
        let start = line
        var fields = [try field()]
        while try bytes.take(comma) { fields.append(try field()) }
        _ = try bytes.take(UInt8(ascii: "\r"))
        if try bytes.take(feed) {
            line += 1
        } else if try bytes.peek() != nil {
            throw wrong("Something follows the closing quotation mark of a field.", line)
        }
        return (start, fields)
    }

    private mutating func field() throws -> Field {
        var value: [UInt8] = []
        guard try bytes.take(quote) else {
            try bytes.take(before: comma, or: feed, into: &value)
            // A carriage return ends a line only before a line feed or the end of the file.
            if try bytes.peek() != comma, value.last == UInt8(ascii: "\r") { value.removeLast() }
            return Field(text: try text(value), isQuoted: false)
        }
        let start = line
        while true {
            let known = value.count
            try bytes.take(before: quote, into: &value)
            line += value[known...].count { $0 == feed }
            guard try bytes.take(quote) else { throw wrong("A field in quotation marks does not end.", start) }
            guard try bytes.take(quote) else { return Field(text: try text(value), isQuoted: true) }
            value.append(quote)
        }
    }

    private func text(_ bytes: [UInt8]) throws -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw wrong("The text is not UTF-8.", line) }
        return text
    }

    private func wrong(_ message: String, _ line: Int) -> MigrationError {
        MigrationError(
            .usage, message, place: "\(bytes.path):\(line)", remedy: "Correct the file. Nothing was imported.")
    }
}
