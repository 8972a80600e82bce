import Foundation
import TestSupport
import Testing

/// Generated histories of a model and stores full of hostile data: step by step, in one pass and after a death on the
/// way a store ends as what a slow obvious reference says.
struct HistoryTests {
    @Test func `stepwise, composed and resumed runs end with the same store`() async throws {
        try await HistoryRun().perform(histories: 2, cases: 4, versions: 8, objects: 4)
    }
}

@Suite(.enabled(if: Tier.matrix.isAsked))
struct HistoryMatrixTests {
    /// Whole runs of the tier begin at another seed each with `MOULT_SEED`.
    @Test func `stepwise, composed and resumed runs end with the same store`() async throws {
        try await HistoryRun().perform(histories: 300, cases: 3_000, versions: 20, objects: 7)
    }
}

private struct HistoryRun {
    private let first = ProcessInfo.processInfo.environment["MOULT_SEED"].flatMap(UInt64.init) ?? 1

    func perform(histories: Int, cases: Int, versions: Int, objects: Int) async throws {
        let began = Date()
        var tally = HistoryTrial.Tally()
        var (edits, refusals) = ([String: Int](), [String: Int]())
        var (done, longest, differences) = (0, 0, 0)
        histories: for number in 0..<histories where Date().timeIntervalSince(began) < Tier.matrix.seconds {
            let seed = first + UInt64(number)
            var random = HistoryRandom(seed: seed)
            let history = try ModelHistory(seed: seed, versions: versions, &random)
            edits.merge(history.edits, uniquingKeysWith: +)
            refusals.merge(history.refusals, uniquingKeysWith: +)
            for _ in 0..<(cases / histories) where Date().timeIntervalSince(began) < Tier.matrix.seconds {
                let from = Int.random(in: 0..<(history.models.count - 1), using: &random)
                let to = Int.random(in: (from + 1)..<history.models.count, using: &random)
                let data = random.next()
                do {
                    let trial = try HistoryTrial(history, from: from, to: to, objects: objects, seed: data)
                    tally.add(try trial.run(seed: data))
                    if done % 9 == 0 {
                        let outcome = try await trial.kill(&random)
                        tally.outcomes[outcome, default: 0] += 1
                    }
                    done += 1
                    longest = max(longest, to - from)
                } catch {
                    let changes = history.changes(from: from, to: to)
                    Issue.record("seed \(seed), data \(data), V\(from + 1) to V\(to + 1): \(error)\(changes)")
                    differences += 1
                    // A history that differs once often differs again, for the same reason.
                    if differences < 20 { continue histories } else { break histories }
                }
            }
        }
        print("histories: \(done) cases of up to \(longest) edges, \(tally)")
        print("edits: \(edits.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))")
        print("refused edges: \(refusals)")
        #expect(done > 0)
    }
}

extension HistoryTrial.Tally: CustomStringConvertible {
    mutating func add(_ other: Self) {
        objects += other.objects
        passes += other.passes
        steps += other.steps
        stages += other.stages
        mappings += other.mappings
        computed.merge(other.computed, uniquingKeysWith: +)
        returned += other.returned
        outcomes.merge(other.outcomes, uniquingKeysWith: +)
    }

    var description: String {
        func list(_ counts: [String: Int]) -> String {
            counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        }
        return "\(steps) edges, \(stages) with code, \(mappings) with a mapping model (\(list(computed))), "
            + "in \(passes) passes, \(objects) objects, \(returned) returned with their values; "
            + "interrupted: \(list(outcomes))"
    }
}
