import Foundation
import Moult
import MoultModel
import MoultPlan
import MoultSQLite
import MoultStore
import TestSupport
import Testing

@testable import MoultCare
@testable import MoultEngine

/// What each statement costs, in steps of SQLite's virtual machine, on a store and on one with four times as much of
/// everything: no more than four times and a half the steps, whatever indexes the store lacks.
@Suite("Statements grow with the store, not with the product of its tables")
struct StatementCostTests {  // tier: long
    private static let size = 150
    private static let growth = 4
    private static let names = ["rebuilt", "moved", "narrowed", "other end"]
    /// What a store may lack: each with one work in the quick tests, all with all in the tier.
    private static func gaps(_ place: Int) -> [ManyLinksStore.Gap] {
        let all = ManyLinksStore.Gap.allCases
        return Tier.matrix.isAsked ? all : [all[place % all.count]]
    }

    private func compare(
        _ name: String, _ gap: ManyLinksStore.Gap, _ work: (ManyLinksStore, ModelVersions) throws -> Void
    ) throws {
        let versions = try ManyLinksStore.versions(to: name)
        let costs = try [1, Self.growth].map { factor in
            let store = try ManyLinksStore(versions.versions[0], count: Self.size * factor, gap: gap)
            return try StatementSteps.counting(below: store.folder.path) { try work(store, versions) }
        }
        #expect(costs[1].values.reduce(0, +) > 10_000)
        for (sql, steps) in costs[1].sorted(by: { $0.value > $1.value }) {
            // What is done once and not for each row does not count.
            let expected = 4.6 * Double(costs[0][sql] ?? 0) + 1_500
            #expect(Double(steps) <= expected, "\(costs[0][sql] ?? 0) steps become \(steps): \(sql)")
        }
    }

    private func migrate(_ store: ManyLinksStore, _ versions: ModelVersions) throws {
        let prepared = try PreparedMigration(
            store.path, versions: versions, options: .init(losses: .asTheVersionsSay()))
        _ = try Migrator().run(#require(try prepared.migration()), on: store.path)
    }

    @Test(arguments: names.enumerated().flatMap { place, name in gaps(place).map { (name, $0) } })
    func `a migration, from its plan to its commit`(name: String, gap: ManyLinksStore.Gap) throws {
        try compare(name, gap, migrate)
    }

    @Test(arguments: gaps(3))
    func `what reads a whole store`(gap: ManyLinksStore.Gap) throws {
        try compare("rebuilt", gap) { store, versions in
            let audit = try StoreAudit(store.path, model: versions.versions[0].model, full: true)
            #expect(audit.rowCounts["Post"] ?? 0 > 0)
            _ = StoreDiagnosis(store.path, versions: versions)
        }
    }

    @Test(arguments: gaps(1))
    func `a repair of each kind of fault`(gap: ManyLinksStore.Gap) throws {
        try compare("rebuilt", gap) { store, versions in
            _ = try store.shell(Self.faults)
            let repair = try StoreRepair(store.path, at: versions.versions[0])
            _ = try Migrator().run(#require(repair.migration), on: store.path)
            #expect(repair.report.faults.count > 5)
        }
    }

    /// A share of the rows of each kind.
    private static let faults = """
        UPDATE ZPOST SET ZAUTHOR = 1000000 + Z_PK WHERE Z_PK % 5 = 0;
        UPDATE ZPOST SET Z2_AUTHOR = 2 + (Z2_AUTHOR + 1) % 2 WHERE Z_PK % 5 = 1;
        UPDATE ZCOVER SET ZPOST = NULL WHERE Z_PK % 5 = 2;
        UPDATE ZPERSON SET ZBOSS = 1000000 + Z_PK WHERE Z_PK % 5 = 3;
        DROP INDEX IF EXISTS Z_Tag_UNIQUE_word;
        UPDATE ZTAG SET ZWORD = 'word ' || (Z_PK - 1) WHERE Z_PK % 5 = 4;
        UPDATE ZTAG SET Z_ENT = 77 WHERE Z_PK % 50 = 7;
        UPDATE Z_PRIMARYKEY SET Z_MAX = 3 WHERE Z_ENT = 1;
        DELETE FROM ZPERSON WHERE Z_PK % 20 = 9;
        """

    @Test func `a migration that is taken back, and what was written since`() throws {
        try compare("rebuilt", .none) { store, versions in
            try migrate(store, versions)
            _ = try store.shell(
                "UPDATE ZPOST SET ZADDED = Z_PK, Z_OPT = Z_OPT + 1; DELETE FROM ZTAG WHERE Z_PK % 3 = 0")
            let downgrade = try StoreDowngrade(store.path, versions: versions, to: "first")
            guard case .backup(_, let changed) = downgrade.way else {
                Issue.record("\(downgrade.way)")
                return
            }
            #expect(changed.contains { $0.entityName == "Post" && $0.updated > 0 })
        }
    }

    @Test(arguments: gaps(2))
    func `a deferred migration and what it leaves to do`(gap: ManyLinksStore.Gap) throws {
        try compare("narrowed", gap) { store, versions in
            var options = PreparedMigration.Options(losses: .asTheVersionsSay())
            options.defersWork = true
            let prepared = try PreparedMigration(store.path, versions: versions, options: options)
            _ = try Migrator().run(#require(try prepared.migration()), on: store.path)
            if try !Migrator().deferredTasks(of: store.path, versions: versions).isEmpty {
                _ = try Migrator().finishDeferred(store.path, .all)
            }
        }
    }

    @Test(arguments: gaps(3))
    func `a migration in one call with a budget`(gap: ManyLinksStore.Gap) throws {
        try compare("rebuilt", gap) { store, versions in
            let prepared = try PreparedMigration(store.path, versions: versions)
            _ = try Migrator().run(prepared, within: .seconds(3_600))
        }
    }

    @Test func `a mirror and its comparison`() throws {
        try compare("rebuilt", .none) { store, versions in
            var mirror = try MirroredStore.start(
                .init(store.path, .migrateInto(store.folder.path + "/Second.store")),
                .init(versions, losses: .asTheVersionsSay()))
            _ = try store.shell(
                """
                UPDATE ZTAG SET ZWORD = 'other ' || Z_PK WHERE Z_PK % 3 = 0;
                INSERT INTO ATRANSACTION (Z_PK, Z_ENT, Z_OPT, ZTIMESTAMP) SELECT max(Z_PK) + 1, 16002, 1, 9e8 FROM ATRANSACTION;
                INSERT INTO ACHANGE (Z_ENT, Z_OPT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID)
                    SELECT 16001, 1, 1, 5, Z_PK, (SELECT max(Z_PK) FROM ATRANSACTION) FROM ZTAG WHERE Z_PK % 3 = 0
                """)
            _ = try mirror.synchronise()
            _ = try mirror.verify()
        }
    }
}
