import Foundation
import TestSupport
import Testing

/// Contexts that write at the same time see and save what plain values say.
@MainActor struct MergingTests {  // tier: long
    @Test(arguments: [UInt64(1), 2, 3, 4, 5, 6]) func `random writes of three contexts end as plain values say`(
        seed: UInt64
    ) throws {
        let run = try MergingRun(seed: seed)
        try run.run(300)
        for what in ["refused", "merged", "other process"] {
            #expect(run.counts[what, default: 0] > 0, "\(what) never happened")
        }
    }
}

@Suite(.enabled(if: Tier.matrix.isAsked)) @MainActor struct MergingMatrixTests {
    @Test func `100,000 random writes end as plain values say`() throws {
        var done = 0
        for round in Tier.matrix.rounds(quick: 0, full: 200) {
            let seed = UInt64(1000 + round)
            let run = try MergingRun(seed: seed)
            do {
                try run.run(500)
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
            done += 500
        }
        print("Merging: \(done) random writes")
    }
}
