import Foundation
import TestSupport
import Testing

@Suite("Fetches in SQL and in memory, at length", .enabled(if: Tier.matrix.isAsked))
struct FetchMatrixTests {
    @Test func `ten thousand random fetches find the same objects in the same order`() throws {
        var difference = FetchDifference()
        try difference.run(seeds: 100..<200, perWorld: 120, until: Date() + Tier.matrix.seconds)
        print(
            "fetches compared \(difference.compared), with objects \(difference.nonEmpty),", "refused",
            difference.refused)
        print("invalid in memory \(difference.invalid), reasons of refusal", difference.reasons)
        if Tier.matrix.seconds == .infinity { #expect(difference.compared >= 10_000) }
    }
}
