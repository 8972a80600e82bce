import Foundation
import TestSupport
import Testing

@testable import MoultObjects

struct PolicyTests {  // tier: long
    @Test func `random writes end as the table of merge policies says`() throws {
        var conflicts: [MergePolicy: Int] = [:]
        for seed in 1...6 as ClosedRange<UInt64> {
            let run = try PolicyRun(seed: seed)
            try run.run(300)
            conflicts.merge(run.conflicts, uniquingKeysWith: +)
        }
        for policy in MergePolicy.allCases { #expect(conflicts[policy, default: 0] > 5, "\(policy)") }
    }
}

@Suite(.enabled(if: Tier.matrix.isAsked)) struct PolicyMatrixTests {
    @Test func `100,000 random writes end as the table of merge policies says`() throws {
        var done = 0
        for round in Tier.matrix.rounds(quick: 0, full: 200) {
            let seed = UInt64(1000 + round)
            let run = try PolicyRun(seed: seed)
            do {
                try run.run(500)
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
            done += 500
        }
        print("Policies: \(done) random writes")
    }
}
