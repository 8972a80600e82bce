import MoultBasics
import MoultSQLite

/// Finds the values of a store that cannot be read as their attribute's type, using SQLite's `typeof`.
///
/// Every form that Core Data and SwiftData write is accepted: a whole Date or Double that SQLite stores as an integer;
/// a Decimal as an integer, a REAL or a text of digits; infinities; NaN as NULL; text that contains U+0000; a UUID of
/// 16 bytes; and the leading byte of a value with external storage.
package struct ValueVerifier {
    /// The allowed form of a column's values.
    package enum Form: Sendable, Hashable {
        /// An integer within bounds.
        case integer(ClosedRange<Int64>)
        case boolean
        /// An integer or a REAL: numbers and dates.
        case number
        case decimal
        /// A text in UTF-8.
        case text
        case uuid
        case bytes
        /// The byte `01` and the value, or the byte `02`, the name of a file and the byte `00`.
        case externalBytes
    }

    /// A column and the values allowed in it.
    package struct Column: Sendable, Hashable {
        /// `Entity.attribute`, or `TABLE.COLUMN` for a column of Core Data's own.
        package var place: String
        package var table: String
        package var column: String
        /// The entity numbers of the rows that have the column; empty for all rows.
        package var numbers: [Int]
        package var form: Form
        /// The name of the type with its article, such as `a Date`.
        package var typeName: String

        package init(place: String, table: String, column: String, numbers: [Int], form: Form, typeName: String) {
            (self.place, self.table, self.column) = (place, table, column)
            (self.numbers, self.form, self.typeName) = (numbers, form, typeName)
        }
    }

    private let connection: Connection
    private let columns: [Column]
    private let withValues: Bool

    /// - Parameter withValues: whether findings include the faulty values, as SQL literals.
    package init(_ connection: Connection, columns: [Column], withValues: Bool = false) {
        (self.connection, self.columns, self.withValues) = (connection, columns, withValues)
    }

    /// Returns one finding for each column with faulty values, with their count and the first keys.
    package func findings() throws -> [Finding] {
        try connection.register(Self.isUTF8)
        return try suspicious().compactMap(finding)
    }

    /// The SQL function that is 1 for a text in UTF-8. `GLOB` and `length` read a text character by character, and end
    /// at U+0000.
    private static let isUTF8 = SQLiteFunction("moult_is_utf8", argumentCount: 1) { arguments in
        .integer(arguments.cell(0).ownText.isUTF8 ? 1 : 0)
    }

    /// Returns the columns with values to check, from one pass over each table, and one more over a table that has any.
    private func suspicious() throws -> [Column] {
        var found: [Column] = []
        for (table, columns) in Dictionary(grouping: columns, by: \.table).sorted(by: { $0.key < $1.key }) {
            guard try connection.hasRow(of: "main.\(table.quotedName)", meeting: columns.map(\.suspicion)) else {
                continue
            }
            for start in stride(from: 0, to: columns.count, by: Self.columnsAtOnce) {
                let part = columns[start..<min(start + Self.columnsAtOnce, columns.count)]
                let sums = part.map { "max(\($0.suspicion))" }.joined(separator: ", ")
                try connection.forEachRow("SELECT \(sums) FROM main.\(table.quotedName)") { row in
                    for (position, column) in part.enumerated() where row.integer(position) > 0 { found.append(column) }
                }
            }
        }
        return found
    }

    /// The number of columns in a pass, below SQLite's limit for the columns of a result.
    private static let columnsAtOnce = 200

    private func finding(_ column: Column) throws -> Finding? {
        var count: Int64 = 0
        var kinds: [String: Int64] = [:]
        var keys: [Int64] = []
        var values: [String] = []
        let name = column.column.quotedName
        let value = withValues ? "substr(quote(\(name)), 1, 200)" : "NULL"
        // Prefer Z_PK to rowid, because the table may have been created WITHOUT ROWID.
        let hasKey = try connection.columns(of: column.table).contains { $0.name.uppercased() == "Z_PK" }
        let key = hasKey ? "Z_PK" : "rowid"
        try connection.forEachRow(
            "SELECT \(key), typeof(\(name)), \(name), \(value) FROM main.\(column.table.quotedName) "
                + "WHERE \(column.suspicion) ORDER BY \(key)"
        ) { row in
            let kind = row.text(1) ?? ""
            guard column.isFault(row.cell(2), kind) else { return }
            count += 1
            kinds[kind, default: 0] += 1
            guard keys.count < Finding.keyLimit else { return }
            keys.append(row.integer(0))
            if withValues { values.append("\(row.integer(0)): \(row.text(3) ?? "NULL")") }
        }
        guard count > 0 else { return nil }
        let found = kinds.sorted { $0.key < $1.key }.map { "\($0.value) stored as \($0.key)" }.joined(separator: ", ")
        var finding = Finding(
            code: "value-unreadable", severity: .error, place: column.place,
            message: "\(count) value\(count == 1 ? "" : "s") of \(column.place) cannot be read as "
                + "\(column.typeName): \(found).",
            remedy: "Set \(count == 1 ? "it" : "them") again in the app or in SQL."
                + (withValues ? "" : " \(.validate, .values) prints what is stored."))
        (finding.keys, finding.values) = (keys, values)
        return finding
    }
}

extension ValueVerifier.Column {
    /// A condition that every faulty value meets; 0 or 1 in each row.
    fileprivate var suspicion: String {
        let name = column.quotedName
        let owners = numbers.isEmpty ? "" : "Z_ENT IN (\(numbers.map(String.init).joined(separator: ", "))) AND "
        return "(\(owners)\(name) IS NOT NULL AND (\(fault(name))))"
    }

    private func fault(_ name: String) -> String {
        switch form {
        case .integer(.min ... .max): "typeof(\(name)) <> 'integer'"
        case .integer(let range):
            "typeof(\(name)) <> 'integer' OR \(name) < \(range.lowerBound) OR \(name) > \(range.upperBound)"
        case .boolean: "typeof(\(name)) <> 'integer' OR \(name) NOT IN (0, 1)"
        case .number: "typeof(\(name)) NOT IN ('integer', 'real')"
        // Beyond these bounds, a Decimal may not have the power of ten. SQLite may compute both sides of an AND, and the
        // smallest integer has no magnitude.
        case .decimal:
            """
            typeof(\(name)) IN ('text', 'blob') \
            OR (typeof(\(name)) = 'real' AND \(name) <> 0 AND abs(\(name) + 0.0) NOT BETWEEN 1e-100 AND 1e100)
            """
        case .text: "typeof(\(name)) <> 'text' OR NOT moult_is_utf8(\(name))"
        case .uuid: "typeof(\(name)) <> 'blob' OR length(\(name)) <> 16"
        case .bytes: "typeof(\(name)) <> 'blob'"
        case .externalBytes:
            """
            typeof(\(name)) <> 'blob' OR length(\(name)) = 0 OR substr(\(name), 1, 1) NOT IN (x'01', x'02') \
            OR (substr(\(name), 1, 1) = x'02' AND (length(\(name)) < 3 OR substr(\(name), -1) <> x'00'))
            """
        }
    }

    /// Returns whether a value that meets the condition is faulty.
    fileprivate func isFault(_ cell: SQLiteCell, _ kind: String) -> Bool {
        switch form {
        case .text where kind == "text": !cell.ownText.isUTF8
        case .decimal where kind == "text": !Self.isDecimal(String(decoding: cell.ownText, as: UTF8.self))
        case .decimal where kind == "real": !Self.isDecimal(cell.real.description)
        default: true
        }
    }

    /// Returns whether a text is a Decimal: up to 128 bits of digits, with a sign, a point and a power of ten from -128
    /// to 127.
    private static func isDecimal(_ text: String) -> Bool {
        var rest = text[...]
        func digits() -> Substring {
            let found = rest.prefix { ("0"..."9").contains($0) }
            rest = rest.dropFirst(found.count)
            return found
        }
        func skip(_ characters: Set<Character>) -> Bool {
            guard let first = rest.first, characters.contains(first) else { return false }
            rest = rest.dropFirst()
            return true
        }
        _ = skip(["-", "+"])
        let whole = digits()
        let fraction = skip(["."]) ? digits() : ""
        guard UInt128(whole + fraction) != nil else { return false }
        var power = 0
        if skip(["e", "E"]) {
            let isNegative = rest.first == "-"
            _ = skip(["-", "+"])
            guard let number = Int16(digits()) else { return false }
            power = isNegative ? -Int(number) : Int(number)
        }
        return rest.isEmpty && (-128...127).contains(power - fraction.count)
    }
}

extension UnsafeRawBufferPointer {
    /// Whether the bytes are UTF-8. Eight bytes of ASCII are seen at once.
    fileprivate var isUTF8: Bool {
        var place = 0
        while place + 8 <= count, loadUnaligned(fromByteOffset: place, as: UInt64.self) & 0x8080_8080_8080_8080 == 0 {
            place += 8
        }
        while place < count, self[place] < 0x80 { place += 1 }
        return place == count
            || String(validating: UnsafeRawBufferPointer(rebasing: self[place...]), as: UTF8.self) != nil
    }
}
