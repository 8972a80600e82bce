import Foundation
import Moult
import MoultBasics
import MoultModel
import MoultObjects
import MoultPlan
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// An entity that moves into a hierarchy that is there: its rows go to another table, under new keys. What must be true
/// is asked by plain SQL, by names, which nobody changes.
@Suite("Moving an entity into a hierarchy") struct HierarchyMoveTests {  // tier: long
    @Test
    func `values, links, order, files and history go along; the hierarchy's own objects stay as they are`() throws {
        let (folder, store) = try Self.makeStore()
        let old = folder.path + "/before.sqlite"
        let versions = ModelVersions(versions: [try Self.before(), try Self.after()])
        let prepared = try PreparedMigration(store, versions: versions)
        #expect(prepared.plan.edges.count == 1 && prepared.plan.passes.count == 1)
        guard case .backup = prepared.plan.edges[0].undo else {
            Issue.record("the way back would leave the new keys")
            return
        }
        let shifted = (prepared.bound?.findings ?? []).filter { $0.code == "keys-shifted" }
        #expect(shifted.map(\.place).sorted() == ["Ape", "Kitten"], "\(shifted)")
        #expect(shifted.allSatisfy { $0.severity == .warning && $0.message.contains("new keys, 12 higher") })
        _ = try Migrator().run(#require(try prepared.migration()), on: store)

        func ask(_ sql: String) throws -> String { try SQLiteShell.run(store, "ATTACH '\(old)' AS old; \(sql)") }
        // The objects of the hierarchy keep their keys, whatever their entity is called now; the others follow them.
        #expect(
            try ask(
                """
                SELECT count(*) FROM old.ZANIMAL o JOIN ZBEAST n USING (Z_PK)
                  WHERE n.ZNAME = o.ZNAME AND n.ZNAME LIKE 'animal%';
                SELECT count(*) FROM old.ZAPE o JOIN ZBEAST n ON n.Z_PK = o.Z_PK + 12
                  WHERE n.ZNAME = o.ZNAME AND n.ZMEWS IS o.ZMEWS AND n.ZPHOTO IS o.ZPHOTO AND n.Z_OPT = o.Z_OPT;
                SELECT count(*) FROM ZBEAST; SELECT count(*) FROM sqlite_master WHERE name = 'ZAPE';
                """) == "12\n30\n42\n0\n")
        // Entities by name.
        #expect(
            try ask(
                """
                SELECT k.Z_NAME, count(*) FROM ZBEAST b JOIN Z_PRIMARYKEY k USING (Z_ENT) GROUP BY 1 ORDER BY 1;
                SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Beast'; PRAGMA integrity_check;
                """) == "Ape|20\nBeast|8\nDog|4\nKitten|10\n42\nok\n")
        try expectSame(store, old)
        #expect(
            try ask(
                """
                SELECT count(*) FROM ACHANGE c JOIN ZBEAST b ON b.Z_PK = c.ZENTITYPK AND b.Z_ENT = c.ZENTITY;
                SELECT count(*) FROM ACHANGE c JOIN old.ACHANGE o USING (Z_PK) WHERE c.ZENTITYPK - o.ZENTITYPK NOT IN (0, 12);
                """) == "42\n0\n")
        // Core Data looks by these numbers.
        #expect(try StoreAudit(store, model: versions.versions[1].model).findings.isEmpty)
        // And back, with the old keys.
        let backup = try #require(try Migrator().backups(of: store).list().last)
        _ = try Migrator().rollback(store, to: backup, currentVersion: "2")
        // All but the counters, which a restore keeps as high as they were, and its mark.
        func restored(_ store: String) throws -> [Substring] {
            try SQLiteShell.run(store, ".dump").split(separator: "\n").filter {
                !$0.hasPrefix("INSERT INTO Z_PRIMARYKEY ") && !$0.hasPrefix("INSERT INTO Z_METADATA ")
            }
        }
        #expect(try restored(store) == restored(old))
    }

    /// Links by names: to-one, its ordered inverse, one-to-one, pairs, and from inside the hierarchy.
    private func expectSame(_ store: String, _ old: String) throws {
        func pairs(_ store: String) throws -> String {
            let table = try SQLiteShell.run(
                store, "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*TOYS*'"
            ).trimmingCharacters(in: .newlines)
            let columns = try SQLiteShell.run(store, "SELECT name FROM pragma_table_info('\(table)')")
                .split(separator: "\n")
            let own = try #require(columns.first { $0.contains("APE") || $0.contains("OWNERS") })
            let toy = try #require(columns.first { $0 != own && !$0.contains("FOK") })
            let apes = store.hasSuffix("before.sqlite") ? "ZAPE" : "ZBEAST"
            let beasts = store.hasSuffix("before.sqlite") ? "ZANIMAL" : "ZBEAST"
            return try SQLiteShell.run(
                store,
                """
                SELECT a.ZNAME, t.ZNAME FROM \(table) j JOIN \(apes) a ON a.Z_PK = j.\(own) JOIN ZTOY t
                  ON t.Z_PK = j.\(toy) ORDER BY 1, 2;
                SELECT a.ZNAME, p.ZNAME, a.Z_FOK_KEEPER FROM \(apes) a JOIN ZPERSON p ON p.Z_PK = a.ZKEEPER ORDER BY 1;
                SELECT a.ZNAME, c.ZNAME FROM \(apes) a JOIN ZCOLLAR c ON c.Z_PK = a.ZCOLLAR AND c.ZAPE = a.Z_PK ORDER BY 1;
                SELECT b.ZNAME, a.ZNAME FROM \(beasts) b JOIN \(apes) a ON a.Z_PK = b.ZRIVAL ORDER BY 1;
                """)
        }
        let expected = try pairs(old)
        #expect(expected.split(separator: "\n").count > 60)
        #expect(try pairs(store) == expected)
    }

    @Test(arguments: [
        "UPDATE main.ZBEAST SET ZKEEPER = 1 + ZKEEPER % 5 WHERE ZKEEPER IS NOT NULL",
        "UPDATE main.ZBEAST SET ZRIVAL = ZRIVAL - 12 WHERE ZRIVAL > 24",
        "UPDATE main.ZBEAST SET ZMEWS = 'x' WHERE Z_PK = 14",
        "UPDATE main.ZBEAST SET Z_PK = 99 WHERE Z_PK = 42",
        "UPDATE main.ZBEAST SET ZNAME = 'x' WHERE Z_PK = 3",
    ])
    func `a link, a key or a number that is wrong afterwards is found out`(statement: String) throws {
        let (folder, store) = try Self.makeStore()
        let before = try POSIXSystem().digest(of: store)
        let versions = ModelVersions(versions: [try Self.before(), try Self.after()])
        var migration = try #require(try PreparedMigration(store, versions: versions).migration())
        migration.script.statements.append(.init(.update, "", statement, "Spoil it."))
        let error = #expect(throws: MigrationError.self) { try Migrator().run(migration, on: store) }
        #expect(error?.code == .verificationFailed, "\(String(describing: error))")
        #expect(try POSIXSystem().digest(of: store) == before)
        withExtendedLifetime(folder) {}
    }

    @Test func `what comes after such a move is a pass of its own, and the keys are those of the move alone`() throws {
        let (folder, store) = try Self.makeStore()
        var last = try Self.after()
        try last.model.updateEntity("Toy") { $0.attributes.append(.init(name: "colour", type: .string)) }
        let versions = ModelVersions(versions: [
            try Self.before(), try Self.after(), ModelVersion(names: ["3"], model: last.model),
        ])
        let prepared = try PreparedMigration(store, versions: versions)
        #expect(prepared.plan.passes.count == 2)
        _ = try Migrator().run(#require(try prepared.migration()), on: store)
        #expect(try SQLiteShell.run(store, "SELECT min(Z_PK) FROM ZBEAST WHERE ZNAME LIKE 'ape%'") == "13\n")
        try expectSame(store, folder.path + "/before.sqlite")
    }

    @Test func `it is done in several calls, and on a copy where it is asked to be deferred or in place`() throws {
        let (folder, store) = try Self.makeStore()
        let versions = ModelVersions(versions: [try Self.before(), try Self.after()])
        var options = PreparedMigration.Options(losses: .asTheVersionsSay())
        options.defersWork = true
        let deferred = try PreparedMigration(store, versions: versions, options: options)
        #expect(deferred.deferral?.isPossible == false)
        let error = #expect(throws: MigrationError.self) {
            _ = try Migrator().run(
                try #require(try PreparedMigration(store, versions: versions).choosing(.inPlace).migration()),
                on: store)
        }
        #expect(error?.code == .unsupported)
        _ = try Migrator().run(#require(try deferred.migration()), on: store)
        try expectSame(store, folder.path + "/before.sqlite")
    }

    @Test
    func `faults that the old store has are not held against the move, and do not lead to another object`() throws {
        let (folder, store) = try Self.makeStore()
        _ = try SQLiteShell.run(
            store,
            """
            UPDATE ZAPE SET ZKEEPER = 77 WHERE Z_PK = 2; UPDATE ZANIMAL SET ZRIVAL = 35 WHERE Z_PK = 4;
            UPDATE ZCOLLAR SET ZAPE = NULL WHERE Z_PK = (SELECT min(ZCOLLAR) FROM ZAPE);
            """)
        let collars = try SQLiteShell.run(store, "SELECT count(ZCOLLAR) FROM ZAPE")
        let versions = ModelVersions(versions: [try Self.before(), try Self.after()])
        _ = try Migrator().run(#require(try PreparedMigration(store, versions: versions).migration()), on: store)
        #expect(
            try SQLiteShell.run(
                store,
                """
                SELECT ZKEEPER FROM ZBEAST WHERE Z_PK = 14; SELECT ZRIVAL IS NULL FROM ZBEAST WHERE Z_PK = 4;
                SELECT count(ZCOLLAR) FROM ZBEAST;
                """) == "77\n1\n" + collars)
        withExtendedLifetime(folder) {}
    }

    // MARK: The store

    private static func makeStore() throws -> (ScratchFolder, String) {
        let folder = try ScratchFolder()
        let store = folder.path + "/zoo.sqlite"
        let maker = try StoreCreator(try before(), history: true)
        try maker.make(at: store)
        let writer = try ObjectWriter(store: store, layout: maker.layout)
        let counts = ["Animal": 8, "Dog": 4, "Ape": 20, "Kitten": 10, "Person": 5, "Toy": 7, "Collar": 25]
        try SampleData(seed: 5, count: 5, counts: counts, isHostile: false).fill(writer)
        try writer.finish()
        _ = try SQLiteShell.run(
            store,
            """
            UPDATE ZANIMAL SET ZNAME = 'animal ' || Z_PK, ZRIVAL = 1 + Z_PK % 30;
            UPDATE ZAPE SET ZNAME = 'ape ' || Z_PK, ZMEWS = iif(Z_PK % 4 = 0, NULL, 'mew ' || Z_PK);
            UPDATE ZPERSON SET ZNAME = 'person ' || Z_PK; UPDATE ZTOY SET ZNAME = 'toy ' || Z_PK;
            UPDATE ZCOLLAR SET ZNAME = 'collar ' || Z_PK;
            INSERT INTO ATRANSACTION (Z_PK, Z_ENT, Z_OPT, ZTIMESTAMP) VALUES (1, 16002, 1, 5.5);
            INSERT INTO ACHANGE (Z_PK, Z_ENT, Z_OPT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID)
              SELECT row_number() OVER (), 16001, 1, 0, e, k, 1
              FROM (SELECT Z_ENT AS e, Z_PK AS k FROM ZAPE UNION ALL SELECT Z_ENT, Z_PK FROM ZANIMAL);
            """)
        try fillEntityNumbers(store)
        try FileManager.default.copyItem(atPath: store, toPath: folder.path + "/before.sqlite")
        return (folder, store)
    }

    /// The entity number beside a key that leads to one of several entities.
    private static func fillEntityNumbers(_ store: String) throws {
        let columns = try SQLiteShell.run(
            store, "SELECT name FROM pragma_table_info('ZANIMAL') WHERE name GLOB 'Z[0-9]*_RIVAL'")
        for column in columns.split(separator: "\n") {
            _ = try SQLiteShell.run(
                store, "UPDATE ZANIMAL SET \(column) = (SELECT a.Z_ENT FROM ZAPE a WHERE a.Z_PK = ZANIMAL.ZRIVAL)")
        }
    }

    private static let others = """
        Kitten (Ape)
        Person = name String, apes >> Ape.keeper ordered
        Toy = name String, owners >> Ape.toys
        Collar = name String, ape > Ape.collar
        """

    private static func before() throws -> ModelVersion {
        ModelVersion(
            names: ["1"],
            model: try ManagedObjectModel(
                """
                Animal = name String, rival > Ape.rivals
                Dog (Animal)
                Ape = mews String, photo Binary external, name String, keeper > Person.apes, toys >> Toy.owners,
                    collar > Collar.ape, rivals >> Animal.rival
                \(others)
                """))
    }

    /// The root of the hierarchy is called differently too, and comes after the entity that moves.
    private static func after() throws -> ModelVersion {
        ModelVersion(
            names: ["2"],
            model: try ManagedObjectModel(
                """
                Beast was=Animal = name String, rival > Ape.rivals
                Dog (Beast)
                Ape (Beast) = mews String, photo Binary external, keeper > Person.apes, toys >> Toy.owners,
                    collar > Collar.ape, rivals >> Beast.rival
                \(others)
                """))
    }
}
