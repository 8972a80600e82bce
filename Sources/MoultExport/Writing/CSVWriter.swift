import MoultModel
import MoultSQLite

/// Rows as CSV (RFC 4180, with line feeds): NULL is empty, an empty text is `""`, a blob `x'…'`.
///
/// A spreadsheet runs a text that begins like a formula, so an apostrophe is put in front of it. It is also put in front
/// of a text that begins with apostrophes and then like a formula, so that one apostrophe can be taken away again.
package struct CSVWriter: Sendable {
    private let isExact: Bool
    /// The number of texts that have an apostrophe in front.
    package private(set) var guarded = 0

    /// - Parameter isExact: whether texts are written as they are.
    package init(isExact: Bool) { self.isExact = isExact }

    /// Appends a value that SQLite holds, without a copy of its own.
    mutating func append(_ cell: SQLiteCell, to bytes: inout [UInt8]) {
        switch cell.storageClass {
        case .null: break
        case .integer: bytes.append(decimal: cell.integer)
        case .text:
            let text = cell.ownText
            guard Self.isPlain(text) else {
                bytes += field(cell.text ?? "").utf8
                return
            }
            bytes.append(contentsOf: text)
        case .real: bytes += cell.real.description.utf8
        case .blob: cell.withBytes { Self.append(blob: $0, to: &bytes) }
        }
    }

    /// Appends a value.
    mutating func append(_ value: SQLiteValue, to bytes: inout [UInt8]) {
        switch value {
        case .null: break
        case .integer(let number): bytes.append(decimal: number)
        case .real(let number): bytes += number.description.utf8
        case .text(let text): bytes += field(text).utf8
        case .blob(let blob): blob.withUnsafeBytes { Self.append(blob: $0, to: &bytes) }
        }
    }

    private static func append(blob: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
        bytes += [UInt8(ascii: "x"), UInt8(ascii: "'")]
        bytes.append(hexadecimal: blob)
        bytes.append(UInt8(ascii: "'"))
    }

    /// Whether the text stands in CSV as it is: ASCII with nothing that has to be looked into.
    static func isPlain(_ text: UnsafeRawBufferPointer) -> Bool {
        guard let first = text.first, first != UInt8(ascii: "'"), !startsFormula(Unicode.Scalar(first)) else {
            return false
        }
        return text.allSatisfy { $0 < 0x80 && !needsQuotes($0) }
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
        if !isExact, Self.isFormula(text) {
            text = "'" + text
            guarded += 1
        }
        guard text.isEmpty || text.utf8.contains(where: Self.needsQuotes) else { return text }
        return text.quotedName
    }

    /// Whether a text begins like a formula, behind any apostrophes.
    static func isFormula(_ text: String) -> Bool {
        text.unicodeScalars.first { $0 != "'" }.map(startsFormula) ?? false
    }

    /// `=`, `+`, `-`, `@`, their forms of full width, a tab, and the ends of lines
    /// (https://owasp.org/www-community/attacks/CSV_Injection).
    private static func startsFormula(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "=", "+", "-", "@", "\t", "\r", "\n", "\u{FF1D}", "\u{FF0B}", "\u{FF0D}", "\u{FF20}": true
        default: false
        }
    }

    private static func needsQuotes(_ byte: UInt8) -> Bool {
        // One comparison decides for nearly every byte.
        byte <= 0x2C && (byte == 0x2C || byte == 0x22 || byte == 0x0A || byte == 0x0D)
    }
}
