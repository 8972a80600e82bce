import MoultBasics
import MoultSQLite
import Synchronization

/// The system of a ``FaultDisk``: the real one, with the disk's faults and a clock of its own.
package struct FaultSystem: System {
    private let disk: FaultDisk
    private let real = POSIXSystem()
    private var clock: TrialClock { disk.clock }

    init(_ disk: FaultDisk) { self.disk = disk }

    private func make<Result>(
        _ operation: DiskOperation, _ action: String, _ path: String, _ call: () throws -> Result,
        tear: (DiskModel, inout SurvivingWrites) -> Void = { _, _ in }, then change: (DiskModel) -> Void
    ) throws -> Result {
        if let failure = disk.meet(operation, tear: tear) {
            throw MigrationError.system(action, path, error: failure == .full ? ENOSPC : EIO)
        }
        let result = try call()
        disk.change(change)
        return result
    }

    private func look<Result>(_ action: String, _ path: String, _ call: () throws -> Result) throws -> Result {
        guard disk.look() == nil else { throw MigrationError.system(action, path, error: EIO) }
        return try call()
    }

    // MARK: - Reading

    package func status(of path: String) throws -> FileStatus? {
        try look("look at", path) { try real.status(of: path) }
    }
    package func isLink(_ path: String) throws -> Bool { try look("look at", path) { try real.isLink(path) } }
    package func resolve(_ path: String) throws -> String { try look("find", path) { try real.resolve(path) } }
    package func list(_ folder: String) throws -> [String] { try look("list", folder) { try real.list(folder) } }
    package func read(_ path: String, prefix count: Int) throws -> [UInt8] {
        try look("read", path) { try real.read(path, prefix: count) }
    }
    package func isWritable(_ path: String) -> Bool { disk.look() == nil && real.isWritable(path) }
    package func space(at path: String) throws -> VolumeSpace { try look("look at", path) { try real.space(at: path) } }
    package func digest(of path: String) throws -> [UInt8] { try look("read", path) { try real.digest(of: path) } }

    // MARK: - Writing

    package func makeFile(_ path: String, _ rights: FileRights) throws {
        try make(.open, "make", path) {
            try real.makeFile(path, rights)
        } then: {
            $0.make(path)
        }
    }

    package func write(_ bytes: [UInt8], to path: String, _ rights: FileRights) throws {
        func begun(_ model: DiskModel) -> DiskFile {
            let file = model.make(path)
            file.apply(.truncate(size: 0))
            return file
        }
        try make(.write, "write", path) {
            try real.write(bytes, to: path, rights)
        } tear: { model, survivors in
            let file = begun(model)
            for piece in survivors.torn(bytes, at: 0) { file.apply(piece) }
        } then: {
            begun($0).apply(.write(offset: 0, bytes: bytes))
        }
    }

    package func append(_ bytes: [UInt8], to path: String, _ rights: FileRights) throws {
        try make(.append, "write", path) {
            try real.append(bytes, to: path, rights)
        } tear: { model, survivors in
            let file = model.make(path)
            let end = file.contents.count
            for piece in survivors.torn(bytes, at: end) { file.apply(piece) }
        } then: { model in
            let file = model.make(path)
            file.apply(.write(offset: file.contents.count, bytes: bytes))
        }
    }

    package func synchronise(_ path: String) throws {
        try make(.sync, "synchronise", path) {
            guard try real.exists(path) else { throw MigrationError.system("synchronise", path, error: ENOENT) }
        } then: { _ in
            disk.synchronise(path, isOfSQLite: false)
        }
    }

    package func rename(_ path: String, to newPath: String) throws {
        try make(.rename, "rename", path) {
            try real.rename(path, to: newPath)
        } then: {
            $0.rename(path, to: newPath)
        }
    }

    package func rename(_ path: String, toUnused newPath: String) throws {
        try make(.rename, "rename", path) {
            try real.rename(path, toUnused: newPath)
        } then: {
            $0.rename(path, to: newPath)
        }
    }

    package func remove(_ path: String) throws -> Bool {
        try make(.remove, "remove", path) {
            try real.remove(path)
        } then: {
            $0.remove(path)
        }
    }

    package func makeFolder(_ path: String, _ rights: FileRights) throws {
        try make(.folder, "make the folder", path) {
            try real.makeFolder(path, rights)
        } then: {
            $0.makeFolder(path)
        }
    }

    package func copy(_ path: String, to copy: String, _ rights: FileRights) throws {
        try make(.copy, "write", copy) {
            try real.copy(path, to: copy, rights)
        } then: { model in
            // Read from the model, not from files that SQLite may have open: closing them would drop this process's
            // locks.
            model.put(model.file(path)?.contents ?? [], at: copy)
        }
    }

    package func setMode(_ mode: UInt32, of path: String) throws {
        try make(.mode, "change the permissions of", path) {
            try real.setMode(mode, of: path)
        } then: {
            $0.setMode(of: path)
        }
    }

    package func setSize(_ size: Int64, of path: String) throws {
        try make(.truncate, "change the size of", path) {
            try real.setSize(size, of: path)
        } then: {
            $0.file(path)?.apply(.truncate(size: Int(size)))
        }
    }

    // MARK: - Locks, processes, clock and names

    package func lock(_ path: String, _ rights: FileRights) throws -> FileLock? {
        try make(.lock, "lock", path) {
            try real.lock(path, rights)
        } then: {
            $0.make(path)
        }
    }

    package var processIdentifier: Int32 { real.processIdentifier }
    package var user: UInt32 { real.user }
    package func startTime(ofProcess identifier: Int32) -> String? {
        real.startTime(ofProcess: identifier).map { start in
            // After a power cut, the machine has restarted by the time its disk is examined.
            if identifier == 1 { return "\(start), \(disk.boot)" }
            // Each run of a trial counts as a process of its own.
            return identifier == processIdentifier ? "\(start), \(clock.era)" : start
        }
    }
    package func holders(of path: String) -> [RunningProcess] { real.holders(of: path) }
    package var now: Timestamp { clock.now }
    package var monotonicNanoseconds: UInt64 { clock.monotonicNanoseconds }
    package var temporaryFolder: String { Path.join(disk.root, FaultCase.temporaryName) }
    package func uniqueName() -> String { clock.uniqueName() }
}

/// A clock that advances by a millisecond with each reading, and with what a slow disk takes, so that every run of a
/// trial sees the same times, and that may jump.
package final class TrialClock: Sendable {
    private let looks = Mutex(0)
    private let names = Mutex<UInt64>(0)
    private let waits = Mutex<UInt64>(0)
    private let jump: (look: Int, seconds: Int64)?
    private let start: Int64
    let era: UInt64

    /// - Parameters:
    ///   - era: the number of the clock; clocks with different numbers give different names.
    ///   - jump: the reading, counted from 1, after which the clock is wrong by `seconds`.
    ///   - offset: the seconds that the clock is ahead.
    package init(era: UInt64 = 0, jump: (look: Int, seconds: Int64)? = nil, ahead offset: Int64 = 0) {
        self.era = era
        self.jump = jump
        // 2026-03-01 in UTC, with an hour between runs.
        start = 1_772_323_200 + Int64(era) * 3_600 + offset
    }

    /// The number of readings so far.
    package var count: Int { looks.withLock { $0 } }
    /// The milliseconds that a slow disk has taken so far.
    package var waited: UInt64 { waits.withLock { $0 } }

    /// Gives no name that an earlier clock of the same era has given.
    func follow(_ earlier: TrialClock) {
        guard earlier.era == era else { return }
        let given = earlier.names.withLock { $0 }
        names.withLock { $0 = max($0, given) }
    }

    func wait(_ milliseconds: UInt64) { waits.withLock { $0 += milliseconds } }

    package var now: Timestamp {
        let look = looks.withLock { looks in
            looks += 1
            return looks
        }
        let wrong = jump.map { look >= $0.look ? $0.seconds : 0 } ?? 0
        let passed = look + Int(waited)
        return Timestamp(seconds: start + wrong + Int64(passed / 1_000), nanoseconds: Int32(passed % 1_000) * 1_000_000)
    }

    var monotonicNanoseconds: UInt64 { (UInt64(count) + waited) * 1_000_000 }

    func uniqueName() -> String {
        let number = names.withLock { number in
            number += 1
            return number
        }
        // The digits that make a name unique come first, because some names are truncated: the era's last one too.
        let digits = String(number, radix: 16)
        let tail = String(String(era, radix: 16).reversed())
        return String(repeating: "0", count: max(0, 7 - digits.count)) + digits + tail
            + String(repeating: "0", count: max(0, 9 - tail.count))
    }
}
