import MoultBasics
import MoultSQLite
import MoultStore

/// The recovery of an unfinished run. The outcome is a function of the journal and the store.
///
/// SQLite recovered the store when the lock was taken, so it is completely old or completely new. Recovery finds out
/// which, removes leftovers, and adds an entry to the history.
package enum Recovery {
    package typealias Outcome = RecoveryOutcome

    /// - Parameters:
    ///   - lock: exclusive, without an open transaction.
    ///   - keepsPaused: whether a paused migration may continue afterwards, because the store will not be changed now.
    package static func heal(_ lock: StoreLock, _ system: any System, keepsPaused: Bool = false) throws -> Outcome {
        let sidecar = lock.sidecar
        if try hasSpentJournal(sidecar, system), try system.remove(sidecar.store + "-journal") {
            try system.synchronise(Path.folder(of: sidecar.store))
        }
        try ExternalStorage(store: sidecar.store).removeUnsaved(in: lock.connection, on: system)
        guard let journal = try readJournal(sidecar, system) else {
            try removeLeftovers(sidecar, BackupFolder(sidecar.backups, system), system)
            return .nothing
        }
        if keepsPaused, journal.state == .paused, let checkpoint = MigrationCheckpoint.read(sidecar, system) {
            try removeLeftovers(sidecar, BackupFolder(journal.backups, system), keeping: checkpoint, system)
            return .nothing
        }
        if let move = StoreMove(journal, at: sidecar, system) {
            if try move.isCommitted {
                let outcome = try move.settle(lock)
                guard try system.exists(sidecar.store) else { throw try ReadOnlyStore.missing(sidecar.store, system) }
                return outcome
            }
            try move.discard()
        }
        let state = try StoreState(lock.connection)
        let outcome = try outcome(of: lock, state, journal)
        if outcome == .completed { try removeDroppedFiles(journal, lock, system) }
        return try conclude(journal, outcome, size: state.size, sidecar, system)
    }

    /// Returns the outcome of a run whose store can be queried.
    private static func outcome(of lock: StoreLock, _ state: StoreState, _ journal: Journal) throws -> Outcome {
        guard journal.restoredUUID != nil else { return isNew(state, journal) ? .completed : .undone }
        do {
            try lock.connection.checkPages(place: lock.sidecar.store)
            return outcome(of: .sound(uuid: state.uuid), journal)
        } catch let error as MigrationError where error.code == .storeCorrupted {
            return .undone
        }
    }

    /// Whether the last run has left its rollback journal. In exclusive locking mode SQLite removes the journal when it
    /// releases the lock; a process that dies after its commit never does.
    ///
    /// Any other journal stays: if its header was lost, its pages may exist nowhere else.
    static func hasSpentJournal(_ sidecar: StoreRecords, _ system: any System) throws -> Bool {
        let path = sidecar.store + "-journal"
        guard try RollbackJournal.isSpent(path, system), let status = try system.status(of: path) else { return false }
        let modified = status.modified.iso8601
        if let run = try? Journal.read(sidecar, system) { return run.startedAt <= modified }
        guard let run = try RunHistory(sidecar, system).last() else { return false }
        return run.startTime <= modified && modified <= run.endTime
    }

    /// Cleans up, adds an entry to the history and removes the journal.
    static func conclude(
        _ journal: Journal, _ outcome: Outcome, size: Int64, _ sidecar: StoreRecords, _ system: any System
    ) throws -> Outcome {
        let quarantine = Quarantine(sidecar, system)
        let wasStopped = try journal.wasStopped(sidecar, system)
        try settleAside(journal, outcome, sidecar, system)
        if outcome == .undone {
            try removeNewExternalFiles(journal, sidecar, system)
            try quarantine.remove(run: journal.run)
        }
        if outcome == .completed, journal.operation == .rollback, let name = journal.backup {
            try quarantine.follow(rollbackTo: name)
        }
        try removeLeftovers(sidecar, BackupFolder(journal.backups, system), system)
        if journal.operation == .rollback { try removeParts(below: sidecar.support, system) }
        let backup = try backup(madeBy: journal, system)
        try record(
            StoreRun(
                run: journal.run, operation: journal.operation,
                result: result(of: journal, outcome, wasStopped: wasStopped),
                from: journal.from, to: journal.to, startTime: journal.startedAt, endTime: system.now.iso8601,
                seconds: 0, backup: backup.map(Path.name), backups: backup.map(Path.folder) ?? journal.backups,
                rows: 0, bytes: size,
                error: outcome == .undone
                    ? journal.leftOutside
                    : outcome == .replaced ? sentence(about: journal, outcome, wasStopped: wasStopped) : nil,
                quarantined: try quarantine.count(run: journal.run),
                losses: outcome == .completed ? journal.losses : [],
                restored: journal.operation == .rollback ? journal.backup : nil), sidecar, system)
        MigrationLog(sidecar, system).append(sentence(about: journal, outcome, wasStopped: wasStopped))
        try Journal.remove(sidecar, system)
        return outcome
    }

    /// Returns the folder of the run's backup if it has its name: the run may have died just before that.
    private static func backup(madeBy journal: Journal, _ system: any System) throws -> String? {
        let isRollback = journal.operation == .rollback
        let folder = isRollback ? journal.saved : journal.backup.map { Path.join(journal.backups, $0) }
        return try folder.flatMap { try system.exists($0) ? $0 : nil }
    }

    /// Adds a record to the history, unless the run recorded its end before it died.
    private static func record(_ record: StoreRun, _ sidecar: StoreRecords, _ system: any System) throws {
        let history = RunHistory(sidecar, system)
        if let last = try history.last(), last.run == record.run,
            [.done, .failed, .cancelled].contains(last.result)
        {
            return
        }
        try history.append(record)
    }

    private static func result(of journal: Journal, _ outcome: Outcome, wasStopped: Bool) -> StoreRun.Result {
        // A call that ran out of its budget, or was stopped by a person, has not died.
        outcome == .completed ? .recovered : journal.state == .paused || wasStopped ? .cancelled : .undone
    }

    private static func sentence(about journal: Journal, _ outcome: Outcome, wasStopped: Bool) -> String {
        if outcome == .completed { return "Run \(journal.run) had committed before it died. The store is the new one." }
        if outcome == .replaced {
            return "Run \(journal.run) died. Another store is now at the path at which it was to restore one."
        }
        if journal.state == .paused { return "Run \(journal.run) waited for its next call. Its work was discarded." }
        return "Run \(journal.run) \(wasStopped ? "was stopped" : "died") before its commit. The store is unchanged."
            + (journal.leftOutside.map { " \($0)" } ?? "")
    }

    /// Whether the commit happened. If the store's checksum matches neither of the journal's, another process has
    /// changed the store since, and the counter alone decides. A move never changes the store (``StoreMove``).
    static func isNew(_ state: StoreState, _ journal: Journal) -> Bool {
        guard journal.state == .committing, journal.operation != .move else { return false }
        if let new = journal.newChecksum, new != journal.oldChecksum, !new.isEmpty {
            if state.checksum == new { return true }
            if state.checksum == journal.oldChecksum { return false }
        }
        return state.schemaVersion != journal.schemaVersion
    }

    /// Returns the same after a commit that reported an error; a failure if the disk cannot tell.
    static func isNew(_ lock: StoreLock, _ journal: Journal) -> Result<Bool, any Error> {
        Result {
            try lock.settle()
            return try isNew(StoreState(lock.connection), journal)
        }
    }

    /// Reads the journal. An unreadable journal is set aside for a person; the store itself is whole.
    static func readJournal(_ sidecar: StoreRecords, _ system: any System) throws -> Journal? {
        do {
            return try Journal.read(sidecar, system)
        } catch let error as MigrationError where error.code == .metadataInvalid {
            try system.rename(sidecar.journal, to: sidecar.journal + ".unreadable")
            MigrationLog(sidecar, system).append("", error)
            return nil
        }
    }

    /// Removes working folders, marks and unfinished backups of dead runs. The lock guarantees that no other run is
    /// alive.
    ///
    /// - Parameter checkpoint: the checkpoint of the migration whose working files the next call needs.
    package static func removeLeftovers(
        _ sidecar: StoreRecords, _ backups: BackupFolder, keeping checkpoint: MigrationCheckpoint? = nil,
        _ system: any System
    ) throws {
        let kept = checkpoint.map { Path.name(of: sidecar.work($0.run)) }
        for name in try system.list(sidecar.folder)
        where name.hasPrefix("work-") && name != kept || name.hasSuffix(".part") || name == StoreRecords.stoppedName {
            try system.removeTree(Path.join(sidecar.folder, name))
        }
        try backups.removeDrafts(except: checkpoint?.draft?.name)
    }

    /// Removes partly copied files of external data.
    package static func removeParts(below folder: String, _ system: any System) throws {
        guard try system.exists(folder) else { return }
        for name in try system.files(below: folder) where name.hasSuffix(".part") {
            try system.remove(Path.join(folder, name))
        }
    }

    /// Removes the files of external data that only the old store needed, once the new one is in place.
    ///
    /// - Returns: the number of files removed.
    @discardableResult
    static func removeDroppedFiles(_ journal: Journal, _ lock: StoreLock, _ system: any System) throws -> Int {
        guard !journal.droppedFiles.isEmpty else { return 0 }
        let sidecar = lock.sidecar
        // Whatever has happened to the store since the run died, the files that it names stay.
        let named = try ExternalStorage.names(in: lock.connection)
        return try removeFiles(
            journal.droppedFiles.filter { $0.isPlainFileName && !named.contains($0) }, sidecar, system)
    }

    static func removeNewExternalFiles(_ journal: Journal, _ sidecar: StoreRecords, _ system: any System) throws {
        try removeFiles(journal.newExternalFiles.filter(\.isPlainFileName), sidecar, system)
    }

    /// Removes files of external data for good, before the journal that names them is removed: no later run would look
    /// for them.
    ///
    /// - Returns: the number of files that were there.
    @discardableResult
    private static func removeFiles(_ names: [String], _ sidecar: StoreRecords, _ system: any System) throws -> Int {
        guard !names.isEmpty, try system.exists(sidecar.externalData) else { return 0 }
        let removed = try names.filter { try system.remove(Path.join(sidecar.externalData, $0)) }.count
        // This also makes removals by a process that died durable.
        try system.synchronise(sidecar.externalData)
        return removed
    }
}

/// The outcome of recovering a run whose process died.
public enum RecoveryOutcome: String, Sendable, Hashable, CaseIterable, Codable {
    /// No run was left unfinished.
    case nothing
    /// The run had not committed: the store is unchanged.
    case undone
    /// The run had committed: the store is the new one.
    case completed
    /// The run was to restore a backup, but another store is there now, and it is unchanged.
    case replaced
}

extension Migrator {
    /// Recovers a run that died before the store is examined for another purpose, so that the examination sees the
    /// final state.
    ///
    /// A store that another process has open, or that cannot be written, stays as it is; the next operation refuses it.
    @discardableResult
    package func recoverIfNeeded(_ store: String) throws -> RecoveryOutcome {
        guard try hasLeftovers(store) else { return .nothing }
        do {
            return try recover(store)
        } catch let error as MigrationError
            where [
                .locked, .readOnly, .hardLinked, .fileNotFound, .notAStore, .storeCorrupted, .metadataInvalid,
            ].contains(error.code)
        {
            return .nothing
        }
    }

    /// Whether a dead or active run has left anything other than a paused migration.
    package func hasLeftovers(_ store: String) throws -> Bool {
        let sidecar = try sidecar(of: store)
        guard try system.exists(sidecar.folder), try paused(store) == nil else { return false }
        if try system.exists(sidecar.journal) || StoreMove.hasArrival(at: sidecar, system)
            || Recovery.hasSpentJournal(sidecar, system)
        {
            return true
        }
        return try !leftovers(of: sidecar).isEmpty
    }

    /// Returns the working folders, partial records and unfinished backups.
    package func leftovers(of sidecar: StoreRecords) throws -> [String] {
        guard try system.exists(sidecar.folder) else { return [] }
        let kept = MigrationCheckpoint.read(sidecar, system)
        let own = try system.list(sidecar.folder).filter { name in
            name.hasSuffix(".part")
                || name.hasPrefix("work-") && name != kept.map { Path.name(of: sidecar.work($0.run)) }
        }.map { Path.join(sidecar.folder, $0) }
        let backups = BackupFolder(options.backupFolder ?? sidecar.backups, system)
        return try own + backups.drafts(except: kept?.draft?.name)
    }

    /// Returns the process that is changing the store now; nil if there is none.
    ///
    /// - Returns: its number, nil if the system does not report it; and its start time, if known.
    package func underWay(_ store: String) throws -> (process: Int32?, since: String?)? {
        let sidecar = try sidecar(of: store)
        guard try system.exists(sidecar.lock), try system.lock(sidecar.lock) == nil else { return nil }
        let owner = RunOwner(of: sidecar, system)
        return (owner.process, owner.since)
    }

    /// Whether the unfinished run is known to have committed, so that its quarantined objects count.
    package func hasCommitted(_ store: String) throws -> Bool {
        let sidecar = try sidecar(of: store)
        guard let journal = try? Journal.read(sidecar, system), journal.state == .committing,
            journal.restoredUUID == nil, try system.exists(store)
        else { return false }
        return try ReadOnlyStore.read(store, system: system) { try Recovery.isNew(StoreState($0.connection), journal) }
    }
}
