#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Glibc)
    import Glibc
#endif

extension Expression.Arithmetic {
    /// Returns the result of the operator for two values.
    ///
    /// - Integers (booleans too) give an integer; a quotient is cut towards zero, and what does not fit is a real.
    /// - Decimals with decimals and integers give a decimal with up to 38 digits.
    /// - A date and a number of seconds give a date; the difference of two dates is a number of seconds.
    /// - All else, and every power, gives a real.
    /// - Nil on a side gives nil, and so do a division by zero and a result that is no number.
    ///
    /// - Throws: `MigrationError` with code `invalidPredicate` for anything but numbers, and for sums of dates.
    package func value(
        _ left: ExpressionValue, _ right: ExpressionValue
    ) throws(MigrationError) -> ExpressionValue {
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
    /// A real, or nil for NaN, as SQLite has it.
    static func finite(_ number: Double) -> ExpressionValue { number.isNaN ? .null : .real(number) }

    var isDate: Bool { if case .date = self { true } else { false } }

    /// The value where its type is an integer one.
    var wholeNumber: ExpressionNumber? {
        switch self {
        case .boolean, .integer: number
        default: nil
        }
    }
}
