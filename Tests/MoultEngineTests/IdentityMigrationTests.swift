import Foundation
import MoultBasics
import MoultEngine
import MoultModel
import MoultSQLite
import MoultStore
import TestSupport
import Testing

struct IdentityMigrationTests {
    static let tidy = ["backups", "lock", "log.txt", "runs.jsonl"]

    @Test(arguments: [false, true])
    func `a store is the same afterwards, in the same file, with a proven backup`(isWAL: Bool) throws {
        let fixture = try EngineFixture(isWAL: isWAL)
        let hash = try fixture.logicalHash()
        let before = try #require(try POSIXSystem().status(of: fixture.store))
        let outcome = try Migrator().run(Pass(from: "Forum 1", to: "Forum 1"), on: fixture.store)
        #expect(try fixture.logicalHash() == hash)
        let after = try #require(try POSIXSystem().status(of: fixture.store))
        #expect(after.isSameFile(as: before) && after.mode == before.mode)
        #expect(try fixture.shell("PRAGMA journal_mode; PRAGMA auto_vacuum") == (isWAL ? "wal\n2\n" : "delete\n2\n"))
        #expect(try fixture.namesBeside() == [])
        #expect(try fixture.sidecarNames() == Self.tidy)
        let backup = try #require(outcome.backup)
        #expect(try SQLiteShell.run(backup.store, ".sha3sum --schema") == hash)
        #expect(backup.manifest.rows == ["ZITEM": 1000, "Z_PRIMARYKEY": 1, "Z_METADATA": 1])
        #expect(backup.name.contains("-Forum_1-1"))
        try Migrator().backups(of: fixture.store).verify(backup)
    }

    @Test func `progress rises to one and tells of things done`() throws {
        let fixture = try EngineFixture()
        let seen = Recorder()
        _ = try Migrator().run(
            Pass(from: "1", to: "1"), on: fixture.store, MigrationObserver(onProgress: seen.append))
        let fractions = seen.values.map(\.fraction)
        #expect(fractions == fractions.sorted() && fractions.last == 1)
        #expect(seen.values.compactMap(\.message).count >= 3)
    }

    @Test func `the history and the log tell of every run`() throws {
        let fixture = try EngineFixture()
        _ = try Migrator().run(Pass(from: "1", to: "1"), on: fixture.store)
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try Migrator().run(
                Pass(from: "1", to: "2", verification: Verification(ClosureCheck { _ in throw Stop() })),
                on: fixture.store)
        }
        let sidecar = StoreRecords(store: try POSIXSystem().resolve(fixture.store))
        let records = try RunHistory(sidecar).records()
        #expect(records.map(\.result) == [.done, .failed])
        #expect(records.map(\.to) == ["1", "2"])
        let lines = try MigrationLog(sidecar).read().split(separator: "\n")
        #expect(lines.count == 4)
        #expect(try lines.allSatisfy { try /\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\] .+/.wholeMatch(in: $0) != nil })
    }

    @Test(arguments: MigrationProgress.Phase.allCases.filter { ![.lock, .commit, .done].contains($0) })
    func `a run that is cancelled leaves the store as it was and nothing beside it`(
        phase: MigrationProgress.Phase
    ) throws {
        let fixture = try EngineFixture(rows: 30_000)
        let hash = try fixture.logicalHash()
        let reached = Recorder()
        let observer = MigrationObserver(
            onProgress: { if $0.phase == phase { reached.append($0) } }, isCancelled: { !reached.values.isEmpty })
        let script = StoreScript(statements: [
            .init(.createIndex, "ZITEM", "CREATE INDEX main.i ON ZITEM (ZRATE)", "An index", rows: 30_000),
            .init(.update, "ZITEM", "UPDATE main.ZITEM SET ZNAME = lower(ZNAME)", "The names", rows: 30_000),
        ])
        let error = #expect(throws: MigrationError.self) {
            try Migrator().run(Pass(script, from: "1", to: "2"), on: fixture.store, observer)
        }
        #expect(error?.code == .cancelled)
        #expect(try fixture.logicalHash() == hash)
        #expect(try fixture.sidecarNames() == Self.tidy)
        #expect(try fixture.namesBeside() == [])
    }

    @Test func `a failed verification leaves a WAL as it was, byte for byte`() throws {
        let fixture = try EngineFixture(isWAL: true)
        let files = ["", "-wal"].map { FileManager.default.contents(atPath: fixture.store + $0) }
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try Migrator().run(
                Pass(from: "1", to: "1", verification: Verification(ClosureCheck { _ in throw Stop() })),
                on: fixture.store)
        }
        #expect(["", "-wal"].map { FileManager.default.contents(atPath: fixture.store + $0) } == files)
    }

    @Test func `a precondition refuses before anything is done`() throws {
        let fixture = try EngineFixture()
        struct Stale: Error {}
        #expect(throws: Stale.self) {
            try Migrator().run(
                Pass(from: "1", to: "1", preconditions: [ClosureCheck { _ in throw Stale() }]), on: fixture.store)
        }
        #expect(try Migrator().backups(of: fixture.store).list().isEmpty)
    }

    @Test func `a frugal run leaves no backup`() throws {
        let fixture = try EngineFixture()
        let hash = try fixture.logicalHash()
        let outcome = try Migrator(options: MigrationOptions(isFrugal: true)).run(Pass(), on: fixture.store)
        #expect(outcome.backup == nil)
        #expect(try fixture.logicalHash() == hash)
        #expect(try Migrator().backups(of: fixture.store).list().isEmpty)
        #expect(try fixture.sidecarNames() == Self.tidy)
    }

    @Test func `a rehearsal changes nothing and keeps nothing`() throws {
        let fixture = try EngineFixture(isWAL: true)
        let scratch = try ScratchFolder()
        let names = try FileManager.default.subpathsOfDirectory(atPath: fixture.folder.path).sorted()
        let files = names.map { FileManager.default.contents(atPath: fixture.folder.path + "/" + $0) }
        let script = StoreScript(statements: [
            .init(.delete, "ZITEM", "DELETE FROM main.ZITEM", "The rows go", rows: 1_000)
        ])
        let outcome = try Migrator().rehearse(
            Pass(
                script, from: "1", to: "2",
                verification: Verification(
                    ClosureCheck {
                        let rows = try $0.integer("SELECT count(*) FROM ZITEM")
                        #expect(rows == 0)
                    })),
            on: fixture.store, scratch: scratch.path)
        #expect(outcome.way == .privateCopy && outcome.rows == 1_000 && outcome.space.total > 0)
        #expect(try FileManager.default.subpathsOfDirectory(atPath: fixture.folder.path).sorted() == names)
        #expect(names.map { FileManager.default.contents(atPath: fixture.folder.path + "/" + $0) } == files)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path).isEmpty)
    }
}

/// What an observer was told.
final class Recorder: @unchecked Sendable {
    private let lock = NSLock()
    private var seen: [MigrationProgress] = []
    var values: [MigrationProgress] { lock.withLock { seen } }
    @Sendable func append(_ progress: MigrationProgress) { lock.withLock { seen.append(progress) } }
}
