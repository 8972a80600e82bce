import Foundation
import TestSupport
import Testing

/// A context does what plain values in memory do, whatever is done in whatever order.
struct RandomModelTests {
    @Test(arguments: [UInt64(1), 2, 3]) func `random operations end as plain values say`(seed: UInt64) throws {
        try WarehouseRun(seed: seed).run(120)
    }
}

@Suite(.enabled(if: Tier.matrix.isAsked)) struct RandomModelMatrixTests {
    @Test func `100,000 random operations end as plain values say`() throws {
        let begun = Date()
        var (seed, done, comparisons): (UInt64, Int, Int) = (1000, 0, 0)
        while done < 100_000, Date().timeIntervalSince(begun) < Tier.matrix.seconds {
            let run = try WarehouseRun(seed: seed)
            do {
                try run.run(500)
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
            comparisons += run.comparisons
            done += 500
            seed += 1
        }
        print("RandomModels: \(done) operations, seeds 1000..<\(seed), \(comparisons) comparisons of all models")
    }
}
