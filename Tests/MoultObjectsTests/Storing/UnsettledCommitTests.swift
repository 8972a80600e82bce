import MoultBasics
import MoultModel
import MoultSQLite
import Synchronization
import TestSupport
import Testing

@testable import MoultObjects

/// A commit whose log cannot be synchronised. What the next process would find is told by the sqlite3 shell over a copy
/// of the store and its log, without the index of the processes that have it open.
@Suite("Commits that the disk does not confirm")
struct UnsettledCommitTests {
    /// Fails syncs of the log: the next one, or all of them.
    private final class Disk: FileWatcher {
        let syncs = Mutex(0)

        func answer(_ call: FileCall) -> FileCall.Answer {
            guard call.operation == .sync, call.path.hasSuffix("-wal") else { return .pass }
            return syncs.withLock { left in
                if left > 0 { left -= 1 } else { return .pass }
                return .fail(.inputOutput)
            }
        }
        func done(_ call: FileCall) {}
        func closed(_ path: String) {}
    }

    private func attempt(failures: Int, _ check: (StoreFixture, MigrationError?) throws -> Void) throws {
        let fixture = try StoreFixture(KitchenModel.make())
        _ = try fixture.shell("PRAGMA journal_mode = WAL")
        let disk = Disk()
        let folder = try POSIXSystem().resolve(fixture.folder.path)
        try #require(WatchedVFS.watch(folder, by: disk))
        defer { WatchedVFS.unwatch(folder) }
        let store = try ObjectStore(folder + "/Fixture.sqlite", model: fixture.model)
        defer { store.close() }
        func save(_ title: String, photo: Int = 8) throws {
            var changes = ObjectChanges()
            changes.inserted = [
                try fixture.new(
                    "Soup",
                    [
                        "title": .text(title),
                        "photo": .attribute(.binary([UInt8](repeating: 1, count: photo))),
                    ])
            ]
            _ = try store.save(changes)
        }
        try save("first")
        disk.syncs.withLock { $0 = failures }
        var error: MigrationError?
        do { try save("second", photo: 300_000) } catch let thrown as MigrationError { error = thrown }
        try check(fixture, error)
        disk.syncs.withLock { $0 = 0 }
        try save("second", photo: 300_000)
        #expect(try Self.titles(fixture) == "first\nsecond\n")
    }

    /// What a process finds that opens the store after this one has died.
    private static func titles(_ fixture: StoreFixture) throws -> String {
        let copy = try ScratchFolder()
        for name in ["Fixture.sqlite", "Fixture.sqlite-wal"] {
            _ = try ChildProcess.run("cp", [fixture.folder.path + "/" + name, copy.path + "/" + name])
        }
        return try SQLiteShell.run(copy.path + "/Fixture.sqlite", "SELECT ZTITLE FROM ZDISH ORDER BY Z_PK")
    }

    private static func files(_ fixture: StoreFixture) throws -> Int {
        let folder = fixture.folder.path + "/.Fixture_SUPPORT/_EXTERNAL_DATA"
        return (try? POSIXSystem().list(folder).count) ?? 0
    }

    @Test func `a save that throws is in no log that the next process reads, and can be made again`() throws {
        try attempt(failures: 1) { fixture, error in
            let error = try #require(error)
            #expect(error.code == .inputOutput && !error.message.contains("or none"))
            #expect(try Self.titles(fixture) == "first\n")
            #expect(try Self.files(fixture) == 0)
        }
    }

    @Test func `where the disk goes on failing the error says that it is not known, and no file is removed`() throws {
        try attempt(failures: .max) { fixture, error in
            let error = try #require(error)
            #expect(error.code == .inputOutput)
            #expect(error.message.contains("All of them will be in the store, or none"))
            #expect(try Self.files(fixture) == 1)
        }
    }
}
