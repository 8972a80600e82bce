import Foundation
import MoultBasics
import MoultModel
import MoultPlan
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// Generated pairs of models: in however many calls, the store ends as in one run.
struct BudgetPairTests {  // tier: long
    @Test(arguments: UInt64(0)..<3)
    func `in calls the store ends as in one run`(seed: UInt64) throws { _ = try BudgetPair(seed: seed).run() }
}

@Suite(.enabled(if: Tier.matrix.isAsked))
struct BudgetPairMatrixTests {
    @Test func `a thousand pairs`() throws {
        let start = Date()
        var (pairs, calls) = (0, 0)
        for seed in UInt64(1_000)..<2_000 where Date().timeIntervalSince(start) < Tier.matrix.seconds {
            calls += try BudgetPair(seed: seed).run()
            pairs += 1
        }
        print("BudgetPairMatrixTests: \(pairs) pairs, \(calls) calls that ended on their budget")
        #expect(calls > pairs)
    }
}

/// The models of a ``DeferredPair``, with a store that has persistent history now and then.
private struct BudgetPair {
    let seed: UInt64

    /// - Returns: how many calls ended on their budget.
    func run() throws -> Int {
        let versions = try DeferredPair(seed: seed).versions
        let store = try DeferredStore(versions.versions[0], rows: 12, seed: seed, history: seed % 3 == 0)
        let other = try store.copy()
        do {
            guard try other.prepared(versions, defers: false).bound != nil else { return 0 }
        } catch let error as MigrationError where error.code == .question {
            return 0
        }
        try other.migrate(versions, defers: false)
        var options = MigrationOptions()
        options.keysPerPiece = 5
        options.isSequential = true
        var preparation = PreparedMigration.Options(losses: .asTheVersionsSay())
        preparation.continuesEarlierCall = true
        // Half of them stop after each unit, the others where the time is over.
        let limit = seed % 2 == 0 ? CallLimit.one : .seconds(0.3)
        let migrator = Migrator(options: options, system: SlowClock(step: 5_000_000))
        var calls = 0
        while calls < 300 {
            let prepared = try PreparedMigration(store.path, versions: versions, options: preparation)
            guard case .paused(let pause) = try migrator.run(prepared, within: limit) else { break }
            #expect(pause.startedOver == nil, "seed \(seed)")
            calls += 1
        }
        #expect(try store.contents() == other.contents(), "seed \(seed)")
        return calls
    }
}
