import MoultModel
import MoultSQLite

/// Rows as CSV (RFC 4180, with line feeds): NULL is empty, an empty text is `""`, a blob `x'…'`.
///
/// A spreadsheet runs a text that begins like a formula, so an apostrophe is put in front of it.
package struct CSVWriter: Sendable {
    private let isExact: Bool
    /// How many texts have an apostrophe in front.
    package private(set) var guarded = 0

    /// - Parameter isExact: whether texts are written as they are.
    package init(isExact: Bool) { self.isExact = isExact }

    /// Appends a value that SQLite holds, without a copy of its own.
    mutating func append(_ cell: SQLiteCell, to bytes: inout [UInt8]) {
        switch cell.storageClass {
        case .null: break
        case .integer: bytes += String(cell.integer).utf8
        case .text:
            let text = cell.ownText
            guard Self.isPlain(text) else {
                bytes += field(cell.text ?? "").utf8
                return
            }
            bytes.append(contentsOf: text)
        case .real, .blob: append(cell.copy, to: &bytes)
        }
    }

    /// Appends a value.
    mutating func append(_ value: SQLiteValue, to bytes: inout [UInt8]) {
        switch value {
        case .null: break
        case .integer(let number): bytes += String(number).utf8
        case .real(let number): bytes += number.description.utf8
        case .text(let text): bytes += field(text).utf8
        case .blob(let blob): bytes += "x'\(blob.hexadecimal)'".utf8
        }
    }

    /// Whether the text stands in CSV as it is: ASCII with nothing that has to be looked into.
    private static func isPlain(_ text: UnsafeRawBufferPointer) -> Bool {
        guard let first = text.first, !formula.contains(first) else { return false }
        // Every mark that needs quotes, the two of a line's end too, is below 0x2D.
        return text.allSatisfy { $0 < 0x80 && ($0 > 0x2C || $0 == 0x20 || !needsQuotes.contains($0)) }
    }

    /// A row, with its line feed.
    package mutating func line(_ row: [SQLiteValue]) -> String {
        var bytes: [UInt8] = []
        for (place, value) in row.enumerated() {
            if place > 0 { bytes.append(UInt8(ascii: ",")) }
            append(value, to: &bytes)
        }
        return String(decoding: bytes, as: UTF8.self) + "\n"
    }

    private mutating func field(_ text: String) -> String {
        var text = text
        if !isExact, let first = text.utf8.first, Self.formula.contains(first) {
            text = "'" + text
            guarded += 1
        }
        guard text.isEmpty || text.utf8.contains(where: Self.needsQuotes.contains) else { return text }
        return text.quotedName
    }

    /// `=`, `+`, `-`, `@`, a tab or a carriage return (https://owasp.org/www-community/attacks/CSV_Injection).
    private static let formula = Array("=+-@\t\r".utf8)
    private static let needsQuotes = Array(",\"\n\r".utf8)
}
