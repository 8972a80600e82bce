import Foundation
import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultModelFiles
import MoultTools
import Synchronization
import TestSupport
import Testing

/// The conditions that a launch meets on a device: a full volume, protected data, another process that has the store
/// open, or none of these.
@Suite struct LaunchObstacleTests {
    private let forum: LaunchedForum

    init() throws { forum = try LaunchedForum() }

    // MARK: - A current store

    @Test func `the launch of a current store touches nothing`() async throws {
        expectReady(try await forum.launch().prepare(), migrated: true)
        let before = try forum.everything()
        #expect(before.count > 10)
        expectReady(try await forum.launch().prepare(), migrated: false)
        #expect(try forum.everything() == before)
    }

    @Test func `the launch of a current store touches nothing beside the log of an app that was killed`() async throws {
        expectReady(try await forum.launch().prepare(), migrated: true)
        let app = try SQLiteProcess(forum.store.path)
        _ = try app.run("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; UPDATE ZUSER SET Z_OPT = 7")
        app.kill()
        let before = try forum.everything()
        #expect(before[forum.store.path + "-wal"] != nil)
        expectReady(try await forum.launch().prepare(), migrated: false)
        #expect(try forum.everything() == before)
        // A large store would take its time.
        struct CopyingNothing: ForwardingSystem {
            func copy(_ path: String, to copy: String, _ rights: FileRights) throws {
                throw MigrationError.system("copy", path, error: EIO)
            }
        }
        expectReady(try forum.launch().run(on: CopyingNothing()), migrated: false)
        #expect(try forum.everything() == before)
        // SQLite takes what is in the log as before.
        #expect(try forum.store.sql("SELECT max(Z_OPT) FROM ZUSER") == "7")
    }

    @Test func `a version in the log of an app that was killed counts`() async throws {
        // The metadata of the new version is in the log only.
        let old = try ScratchFolder()
        let copy = try old.copyStore(forum.store.path)
        expectReady(try await forum.launch(copy).prepare(), migrated: true)
        let plist = try SQLiteShell.run(copy, "SELECT hex(Z_PLIST) FROM Z_METADATA").trimmingCharacters(in: .newlines)
        let app = try SQLiteProcess(forum.store.path)
        _ = try app.run(
            "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; UPDATE Z_METADATA SET Z_PLIST = x'\(plist)'")
        app.kill()
        let before = try forum.everything()
        expectReady(try await forum.launch().prepare(), migrated: false)
        #expect(try forum.everything() == before)
        withExtendedLifetime(old) {}
    }

    // MARK: - The volume

    /// A machine that always says it has room, so that the volume itself has to say no.
    private struct BoastingSystem: ForwardingSystem {
        func space(at path: String) throws -> VolumeSpace {
            VolumeSpace(available: 1 << 40, volume: try real.space(at: path).volume)
        }
    }

    @Test func `a full volume is told before the work and in the middle, and with room the work is done`() throws {
        guard let volume = try SmallVolume(kilobytes: 16_384) else { return }
        let store = volume.path + "/forum.sqlite"
        try POSIXSystem().copy(forum.store.path, to: store)
        let (before, bytes) = (try forum.rows(store), try POSIXSystem().read(store))
        for room in [8_000, 60_000] {
            for system in [POSIXSystem(), BoastingSystem()] as [any System] {
                let outcome = try volume.withRoom(room) { try forum.launch(store).run(on: system) }
                guard case .unavailable(.insufficientStorage(let missing, let error)) = outcome else {
                    Issue.record("\(room): \(outcome)")
                    return
                }
                #expect(error.code == .insufficientStorage && (missing > 0 || system is BoastingSystem), "\(error)")
                #expect(try POSIXSystem().read(store) == bytes)
            }
        }
        expectReady(try forum.launch(store).run(), migrated: true)
        #expect(try forum.rows(store) == before)
    }

    // MARK: - Protected data

    @Test func `a device that is locked is an outcome of its own, and nothing is touched`() async throws {
        let folder = try POSIXSystem().resolve(forum.store.folder.path)
        for isCurrent in [false, true] {
            if isCurrent { expectReady(try await forum.launch().prepare(), migrated: true) }
            let before = try forum.everything()
            let outcome = try forum.launch().run(on: LockedDevice(folder, after: 0))
            guard case .unavailable(.protectedData) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(try forum.everything() == before)
        }
    }

    // MARK: - Another process

    @Test func `a store that another process has open is in use until it closes it`() async throws {
        let before = try forum.rows()
        let other = try SQLiteProcess(forum.store.path)
        _ = try other.run("SELECT count(*) FROM ZUSER")
        let outcome = try await forum.launch().prepare()
        guard case .unavailable(.storeInUse(let error)) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(error.code == .locked && !error.remedy.isEmpty)
        #expect(try forum.rows() == before)
        other.end()
        expectReady(try await forum.launch(patience: .seconds(2)).prepare(), migrated: true)
        #expect(try forum.rows() == before)
    }

    @Test func `a current store is ready while another process writes to it`() async throws {
        expectReady(try await forum.launch().prepare(), migrated: true)
        let other = try SQLiteProcess(forum.store.path)
        _ = try other.run(
            "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; UPDATE ZUSER SET Z_OPT = 7; BEGIN IMMEDIATE")
        expectReady(try await forum.launch().prepare(), migrated: false)
        _ = try other.run("UPDATE ZUSER SET Z_OPT = 8; COMMIT")
        #expect(try other.run("SELECT DISTINCT Z_OPT FROM ZUSER") == "8\n")
        other.end()
    }
}

/// A launch during which the clock jumps, or the device is locked.
@Suite struct LaunchInterruptionTests {  // tier: long
    private let forum: LaunchedForum

    init() throws { forum = try LaunchedForum() }

    @Test func `a clock that jumps between calls and within them loses nothing`() async throws {
        let before = try forum.rows()
        let dump = try forum.store.sql(".sha3sum --schema")
        let clock = JumpingClock()
        var (unfinished, isReady, most) = (0, false, 1)
        while !isReady, unfinished < 40 {
            // Each call is suspended a little later.
            let asked = Atomic(0)
            let limit = most
            let outcome = try forum.launch().run(
                on: clock, isCancelled: { asked.add(1, ordering: .relaxed).newValue > limit })
            switch outcome {
            case .unfinished: unfinished += 1
            case .ready: isReady = true
            default:
                Issue.record("\(outcome)")
                return
            }
            #expect(try forum.rows() == before)
            most *= 2
        }
        #expect(isReady && unfinished > 0)
        expectReady(try forum.launch().run(on: clock), migrated: false)
        #expect(try await forum.launch().goBack().count == 1)
        #expect(try forum.store.sql(".sha3sum --schema") == dump)
    }

    @Test func `an hour that passes within a call loses nothing, and the next calls do not wait for it`() throws {
        let template = try ScratchFolder()
        let copy = try template.copyStore(forum.store.path)
        let before = try forum.rows()
        var early = 0
        for looks in stride(from: 0, to: 120, by: 6) {
            try forum.reset(to: copy)
            let outcome = try forum.launch().run(on: SleepingDevice(after: looks))
            switch outcome {
            case .ready: early += 1
            case .unfinished: break
            // The piece seems to need an hour.
            case .refused(let error) where error.code == .budgetTooSmall: break
            default: Issue.record("after \(looks) looks: \(outcome)")
            }
            #expect(try forum.rows() == before, "after \(looks) looks: \(outcome)")
            var isReady = false
            for _ in 0..<4 where !isReady {
                if case .ready = try forum.launch().run() { isReady = true }
            }
            #expect(isReady, "after \(looks) looks")
            #expect(try forum.rows() == before, "after \(looks) looks")
        }
        #expect(early < 20)
        withExtendedLifetime(template) {}
    }

    @Test func `a device that is locked in the middle of a launch keeps every row for the next one`() throws {
        let folder = try POSIXSystem().resolve(forum.store.folder.path)
        let template = try ScratchFolder()
        let copy = try template.copyStore(forum.store.path)
        let before = try forum.rows()
        var locked = 0
        for reads in 0..<60 {
            try forum.reset(to: copy)
            let device = LockedDevice(folder, after: reads)
            let outcome = try forum.launch().run(on: device)
            #expect(try forum.rows() == before, "after \(reads) reads: \(outcome)")
            if device.hasRefused { locked += 1 }
            if case .ready = outcome { continue }
            guard case .unavailable(.protectedData) = outcome else {
                Issue.record("after \(reads) reads: \(outcome)")
                continue
            }
            expectReady(try forum.launch().run(), migrated: true)
            #expect(try forum.rows() == before, "after \(reads) reads")
        }
        #expect(locked > 3)
        withExtendedLifetime(template) {}
    }
}

/// A forum's store, with the app's compiled model.
private struct LaunchedForum {
    let store: ForumStore
    /// The forum's model, compiled as an app has it.
    private let models: URL

    init() throws {
        store = try ForumStore()
        models = URL(fileURLWithPath: store.folder.path + "/Forum.momd")
        try FileManager.default.createDirectory(at: models, withIntermediateDirectories: false)
        for file in try CompiledModel(compiling: store.models).files {
            try Data(file.bytes).write(to: models.appendingPathComponent(file.name))
        }
    }

    func launch(_ path: String? = nil, patience: Duration = .zero) -> StoreLaunch {
        var options = RunOptions()
        options.acceptedLosses = .all
        options.patience = patience
        return StoreLaunch(
            store: URL(fileURLWithPath: path ?? store.path), models: .bundle(models), options: options)
    }

    /// Puts a copy of the old store in the place of the store, and removes all records.
    func reset(to copy: String) throws {
        for suffix in ["", "-wal", "-shm", ".moult"] {
            try? FileManager.default.removeItem(atPath: store.path + suffix)
        }
        try FileManager.default.copyItem(atPath: copy, toPath: store.path)
    }

    /// Returns the sqlite3 shell's counts and sums of the rows of every table of the first version.
    func rows(_ path: String? = nil) throws -> String {
        try SQLiteShell.run(
            path ?? store.path,
            "SELECT count(*), sum(Z_PK) FROM ZPOST; SELECT count(*), sum(Z_PK) FROM ZUSER; PRAGMA integrity_check")
    }

    /// The status and the bytes of the folder and of everything in it.
    func everything() throws -> [String: [AnyHashable]] {
        let system = POSIXSystem()
        let paths = try FileManager.default.subpathsOfDirectory(atPath: store.folder.path)
        var all: [String: [AnyHashable]] = ["": [try system.status(of: store.folder.path)]]
        for path in paths.map({ store.folder.path + "/" + $0 }) {
            var status = try system.status(of: path)
            // SQLite gives a log to the owner of the store if it runs as root.
            if path.hasSuffix("-wal"), geteuid() == 0, let modified = status?.modified { status?.changed = modified }
            all[path] = [status, status?.kind == .file ? try system.digest(of: path) : []]
        }
        return all
    }
}

private func expectReady(
    _ outcome: StoreLaunch.Outcome, migrated: Bool, _ place: SourceLocation = #_sourceLocation
) {
    guard case .ready(let reports) = outcome else {
        Issue.record("\(outcome)", sourceLocation: place)
        return
    }
    #expect(reports.map(\.outcome) == (migrated ? [.migrated] : []), sourceLocation: place)
}

/// A machine whose time of day is another at every look: ten years back or ahead, a second back, a day ahead.
private final class JumpingClock: ForwardingSystem {
    private let looks = Atomic(0)

    var now: Timestamp {
        let jumps: [Int64] = [-315_360_000, 315_360_000, 0, -1, 86_400]
        let look = looks.add(1, ordering: .relaxed).oldValue
        var now = real.now
        now.seconds += jumps[look % jumps.count]
        return now
    }
}

/// A machine on which an hour passes at the n-th look at the clock.
private final class SleepingDevice: ForwardingSystem {
    private let left: Atomic<Int>

    init(after looks: Int) { left = Atomic(looks) }

    var monotonicNanoseconds: UInt64 {
        let isOver = left.subtract(1, ordering: .relaxed).newValue < 0
        return real.monotonicNanoseconds + (isOver ? 3_600_000_000_000 : 0)
    }
}

/// A machine that reads no file of a folder from the n-th time on, as a device that is locked.
private final class LockedDevice: ForwardingSystem {
    private let folder: String
    private let left: Atomic<Int>

    init(_ folder: String, after reads: Int) {
        self.folder = folder
        left = Atomic(reads)
    }

    /// Whether the device was locked while it was used.
    var hasRefused: Bool { left.load(ordering: .relaxed) < 0 }

    private func check(_ path: String) throws {
        guard path.hasPrefix(folder + "/"), left.subtract(1, ordering: .relaxed).newValue < 0 else { return }
        throw MigrationError.system("read", path, error: EPERM)
    }

    func read(_ path: String, prefix count: Int) throws -> [UInt8] {
        try check(path)
        return try real.read(path, prefix: count)
    }

    func digest(of path: String) throws -> [UInt8] {
        try check(path)
        return try real.digest(of: path)
    }
}
