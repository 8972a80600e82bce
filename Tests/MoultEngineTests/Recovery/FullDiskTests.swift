import Foundation
import Moult
import MoultBasics
import MoultModel
import MoultPlan
import MoultSQLite
import MoultStore
import TestSupport
import Testing

@testable import MoultCare
@testable import MoultEngine

/// A machine that always says it has room, so that the disk itself has to say no.
private struct BoastingSystem: ForwardingSystem {
    func space(at path: String) throws -> VolumeSpace {
        VolumeSpace(available: .max, volume: try real.space(at: path).volume)
    }
}

/// A machine without room for the history, which is written once the store is the new one.
private struct LateFullSystem: ForwardingSystem {
    func append(_ bytes: [UInt8], to path: String, _ rights: FileRights) throws {
        if path.hasSuffix("/runs.jsonl") { throw MigrationError.system("write", path, error: ENOSPC) }
        try real.append(bytes, to: path, rights)
    }
}

/// A machine without room for a copy.
private struct FullSystem: ForwardingSystem {
    func copy(_ path: String, to copy: String, _ rights: FileRights) throws {
        throw MigrationError.system("copy", path, error: ENOSPC)
    }
}

struct FullDiskTests {
    @Test func `a hot journal that there is no room to play back into a copy is called a lack of room`() throws {
        let fixture = try EngineFixture(killable: 100, isWAL: false)
        let writer = try SQLiteProcess(fixture.store)
        _ = try writer.run("PRAGMA journal_mode = DELETE; PRAGMA cache_size = 2; BEGIN IMMEDIATE")
        _ = try writer.run("UPDATE ZITEM SET ZNAME = hex(zeroblob(900))")
        writer.kill()
        let error = #expect(throws: MigrationError.self) {
            try ReadOnlyStore(fixture.store, system: FullSystem()).close()
        }
        #expect(error?.code == .insufficientStorage, "\(String(describing: error))")
    }

    private static func migration(_ store: String) throws -> Pass {
        try #require(try PreparedMigration(store, versions: try KillableVersions.make()).migration())
    }

    private static func place(_ fixture: EngineFixture, on volume: SmallVolume) throws -> String {
        let store = volume.path + "/Forum data.sqlite"
        try POSIXSystem().copy(fixture.store, to: store)
        return store
    }

    /// The old rows, or the new ones; nothing else.
    private static func state(_ store: String) throws -> String {
        try SQLiteShell.run(
            store,
            "PRAGMA integrity_check; SELECT count(*), total(Z_PK) FROM ZITEM; SELECT count(*) FROM pragma_table_info('ZITEM') WHERE name = 'ZSCORE'"
        )
    }

    @Test func `wherever the disk fills up the store stays the old one, and with room it is migrated`() throws {
        let fixture = try EngineFixture(killable: 3_000, isWAL: false)
        let size = Int(try #require(try POSIXSystem().status(of: fixture.store)).size) / 1024
        let before = try Self.state(fixture.store)
        var (refused, done) = (0, 0)
        let step = Tier.faults.isAsked ? size / (Tier.faults.isBounded ? 6 : 40) : size / 2
        for kilobytes in stride(from: size + 64, through: 6 * size, by: max(step, 1)) {
            guard let volume = try SmallVolume(kilobytes: kilobytes) else { return }
            let store = try Self.place(fixture, on: volume)
            // SQLite's own temporary files are elsewhere: where they go is one setting for all tests of this process.
            let migrator = Migrator(system: BoastingSystem())
            do {
                _ = try migrator.run(try Self.migration(store), on: store)
                done += 1
                // The shell needs room too.
                try volume.remount("size=\(8 * size)k")
                #expect(try Self.state(store).hasSuffix("\n1\n"), "\(kilobytes)")
            } catch let error as MigrationError {
                refused += 1
                #expect(error.code == .insufficientStorage, "\(kilobytes): \(error)")
                // SQLite may want room to heal the store; with more room the same command does it.
                try volume.remount("size=\(8 * size)k")
                #expect(try Self.state(store) == before, "\(kilobytes)")
                _ = try migrator.run(try Self.migration(store), on: store)
                #expect(try Self.state(store).hasSuffix("\n1\n"), "\(kilobytes)")
            }
            // A run that could commit, and no more, leaves its tidying to the next.
            _ = try Migrator().recover(store)
            let names = try POSIXSystem().list(store + ".moult")
            #expect(names.filter { $0 != "backups" } == ["lock", "log.txt", "runs.jsonl"], "\(kilobytes): \(names)")
        }
        print("full disk: \(refused) volumes filled up, \(done) had room")
        #expect(refused > 0 && done > 0)
    }

    @Test func `a volume without room for the index of a WAL is called full`() throws {
        let fixture = try EngineFixture(killable: 100, isWAL: true)
        guard let volume = try SmallVolume(kilobytes: 8_000) else { return }
        let store = try Self.place(fixture, on: volume)
        try POSIXSystem().copy(fixture.store + "-wal", to: store + "-wal")
        let error = #expect(throws: MigrationError.self) {
            try volume.withRoom(8_192) { try Connection(store, mode: .readWrite).catalogue() }
        }
        #expect(error?.code == .insufficientStorage, "\(String(describing: error))")
        #expect(try Self.state(store).hasPrefix("ok\n50|"))
    }

    @Test func `where the room is short expired backups go, and then no backup is kept`() throws {
        let fixture = try EngineFixture(killable: 3_000, isWAL: false)
        let size = try #require(try POSIXSystem().status(of: fixture.store)).size
        let needed = try Migrator().needs(of: try Self.migration(fixture.store), on: fixture.store).space.total
        // Beside the store and its two backups, and a block for each of their records, half a store too little.
        guard let volume = try SmallVolume(kilobytes: Int(needed + 5 * size / 2) / 1024 + 32) else { return }
        let store = try Self.place(fixture, on: volume)
        let old = Migrator(system: ClockSystem(now: Timestamp(seconds: 1_000_000_000)))
        let backups = try (0..<2).map { _ in try old.backUp(store, version: "1") }
        let migrator = Migrator(
            options: MigrationOptions(retention: RetentionPolicy(minimumCount: 1)))
        let plain = #expect(throws: MigrationError.self) { try migrator.run(try Self.migration(store), on: store) }
        #expect(plain?.code == .insufficientStorage && plain?.remedy.contains(" more") == true)
        let (_, made) = try migrator.freeingSpace(for: store) { try $0.run(try Self.migration(store), on: store) }
        #expect(made.pruned == [backups[0].name])
        #expect(try Self.state(store).hasSuffix("\n1\n"))
        // Only then is there a newer one that is good, and the other expires too.
        #expect(!made.isFrugal, "\(String(describing: plain))")
        #expect(try migrator.backups(of: store).list().map(\.manifest.version) == ["1"])
    }

    @Test func `where only the frugal mode fits it is taken, and says so`() throws {
        let fixture = try EngineFixture(killable: 3_000, isWAL: false)
        struct Tight: ForwardingSystem {
            let available: Int64
            func space(at path: String) throws -> VolumeSpace { VolumeSpace(available: available, volume: 1) }
        }
        /// What a run asks for that has nothing.
        func need(_ isFrugal: Bool) throws -> Int64 {
            let migrator = Migrator(options: MigrationOptions(isFrugal: isFrugal), system: Tight(available: 0))
            let error = #expect(throws: MigrationError.self) {
                try migrator.run(try Self.migration(fixture.store), on: fixture.store)
            }
            let told = Int64(try #require(AnnouncedRoom.bytes(after: "needs", in: error?.message ?? "")))
            // The sentence is rounded.
            #expect(error?.freeSpace == 0 && abs((error?.neededSpace ?? 0) - told) <= told / 10)
            return told
        }
        let tight = Tight(available: (try need(true) + need(false)) / 2)
        let (outcome, made) = try Migrator(system: tight).freeingSpace(for: fixture.store) {
            try $0.run(try Self.migration(fixture.store), on: fixture.store)
        }
        #expect(made.isFrugal && outcome.backup == nil)
        #expect(try Self.state(fixture.store).hasSuffix("\n1\n"))
        let other = try EngineFixture(killable: 3_000, isWAL: false)
        let none = #expect(throws: MigrationError.self) {
            try Migrator(system: Tight(available: 100_000)).freeingSpace(for: other.store) {
                try $0.run(try Self.migration(other.store), on: other.store)
            }
        }
        #expect(none?.code == .insufficientStorage)
        #expect(try Self.state(other.store).hasSuffix("\n0\n"))
    }

    @Test func `a volume that turned read-only is refused before anything is done, and the store can be looked at`()
        throws
    {
        let fixture = try EngineFixture(killable: 100, isWAL: false)
        guard let volume = try SmallVolume(kilobytes: 8_000) else { return }
        let store = try Self.place(fixture, on: volume)
        try volume.remount("ro")
        let error = #expect(throws: MigrationError.self) { try Migrator().run(try Self.migration(store), on: store) }
        #expect(error?.code == .readOnly && error?.exitCode == 3)
        #expect(
            StoreDiagnosis(store, versions: try KillableVersions.make()).findings.contains {
                $0.code == "cannot-be-changed"
            })
        #expect(try POSIXSystem().list(volume.path) == ["Forum data.sqlite"])
        try volume.remount("rw")
        _ = try Migrator().run(try Self.migration(store), on: store)
        #expect(try Self.state(store).hasSuffix("\n1\n"))
    }

    @Test func `a run without room to tidy up has migrated, and says what the next one removes`() throws {
        let fixture = try EngineFixture(killable: 100, isWAL: false)
        let report = try StoreSession(
            StoreRequest(fixture.store, .migrate), StoreSession.Context(try KillableVersions.make()),
            on: LateFullSystem()
        ).run()
        #expect(report.unfinishedCleanup?.code == .insufficientStorage)
        #expect(try Self.state(fixture.store).hasSuffix("\n1\n"))
        let path = fixture.sidecar + "/runs.jsonl"
        let lines = report.lines(style: .plain).filter { $0.hasPrefix("Cleanup is not finished: ") }
        #expect(lines.count == 1 && lines.allSatisfy { $0.contains(path) && $0.contains("The store is whole") })
        #expect(report.document["untidied"] == .string(try #require(report.unfinishedCleanup?.message)))
        let log = String(decoding: try POSIXSystem().read(fixture.sidecar + "/log.txt"), as: UTF8.self)
        #expect(log.contains("The store is the new one, but the cleanup failed: "))
        #expect(try POSIXSystem().exists(fixture.sidecar + "/journal.json"))
        #expect(try Migrator().recover(fixture.store) == .completed)
        let names = try POSIXSystem().list(fixture.sidecar)
        #expect(names.filter { $0 != "backups" } == ["lock", "log.txt", "runs.jsonl"], "\(names)")
    }
}
