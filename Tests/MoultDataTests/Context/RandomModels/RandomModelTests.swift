import Foundation
import TestSupport
import Testing

/// A context does what plain values in memory do, whatever is done in whatever order.
struct RandomModelTests {  // tier: long
    @Test(arguments: [UInt64(1), 2, 3]) func `random operations end as plain values say`(seed: UInt64) throws {
        try WarehouseRun(seed: seed).run(120)
    }

    @Test(arguments: [WarehouseRun.Place.json, .wrapped], [UInt64(4), 5])
    func `random operations over a data store end as plain values say`(place: WarehouseRun.Place, seed: UInt64) throws {
        try WarehouseRun(seed: seed, in: place).run(120)
    }
}

@Suite(.enabled(if: Tier.matrix.isAsked)) struct RandomModelMatrixTests {
    @Test(arguments: WarehouseRun.Place.allCases)
    func `100,000 random operations end as plain values say`(place: WarehouseRun.Place) throws {
        var (done, comparisons) = (0, 0)
        for round in Tier.matrix.rounds(quick: 0, full: 200) {
            let seed = UInt64(1000 + round)
            let run = try WarehouseRun(seed: seed, in: place)
            do {
                try run.run(500)
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
            comparisons += run.comparisons
            done += 500
        }
        print("RandomModels in \(place): \(done) operations, \(comparisons) comparisons of all models")
    }
}
