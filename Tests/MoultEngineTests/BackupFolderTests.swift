import Foundation
import MoultBasics
import MoultEngine
import MoultModel
import TestSupport
import Testing

struct BackupFolderTests {
    private func code(_ body: () throws -> Void) -> MigrationError.Code? {
        #expect(throws: MigrationError.self, performing: body)?.code
    }

    @Test func `a backup holds store and external files under their own names`() throws {
        let fixture = try EngineFixture(isWAL: true)
        let external = fixture.folder.path + "/.Forum data_SUPPORT/_EXTERNAL_DATA"
        try FileManager.default.createDirectory(atPath: external, withIntermediateDirectories: true)
        try Data(repeating: 7, count: 200_000).write(to: URL(fileURLWithPath: external + "/3F2504E0"))
        let backup = try Migrator().backUp(fixture.store, version: "Forum/1 ä")
        let names = try FileManager.default.subpathsOfDirectory(atPath: backup.folder).sorted()
        #expect(
            names == [
                ".Forum data_SUPPORT", ".Forum data_SUPPORT/_EXTERNAL_DATA",
                ".Forum data_SUPPORT/_EXTERNAL_DATA/3F2504E0",
                "Forum data.sqlite", "manifest.json",
            ])
        #expect(backup.name.hasSuffix("-Forum_1_ä-1"))
        #expect(try fixture.logicalHash() == SQLiteShell.run(backup.store, ".sha3sum --schema"))
        let folder = try Migrator().backups(of: fixture.store)
        try folder.verify(backup)
        #expect(try folder.list() == [backup])
        #expect(try folder.backup(named: backup.name) == backup)
        try Data(repeating: 8, count: 200_000).write(
            to: URL(fileURLWithPath: backup.support + "/_EXTERNAL_DATA/3F2504E0"))
        #expect(code { try folder.verify(backup) } == .backupInvalid)
    }

    @Test func `each damage to a backup is found`() throws {
        let fixture = try EngineFixture()
        let folder = try Migrator().backups(of: fixture.store)
        let system = POSIXSystem()
        func damaged(_ body: (StoreBackup) throws -> Void) throws -> MigrationError? {
            let backup = try Migrator().backUp(fixture.store, version: "1")
            try body(backup)
            return #expect(throws: MigrationError.self) {
                try folder.verify(try StoreBackup(reading: backup.folder, system))
            }
        }
        let errors = try [
            damaged { try system.append([0], to: $0.store) },
            damaged {
                var bytes = try system.read($0.store)
                bytes[bytes.count / 2] ^= 1
                try system.write(bytes, to: $0.store)
            },
            damaged { try system.remove($0.store) },
            damaged { try system.write([1], to: $0.folder + "/manifest.json") },
            damaged { try system.remove($0.folder + "/manifest.json") },
        ]
        #expect(errors.allSatisfy { $0?.code == .backupInvalid })
        #expect(Set(errors.map { $0?.message.split(separator: " ").suffix(3).joined(separator: " ") }).count >= 4)
    }

    @Test func `two backups of one second do not meet, and the newest of a version is found`() throws {
        let fixture = try EngineFixture()
        let made = try ["1", "1", "2"].map { try Migrator().backUp(fixture.store, version: $0) }
        #expect(Set(made.map(\.name)).count == 3)
        let folder = try Migrator().backups(of: fixture.store)
        #expect(try folder.newest(ofVersion: "1") == made[1])
        #expect(try folder.newest() == made[2])
        #expect(code { _ = try folder.newest(ofVersion: "3") } == .backupNotFound)
        #expect(code { _ = try folder.backup(named: "nothing") } == .backupNotFound)
    }

    @Test func `pruning never takes the newest good backup`() throws {
        let fixture = try EngineFixture()
        let old = ClockSystem(now: Timestamp(seconds: 1_000_000_000))
        let backups = try (0..<3).map { _ in try Migrator(system: old).backUp(fixture.store, version: "1") }
        // The newest is damaged, so the one before it is what has to stay.
        try POSIXSystem().append([0], to: backups[2].store)
        let folder = try Migrator().backups(of: fixture.store)
        let gone = try folder.prune(RetentionPolicy(minimumCount: 1))
        #expect(gone == [backups[0]])
        #expect(try folder.list() == [backups[1], backups[2]])
    }

    @Test func `the newest sound backup of a version stays, however old, unless the policy is one's own`() throws {
        let fixture = try EngineFixture()
        func back(daysAgo days: Int64, _ version: String, _ change: String) throws -> StoreBackup {
            let clock = ClockSystem(now: Timestamp(seconds: POSIXSystem().now.seconds - days * 86_400))
            _ = try fixture.shell(change)
            return try Migrator(system: clock).backUp(fixture.store, version: version)
        }
        // The version hashes of the fixture are one; a backup without any is known by its name.
        let plist = "UPDATE Z_METADATA SET Z_PLIST = zeroblob(0)"
        let first = try back(daysAgo: 90, "1", plist)
        let second = try back(daysAgo: 80, "1", plist)
        let others = try [70, 60, 50, 40].map { try back(daysAgo: $0, "2", plist) }
        let folder = try Migrator().backups(of: fixture.store)
        let gone = try Migrator().prune(fixture.store, RetentionPolicy())
        #expect(gone == [first, others[0]])
        #expect(try folder.list() == [second] + others[1...])
        let log = try MigrationLog(StoreRecords(store: fixture.store)).read()
        #expect(log.contains("Removed the backup \(first.name)"))
        #expect(try Migrator().prune(fixture.store, RetentionPolicy(minimumCount: 3)) == [second])
    }

    @Test func `the backup that a rollback would take stays, however old`() throws {
        let fixture = try EngineFixture()
        func clock(daysAgo days: Int64) -> ClockSystem {
            ClockSystem(now: Timestamp(seconds: POSIXSystem().now.seconds - days * 86_400))
        }
        let run = try Migrator(system: clock(daysAgo: 90)).run(Pass(from: "1", to: "1"), on: fixture.store)
        let backups = try [80, 70, 60, 50].map {
            try Migrator(system: clock(daysAgo: $0)).backUp(fixture.store, version: "1")
        }
        let last = try Migrator().backup(named: nil, of: fixture.store) { nil }
        #expect(last == run.backup)
        #expect(try Migrator().prune(fixture.store, RetentionPolicy()) == [backups[0]])
        #expect(try Migrator().backup(named: nil, of: fixture.store) { nil } == last)
    }
}

struct RetentionPolicyTests {
    private func backup(ageInDays days: Double, from now: Timestamp) -> StoreBackup {
        let created = Timestamp(seconds: now.seconds - Int64(days * 86_400))
        return StoreBackup(
            folder: "/b/\(days)",
            manifest: .init(storeName: "a", version: "1", createdAt: created, size: 0, sha256: ""))
    }

    @Test func `a week is kept whole, a month weekly, older goes`() {
        // A Monday at noon.
        let now = Timestamp(seconds: 1_772_452_800)
        let ages = [0.1, 0.2, 3, 6.9, 7.1, 8.1, 13.1, 14.1, 20.1, 21.1, 29.5, 30.1, 400]
        let backups = ages.map { backup(ageInDays: $0, from: now) }
        let gone = RetentionPolicy().expired(of: backups, now: now).map(\.folder)
        // By the calendar: 8.1 is a Sunday and the newest of its week, before 13.1 and 14.1; 20.1 is that of 21.1's week.
        #expect(gone == ["/b/400.0", "/b/30.1", "/b/21.1", "/b/14.1", "/b/13.1"])
    }

    @Test func `the minimum is kept however old`() {
        let now = Timestamp(seconds: 1_772_452_800)
        let backups = [100.0, 200, 300, 400].map { backup(ageInDays: $0, from: now) }
        #expect(RetentionPolicy().expired(of: backups, now: now).map(\.folder) == ["/b/400.0"])
        #expect(RetentionPolicy(minimumCount: 0).expired(of: backups, now: now).count == 3)
        #expect(RetentionPolicy.everything.expired(of: backups, now: now).isEmpty)
    }
}

/// A machine whose clock stands still.
struct ClockSystem: ForwardingSystem {
    let now: Timestamp
}
