import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import MoultPlan
import MoultSQLite
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// Real stores, each taken to every later version of its model that inference allows.
@Suite("Migrating real stores", .enabled(if: Corpus.isAvailable))
struct RealStoreMigrationTests {  // tier: long
    /// What two versions cannot infer, and what the rows of a store do not fit.
    private static let refusals: [MigrationError.Code] = [.cannotInfer, .question, .dataConflict]

    @Test func `every real store goes to every later version, with all its rows`() throws {
        let bundles = Corpus.paths { $0.hasSuffix(".xcdatamodeld") && !$0.contains("WooCommerce") }
            // Four bundles of the corpus are kept without their versions.
            .compactMap { try? Corpus.versions($0).versions }.filter { $0.count > 1 }
        var (migrated, ways, skipped, rows): (Set<String>, Set<[String]>, Set<[String]>, Int) = ([], [], [], 0)
        let end = Date() + Tier.matrix.seconds
        for store in Corpus.stores where Date() < end {
            let hashes = try ReadOnlyStore.read(store) { try StoreSnapshot($0.connection).hashes }
            // A model lies in the corpus as of many commits; the quick tests take the first that fits.
            let isQuick = !Tier.matrix.isAsked
            for versions in bundles where !isQuick || !migrated.contains(store) {
                guard let older = versions.firstIndex(where: { $0.hashes.isCompatible(with: hashes) }) else { continue }
                // The newest version in the quick tests; every later one in the matrix tier.
                let targets = isQuick ? [versions.count - 1] : Array(versions.indices)
                for newer in targets where newer > older {
                    let way = [CorpusStores.name(of: store), versions[older].name, versions[newer].name]
                    do {
                        let mapping = try ResolvedMapping(inferring: versions[older], to: versions[newer])
                        rows += try migrate(store, versions[older], versions[newer], mapping)
                        migrated.insert(store)
                        ways.insert(way)
                    } catch let error as MigrationError where Self.refusals.contains(error.code) {
                        skipped.insert(way)
                    } catch {
                        Issue.record("\(way): \(error)")
                    }
                }
            }
        }
        print("migrated \(migrated.count) real stores in \(ways.count) ways; refused: \(skipped)")
        #expect(skipped.subtracting(ways).count < max(ways.count, 1))
        // How many a bounded time is enough for depends on the machine.
        #expect(Date() < end ? migrated.count > (Corpus.isSmall ? 3 : 10) && rows > 100 : !migrated.isEmpty)
    }

    /// - Returns: how many rows the store has.
    private func migrate(_ original: String, _ from: ModelVersion, _ to: ModelVersion, _ mapping: ResolvedMapping)
        throws -> Int
    {
        let folder = try ScratchFolder()
        let store = try folder.copyStore(original)
        let plan = try ReadOnlyStore.read(store) { probe in
            try BoundPlan(
                mapping, from: from, to: to, over: StoreSnapshot(probe.connection), connection: probe.connection)
        }
        let migration = try Pass(plan, on: store, from: from.name, system: POSIXSystem())
        _ = try Migrator().run(migration, on: store)
        #expect(try SQLiteShell.run(store, "PRAGMA integrity_check") == "ok\n")
        // What the shell counts before and after, by entity name.
        let (before, after) = (try counts(original), try counts(store))
        for mapping in mapping.entityMappings {
            guard let from = mapping.sourceEntityName, let to = mapping.destinationEntityName else { continue }
            let (old, new) = (try #require(before[from]), try #require(after[to]))
            #expect(old == new, "\(original) \(from)")
        }
        return before.values.reduce(0, +)
    }

    /// How many rows each entity has: a table is named after the root of its hierarchy, and a row has its entity's number.
    private func counts(_ store: String) throws -> [String: Int] {
        let copy = try ScratchFolder()
        let path = try copy.copyStore(store)
        let queries = try SQLiteShell.run(
            path,
            """
            WITH RECURSIVE up (number, name, place) AS (
                SELECT Z_ENT, Z_NAME, Z_ENT FROM Z_PRIMARYKEY WHERE Z_ENT < 16000 UNION ALL
                SELECT number, name, Z_SUPER FROM up JOIN Z_PRIMARYKEY ON Z_ENT = place WHERE Z_SUPER > 0)
            SELECT printf('SELECT ''%s'', count(*) FROM "Z%s" WHERE Z_ENT = %d;', name, upper(Z_NAME), number)
                FROM up JOIN Z_PRIMARYKEY ON Z_ENT = place WHERE ifnull(Z_SUPER, 0) = 0
            """)
        let lines = try SQLiteShell.run(path, queries).split(separator: "\n").map { $0.split(separator: "|") }
        return Dictionary(uniqueKeysWithValues: lines.map { (String($0[0]), Int($0[1]) ?? -1) })
    }
}
