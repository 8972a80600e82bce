import MoultBasics
import MoultSQLite

/// Rows as CSV (RFC 4180, with line feeds): NULL is empty, an empty text is `""`, a blob is `x'…'`.
///
/// A spreadsheet runs a text that begins like a formula, so such a text gets a leading apostrophe. So does a text that
/// begins with apostrophes followed by a formula, so that removing one apostrophe restores the original.
package struct CSVWriter: Sendable {
    private let isExact: Bool
    /// The number of texts that were given a leading apostrophe.
    package private(set) var guarded = 0

    /// - Parameter isExact: whether to write texts unchanged.
    package init(isExact: Bool) { self.isExact = isExact }

    /// Appends a value from SQLite's memory, without a copy where possible.
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

    /// Whether a text needs no change in CSV: ASCII only, and no character that needs a check.
    static func isPlain(_ text: UnsafeRawBufferPointer) -> Bool {
        guard let first = text.first, first != UInt8(ascii: "'"), !startsFormula(Unicode.Scalar(first)) else {
            return false
        }
        return text.allSatisfy { $0 < 0x80 && !needsQuotes($0) }
    }

    /// Returns a row, with its line feed.
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

    /// Whether a text begins like a formula, after any apostrophes.
    static func isFormula(_ text: String) -> Bool {
        text.unicodeScalars.first { $0 != "'" }.map(startsFormula) ?? false
    }

    /// Whether a character starts a formula: `=`, `+`, `-`, `@`, their full-width forms, a tab or a line ending
    /// (https://owasp.org/www-community/attacks/CSV_Injection).
    private static func startsFormula(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "=", "+", "-", "@", "\t", "\r", "\n", "\u{FF1D}", "\u{FF0B}", "\u{FF0D}", "\u{FF20}": true
        default: false
        }
    }

    private static func needsQuotes(_ byte: UInt8) -> Bool {
        // One comparison is enough for nearly every byte.
        byte <= 0x2C && (byte == 0x2C || byte == 0x22 || byte == 0x0A || byte == 0x0D)
    }
}

/// A formatter of ISO 8601 dates for millions of fields. It formats each day only once.
struct DateFields: Sendable {
    /// The text of each day, such as `2001-01-01T`, by the number of days since 2001-01-01.
    private var days: [Int: [UInt8]] = [:]
    /// The maximum number of days to keep. Dates rarely cover more.
    private static let most = 50_000

    /// Appends a date, given in seconds since 2001-01-01, in the form of ``DateText``.
    ///
    /// - Returns: false if the number is not a valid date.
    mutating func append(_ seconds: Double, to bytes: inout [UInt8]) -> Bool {
        guard let (whole, fraction, digits) = DateText.decimals(of: seconds) else { return false }
        let day = (whole >= 0 ? whole : whole - 86_399) / 86_400
        let second = whole - day * 86_400
        if let text = days[day] {
            bytes += text
        } else {
            guard let text = DateText.text(sinceReferenceDate: Double(day * 86_400)),
                let end = text.utf8.firstIndex(of: UInt8(ascii: "T"))
            else { return false }
            if days.count == Self.most { days = [:] }
            days[day] = Array(text.utf8[...end])
            bytes += text.utf8[...end]
        }
        bytes.append(digits: 2, of: second / 3600)
        bytes.append(UInt8(ascii: ":"))
        bytes.append(digits: 2, of: second / 60 % 60)
        bytes.append(UInt8(ascii: ":"))
        bytes.append(digits: 2, of: second % 60)
        bytes.append(UInt8(ascii: "."))
        bytes.append(digits: digits, of: fraction)
        bytes.append(UInt8(ascii: "Z"))
        return true
    }
}

/// Values appended as the bytes of their text, without a String for each of millions of fields.
extension [UInt8] {
    /// Appends the digits of a number, with a minus sign if it is negative.
    mutating func append(decimal number: Int64) {
        if number < 0 { append(UInt8(ascii: "-")) }
        var (start, rest) = (count, number.magnitude)
        repeat {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        var end = count - 1
        while start < end {
            swapAt(start, end)
            (start, end) = (start + 1, end - 1)
        }
    }

    /// Appends the last `digits` digits of a non-negative number.
    mutating func append(digits: Int, of number: Int) {
        var unit = 1
        for _ in 1..<digits { unit *= 10 }
        while unit > 0 {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / unit % 10))
            unit /= 10
        }
    }

    /// Appends two hexadecimal digits for each byte.
    mutating func append(hexadecimal bytes: UnsafeRawBufferPointer, isUpper: Bool = false) {
        let letter = isUpper ? UInt8(ascii: "A") - 10 : UInt8(ascii: "a") - 10
        for byte in bytes {
            let (high, low) = (byte >> 4, byte & 15)
            append(high < 10 ? UInt8(ascii: "0") + high : letter + high)
            append(low < 10 ? UInt8(ascii: "0") + low : letter + low)
        }
    }

    /// Appends a UUID of 16 bytes, in Foundation's format.
    mutating func append(uuid bytes: UnsafeRawBufferPointer) {
        for (start, end) in [(0, 4), (4, 6), (6, 8), (8, 10), (10, 16)] {
            if start > 0 { append(UInt8(ascii: "-")) }
            append(hexadecimal: UnsafeRawBufferPointer(rebasing: bytes[start..<end]), isUpper: true)
        }
    }
}
