import Foundation
import TestSupport
import Testing

@testable import MoultObjects

struct PolicyTests {
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
        let begun = Date()
        var (seed, done): (UInt64, Int) = (1000, 0)
        while done < 100_000, Date().timeIntervalSince(begun) < Tier.matrix.seconds {
            let run = try PolicyRun(seed: seed)
            do {
                try run.run(500)
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
            done += 500
            seed += 1
        }
        print("Policies: \(done) random writes, seeds 1000..<\(seed)")
    }
}
