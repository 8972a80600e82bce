import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import MoultPlan
import TestSupport
import Testing

@testable import MoultEngine

/// Every pair of versions of real models: a store full of hostile data at the older one, migrated to the newer one,
/// and every object compared by a reader that shares no code with Moult.
@Suite("Every pair of versions", .enabled(if: Corpus.isWhole))
struct MigrationMatrixTests {  // tier: long
    @Test func `every pair that inference allows keeps every surviving value`() throws {
        var tally = Tally()
        var seen: Set<[UInt8]> = []
        let start = Date()
        for bundle in Corpus.paths(where: { $0.hasSuffix(".xcdatamodeld") && !$0.contains("WooCommerce") }) {
            guard let versions = try? Corpus.versions(bundle), versions.versions.count > 1 else { continue }
            // The same model lies in the corpus as of many commits; the quick tests take the newest.
            guard Tier.matrix.isAsked || !bundle.contains("@") && !bundle.contains("XCServer") else { continue }
            guard seen.insert(versions.versions.flatMap(\.hashes.checksum)).inserted else { continue }
            guard Date().timeIntervalSince(start) < Tier.matrix.seconds else { break }
            try check(versions, bundle, until: start.addingTimeInterval(Tier.matrix.seconds), &tally)
        }
        print(tally)
        #expect(tally.differences.isEmpty, "\(tally.differences.joined(separator: "\n"))")
        #expect(tally.pairs > 10)
    }

    struct Tally: CustomStringConvertible {
        var pairs = 0, refused = 0, conflicts = 0, values = 0
        var differences: [String] = []

        var description: String {
            "\(pairs) pairs migrated, \(values) values and relationships compared, \(refused) pairs not inferable, "
                + "\(conflicts) refused for their rows, \(differences.count) differences"
        }
    }

    private func check(_ versions: ModelVersions, _ bundle: String, until end: Date, _ tally: inout Tally) throws {
        let all = versions.versions.indices
        for older in all.dropLast() where Date() < end {
            let world = try MigrationWorld(versions.versions[older], seed: UInt64(older + 1))
            let before = try WitnessStore(world.store)
            for newer in all where Tier.matrix.isAsked ? newer > older : newer == older + 1 {
                try check(versions, older, newer, world, before, bundle, &tally)
            }
        }
    }

    private func check(
        _ versions: ModelVersions, _ older: Int, _ newer: Int, _ world: MigrationWorld, _ before: WitnessStore,
        _ bundle: String, _ tally: inout Tally
    ) throws {
        let place = "\(bundle.suffix(60)) \(versions.versions[older].name) to \(versions.versions[newer].name)"
        guard let plan = try Self.plan(versions, older, newer) else {
            tally.refused += 1
            return
        }
        guard plan.passes.count == 1, case .mapping(let mapping) = plan.passes[0].work else { return }
        do {
            let copy = try world.migrated(mapping, to: plan.to)
            let comparison = WitnessComparison(
                before, try WitnessStore(copy), mapping, from: plan.from.model, to: plan.to.model)
            tally.pairs += 1
            tally.values += comparison.compared
            tally.differences += comparison.differences.map { "\(place): \($0)" }
        } catch let error as MigrationError where error.code == .dataConflict {
            tally.conflicts += 1
        } catch {
            tally.differences.append("\(place): \(error)")
        }
    }

    /// The plan with each question answered by its first answer; nil where inference refuses.
    static func plan(_ versions: ModelVersions, _ older: Int, _ newer: Int) throws -> MigrationPlan? {
        var answers: [Answer] = []
        for _ in 0..<8 {
            let path = try MigrationPath(versions, from: older, to: newer, answers: Answers(answers))
            if path.questions.isEmpty { return path.refusals.isEmpty ? try MigrationPlan(path) : nil }
            answers += path.questions.compactMap(\.answers.first)
        }
        return nil
    }
}
