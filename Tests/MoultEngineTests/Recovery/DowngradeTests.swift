import Foundation
import Moult
import MoultBasics
import MoultModel
import MoultStore
import TestSupport
import Testing

@testable import MoultCare
@testable import MoultEngine

struct DowngradeTests {
    /// The second version has a score with a default, an optional note and another entity.
    private static func versions() throws -> ModelVersions {
        try ModelVersions(
            "Author = name String\nItem = name String",
            "Author = name String\nItem = name String, score Integer32 required =1, note String\nZebra = word String")
    }

    /// A store of the first version, migrated to the second.
    private func migrated() throws -> (LibraryFolder, ModelVersions, StoreBackup) {
        let (fixture, versions) = (try LibraryFolder(), try Self.versions())
        try StoreCreator(versions.versions[0]).make(at: fixture.store)
        _ = try fixture.shell(
            """
            INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT value, 2, 1, 'Item ' || value
                FROM generate_series(1, 200);
            INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 1, 1, 'a');
            UPDATE Z_PRIMARYKEY SET Z_MAX = 200 WHERE Z_ENT < 16000
            """)
        let prepared = try PreparedMigration(
            fixture.store, versions: versions, options: .init(losses: .asTheVersionsSay()))
        let outcome = try Migrator().run(try #require(try prepared.migration()), on: fixture.store)
        return (fixture, versions, try #require(outcome.backup))
    }

    /// A store's path in a folder of its own.
    private final class LibraryFolder {
        let folder: ScratchFolder
        var store: String { folder.path + "/Items.sqlite" }

        init() throws { folder = try ScratchFolder() }

        func shell(_ sql: String) throws -> String { try SQLiteShell.run(store, sql) }
    }

    @Test(arguments: [("NULL", true), ("'x'", false)])
    func `a column that no property explains keeps a store from going back only with values`(
        value: String, goesBack: Bool
    ) throws {
        let (fixture, versions) = (
            try LibraryFolder(), try ModelVersions("Item = name String, note String", "Item = name String")
        )
        try StoreCreator(versions.versions[1]).make(at: fixture.store)
        // The name is that of a column of the older version, so that the table is made anew.
        _ = try fixture.shell(
            """
            ALTER TABLE ZITEM ADD COLUMN ZNOTE VARCHAR;
            INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNAME, ZNOTE) VALUES (1, 1, 1, 'a', \(value));
            UPDATE Z_PRIMARYKEY SET Z_MAX = 1
            """)
        let downgrade = try StoreDowngrade(fixture.store, versions: versions, to: "1")
        guard case .mapping(let back) = downgrade.way else {
            #expect(!goesBack && downgrade.losses.count == 1, "\(downgrade.losses)")
            return
        }
        #expect(goesBack && downgrade.findings.contains { $0.place == "ZITEM.ZNOTE" })
        _ = try Migrator().run(back, on: fixture.store)
        #expect(try fixture.shell("SELECT ZNAME, ZNOTE IS NULL FROM ZITEM") == "a|1\n")
    }

    private static let items = "SELECT Z_PK, ZNAME, Z_OPT FROM ZITEM ORDER BY 1; SELECT * FROM ZAUTHOR"

    /// Names that mean something else in the two versions: what a reverse mapping by names would mix up.
    @Test(
        arguments: [
            (["a", "b"], [("a", "b"), ("b", "a"), ("n", nil)]), (["a", "c"], [("b", "a"), ("c", nil)]),
        ] as [([String], [(String, String?)])])
    func `values come back to the attribute that they are from`(
        old: [String], new: [(name: String, identifier: String?)]
    ) throws {
        let models = try [old.map { ($0, nil) }, new].map { (attributes: [(String, String?)]) in
            try ManagedObjectModel(entities: [
                EntityDescription(
                    name: "Item",
                    attributes: attributes.map { name, identifier in
                        var attribute = AttributeDescription(name: name, type: .string)
                        attribute.renamingIdentifier = identifier
                        return attribute
                    })
            ])
        }
        let versions = ModelVersions(
            versions: models.enumerated().map { ModelVersion(names: ["\($0 + 1)"], model: $1) })
        let fixture = try LibraryFolder()
        try StoreCreator(versions.versions[0]).make(at: fixture.store)
        let columns = old.map { "Z" + $0.uppercased() }.joined(separator: ", ")
        let values = old.map { "'\($0)'" }.joined(separator: ", ")
        _ = try fixture.shell(
            "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, \(columns)) VALUES (1, 1, 1, \(values)); UPDATE Z_PRIMARYKEY SET Z_MAX = 1"
        )
        let prepared = try PreparedMigration(
            fixture.store, versions: versions, options: .init(losses: .asTheVersionsSay()))
        _ = try Migrator().run(try #require(try prepared.migration()), on: fixture.store)
        let downgrade = try StoreDowngrade(fixture.store, versions: versions, to: "1")
        guard case .mapping(let migration) = downgrade.way else {
            Issue.record("\(downgrade.losses)")
            return
        }
        _ = try Migrator().run(migration, on: fixture.store)
        #expect(try fixture.shell("SELECT \(columns) FROM ZITEM") == old.joined(separator: "|") + "\n")
    }

    @Test func `a store that holds nothing but defaults in what is new goes back, and loses nothing`() throws {
        let (fixture, versions, backup) = try migrated()
        let before = try fixture.shell(Self.items)
        let downgrade = try StoreDowngrade(fixture.store, versions: versions, to: "1")
        guard case .mapping(let migration) = downgrade.way else {
            Issue.record("\(downgrade.losses)")
            return
        }
        _ = try Migrator().run(migration, on: fixture.store)
        #expect(try fixture.shell(Self.items) == before)
        let state = try ReadOnlyStore.read(fixture.store) { try StoreState($0.connection) }
        #expect(state.hashes?.entities.mapValues(\.base64) == backup.manifest.versionHashes)
        #expect(try StoreAudit(fixture.store, model: versions.versions[0].model).isSound)
        if case .none = try StoreDowngrade(fixture.store, versions: versions, to: "1").way {
        } else {
            Issue.record("it is of that version now")
        }
    }

    @Test func `an entity that goes and comes back gives no key again`() throws {
        let (fixture, versions, _) = try migrated()
        // Its objects have been deleted.
        _ = try fixture.shell("UPDATE Z_PRIMARYKEY SET Z_MAX = 9 WHERE Z_NAME = 'Zebra'")
        guard case .mapping(let migration) = try StoreDowngrade(fixture.store, versions: versions, to: "1").way else {
            Issue.record("there is no mapping back")
            return
        }
        _ = try Migrator().run(migration, on: fixture.store)
        let prepared = try PreparedMigration(
            fixture.store, versions: versions, options: .init(losses: .asTheVersionsSay()))
        _ = try Migrator().run(try #require(try prepared.migration()), on: fixture.store)
        #expect(try fixture.shell("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Zebra'") == "9\n")
    }

    @Test func `what would be lost is said, with the backup and what was written since`() throws {
        let (fixture, versions, backup) = try migrated()
        _ = try fixture.shell(
            """
            UPDATE ZITEM SET ZSCORE = 5, Z_OPT = Z_OPT + 1 WHERE Z_PK IN (1, 2);
            DELETE FROM ZITEM WHERE Z_PK = 3;
            INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNAME, ZSCORE) SELECT 90001, Z_ENT, 1, 'new', 1 FROM ZITEM LIMIT 1
            """)
        let downgrade = try StoreDowngrade(fixture.store, versions: versions, to: "1")
        guard case .backup(let found, let since) = downgrade.way else {
            Issue.record("\(downgrade.way)")
            return
        }
        #expect(found == backup)
        #expect(downgrade.losses.contains { $0.contains("Item.score") }, "\(downgrade.losses)")
        #expect(since.first { $0.entityName == "Item" }.map { [$0.inserted, $0.updated, $0.deleted] } == [1, 2, 1])
        #expect(since.first { $0.entityName == "Item" }?.keys == [1, 2, 90001])
        #expect(!since.contains { $0.entityName == "Author" })
        let unread = try #require(throws: MigrationError.self) {
            try StoreDowngrade(
                fixture.store, versions: versions, to: "1",
                migrator: Migrator(system: UnreadableBackup(name: backup.name)))
        }
        #expect(unread.code == .inputOutput)
        // Without a sound backup there is no way.
        try POSIXSystem().append([0], to: backup.store)
        if case .impossible = try StoreDowngrade(fixture.store, versions: versions, to: "1").way {
        } else {
            Issue.record("a damaged backup is no way back")
        }
    }

    /// Two versions with an entity that gets another name and loses an attribute, and one that takes its old name.
    @Test(arguments: [false, true])
    func `what was written since is told of an entity under its new name`(isOlderProgram: Bool) throws {
        let folder = try LibraryFolder()
        let item = EntityDescription(
            name: "Item", attributes: ["name", "rest"].map { .init(name: $0, type: .string) })
        let thing = EntityDescription(
            name: "Thing",
            attributes: [.init(name: "name", type: .string), .init(name: "later", type: .integer32)],
            renamingIdentifier: "Item")
        let versions = ModelVersions(versions: [
            ModelVersion(names: ["1"], model: try ManagedObjectModel(entities: [item])),
            ModelVersion(names: ["2"], model: try ManagedObjectModel(entities: [thing])),
        ])
        try StoreCreator(versions.versions[0]).make(at: folder.store)
        _ = try SQLiteShell.run(
            folder.store,
            """
            INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT value, 1, 1, 'n' FROM generate_series(1, 20);
            UPDATE Z_PRIMARYKEY SET Z_MAX = 20
            """)
        _ = try Migrator().run(
            PreparedMigration(folder.store, versions: versions, options: .init(losses: .asTheVersionsSay())))
        _ = try SQLiteShell.run(
            folder.store,
            """
            UPDATE ZTHING SET ZLATER = 5, Z_OPT = Z_OPT + 1 WHERE Z_PK < 4; DELETE FROM ZTHING WHERE Z_PK = 7;
            INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (21, 1, 1, 'n')
            """)
        let known = isOlderProgram ? ModelVersions(versions: [versions.versions[0]]) : versions
        let downgrade = try StoreDowngrade(folder.store, versions: known, to: "1")
        guard case .backup(_, let since) = downgrade.way else {
            Issue.record("\(downgrade.way)")
            return
        }
        #expect(since.map { "\($0.entityName) \($0.inserted) \($0.updated) \($0.deleted)" } == ["Thing 1 3 1"])
        #expect(since.first?.deletedKeys == [7])
    }

    @Test func `an older program that has never seen the store's version reads the model it carries`() throws {
        let (fixture, versions, backup) = try migrated()
        _ = try fixture.shell("UPDATE ZITEM SET ZNOTE = 'kept' WHERE Z_PK = 9")
        let old = ModelVersions(versions: [versions.versions[0]])
        let downgrade = try StoreDowngrade(fixture.store, versions: old)
        #expect(downgrade.from.hasSuffix(" (the store's own)") && downgrade.to == "1")
        guard case .backup(let found, _) = downgrade.way else {
            Issue.record("a note has no place in the older version")
            return
        }
        #expect(found == backup)
    }

    @Test func `a store that is behind is no matter for a downgrade`() throws {
        let (fixture, versions) = (try LibraryFolder(), try Self.versions())
        try StoreCreator(versions.versions[0]).make(at: fixture.store)
        let error = #expect(throws: MigrationError.self) {
            try StoreDowngrade(fixture.store, versions: versions, to: "2")
        }
        #expect(error?.code == .usage)
    }

    /// The second version has no notes.
    private static func withoutNotes() throws -> ModelVersions {
        try ModelVersions("Item = name String\nNote = body String", "Item = name String")
    }

    @Test func `what the way forward lost is part of the answer, with the backup that holds it`() throws {
        let (fixture, versions) = (try LibraryFolder(), try Self.withoutNotes())
        try StoreCreator(versions.versions[0]).make(at: fixture.store)
        _ = try fixture.shell(
            """
            INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT value, 1, 1, 'Item ' || value FROM generate_series(1, 9);
            INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZBODY) SELECT value, 2, 1, 'n' || value FROM generate_series(1, 45);
            UPDATE Z_PRIMARYKEY SET Z_MAX = 45 WHERE Z_ENT < 16000
            """)
        func migrate() throws -> MigrationOutcome {
            let prepared = try PreparedMigration(
                fixture.store, versions: versions, options: .init(losses: .asTheVersionsSay()))
            return try Migrator().run(try #require(try prepared.migration()), on: fixture.store)
        }
        func earlier() throws -> [EarlierLosses] {
            try StoreDowngrade(fixture.store, versions: versions, to: "1").earlierLosses
        }
        let forward = try migrate()
        let downgrade = try StoreDowngrade(fixture.store, versions: versions, to: "1")
        guard case .mapping(let back) = downgrade.way else {
            Issue.record("\(downgrade.losses)")
            return
        }
        #expect(downgrade.isWayForwardKnown && downgrade.losses == [])
        let lost = try #require(downgrade.earlierLosses.first)
        #expect(downgrade.earlierLosses.count == 1)
        #expect(lost.losses.map(\.entityName) == ["Note"] && lost.losses.map(\.count) == [45])
        #expect(lost.backup == forward.backup)
        #expect(try SQLiteShell.run(try #require(lost.backup).store, "SELECT count(*) FROM ZNOTE") == "45\n")
        // Back and forth again: the second way forward had nothing to lose, the first one has lost it all the same.
        _ = try Migrator().run(back, on: fixture.store)
        #expect(try fixture.shell("SELECT count(*) FROM ZNOTE") == "0\n")
        _ = try migrate()
        #expect(try earlier().map(\.run.run) == [forward.run])
        // A rollback takes the loss back, and what is lost after it counts again.
        _ = try Migrator().rollback(fixture.store, to: try #require(forward.backup))
        #expect(try fixture.shell("SELECT count(*) FROM ZNOTE") == "45\n")
        let second = try migrate()
        #expect(try earlier().map(\.run.run) == [second.run])
        // One that cannot be read may be whole.
        let disk = UnreadableBackup(name: try #require(second.backup).name)
        let unread = try StoreDowngrade(fixture.store, versions: versions, to: "1", migrator: Migrator(system: disk))
        #expect(unread.earlierLosses.map(\.backup?.name) == [second.backup?.name])
        #expect(unread.earlierLosses.first?.backup?.error?.code == .inputOutput)
        // A backup that is damaged is no help.
        try POSIXSystem().append([0], to: try #require(second.backup).store)
        #expect(try earlier().map(\.backup) == [nil])
        // Without a history nothing is known.
        try POSIXSystem().remove(StoreRecords(store: try POSIXSystem().resolve(fixture.store)).runs)
        #expect(try !StoreDowngrade(fixture.store, versions: versions, to: "1").isWayForwardKnown)
    }
}
