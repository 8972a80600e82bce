import MoultModelFiles
import MoultSQLite

/// The storage of a decimal in a column.
///
/// A DECIMAL column has NUMERIC affinity, so Core Data's decimals are stored as an INTEGER or a REAL. Every decimal of
/// up to fifteen digits, and every 64-bit integer, has a number of its own. Of longer decimals only some have; for the
/// others Core Data's column holds the nearest number.
package enum DecimalStorage {
    /// Returns the value that the column holds for the digits: the equal number, or the nearest. Nil for what is no
    /// number, and where the nearest number is none that a decimal can be.
    package static func value(_ digits: String) -> SQLiteValue? {
        equal(to: digits)
            ?? Double(digits).flatMap { $0.isFinite && DecimalNumber("\($0)") != nil ? .real($0) : nil }
    }

    /// The number from which exactly these digits are read back; nil if there is none.
    package static func equal(to digits: String) -> SQLiteValue? {
        if let whole = Int64(digits) { return .integer(whole) }
        guard let number = Double(digits), number.isFinite else { return nil }
        if isShort(digits) { return .real(number) }
        guard let wanted = DecimalNumber(digits), DecimalNumber("\(number)")?.text == wanted.text else { return nil }
        return .real(number)
    }

    /// The number that is stored for digits without an equal number: the nearest.
    package static func nearest(_ digits: String) -> String? {
        Double(digits).flatMap { DecimalNumber("\($0)") }?.text
    }

    /// Whether there are at most fifteen digits and no exponent, as with money. Then nothing else has to be checked.
    private static func isShort(_ digits: String) -> Bool {
        var count = 0
        for byte in digits.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): count += 1
            case UInt8(ascii: "."), UInt8(ascii: "-"): break
            default: return false
            }
        }
        return count <= 15
    }
}
