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

/// Real stores, each taken to every later version of its model that inference allows. The sqlite3 shell counts objects,
/// by the entities and tables that Core Data's own catalogue names.
@Suite("Migrating real stores", .enabled(if: Corpus.isAvailable))
struct RealStoreMigrationTests {  // tier: long
    /// The one step that rows stand in the way of: two of its sections have the post of another one, which becomes unique.
    private static let conflicting = "CoreDataMigration_Example_3.sqlite to CoreDataMigration_Example 4"

    @Test func `every real store goes to every later version, with all its rows`() throws {
        let paths = Corpus.paths { $0.hasSuffix(".xcdatamodeld") && !$0.contains("WooCommerce") }
        let models = paths.compactMap { try? Corpus.versions($0).versions }
        // Four bundles of the corpus are kept without their versions.
        #expect(models.count >= paths.count - (Corpus.isWhole ? 4 : 0))
        let bundles = models.filter { $0.count > 1 }
        var migrated: Set<String> = []
        var (runs, open) = (0, 0)
        let end = Date() + Tier.matrix.seconds
        for store in Corpus.stores where Date() < end {
            let hashes = try #require(
                try ReadOnlyStore.read(store) { try StoreSnapshot($0.connection).metadata.hashes }, "\(store)")
            // A model lies in the corpus as of many commits; the quick tests take the first that fits.
            let isQuick = !Tier.matrix.isAsked
            for versions in bundles where !isQuick || !migrated.contains(store) {
                guard let older = versions.firstIndex(where: { $0.hashes.isCompatible(with: hashes) }) else { continue }
                // The newest version in the quick tests; every later one in the matrix tier.
                let targets = isQuick ? [versions.count - 1] : Array(versions.indices)
                for newer in targets where newer > older {
                    let step = "\(URL(fileURLWithPath: store).lastPathComponent) to \(versions[newer].name)"
                    do {
                        let mapping = try ResolvedMapping(inferring: versions[older], to: versions[newer])
                        try migrate(store, versions[older], versions[newer], mapping)
                        migrated.insert(store)
                        runs += 1
                    } catch let error as MigrationError where [.cannotInfer, .question].contains(error.code) {
                        print("not inferred: \(step): \(error.message)")
                        open += 1
                    } catch let error as MigrationError where error.code == .dataConflict {
                        #expect(step == Self.conflicting, "\(error.message)")
                        let twice = "SELECT ZPOST FROM ZSECTION GROUP BY ZPOST HAVING count(*) > 1"
                        let count = try SQLiteShell.run(store, "SELECT count(*) FROM (\(twice))", immutable: true)
                        #expect(count == "2\n", "\(error.message)")
                    } catch {
                        Issue.record("\(step), from \(versions[older].name): \(error)")
                    }
                }
            }
        }
        print("migrated \(migrated.count) real stores in \(runs) runs; \(open) steps need an answer")
        // How many a bounded time is enough for depends on the machine.
        #expect(Date() < end ? migrated.count >= (Corpus.isWhole ? 25 : 13) : !migrated.isEmpty)
    }

    private func migrate(_ original: String, _ from: ModelVersion, _ to: ModelVersion, _ mapping: ResolvedMapping)
        throws
    {
        let folder = try ScratchFolder()
        let store = try folder.copyStore(original)
        // The shell moves what is in a `-wal` into the store: that of another copy.
        let other = try ScratchFolder()
        let before = try counts(other.copyStore(original))
        let plan = try ReadOnlyStore.read(store) { probe in
            try BoundPlan(
                mapping, from: from, to: to, over: StoreSnapshot(probe.connection), connection: probe.connection)
        }
        let migration = try Pass(plan, on: store, from: from.name, system: POSIXSystem())
        _ = try Migrator().run(migration, on: store)
        #expect(try SQLiteShell.run(store, "PRAGMA integrity_check") == "ok\n")
        let after = try counts(store)
        // Core Data leaves the former name of a renamed entity in the catalogue where nothing else changes.
        let former = before.filter { from.model.entity($0.key) == nil }
        for mapping in mapping.entityMappings {
            guard let from = mapping.sourceEntityName, let to = mapping.destinationEntityName else { continue }
            let known = before[from] ?? (former.count == 1 ? former.first?.value : nil)
            let (old, new) = (try #require(known, "\(from)"), try #require(after[to], "\(to)"))
            #expect(old == new, "\(original) \(from)")
        }
    }

    /// The number of objects of each entity, in the table of its root.
    private func counts(_ store: String) throws -> [String: Int] {
        let entities = try SQLiteShell.run(
            store,
            """
            WITH RECURSIVE up(name, number, root, super) AS (
                SELECT Z_NAME, Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY
                UNION ALL
                SELECT name, number, Z_NAME, Z_SUPER FROM up JOIN Z_PRIMARYKEY ON Z_ENT = super WHERE super <> 0)
            SELECT 'SELECT ''' || name || ''', count(*) FROM "Z' || upper(root) || '" WHERE Z_ENT = ' || number FROM up
                WHERE super = 0 AND 'Z' || upper(root) IN (SELECT name FROM sqlite_master WHERE type = 'table')
            """)
        let selects = entities.split(separator: "\n").joined(separator: " UNION ALL ")
        var counts: [String: Int] = [:]
        for line in try SQLiteShell.run(store, selects).split(separator: "\n") {
            let columns = line.split(separator: "|")
            counts[String(columns[0])] = Int(columns[1])
        }
        return counts
    }
}
