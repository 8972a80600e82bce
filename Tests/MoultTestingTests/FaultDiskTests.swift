import MoultBasics
import MoultEngine
import MoultSQLite
import TestSupport
import Testing

@testable import MoultTesting

/// The faults of a disk hit the calls that they name, alone and together.
struct FaultDiskTests {
    /// Passes a disk with these faults to `body`, and the path of a file on it, which has the contents `old`.
    private static func trying(_ faults: [Fault], _ body: (FaultDisk, String) throws -> Void) throws {
        let folder = try ScratchFolder()
        defer { withExtendedLifetime(folder) {} }
        let root = try POSIXSystem().resolve(folder.path)
        try POSIXSystem().write(Array("old".utf8), to: root + "/there")
        let disk = try FaultDisk(root, nil)
        try disk.attach()
        defer { disk.detach() }
        try disk.arm(faults, clock: TrialClock())
        try body(disk, root + "/there")
    }

    private static func contents(_ path: String) throws -> String {
        String(decoding: try POSIXSystem().read(path, prefix: 100), as: UTF8.self)
    }

    @Test func `every read from one on fails, and writes go on`() throws {
        try Self.trying([Fault(.readOn, at: 2)]) { disk, path in
            #expect(try disk.system.read(path, prefix: 3) == Array("old".utf8))
            #expect(!disk.hasMet)
            for _ in 0..<2 { #expect(throws: MigrationError.self) { try disk.system.read(path, prefix: 3) } }
            #expect(disk.hasMet)
            try disk.system.write(Array("new".utf8), to: path)
            #expect(try Self.contents(path) == "new")
        }
    }

    @Test func `a slow disk fails nothing, and takes its time`() throws {
        try Self.trying([Fault(.slow, at: 2, seed: 2)]) { disk, path in
            let (begun, start) = (disk.system.now, disk.system.monotonicNanoseconds)
            for _ in 0..<3 { try disk.system.write([1], to: path) }
            try disk.system.synchronise(path)
            try disk.system.rename(path, to: path + "2")
            #expect(disk.clock.waited == 3_000)
            #expect((3.0..<3.1).contains(disk.system.now.seconds(since: begun)))
            #expect((3_000_000_000..<3_100_000_000).contains(disk.system.monotonicNanoseconds - start))
            #expect(!disk.hasMet)
        }
    }

    @Test func `one fault comes after another`() throws {
        try Self.trying([Fault(.stop, at: 3), Fault(.inputOutputOnce, at: 1)]) { disk, path in
            #expect(throws: MigrationError.self) { try disk.system.write([1], to: path) }
            #expect(disk.hasMet && !disk.hasDied)
            try disk.system.write([2], to: path)
            #expect(throws: MigrationError.self) { try disk.system.write([3], to: path) }
            #expect(disk.deathFault?.kind == .stop)
            #expect(throws: MigrationError.self) { try disk.system.read(path, prefix: 1) }
        }
    }

    @Test func `a process that dies keeps what it wrote, though a power cut was to come`() throws {
        for (stop, left) in [(2, "new"), (9, "")] {
            try Self.trying([Fault(.stop, at: stop), Fault(.powerLoss, at: 3)]) { disk, path in
                try disk.system.write(Array("new".utf8), to: path)
                for _ in 0..<2 { _ = try? disk.system.makeFolder(path + " folder") }
                try disk.settle()
                #expect(try Self.contents(path) == (left.isEmpty ? "old" : left))
            }
        }
    }

    @Test func `a backup that cannot be read is not called damaged`() throws {
        let folder = try ScratchFolder()
        defer { withExtendedLifetime(folder) {} }
        let root = try POSIXSystem().resolve(folder.path)
        try FlightVersions.makeStore(at: root + "/Fleet.sqlite", count: 300, external: 0)
        let backup = try Migrator().backUp(root + "/Fleet.sqlite", version: "V1")
        let disk = try FaultDisk(root, nil)
        try disk.attach()
        defer { disk.detach() }
        let backups = BackupFolder(Path.folder(of: backup.folder), disk.system)
        let works: [() throws -> Void] = [
            { try backups.verify(backup) }, { try BackupFolder.checkSoundness(of: backup.store) },
            {
                let connection = try Connection(backup.store, mode: .immutable)
                defer { connection.close() }
                try connection.checkSoundness(place: backup.store)
            },
        ]
        for (position, work) in works.enumerated() {
            try disk.arm([], clock: TrialClock())
            try work()
            let count = disk.readCount
            #expect(count > 10)
            for kind in [Fault.Kind.readOn, .readOnce] {
                for number in 1...count {
                    try disk.arm([Fault(kind, at: number)], clock: TrialClock())
                    // A check of SQLite's that failed once is run again.
                    guard case .failure(let error) = Result(catching: work) else { continue }
                    let code = (error as? MigrationError)?.code
                    let isDamage = [.backupInvalid, .storeCorrupted].contains(code)
                    #expect(code != nil && !isDamage && disk.hasMet, "work \(position), \(kind) \(number): \(error)")
                }
            }
            try disk.arm([], clock: TrialClock())
            try work()
        }
    }

    @Test func `a backup that cannot be read is not removed, nor one that only it replaces`() throws {
        let folder = try ScratchFolder()
        defer { withExtendedLifetime(folder) {} }
        let root = try POSIXSystem().resolve(folder.path)
        try FlightVersions.makeStore(at: root + "/Fleet.sqlite", count: 3, external: 0)
        let made = try (0..<2).map { _ in try Migrator().backUp(root + "/Fleet.sqlite", version: "V1") }
        let disk = try FaultDisk(root, nil)
        try disk.attach()
        defer { disk.detach() }
        let backups = BackupFolder(Path.folder(of: made[0].folder), disk.system)
        let policy = RetentionPolicy(keepAllDays: .min, keepWeeklyDays: .min, minimumCount: 1)
        try disk.arm([], clock: TrialClock())
        try backups.verify(made[1])
        let needed = disk.readCount
        var refusals = 0
        for number in 1...200 {
            try disk.arm([Fault(.readOn, at: number)], clock: TrialClock())
            let gone = try? backups.prune(policy)
            try disk.arm([], clock: TrialClock())
            guard try backups.list().map(\.name) == made.map(\.name) else {
                // Only after the newest one was read.
                #expect(try number > needed && backups.list().map(\.name) == [made[1].name])
                break
            }
            if gone != nil { refusals += 1 }
        }
        #expect(try refusals > 0 && backups.list().count == 1)
    }

    @Test func `no two clocks of a disk give the same name`() throws {
        try Self.trying([]) { disk, _ in
            var given: Set<String> = []
            for era: UInt64 in [0, 0, 1, 1, 2, 16, 16, 17, 32, 256, 4_096] {
                try disk.arm([], clock: TrialClock(era: era))
                for _ in 0..<20 { #expect(given.insert(disk.system.uniqueName()).inserted) }
                #expect(given.insert(disk.system.uniqueIdentifier()).inserted)
            }
            #expect(given.allSatisfy { [16, 36].contains($0.count) })
        }
    }
}
