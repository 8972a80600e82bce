#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Decimal arithmetic with up to 38 digits, on digits as values carry them.
struct ExactDecimal {
    private let decimal: Decimal

    /// Nil for what is no number with up to 38 digits, `NaN` too.
    init?(_ digits: String) {
        let numerals: (UInt8) -> Bool = { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        // Decimal reads as far as it can and leaves the rest; Double says whether all of it is a number.
        guard digits.utf8.allSatisfy({ numerals($0) || "+-.eE".utf8.contains($0) }), Double(digits) != nil else {
            return nil
        }
        self.init(Decimal(string: digits))
    }

    /// Nil for reals, which have no exact digits, and for what is no number.
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

    /// Nil for a division by zero; 38 digits where it does not end.
    static func / (left: ExactDecimal, right: ExactDecimal) -> ExactDecimal? {
        right.decimal.isZero ? nil : .init(left.decimal / right.decimal)
    }
}
