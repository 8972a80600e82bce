import Foundation

/// Splits a hundred percent among amounts.
enum Shares {
    /// Percent to two digits, in the order of the amounts; together exactly 100, or all zero where there is nothing to
    /// split. What rounding down leaves over goes to the largest remainders, the first of equal ones first.
    static func percent(of amounts: [Decimal]) -> [Decimal] {
        let total = amounts.reduce(0, +)
        guard total > 0, amounts.allSatisfy({ $0 >= 0 }) else { return amounts.map { _ in 0 } }
        let exact = amounts.map { $0 / total * 10000 }
        var hundredths = exact.map(\.roundedDown)
        let missing = NSDecimalNumber(decimal: 10000 - hundredths.reduce(0, +)).intValue
        let byRemainder = amounts.indices.sorted {
            let (left, right) = (exact[$0] - hundredths[$0], exact[$1] - hundredths[$1])
            return left == right ? $0 < $1 : left > right
        }
        for index in byRemainder.prefix(max(missing, 0)) { hundredths[index] += 1 }
        return hundredths.map { $0 / 100 }
    }
}

extension Decimal {
    fileprivate var roundedDown: Decimal {
        var (value, result) = (self, Decimal())
        NSDecimalRound(&result, &value, 0, .down)
        return result
    }
}
