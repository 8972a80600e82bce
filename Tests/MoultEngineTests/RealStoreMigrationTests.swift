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
    @Test func `every real store goes to every later version, with all its rows`() throws {
        let bundles = Corpus.paths { $0.hasSuffix(".xcdatamodeld") && !$0.contains("WooCommerce") }
            .compactMap { try? Corpus.versions($0).versions }.filter { $0.count > 1 }
        var migrated: Set<String> = []
        var runs = 0
        let end = Date() + Tier.matrix.seconds
        for store in Corpus.stores where Date() < end {
            guard let hashes = try? ReadOnlyStore.read(store, { try StoreSnapshot($0.connection).metadata.hashes })
            else {
                continue
            }
            // A model lies in the corpus as of many commits; the quick tests take the first that fits.
            let isQuick = !Tier.matrix.isAsked
            for versions in bundles where !isQuick || !migrated.contains(store) {
                guard let older = versions.firstIndex(where: { $0.hashes.isCompatible(with: hashes) }) else { continue }
                // The newest version in the quick tests; every later one in the matrix tier.
                let targets = isQuick ? [versions.count - 1] : Array(versions.indices)
                for newer in targets where newer > older {
                    guard let mapping = try? ResolvedMapping(inferring: versions[older], to: versions[newer]) else {
                        continue
                    }
                    do {
                        try migrate(store, versions[older], versions[newer], mapping)
                        migrated.insert(store)
                        runs += 1
                    } catch let error as MigrationError where error.code == .dataConflict {
                        print("refused: \(store.suffix(60)) to \(versions[newer].name): \(error.message)")
                    } catch {
                        Issue.record("\(store) from \(versions[older].name) to \(versions[newer].name): \(error)")
                    }
                }
            }
        }
        print("migrated \(migrated.count) real stores in \(runs) runs")
        // How many a bounded time is enough for depends on the machine.
        #expect(Date() < end ? migrated.count > 10 : !migrated.isEmpty)
    }

    private func migrate(_ original: String, _ from: ModelVersion, _ to: ModelVersion, _ mapping: ResolvedMapping)
        throws
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
        let before = try counts(store + ".moult", original, plan.source, store)
        let after = try counts("", store, plan.destination, store)
        for mapping in mapping.entityMappings {
            guard let from = mapping.sourceEntityName, let to = mapping.destinationEntityName else { continue }
            #expect(before[from] == after[to], "\(original) \(from)")
        }
    }

    private func counts(_ sidecar: String, _ store: String, _ layout: StoreLayout, _ live: String) throws -> [String:
        Int]
    {
        var path = store
        if !sidecar.isEmpty {
            let backups = sidecar + "/backups"
            let folder =
                try FileManager.default.contentsOfDirectory(atPath: backups).filter { !$0.hasPrefix(".") }.first ?? ""
            path = "\(backups)/\(folder)/\(URL(fileURLWithPath: live).lastPathComponent)"
        }
        var counts: [String: Int] = [:]
        for (name, number) in layout.entityNumbers {
            guard let table = layout.table(forEntity: name)?.name else { continue }
            let text = try SQLiteShell.run(path, "SELECT count(*) FROM \"\(table)\" WHERE Z_ENT = \(number)")
            counts[name] = Int(text.trimmingCharacters(in: .whitespacesAndNewlines))
        }
        return counts
    }
}
