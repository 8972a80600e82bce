import Foundation
import Testing

@testable import WealthLedger

@Suite("Shares of a hundred percent")
struct SharesTests {
    private func decimal(_ digits: String) throws -> Decimal { try #require(Decimal(string: digits)) }

    @Test(arguments: [
        (["1", "1", "1"], ["33.34", "33.33", "33.33"]), (["1", "2"], ["33.33", "66.67"]), (["5"], ["100"]),
        (["0", "0"], ["0", "0"]), (["-1", "2"], ["0", "0"]), ([], []), (["0.00001", "99999999999"], ["0", "100"]),
        (["1", "1", "1", "1", "1", "1", "1"], ["14.29", "14.29", "14.29", "14.29", "14.28", "14.28", "14.28"]),
    ])
    func `what rounding leaves over goes to the largest remainders`(amounts: [String], expected: [String]) throws {
        #expect(Shares.percent(of: try amounts.map(decimal)) == (try expected.map(decimal)))
    }

    @Test(arguments: 1...40)
    func `shares come to exactly a hundred, and none is off by a hundredth or more`(seed: Int) throws {
        let amounts = (0...seed).map { Decimal(($0 * 7919 * seed + 13) % 100_003) / 100 }
        let shares = Shares.percent(of: amounts)
        #expect(shares.reduce(0, +) == 100)
        let total = amounts.reduce(0, +)
        for (amount, share) in zip(amounts, shares) {
            #expect(abs(amount * 100 / total - share) < Decimal(sign: .plus, exponent: -2, significand: 1))
        }
    }
}
