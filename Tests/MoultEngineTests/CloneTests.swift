import Foundation
import MoultBasics
import MoultModel
import MoultObjects
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// Backups on a volume whose files can share their blocks.
struct CloneTests {  // tier: long
    /// A store of about 20 MB on such a volume.
    private func store(on volume: SmallVolume, isWAL: Bool = false) throws -> String {
        let store = volume.path + "/Forum.sqlite"
        let maker = try StoreCreator(KillableVersions.make().versions[0])
        try maker.make(at: store)
        let writer = try ObjectWriter(store: store, layout: maker.layout, speed: .reckless)
        try SampleData(seed: 1, count: 1_000, counts: ["Author": 3], isHostile: false).fill(writer)
        try writer.finish()
        _ = try SQLiteShell.run(
            store,
            "CREATE TABLE BALLAST (BYTES BLOB); INSERT INTO BALLAST SELECT randomblob(2000) FROM generate_series(1, 10000)"
        )
        guard isWAL else { return store }
        let last = try SQLiteProcess(store)
        _ = try last.run(
            "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; UPDATE ZITEM SET ZNAME = 'in the log'")
        last.kill()
        return store
    }

    private func used(_ volume: SmallVolume) throws -> Int64 {
        sync()
        let space = try POSIXSystem().space(at: volume.path)
        return -space.available
    }

    @Test func `a backup shares its blocks with the store and is a state of its own`() throws {
        guard let volume = try SmallVolume.cloning() else { return }
        let store = try store(on: volume)
        let contents = try SQLiteShell.run(store, ".sha3sum --schema")
        let before = try used(volume)
        let backup = try Migrator().backUp(store, version: "1")
        #expect(try used(volume) - before < 2 << 20)
        #expect(FileManager.default.contentsEqual(atPath: store, andPath: backup.store))
        _ = try SQLiteShell.run(store, "DELETE FROM BALLAST; UPDATE ZITEM SET ZNAME = 'changed'")
        #expect(try SQLiteShell.run(backup.store, ".sha3sum --schema") == contents)
        try Migrator().backups(of: store).verify(backup)
    }

    @Test func `what is in a log is in the backup`() throws {
        guard let volume = try SmallVolume.cloning() else { return }
        let store = try store(on: volume, isWAL: true)
        let log = try #require(try POSIXSystem().status(of: store + "-wal"))
        #expect(log.size > 0)
        let backup = try Migrator().backUp(store, version: "1")
        let count = "SELECT count(*) > 100 FROM ZITEM WHERE ZNAME = 'in the log'"
        #expect(try SQLiteShell.run(backup.store, count) == "1\n")
    }

    /// Closing a descriptor of the store would drop them: no other process may write between backup and commit.
    @Test func `the locks of the store outlive the cloning of it`() throws {
        guard let volume = try SmallVolume.cloning() else { return }
        let (store, system) = (try store(on: volume), POSIXSystem())
        let lock = try StoreLock(store, system)
        defer { lock.release() }
        #expect(try SQLiteProcess(store).run("SELECT count(*) FROM ZITEM").contains("locked"))
        #expect(try system.cloneOpenFile(store, to: volume.path + "/clone", .own))
        // In a process of its own: this one must not open the store.
        #expect(try ChildProcess.run("cmp", [store, volume.path + "/clone"]).exit == 0)
        #expect(try SQLiteProcess(store).run("SELECT count(*) FROM ZITEM").contains("locked"))
        #expect(try SQLiteProcess(store).run("UPDATE ZITEM SET ZNAME = 'theirs'").contains("locked"))
        let backup = try Migrator().backups(of: store).make(of: lock, version: "1", for: .request)
        #expect(try SQLiteProcess(store).run("UPDATE ZITEM SET ZNAME = 'theirs'").contains("locked"))
        #expect(try SQLiteShell.run(backup.store, "PRAGMA integrity_check") == "ok\n")
    }

    @Test func `a file that this process does not have open is not cloned`() throws {
        guard let volume = try SmallVolume.cloning() else { return }
        let (store, system) = (try store(on: volume), POSIXSystem())
        #expect(try !system.cloneOpenFile(store, to: volume.path + "/clone", .own))
        #expect(try !system.exists(volume.path + "/clone"))
    }

    @Test(arguments: [false, true]) func `a migration there can be rolled back`(isWAL: Bool) throws {
        guard let volume = try SmallVolume.cloning() else { return }
        let store = try store(on: volume, isWAL: isWAL)
        let rows = "SELECT Z_PK, ZNAME FROM ZITEM ORDER BY Z_PK"
        let before = try SQLiteShell.run(store, rows)
        let prepared = try PreparedMigration(store, versions: KillableVersions.make())
        let outcome = try Migrator().run(try #require(try prepared.migration()), on: store)
        #expect(try SQLiteShell.run(store, rows) == before)
        _ = try Migrator().rollback(store, to: try #require(outcome.backup))
        #expect(try SQLiteShell.run(store, rows) == before)
        #expect(try SQLiteShell.run(store, "PRAGMA integrity_check") == "ok\n")
    }
}
