import MoultBasics

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A number as stored in a column, INTEGER or REAL; never NaN.
package enum ExpressionNumber: Sendable, Hashable, Comparable {
    case integer(Int64)
    case real(Double)

    /// Creates the number that a DECIMAL column stores for some digits: an integer if they are one that fits, otherwise
    /// the nearest real; nil for `NaN` and for text that is not a number.
    package init?(digits: String) {
        if let number = Int64(digits) {
            self = .integer(number)
        } else if let number = Double(digits), !number.isNaN {
            self = .real(number)
        } else {
            return nil
        }
    }

    package var double: Double {
        switch self {
        case .integer(let number): Double(number)
        case .real(let number): number
        }
    }

    /// The number as an integer; nil for a fraction, or if it does not fit.
    package var whole: Int64? {
        switch self {
        case .integer(let number): number
        case .real(let number): Int64(exactly: number)
        }
    }

    /// The integer that SQLite's CAST returns: truncated towards zero, and clamped to the range.
    package var integer: Int64 {
        switch self {
        case .integer(let number): number
        case .real(let number): number >= 0x1p63 ? .max : number < -0x1p63 ? .min : Int64(number)
        }
    }

    package static func == (left: ExpressionNumber, right: ExpressionNumber) -> Bool { left.order(right) == 0 }
    package static func < (left: ExpressionNumber, right: ExpressionNumber) -> Bool { left.order(right) < 0 }

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .integer(let number): hasher.combine(number)
        case .real(let number):
            if let number = Int64(exactly: number) { hasher.combine(number) } else { hasher.combine(number) }
        }
    }

    /// Returns the sign of the comparison by exact value, without rounding an integer (`sqlite3IntFloatCompare`).
    private func order(_ other: ExpressionNumber) -> Int {
        switch (self, other) {
        case (.integer(let left), .integer(let right)): left < right ? -1 : left > right ? 1 : 0
        case (.real(let left), .real(let right)): left < right ? -1 : left > right ? 1 : 0
        case (.integer(let left), .real(let right)): Self.order(left, right)
        case (.real(let left), .integer(let right)): -Self.order(right, left)
        }
    }

    private static func order(_ left: Int64, _ right: Double) -> Int {
        if right >= 0x1p63 { return -1 }
        if right < -0x1p63 { return 1 }
        let whole = Int64(right)
        if left != whole { return left < whole ? -1 : 1 }
        let fraction = right - right.rounded(.towardZero)
        return fraction > 0 ? -1 : fraction < 0 ? 1 : 0
    }
}

/// Decimal arithmetic with up to 38 digits, on the digits of values.
struct ExactDecimal {
    private let decimal: Decimal

    /// Returns nil for `NaN` and for text that is not a number of up to 38 digits.
    init?(_ digits: String) {
        let numerals: (UInt8) -> Bool = { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        // Decimal reads a prefix and ignores the rest; Double checks that the whole text is a number.
        guard digits.utf8.allSatisfy({ numerals($0) || "+-.eE".utf8.contains($0) }), Double(digits) != nil else {
            return nil
        }
        self.init(Decimal(string: digits))
    }

    /// Returns nil for a real, which has no exact digits, and for a value that is not a number.
    init?(_ value: ExpressionValue) {
        switch value {
        case .boolean(let flag): self.init(flag ? "1" : "0")
        case .integer(let number): self.init(String(number))
        case .decimal(let digits): self.init(digits)
        default: return nil
        }
    }

    private init?(_ decimal: Decimal?) {
        guard let decimal, decimal.isFinite else { return nil }
        self.decimal = decimal
    }

    var digits: String { decimal.description }

    static func + (left: ExactDecimal, right: ExactDecimal) -> ExactDecimal? { .init(left.decimal + right.decimal) }
    static func - (left: ExactDecimal, right: ExactDecimal) -> ExactDecimal? { .init(left.decimal - right.decimal) }
    static func * (left: ExactDecimal, right: ExactDecimal) -> ExactDecimal? { .init(left.decimal * right.decimal) }

    /// Returns the quotient, with 38 digits if it does not terminate; nil for a division by zero.
    static func / (left: ExactDecimal, right: ExactDecimal) -> ExactDecimal? {
        right.decimal.isZero ? nil : .init(left.decimal / right.decimal)
    }
}

extension Expression.Arithmetic {
    /// Returns the result of the operator for two values.
    ///
    /// - Integers (including booleans) give an integer. A quotient is truncated towards zero, and a result that does
    ///   not fit is a real.
    /// - Decimals, with decimals or integers, give a decimal with up to 38 digits.
    /// - A date and a number of seconds give a date; the difference of two dates is a number of seconds.
    /// - All other operands, and every power, give a real.
    /// - If a side is nil, the result is nil; so it is for a division by zero and for NaN.
    ///
    /// - Throws: `MigrationError` with code `invalidPredicate` for values that are not numbers, and for sums of dates.
    package func value(_ left: ExpressionValue, _ right: ExpressionValue) throws(MigrationError) -> ExpressionValue {
        if left.isNull || right.isNull { return .null }
        guard let leftNumber = left.number, let rightNumber = right.number else {
            throw .predicate(
                "\(symbol) cannot join \(left.kind.name) and \(right.kind.name).",
                remedy: "Calculate with numbers and dates only.")
        }
        if left.isDate || right.isDate { return try value(dates: left, right, leftNumber.double, rightNumber.double) }
        if self == .power { return .finite(pow(leftNumber.double, rightNumber.double)) }
        if case .integer(let left) = left.wholeNumber, case .integer(let right) = right.wholeNumber {
            return value(integers: left, right)
        }
        if let left = ExactDecimal(left), let right = ExactDecimal(right), let result = value(decimals: left, right) {
            return .decimal(result.digits)
        }
        return value(reals: leftNumber.double, rightNumber.double)
    }

    private func value(integers left: Int64, _ right: Int64) -> ExpressionValue {
        if self == .divide, right == 0 { return .null }
        let result =
            switch self {
            case .add: left.addingReportingOverflow(right)
            case .subtract: left.subtractingReportingOverflow(right)
            case .multiply, .power: left.multipliedReportingOverflow(by: right)
            case .divide: left.dividedReportingOverflow(by: right)
            }
        return result.overflow ? value(reals: Double(left), Double(right)) : .integer(result.partialValue)
    }

    private func value(decimals left: ExactDecimal, _ right: ExactDecimal) -> ExactDecimal? {
        switch self {
        case .add: left + right
        case .subtract: left - right
        case .multiply: left * right
        case .divide: left / right
        case .power: nil
        }
    }

    private func value(reals left: Double, _ right: Double) -> ExpressionValue {
        switch self {
        case .add: .finite(left + right)
        case .subtract: .finite(left - right)
        case .multiply: .finite(left * right)
        case .divide: right == 0 ? .null : .finite(left / right)
        case .power: .finite(pow(left, right))
        }
    }

    private func value(
        dates left: ExpressionValue, _ right: ExpressionValue, _ leftSeconds: Double, _ rightSeconds: Double
    ) throws(MigrationError) -> ExpressionValue {
        switch (self, left.isDate, right.isDate) {
        case (.subtract, true, true): return .finite(leftSeconds - rightSeconds)
        case (.subtract, true, false): return .date(leftSeconds - rightSeconds)
        case (.add, true, false), (.add, false, true): return .date(leftSeconds + rightSeconds)
        default:
            throw .predicate(
                "\(symbol) has no meaning for \(left.isDate && right.isDate ? "two dates" : "a date").",
                remedy: "Add seconds to a date, or subtract dates.")
        }
    }
}

extension ExpressionValue {
    /// Returns a real, or nil for NaN, as in SQLite.
    static func finite(_ number: Double) -> ExpressionValue { number.isNaN ? .null : .real(number) }

    var isDate: Bool { if case .date = self { true } else { false } }

    /// The value as a number, if it has an integer type.
    var wholeNumber: ExpressionNumber? {
        switch self {
        case .boolean, .integer: number
        default: nil
        }
    }
}
