import Foundation
import MoultBasics
import MoultModel
import MoultPlan
import MoultStore
import TestSupport
import Testing

@testable import MoultCare
@testable import MoultEngine

/// Real stores, each taken to later versions of its model and back again.
@Suite("Real stores go back", .enabled(if: Corpus.isWhole))
struct RealWayBackTests {  // tier: long
    /// Why a real store may not go back, by a part of the sentence: each was judged to be a loss, or a value that only the
    /// way forward has lost.
    private static let judged = [
        // The answers of the way forward are not in the corpus.
        "question is not answered", "questions are not answered",
        // Two hierarchies become one: their keys are the same numbers.
        "now have the common root",
        // The older version requires what the newer one does not have.
        "which becomes required",
        // The older relationship has no order.
        "The order of",
    ]

    @Test func `a real store that went forward goes back with every value that both versions have`() throws {
        let paths = Corpus.paths { $0.hasSuffix(".xcdatamodeld") && !$0.contains("WooCommerce") }
        let models = paths.compactMap { try? Corpus.versions($0) }
        // Four bundles of the corpus are kept without their versions.
        #expect(models.count >= paths.count - 4)
        let bundles = models.filter { $0.versions.count > 1 }
        var (ways, compared, refused) = (0, 0, 0)
        var seen: Set<String> = []
        let end = Date() + Tier.matrix.seconds
        for store in CorpusStores.distinct where Date() < end {
            let hashes = try #require(
                try ReadOnlyStore.read(store) { try StoreSnapshot($0.connection).metadata.hashes }, "\(store)")
            for versions in bundles {
                guard let older = versions.versions.firstIndex(where: { $0.hashes.isCompatible(with: hashes) }) else {
                    continue
                }
                let later = versions.versions.indices.filter { $0 > older }
                for newer in Tier.matrix.isAsked ? later : Array(later.suffix(1)) {
                    // A model lies in the corpus as of many commits.
                    let way = [store, versions.versions[older].name, versions.versions[newer].name]
                    guard seen.insert(way.joined(separator: "\n")).inserted,
                        let values = try goForthAndBack(store, versions, older, newer)
                    else { continue }
                    ways += 1
                    if values == 0 { refused += 1 }
                    compared += values
                }
            }
        }
        print("\(ways) ways forth, \(ways - refused) back, \(compared) values compared")
        #expect(Date() < end ? ways - refused > 15 && compared > 1_000 : ways > 0)
    }

    /// - Returns: how many values were compared; 0 if it does not go back, and nil if it does not go forth.
    private func goForthAndBack(_ original: String, _ versions: ModelVersions, _ older: Int, _ newer: Int) throws
        -> Int?
    {
        let folder = try ScratchFolder()
        let store = try folder.copyStore(original)
        let (old, new) = (versions.versions[older], versions.versions[newer])
        let model = folder.path + "/model.txt"
        try old.model.witnessText.write(toFile: model, atomically: true, encoding: .utf8)
        let before = try WitnessStore(store, model: model).objects
        do {
            let prepared = try PreparedMigration(
                store, versions: versions, to: new.name, options: .init(losses: .asTheVersionsSay()))
            guard let migration = try prepared.migration() else { return nil }
            _ = try Migrator().run(migration, on: store)
        } catch is MigrationError {
            return nil
        }
        let downgrade = try StoreDowngrade(store, versions: versions, to: old.name)
        guard case .mapping(let migration) = downgrade.way else {
            for loss in downgrade.losses {
                #expect(
                    Self.judged.contains { loss.contains($0) }, "\(original) from \(new.name) to \(old.name): \(loss)")
            }
            return 0
        }
        _ = try Migrator().run(migration, on: store)
        let after = try WitnessStore(store, model: model).objects
        // What becomes of what, by the two versions and those between them.
        let way = try EntityMatching(versions, from: older, to: newer)
        var compared = 0
        for (name, sources) in way.propertySources {
            guard let entity = way.entitySources[name], let objects = before[entity] else { continue }
            #expect(Set(objects.keys) == Set((after[entity] ?? [:]).keys), "\(original) \(entity)")
            for property in Set(sources.values) {
                for (key, object) in objects where object[property] != nil {
                    compared += 1
                    #expect(
                        after[entity]?[key]?[property] == object[property], "\(original) \(entity) \(key) \(property)")
                }
            }
        }
        #expect(try SQLiteShell.run(store, "PRAGMA integrity_check") == "ok\n")
        return max(compared, 1)
    }
}
