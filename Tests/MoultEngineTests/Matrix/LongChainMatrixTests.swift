import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import MoultPlan
import TestSupport
import Testing

@testable import MoultEngine

/// The long chain of a real app: walked version by version, and in one pass.
@Suite("The long chain", .enabled(if: Corpus.isAskedWhole))
struct LongChainMatrixTests {
    private static let versions = Result<ModelVersions, any Error> {
        try Corpus.versions(#require(Corpus.paths { $0.hasSuffix("/WooCommerce.xcdatamodeld") }.first))
    }

    @Test func `stepwise and composed runs end with the same objects`() throws {
        let versions = try Self.versions.get()
        let last = versions.versions.count - 1
        var (stretches, steps, kept) = (0, 0, 0)
        var start = 0
        let began = Date()
        while start < last, Date().timeIntervalSince(began) < Tier.matrix.seconds {
            guard let end = try Self.stretch(versions, from: start, atMost: last)
            else {
                start += 1
                continue
            }
            let world = try MigrationWorld(versions.versions[start], seed: UInt64(start + 1), count: 3)
            let stepwise = try Self.walk(versions, start, end, world)
            for verdict in [Answer.Verdict.drop, .keep] {
                let plan = try #require(try Self.plan(versions, start, end, returned: verdict))
                guard case .mapping(let mapping)? = plan.passes.first?.work, plan.passes.count == 1 else { continue }
                let composed = try WitnessStore(world.migrated(mapping, to: plan.to))
                if verdict == .drop || !Self.hasReturns(versions, start, end) {
                    #expect(composed == stepwise, "\(plan.from.name) to \(plan.to.name)")
                } else {
                    let comparison = try WitnessComparison(
                        WitnessStore(world.store), composed, mapping, from: plan.from.model, to: plan.to.model)
                    #expect(comparison.differences.isEmpty, "\(comparison.differences)")
                    kept += 1
                }
            }
            stretches += 1
            steps += end - start
            start = end
        }
        print(
            "long chain: \(stretches) stretches of \(steps) steps, walked and composed; \(kept) with what returned kept"
        )
        #expect(stretches > 0)
    }

    @Test func `every version goes to the newest that inference reaches, with every surviving value`() throws {
        let versions = try Self.versions.get()
        let last = versions.versions.count - 1
        var (pairs, values) = (0, 0)
        let began = Date()
        // The newest first, so that a bounded run takes the versions that are most in use.
        for older in (0..<last).reversed()
        where Date().timeIntervalSince(began) < Tier.matrix.seconds {
            guard let newer = try Self.stretch(versions, from: older, atMost: last),
                let plan = try Self.plan(versions, older, newer, returned: .drop),
                case .mapping(let mapping)? = plan.passes.first?.work, plan.passes.count == 1
            else { continue }
            let world = try MigrationWorld(versions.versions[older], seed: UInt64(older + 7), count: 3)
            do {
                let copy = try world.migrated(mapping, to: plan.to)
                let comparison = try WitnessComparison(
                    WitnessStore(world.store), WitnessStore(copy), mapping, from: plan.from.model, to: plan.to.model)
                #expect(comparison.differences.isEmpty, "\(plan.from.name): \(comparison.differences)")
                pairs += 1
                values += comparison.compared
            } catch let error as MigrationError where error.code == .dataConflict {
                print("refused: \(plan.from.name) to \(plan.to.name): \(error.message)")
            }
        }
        print("long chain: \(pairs) versions migrated as far as inference goes, \(values) values compared")
        #expect(pairs > 0)
    }

    // MARK: - Plans

    /// The last version that inference reaches from `start`, one or more edges on; nil where the first edge is refused.
    private static func stretch(_ versions: ModelVersions, from start: Int, atMost last: Int) throws -> Int? {
        let path = try MigrationPath(versions, from: start, to: last, answers: answers(versions, start, last))
        let open = path.edges.firstIndex { !$0.isInferable }
        let end = open.map { path.edges[$0].older } ?? last
        return end > start ? end : nil
    }

    /// The first answer to every question about an edge; what left and returned gets `returned`.
    private static func answers(
        _ versions: ModelVersions, _ start: Int, _ end: Int, returned: Answer.Verdict = .drop
    ) throws -> Answers {
        var answers: [Answer] = []
        for _ in 0..<8 {
            let path = try MigrationPath(versions, from: start, to: end, answers: Answers(answers))
            if path.questions.isEmpty { break }
            answers += path.questions.compactMap { question in
                question.kind == .returned
                    ? question.answers.first { $0.is == returned } ?? question.answers.first : question.answers.first
            }
        }
        return try Answers(answers)
    }

    private static func plan(_ versions: ModelVersions, _ start: Int, _ end: Int, returned: Answer.Verdict) throws
        -> MigrationPlan?
    {
        let answers = try answers(versions, start, end, returned: returned)
        let path = try MigrationPath(versions, from: start, to: end, answers: answers)
        return path.questions.isEmpty && path.refusals.isEmpty ? try MigrationPlan(path) : nil
    }

    private static func hasReturns(_ versions: ModelVersions, _ start: Int, _ end: Int) -> Bool {
        guard let answers = try? answers(versions, start, end).list.filter({ $0.is == .drop }) else { return false }
        return answers.contains { answer in
            versions.position(named: answer.to).flatMap { to in
                versions.position(named: answer.from).map { to - $0 > 1 }
            } ?? false
        }
    }

    /// One migration for each edge, each on what the one before it made.
    private static func walk(_ versions: ModelVersions, _ start: Int, _ end: Int, _ world: MigrationWorld) throws
        -> WitnessStore
    {
        let answers = try answers(versions, start, end)
        var store = world.store
        for edge in try MigrationPath(versions, from: start, to: end, answers: answers).edges {
            guard case .inferred(let mapping) = edge.means else { continue }
            store = try MigrationWorld.migrate(
                store, mapping, from: versions.versions[edge.older], to: versions.versions[edge.newer],
                into: "\(world.folder.path)/step-\(edge.newer)")
        }
        return try WitnessStore(store)
    }
}
