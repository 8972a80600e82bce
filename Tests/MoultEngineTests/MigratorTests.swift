import Foundation
import MoultBasics
import MoultEngine
import MoultModel
import MoultSQLite
import MoultStore
import TestSupport
import Testing

struct MigratorTests {
    private func error(
        _ fixture: EngineFixture, _ migrator: Migrator = Migrator(), _ migration: Pass = Pass()
    )
        -> MigrationError?
    {
        #expect(throws: MigrationError.self) { try migrator.run(migration, on: fixture.store) }
    }

    @Test(arguments: [false, true])
    func `a script makes a table anew from the backup, with functions of its own`(isWAL: Bool) throws {
        let fixture = try EngineFixture(rows: 20_000, isWAL: isWAL)
        let script = StoreScript(statements: [
            .init(.dropTable, "ZITEM", "DROP TABLE main.ZITEM", "Item is dropped"),
            .init(
                .createTable, "ZITEM",
                "CREATE TABLE main.ZITEM (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, ZTITLE VARCHAR)", "Item is made"),
            .init(
                .fill, "ZITEM", reads: ["ZITEM"],
                "INSERT INTO main.ZITEM SELECT Z_PK, Z_ENT, shout(ZNAME) FROM source.ZITEM", "Item is filled",
                rows: 20_000),
            .init(
                .createIndex, "ZITEM", "CREATE INDEX main.ZITEM_ZTITLE_INDEX ON ZITEM (ZTITLE)", "Its index is made",
                rows: 20_000),
        ])
        let shout = SQLiteFunction("shout", argumentCount: 1) { .text(($0.text(0) ?? "").uppercased() + "!") }
        let outcome = try Migrator().run(
            Pass(
                script, from: "1", to: "2", functions: [shout],
                verification: Verification(
                    ClosureCheck {
                        let old = try $0.integer("SELECT count(*) FROM source.ZITEM")
                        let new = try $0.integer("SELECT count(*) FROM main.ZITEM")
                        #expect(old == new)
                    })), on: fixture.store)
        #expect(outcome.rows == 40_000)
        let sum = try fixture.shell("SELECT count(*), sum(ZTITLE = upper('Item ' || Z_PK) || '!') FROM ZITEM")
        #expect(sum == "20000|20000\n")
        #expect(try fixture.shell("PRAGMA integrity_check") == "ok\n")
    }

    @Test(arguments: [false, true])
    func `a script in place is one transaction of the store`(isWAL: Bool) throws {
        let fixture = try EngineFixture(isWAL: isWAL)
        let old = try fixture.logicalHash()
        let script = StoreScript(
            statements: [
                .init(.renameColumn, "ZITEM", "ALTER TABLE ZITEM RENAME COLUMN ZNAME TO ZTITLE", "Renamed"),
                .init(.addColumn, "ZITEM", "ALTER TABLE ZITEM ADD COLUMN ZNEW INTEGER", "Added"),
            ], isInPlace: true)
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try Migrator().run(
                Pass(script, verification: Verification(ClosureCheck { _ in throw Stop() })), on: fixture.store)
        }
        #expect(try fixture.logicalHash() == old)
        let outcome = try Migrator().run(Pass(script), on: fixture.store)
        #expect(try fixture.shell("SELECT count(ZTITLE), count(ZNEW) FROM ZITEM") == "1000|0\n")
        #expect(try SQLiteShell.run(try #require(outcome.backup).store, ".sha3sum --schema") == old)
        #expect(try fixture.sidecarNames() == IdentityMigrationTests.tidy)
    }

    @Test func `a step that fails is named, and the store is as it was`() throws {
        let fixture = try EngineFixture()
        let old = try fixture.logicalHash()
        let script = StoreScript(statements: [
            .init(.fill, "missing", "INSERT INTO missing VALUES (1)", "Fill the void")
        ])
        let error = error(fixture, Migrator(), Pass(script))
        #expect(error?.code == .migrationFailed && error?.message.contains("Fill the void") == true)
        #expect(error?.cause?.contains("no such table: missing") == true, "\(error?.cause ?? "")")
        #expect(try fixture.logicalHash() == old)
        #expect(try fixture.sidecarNames() == IdentityMigrationTests.tidy)
    }

    @Test func `a store with two names is refused`() throws {
        let fixture = try EngineFixture()
        #expect(link(fixture.store, fixture.folder.path + "/other") == 0)
        #expect(error(fixture)?.code == .hardLinked)
        #expect(!FileManager.default.fileExists(atPath: fixture.sidecar))
    }

    @Test func `a store behind a symbolic link is migrated where it lies`() throws {
        let fixture = try EngineFixture()
        let scratch = try ScratchFolder()
        #expect(symlink(fixture.store, scratch.path + "/link") == 0)
        _ = try Migrator().run(Pass(), on: scratch.path + "/link")
        #expect(try fixture.sidecarNames() == IdentityMigrationTests.tidy)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == ["link"])
    }

    @Test func `a folder that cannot be written is refused`() throws {
        struct ReadOnlySystem: ForwardingSystem {
            func isWritable(_ path: String) -> Bool { false }
        }
        let fixture = try EngineFixture()
        #expect(error(fixture, Migrator(system: ReadOnlySystem()))?.code == .readOnly)
        #expect(!FileManager.default.fileExists(atPath: fixture.sidecar))
    }

    @Test func `a volume without the room is refused with every number`() throws {
        struct SmallSystem: ForwardingSystem {
            func space(at path: String) throws -> VolumeSpace { VolumeSpace(available: 100_000, volume: 1) }
        }
        let fixture = try EngineFixture()
        let size = try #require(try POSIXSystem().status(of: fixture.store)).size
        let error = error(fixture, Migrator(system: SmallSystem()))
        #expect(error?.code == .insufficientStorage)
        // In thousands, rounded up.
        let bytes = "\((size + 999) / 1_000) kB"
        for number in ["backup \(bytes)", "working copy \(bytes)", "100 kB are free"] {
            #expect(error?.message.contains(number) == true)
        }
        // Each page has 24 bytes before it in a WAL, which begins with 32.
        let log = Int64(AnnouncedRoom.bytes(after: "log", in: error?.message ?? "") ?? 0)
        #expect(log > size + size / 4_096 * 24 + 32 && log < size * 11 / 10 + 64_000)
    }

    @Test(arguments: 0..<24)
    func `a machine that fails at any call leaves the store as it was`(call: Int) throws {
        let fixture = try EngineFixture()
        let old = try fixture.logicalHash()
        let system = FaultySystem { $0 == call ? ENOSPC : nil }
        let result = Result { try Migrator(system: system).run(Pass(from: "1", to: "1"), on: fixture.store) }
        #expect(try fixture.logicalHash() == old)
        if case .failure(let error) = result { #expect((error as? MigrationError)?.code == .insufficientStorage) }
        _ = try Migrator().run(Pass(), on: fixture.store)
        #expect(try fixture.sidecarNames() == IdentityMigrationTests.tidy)
        #expect(try fixture.logicalHash() == old)
    }

    @Test func `new external files are there after a run and gone after a failure`() throws {
        let fixture = try EngineFixture()
        let system = POSIXSystem()
        let external = fixture.folder.path + "/.Forum data_SUPPORT/_EXTERNAL_DATA"
        var migration = Pass(newExternalFiles: [ExternalFile(name: "A", contents: [1, 2])])
        struct Stop: Error {}
        let done = migration.verification
        migration.verification = Verification(ClosureCheck { _ in throw Stop() })
        #expect(throws: Stop.self) { try Migrator().run(migration, on: fixture.store) }
        #expect(try !system.exists(external + "/A"))
        migration.verification = done
        _ = try Migrator().run(migration, on: fixture.store)
        #expect(try system.read(external + "/A") == [1, 2])
    }

    @Test func `a cancelled run names the store, wherever it was cancelled`() throws {
        let fixture = try EngineFixture()
        var migration = Pass()
        migration.steps = [
            .init(name: "end", sentence: "Ends.", action: ClosureAction { throw $0.cancellation })
        ]
        let error = #expect(throws: MigrationError.self) { try Migrator().run(migration, on: fixture.store) }
        #expect(error?.code == .cancelled && error?.place == fixture.store && error?.cause == nil)
        #expect(error?.message.contains("The store is unchanged.") == true)
        let rehearsed = #expect(throws: MigrationError.self) { try Migrator().rehearse(migration, on: fixture.store) }
        #expect(rehearsed?.code == .cancelled && rehearsed?.place == fixture.store)
    }

    @Test func `a journal that cannot be read is put aside`() throws {
        let fixture = try EngineFixture()
        _ = try Migrator().run(Pass(), on: fixture.store)
        try POSIXSystem().write(Array("{".utf8), to: fixture.sidecar + "/journal.json")
        #expect(try Migrator().isUnfinished(fixture.store))
        #expect(try Migrator().recover(fixture.store) == .nothing)
        #expect(try fixture.sidecarNames() == (IdentityMigrationTests.tidy + ["journal.json.unreadable"]).sorted())
    }

    @Test func `several runs told as one keep what each has counted`() throws {
        let fixture = try EngineFixture()
        var outcomes = try (0..<2).map { _ in try Migrator().run(Pass(), on: fixture.store) }
        for position in outcomes.indices { outcomes[position].quarantined = Int64(2 + position) }
        let joined = try #require(MigrationOutcome(joining: outcomes))
        #expect(joined.quarantined == 5)
        #expect(joined.backup == outcomes[0].backup)
        #expect(joined.bytesAfter == outcomes[1].bytesAfter)
        #expect(MigrationOutcome(joining: []) == nil)
    }
}
