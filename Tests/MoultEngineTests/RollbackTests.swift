import Foundation
import MoultBasics
import MoultEngine
import MoultModel
import MoultStore
import TestSupport
import Testing

struct RollbackTests {
    private static let change = Pass(
        StoreScript(statements: [
            .init(.delete, "ZITEM", "DELETE FROM main.ZITEM WHERE Z_PK > 500", "Half of the rows go", rows: 1_000),
            .init(
                .metadata, "Z_METADATA", "UPDATE Z_METADATA SET Z_PLIST = \(EngineFixture.metadata(hash: 2))",
                "The metadata is of version 2"),
        ]), from: "1", to: "2")

    @Test(arguments: [false, true])
    func `a rollback brings the old store back and keeps the new one as a backup`(isWAL: Bool) throws {
        let fixture = try EngineFixture(isWAL: isWAL)
        let old = try fixture.logicalHash()
        let backup = try #require(try Migrator().run(Self.change, on: fixture.store).backup)
        let new = try fixture.logicalHash()
        #expect(new != old)
        let before = try #require(try POSIXSystem().status(of: fixture.store))
        let outcome = try Migrator().rollback(fixture.store, to: backup, currentVersion: "2")
        #expect(try fixture.logicalHash() == old)
        #expect(try POSIXSystem().status(of: fixture.store)?.isSameFile(as: before) == true)
        let saved = try #require(outcome.saved)
        #expect(saved.manifest.version == "2")
        #expect(try SQLiteShell.run(saved.store, ".sha3sum --schema") == new)
        #expect(try fixture.sidecarNames() == IdentityMigrationTests.tidy)
        let history = try RunHistory(StoreRecords(store: POSIXSystem().resolve(fixture.store))).records()
        #expect(history.map(\.operation) == [.migrate, .rollback])
        // And forward again, to what was saved.
        _ = try Migrator().rollback(fixture.store, to: saved, currentVersion: "1")
        #expect(try fixture.logicalHash() == new)
    }

    @Test(arguments: ["sound", "damaged", "gone"], [false, true])
    func `a restore gives no key again that was given since`(state: String, isWAL: Bool) throws {
        let fixture = try EngineFixture(isWAL: isWAL)
        let backup = try Migrator().backUp(fixture.store, version: "1")
        _ = try fixture.shell(
            "INSERT INTO ZITEM (Z_PK, Z_ENT) VALUES (1234, 1); UPDATE Z_PRIMARYKEY SET Z_MAX = 1234")
        _ = try Migrator().backUp(fixture.store, version: "1")
        if state == "damaged" {
            var bytes = try POSIXSystem().read(fixture.store)
            for place in 0..<4_096 { bytes[place] = 0xEE }
            try POSIXSystem().write(bytes, to: fixture.store)
        }
        if state == "gone" { try FileManager.default.removeItem(atPath: fixture.store) }
        let before = try POSIXSystem().digest(of: backup.store)
        _ = try Migrator().rollback(fixture.store, to: backup)
        #expect(try fixture.shell("SELECT max(Z_PK) FROM ZITEM; SELECT Z_MAX FROM Z_PRIMARYKEY") == "1000\n1234\n")
        #expect(try fixture.shell("PRAGMA integrity_check; PRAGMA journal_mode") == "ok\n\(isWAL ? "wal" : "delete")\n")
        // The backup itself is only read.
        #expect(try POSIXSystem().digest(of: backup.store) == before)
        let metadata = try ReadOnlyStore.read(fixture.store) { try StoreMetadata(from: $0.connection) }
        #expect(RestoreMark(metadata) != nil && metadata.entries["Kept"]?.string == "of the application")
    }

    @Test func `numbers are counted on where entities are renamed, and from rows that no counter knows`() throws {
        let fixture = try EngineFixture()
        _ = try fixture.shell(
            """
            CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY);
            INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX)
                VALUES (2, 'Child', 1, 0), (3, 'Other', 0, 5), (16002, 'TRANSACTION', 0, 3)
            """)
        let backup = try Migrator().backUp(fixture.store, version: "1")
        _ = try fixture.shell(
            """
            UPDATE Z_PRIMARYKEY SET Z_NAME = 'Thing', Z_MAX = 1234 WHERE Z_ENT = 1;
            UPDATE Z_PRIMARYKEY SET Z_NAME = 'Stranger', Z_MAX = 9999 WHERE Z_ENT = 3;
            INSERT INTO ATRANSACTION VALUES (50)
            """)
        _ = try Migrator().rollback(fixture.store, to: backup)
        // A child may have come along with a renamed root, or not: nothing is known but the highest key.
        let counters = "SELECT Z_NAME, Z_MAX FROM Z_PRIMARYKEY WHERE Z_SUPER = 0 ORDER BY Z_ENT"
        #expect(try fixture.shell(counters) == "Item|9999\nOther|9999\nTRANSACTION|50\n")
        let metadata = try ReadOnlyStore.read(fixture.store) { try StoreMetadata(from: $0.connection) }
        #expect(RestoreMark(metadata)?.lost == [4...50])
    }

    @Test func `a store that is gone is made again`() throws {
        let fixture = try EngineFixture()
        let old = try fixture.logicalHash()
        let backup = try Migrator().backUp(fixture.store, version: "1")
        try FileManager.default.removeItem(atPath: fixture.store)
        let outcome = try Migrator().rollback(fixture.store, to: backup)
        #expect(outcome.saved == nil && outcome.setAside == nil)
        #expect(try fixture.logicalHash() == old)
    }

    @Test(arguments: ["garbage", "cut", "page"])
    func `a damaged store is set aside with its side files`(damage: String) throws {
        let fixture = try EngineFixture()
        let old = try fixture.logicalHash()
        let backup = try Migrator().backUp(fixture.store, version: "1")
        let system = POSIXSystem()
        var bytes = try system.read(fixture.store)
        switch damage {
        case "garbage": bytes = (0..<5000).map { UInt8(128 + $0 * 37 % 128) }
        case "cut": bytes.removeLast(9_000)
        default: for offset in 4096..<8192 { bytes[offset] = 0xEE }
        }
        try system.write(bytes, to: fixture.store)
        // A WAL that belongs to nothing any more would be mixed into the restored store.
        try system.write(bytes, to: fixture.store + "-wal")
        let outcome = try Migrator().rollback(fixture.store, to: backup)
        #expect(try fixture.logicalHash() == old)
        let aside = try #require(outcome.setAside)
        #expect(try system.list(aside) == ["Forum data.sqlite", "Forum data.sqlite-wal"])
        #expect(try system.read(aside + "/Forum data.sqlite") == bytes)
    }

    @Test func `external files come back, and those that came later stay`() throws {
        let fixture = try EngineFixture()
        let system = POSIXSystem()
        let support = fixture.folder.path + "/.Forum data_SUPPORT"
        let external = support + "/_EXTERNAL_DATA"
        try system.makeFolder(support)
        try system.makeFolder(external)
        try system.write([1, 2, 3], to: external + "/A")
        try system.write([4], to: external + "/B")
        let backup = try Migrator().backUp(fixture.store, version: "1")
        try system.remove(external + "/A")
        try system.write([5], to: external + "/B")
        try system.write([6], to: external + "/C")
        _ = try Migrator().rollback(fixture.store, to: backup)
        #expect(try system.list(external) == ["A", "B", "C"])
        #expect(try ["A", "B", "C"].map { try system.read(external + "/" + $0) } == [[1, 2, 3], [4], [6]])
    }

    @Test func `a damaged backup is refused before anything is done`() throws {
        let fixture = try EngineFixture()
        let old = try fixture.logicalHash()
        let backup = try Migrator().backUp(fixture.store, version: "1")
        try POSIXSystem().append([0], to: backup.store)
        let error = #expect(throws: MigrationError.self) { try Migrator().rollback(fixture.store, to: backup) }
        #expect(error?.code == .backupInvalid)
        #expect(try fixture.logicalHash() == old)
        #expect(try Migrator().backups(of: fixture.store).list().count == 1)
    }
}
