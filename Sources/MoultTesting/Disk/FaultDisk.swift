import MoultBasics
import MoultSQLite
import Synchronization

/// The disk of one trial. It numbers every change below a folder, through SQLite or not, and makes its faults hit some
/// of them.
///
/// Nothing is really synced: the result of a power cut is computed, so a trial never waits for the disk.
package final class FaultDisk: @unchecked Sendable {
    /// Syncs that only pretend to happen, as if a program had left them out; for tests of the harness.
    package enum Lie: Sendable { case none, everywhere, besideSQLite }

    package let root: String
    private var faults: [Fault]
    private let real = POSIXSystem()
    private let lock = RecursiveLock()
    /// The model of the files after the machine dies; nil if no fault loses writes.
    private var model: DiskModel?
    private var number = 0
    private var reads = 0
    /// The fault that the process or the machine has died of.
    private var death: Fault?
    private var hasFired = false
    private var hasFlipped = false
    private var openFiles = 0
    private var done: [DiskOperation] = []
    private let lie: Lie
    package private(set) var clock: TrialClock
    /// The number of times that the machine has started; a trial that loses power is examined after the next start.
    private(set) var boot: Int

    /// - Parameters:
    ///   - root: a folder without symbolic links that no connection has open.
    package init(_ root: String, _ fault: Fault?, clock: TrialClock = TrialClock(), lie: Lie = .none) throws {
        (self.root, self.clock, faults, self.lie) = (root, clock, fault.map { [$0] } ?? [], lie)
        boot = fault?.kind.losesWrites == true ? 0 : 1
        model = try makeModel()
    }

    private func makeModel() throws -> DiskModel? {
        try faults.contains(where: \.kind.losesWrites) ? DiskModel(root, real) : nil
    }

    /// Runs `body` with this disk in place of its folder, then leaves the folder in the state after the fault.
    package func run(_ body: (FaultSystem) throws -> Void) throws -> Result<Void, any Error> {
        try attach()
        let result = Result { try body(system) }
        detach()
        try settle()
        return result
    }

    /// The system whose files are on this disk.
    package var system: FaultSystem { FaultSystem(self) }

    /// Puts this disk in place of its folder.
    package func attach() throws {
        guard WatchedVFS.watch(root, by: self) else {
            throw MigrationError(
                .internal, "SQLite has no file system of its own.", place: root, remedy: "Report this.")
        }
    }

    package func detach() { WatchedVFS.unwatch(root) }

    /// Counts from 1 again, toward other faults. What is in the folder counts as durable.
    package func arm(_ faults: [Fault], clock: TrialClock) throws {
        clock.follow(self.clock)
        (self.faults, self.clock, number, reads, done) = (faults, clock, 0, 0, [])
        (hasFired, hasFlipped) = (false, false)
        model = try makeModel()
    }

    /// Starts a machine that has died again: leaves the folder in the state after the fault. No file may be open.
    package func settle() throws {
        guard let death else { return }
        if death.kind.losesWrites, let model {
            try model.write(death.kind == .powerLoss ? SurvivingWrites(seed: death.seed) : nil, on: real)
            boot += 1
        }
        (self.death, model, faults) = (nil, nil, [])
    }

    /// Whether the process or the machine has died, and has not been started again.
    package var hasDied: Bool { lock.withLock { death != nil } }
    /// The fault that the process or the machine has died of; nil while it runs.
    package var deathFault: Fault? { lock.withLock { death } }

    /// The calls so far, in order.
    package var operations: [DiskOperation] { lock.withLock { done } }
    /// Whether a fault has made a call fail, or write something else. A disk that is only slow does neither.
    package var hasMet: Bool { lock.withLock { hasFired } }
    /// The number of files that SQLite has opened and not closed.
    package var filesLeftOpen: Int { lock.withLock { openFiles } }

    // MARK: - One call

    /// Returns the failure that hits a call; nil if the call is made.
    ///
    /// - Parameter tear: called with the surviving sectors if the machine dies in the middle of this write.
    func meet(_ operation: DiskOperation, tear: (DiskModel, inout SurvivingWrites) -> Void = { _, _ in })
        -> FileCall.Failure?
    {
        lock.withLock {
            if death != nil { return .inputOutput }
            number += 1
            done.append(operation)
            let met = faults.filter { $0.kind.meets(operation) && $0.isAt(number) }
            if let slow = met.first(where: { $0.kind == .slow }) { clock.wait(slow.delay) }
            guard let fault = met.first(where: { $0.kind.isDeath }) ?? met.first(where: { $0.kind != .slow }) else {
                return nil
            }
            if fault.kind == .tornSector, let model {
                var survivors = SurvivingWrites(seed: fault.seed &+ UInt64(number))
                tear(model, &survivors)
            }
            if fault.kind.isDeath { death = fault }
            hasFired = true
            return [.fullOnce, .fullOn].contains(fault.kind) ? .full : .inputOutput
        }
    }

    /// Returns the failure of a read, which fails on a dead machine, once, or from one on.
    func look() -> FileCall.Failure? {
        lock.withLock {
            if death != nil { return .inputOutput }
            reads += 1
            guard faults.contains(where: { $0.kind.isOfReads && $0.isAt(reads) }) else { return nil }
            hasFired = true
            return .inputOutput
        }
    }

    /// The number of reads so far.
    package var readCount: Int { lock.withLock { reads } }

    func change(_ body: (DiskModel) -> Void) { lock.withLock { if let model { body(model) } } }

    /// - Parameter isOfSQLite: whether SQLite makes the call.
    func synchronise(_ path: String, isOfSQLite: Bool) {
        lock.withLock {
            if lie == .none || lie == .besideSQLite && isOfSQLite { model?.synchronise(path) }
        }
    }
}

// MARK: - SQLite's calls

extension FaultDisk: FileWatcher {
    package func answer(_ call: FileCall) -> FileCall.Answer {
        let failure: FileCall.Failure? =
            switch call.operation {
            case .read: look()
            case .open: meet(.open)
            case .truncate: meet(.truncate)
            case .sync: meet(.sync)
            case .delete: meet(.remove)
            case .lock: meet(.lock)
            case .shm: meet(.shm)
            case .write(let offset):
                meet(.write) { model, survivors in
                    let file = model.file(call.path)
                    for piece in survivors.torn(Array(call.bytes), at: Int(offset)) { file?.apply(piece) }
                }
            }
        if let failure { return .fail(failure) }
        return call.operation == .sync ? .pretend : .pass
    }

    package func done(_ call: FileCall) {
        switch call.operation {
        case .open:
            lock.withLock { openFiles += 1 }
            let isThere = (try? real.exists(call.path)) ?? false
            if isThere { change { $0.make(call.path) } }
        case .write(let offset):
            let bytes = Array(call.bytes)
            change { $0.file(call.path)?.apply(.write(offset: Int(offset), bytes: bytes)) }
        case .truncate(let size):
            change { $0.file(call.path)?.apply(.truncate(size: Int(size))) }
        case .sync:
            synchronise(call.path, isOfSQLite: true)
            if call.isJournal, lie != .everywhere { change { $0.synchroniseName(of: call.path) } }
        case .delete(let syncsFolder):
            change { $0.remove(call.path) }
            if syncsFolder { synchronise(Path.folder(of: call.path), isOfSQLite: true) }
        case .lock, .shm, .read: break
        }
    }

    package func closed(_ path: String) { lock.withLock { openFiles -= 1 } }

    /// Flips one bit of the write of a page with the fault's number, which is the one that passes now.
    package func altered(_ call: FileCall) -> [UInt8]? {
        lock.withLock {
            guard let fault = faults.first(where: { $0.kind == .wrongBit }), number >= fault.number, !hasFlipped,
                call.bytes.count >= 512
            else { return nil }
            (hasFired, hasFlipped) = (true, true)
            var bytes = Array(call.bytes)
            bytes[Int(fault.seed % UInt64(bytes.count))] ^= 1 << UInt8(fault.seed % 7)
            return bytes
        }
    }
}

/// A failure at one numbered moment of a run.
package struct Fault: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The process dies: nothing after the moment happens, but earlier writes stay.
        case stop = "process dies"
        /// The machine dies: any part of the unsynced changes is lost, and sectors may be torn.
        case powerLoss = "power cut"
        /// The machine dies in the middle of a write, which partly reaches the disk.
        case tornSector = "torn write"
        case inputOutputOnce = "I/O error"
        case inputOutputOn = "I/O errors from there on"
        case fullOnce = "disk full"
        case fullOn = "disk full from there on"
        /// SQLite cannot allocate memory.
        case memoryOnce = "out of memory"
        case memoryOn = "no memory from there on"
        /// The clock jumps back a year, or ahead by ten.
        case clock = "clock jumps"
        /// One bit of one page is written wrong, and the disk says nothing.
        case wrongBit = "wrong bit"
        /// A read fails.
        case readOnce = "read error"
        case readOn = "read errors from there on"
        /// Each write and each synchronisation takes long, and none fails.
        case slow = "slow disk"

        /// The kinds that are tried at every moment of every kind of migration.
        package static let tried = allCases.filter { !$0.isOfReads && ![.wrongBit, .slow].contains($0) }
    }

    package var kind: Kind
    /// The number of the moment, from 1: a file system call, a read, an allocation, or a reading of the clock.
    package var number: Int
    /// The seed that decides what survives a power cut, where a write is torn, and how long a slow disk takes.
    package var seed: UInt64

    package init(_ kind: Kind, at number: Int, seed: UInt64 = 0) {
        (self.kind, self.number, self.seed) = (kind, number, seed)
    }

    /// Whether it hits the call with that number, if it hits calls of its kind.
    fileprivate func isAt(_ call: Int) -> Bool { kind.persists ? call >= number : call == number }

    /// The milliseconds that each call of a slow disk takes: 10, 100, 1000 or 10,000.
    fileprivate var delay: UInt64 { [10, 100, 1_000, 10_000][Int(seed % 4)] }
}

extension Fault.Kind {
    /// Whether the process ends.
    package var isDeath: Bool { [.stop, .powerLoss, .tornSector].contains(self) }
    /// Whether it hits every later call too, in a process that continues.
    package var persists: Bool { [.inputOutputOn, .fullOn, .memoryOn, .readOn, .slow].contains(self) }
    /// Whether some earlier writes are lost.
    package var losesWrites: Bool { self == .powerLoss || self == .tornSector }
    /// Whether its moments are allocations by SQLite.
    package var isOfMemory: Bool { self == .memoryOnce || self == .memoryOn }
    /// Whether its moments are reads.
    package var isOfReads: Bool { self == .readOnce || self == .readOn }

    /// Whether the fault can hit a call of that kind.
    package func meets(_ operation: DiskOperation) -> Bool {
        switch self {
        case .stop, .powerLoss, .inputOutputOnce, .inputOutputOn: true
        case .tornSector: operation.writes
        case .fullOnce, .fullOn: operation.needsRoom
        case .slow: operation.writes || operation == .sync
        case .memoryOnce, .memoryOn, .clock, .wrongBit, .readOnce, .readOn: false
        }
    }
}

/// The kind of disk operation of a numbered call.
package enum DiskOperation: String, Sendable, Hashable, CaseIterable {
    case open, write, truncate, sync, remove, lock, shm, append, rename, copy, folder, mode

    var writes: Bool { [.write, .append].contains(self) }
    var needsRoom: Bool { [.write, .append, .copy, .folder].contains(self) }
}
