import Foundation
import TestSupport
import Testing

/// Contexts do what a plain model in memory does, whatever is done in whatever order.
struct RandomOperationTests {  // tier: long
    @Test(arguments: [UInt64(1), 2, 3])
    func `random operations end as the reference says`(seed: UInt64) throws {
        try OperationTrial(seed: seed, count: 300, history: seed == 2).run()
    }
}

@Suite(.enabled(if: Tier.matrix.isAsked))
struct RandomOperationMatrixTests {
    @Test func `100,000 random operations end as the reference says`() throws {
        var (done, comparisons) = (0, 0)
        for round in Tier.matrix.rounds(quick: 0, full: 100) {
            let seed = UInt64(1000 + round)
            let trial = OperationTrial(seed: seed, count: 1_000, history: seed % 3 == 0)
            comparisons += try trial.run()
            done += trial.count
        }
        print("RandomOperations: \(done) operations, \(comparisons) comparisons of all objects")
    }
}

/// One run; where it fails, the shortest list of operations that fails too is looked for.
struct OperationTrial {
    let seed: UInt64
    let count: Int
    var history = false

    /// - Returns: how often everything was compared.
    @discardableResult
    func run() throws -> Int {
        let operations = Operation.random(count, seed: seed)
        let run = try OperationRun(seed: seed, history: history)
        do {
            try run.run(operations)
            return run.comparisons
        } catch {
            let (shortest, log, last) = shortened(operations, error)
            Issue.record(
                """
                seed \(seed), \(operations.count) operations, shortened to \(shortest.count): \(last)
                \(log.suffix(60).joined(separator: "\n"))
                """)
            return run.comparisons
        }
    }

    /// Leaves out stretches of operations as long as the rest still fails, within half a minute.
    private func shortened(_ operations: [Operation], _ error: any Error) -> ([Operation], [String], any Error) {
        let begun = Date()
        var shortest = operations
        var outcome = failure(operations) ?? ([], error)
        var stretch = operations.count / 2
        while stretch > 0, Date().timeIntervalSince(begun) < 30 {
            var start = 0
            while start < shortest.count, Date().timeIntervalSince(begun) < 30 {
                let rest = Array(shortest[..<start] + shortest[min(start + stretch, shortest.count)...])
                if let found = failure(rest) {
                    (shortest, outcome) = (rest, found)
                } else {
                    start += stretch
                }
            }
            stretch /= 2
        }
        return (shortest, outcome.0, outcome.1)
    }

    private func failure(_ operations: [Operation]) -> ([String], any Error)? {
        guard let run = try? OperationRun(seed: seed, history: history) else { return nil }
        do {
            try run.run(operations)
            return nil
        } catch {
            return (run.log, error)
        }
    }
}
