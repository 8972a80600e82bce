import MoultModel
import MoultPropertyList
import MoultSystem

/// The rows of a file that is imported.
struct ImportTable {
    /// The file.
    let path: String
    let columns: [String]
    let rows: [Row]

    struct Row {
        let line: Int
        /// By column.
        let values: [String: Value]
    }

    /// A value as the file has it.
    enum Value {
        /// A field of CSV.
        case text(String)
        /// A value of JSON. NULL is one, in CSV too.
        case json(JSONValue)

        var isNull: Bool { if case .json(.null) = self { true } else { false } }
    }

    /// - Parameter isExact: whether an apostrophe in front of a formula belongs to the text.
    /// - Throws: `usage` with the line for what is neither CSV nor JSON Lines; what reading the file throws.
    init(_ path: String, isExact: Bool, _ system: any System) throws {
        self.path = path
        let bytes = try system.read(path)
        if path.hasSuffix(".csv") {
            let csv = try CSVReader(bytes, place: path)
            columns = csv.columns
            rows = csv.rows.map { row in
                Row(
                    line: row.line,
                    values: Dictionary(
                        zip(csv.columns, row.fields.map { Value($0, isExact: isExact) }),
                        uniquingKeysWith: { first, _ in first }))
            }
            try checkColumns()
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
                        members.map { ($0.key, Value.json($0.value)) }, uniquingKeysWith: { first, _ in first })))
        }
        (self.columns, self.rows) = (columns, rows)
    }

    private init(path: String, columns: [String], rows: [Row]) {
        (self.path, self.columns, self.rows) = (path, columns, rows)
    }

    /// With other names for some columns.
    func renaming(_ names: [String: String]) -> ImportTable {
        guard columns.contains(where: { names[$0] != nil }) else { return self }
        let rows = rows.map { row in
            Row(
                line: row.line,
                values: Dictionary(
                    row.values.map { (names[$0] ?? $0, $1) }, uniquingKeysWith: { first, _ in first }))
        }
        return ImportTable(path: path, columns: columns.map { names[$0] ?? $0 }, rows: rows)
    }

    private func checkColumns() throws {
        let repeated = Dictionary(grouping: columns) { $0 }.filter { $0.value.count > 1 }.keys.sorted()
        guard let name = repeated.first else { return }
        throw MigrationError(
            .usage, "The header has the column \(name) twice.", place: "\(path):1",
            remedy: "Rename or remove one of them. Nothing was imported.")
    }

    func place(of row: Row) -> String { "\(path):\(row.line)" }
}

extension ImportTable.Value {
    /// `moult export` puts an apostrophe in front of a text that a spreadsheet takes for a formula.
    fileprivate init(_ field: CSVReader.Field, isExact: Bool) {
        guard !field.text.isEmpty || field.isQuoted else {
            self = .json(.null)
            return
        }
        let isGuarded = !isExact && field.text.utf8.first == UInt8(ascii: "'") && CSVWriter.isFormula(field.text)
        self = .text(isGuarded ? String(field.text.unicodeScalars.dropFirst()) : field.text)
    }

    /// The value as JSON of an attribute of the type; nil if it is none.
    ///
    /// - Parameter external: the bytes of the file at a path, for an attribute with external data.
    func document(_ type: AttributeType, external: (String) throws -> [UInt8]?) rethrows -> JSONValue? {
        switch self {
        case .json(.string(let text)) where type == .binary || type == .transformable:
            return .string(try external(text)?.base64 ?? text)
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
            case .date: return Double(text).map(JSONValue.double) ?? .string(text)
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

extension [UInt8] {
    /// Nil for a text that is no pairs of hexadecimal digits.
    fileprivate init?(hexadecimal text: Substring) {
        let digits = Array(text.utf8)
        let bytes = stride(from: 0, to: digits.count, by: 2).compactMap { place in
            UInt8(String(decoding: digits[place..<Swift.min(place + 2, digits.count)], as: UTF8.self), radix: 16)
        }
        guard bytes.count * 2 == digits.count else { return nil }
        self = bytes
    }
}
