import Foundation
import TestSupport
import Testing

@testable import MoultCoreData

@Suite struct DecimalDigitsTests {
    /// Foundation's own description is the witness.
    @Test func digitsAreThoseOfTheDescription() throws {
        var random = SeededGenerator(seed: 7)
        var numbers: [Decimal] = [
            0, 1, -1, 10, .nan, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .pi, Decimal(Int64.max),
            Decimal(Int64.min), Decimal(UInt64.max), Decimal(1 << 53), Decimal((1 << 53) - 1), Decimal((1 << 53) + 1),
            Decimal(sign: .minus, exponent: 127, significand: 9_007_199_254_740_991),
            Decimal(sign: .plus, exponent: -128, significand: 10), Decimal(sign: .minus, exponent: -3, significand: 1),
        ]
        for _ in 0..<20_000 {
            let whole = Decimal(
                Int64.random(in: .min ... .max, using: &random) >> Int64.random(in: 0...62, using: &random))
            let exponent = Int.random(in: -60...60, using: &random)
            let fraction = Decimal(Int.random(in: 0...99_999, using: &random)) / 1000
            numbers += [
                whole, whole / 7, whole + fraction, Decimal(sign: .minus, exponent: exponent, significand: whole),
            ]
        }
        for number in numbers where number.digits != number.description {
            Issue.record("\(number.digits) for \(number)")
        }
    }
}
