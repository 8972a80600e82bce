import MoultModelFiles
import MoultSQLite

/// How a column keeps a decimal.
///
/// A DECIMAL column has NUMERIC affinity, and so Core Data's decimals lie there as an INTEGER or a REAL. Every decimal of
/// up to fifteen digits and every whole one of 64 bits has a number of its own; of longer ones only some have, and SQLite
/// would make the nearest of the others without a word.
package enum DecimalStorage {
    /// The number that the digits are read back from, each of them; nil if there is none.
    ///
    /// `NaN`, which is no number, is kept as the text that it is.
    package static func value(_ digits: String) -> SQLiteValue? {
        if let whole = Int64(digits) { return .integer(whole) }
        if digits == "NaN" { return .text(digits) }
        guard let number = Double(digits), number.isFinite else { return nil }
        if isShort(digits) { return .real(number) }
        guard let wanted = DecimalNumber(digits), DecimalNumber("\(number)")?.text == wanted.text else { return nil }
        return .real(number)
    }

    /// What is kept of digits that no number is equal to: the nearest.
    package static func nearest(_ digits: String) -> String? {
        Double(digits).flatMap { DecimalNumber("\($0)") }?.text
    }

    /// Whether there are at most fifteen digits and no power of ten, as with money: that is all that has to be looked at.
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
