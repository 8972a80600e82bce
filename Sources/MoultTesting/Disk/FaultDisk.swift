import MoultModel
import MoultSQLite
import MoultSystem
import Synchronization

/// The disk of one trial: every change below a folder, through SQLite or next to it, in one numbering, with the fault
/// that meets one of them.
///
/// Nothing of it is synchronised for real: what a power cut leaves is computed, so a trial waits for no disk.
package final class FaultDisk: @unchecked Sendable {
    /// Synchronisations that are taken for done and are not: as if a program left them out, for tests of the harness.
    package enum Lie: Sendable { case none, everywhere, besideSQLite }

    package let root: String
    private let fault: Fault?
    private let real = POSIXSystem()
    private let lock = RecursiveLock()
    /// The model of what a machine that dies would leave; nil if the fault lets everything stay that was written.
    private let model: DiskModel?
    private var number = 0
    private var isDead = false
    private var hasFired = false
    private var openFiles = 0
    private var done: [DiskOperation] = []
    private let lie: Lie
    package let clock: TrialClock

    /// - Parameters:
    ///   - root: a folder without symbolic links that no connection has open.
    package init(
        _ root: String, _ fault: Fault?, clock: TrialClock = TrialClock(), lie: Lie = .none
    ) throws {
        self.root = root
        self.clock = clock
        self.fault = fault
        self.lie = lie
        model = try fault?.kind.losesWrites == true ? DiskModel(root, real) : nil
    }

    /// Runs `body` while this disk is what lies below its folder, and leaves there what the fault leaves.
    package func run(_ body: (FaultSystem) throws -> Void) throws -> Result<Void, any Error> {
        guard WatchedVFS.watch(root, by: self) else {
            throw MigrationError(
                .internal, "SQLite has no file system of its own.", place: root, remedy: "Report this.")
        }
        let result = Result { try body(FaultSystem(self)) }
        WatchedVFS.unwatch(root)
        if isDead, let fault, let model {
            try model.write(fault.kind == .powerLoss ? SurvivingWrites(seed: fault.seed) : nil, on: real)
        }
        return result
    }

    /// The calls there were, in order.
    package var operations: [DiskOperation] { lock.withLock { done } }
    /// Whether the machine is to lose its power.
    var losesPower: Bool { fault.map { [.powerLoss, .tornSector].contains($0.kind) } ?? false }
    /// Whether the fault has met a call.
    package var hasMet: Bool { lock.withLock { hasFired } }
    /// Files that SQLite has opened and not closed.
    package var filesLeftOpen: Int { lock.withLock { openFiles } }

    // MARK: - One call

    /// Returns the failure that meets a call; nil if the call is made.
    ///
    /// - Parameter tear: called with the surviving sectors if the machine dies in the middle of this write.
    func meet(_ operation: DiskOperation, tear: (DiskModel, inout SurvivingWrites) -> Void = { _, _ in })
        -> FileCall.Failure?
    {
        lock.withLock {
            if isDead { return .inputOutput }
            number += 1
            done.append(operation)
            guard let fault, fault.kind.meets(operation) else { return nil }
            switch fault.kind {
            case .stop, .powerLoss, .tornSector:
                guard number == fault.number else { return nil }
                if fault.kind == .tornSector, let model {
                    var survivors = SurvivingWrites(seed: fault.seed &+ UInt64(number))
                    tear(model, &survivors)
                }
                (isDead, hasFired) = (true, true)
                return .inputOutput
            case .inputOutputOnce, .fullOnce:
                guard number == fault.number else { return nil }
            case .inputOutputOn, .fullOn:
                guard number >= fault.number else { return nil }
            case .memoryOnce, .memoryOn, .clock:
                return nil
            }
            hasFired = true
            return [.fullOnce, .fullOn].contains(fault.kind) ? .full : .inputOutput
        }
    }

    /// A look at the disk: it fails on a dead machine only.
    func look() -> FileCall.Failure? { lock.withLock { isDead ? .inputOutput : nil } }

    func change(_ body: (DiskModel) -> Void) { lock.withLock { if let model { body(model) } } }

    /// - Parameter isOfSQLite: whether SQLite asks for it.
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
}
