import MoultModel
import MoultSQLite
import MoultSystem

/// What became of a run that did not end, as a function of its journal and the store (DESIGN 5.7).
///
/// SQLite has healed the store when the lock was taken, so that it is the whole old one or the whole new one; here it
/// is found out which, what lies about is removed, and the history gets its entry.
package enum Recovery {
    package enum Outcome: String, Sendable, Equatable {
        /// No run was left unfinished.
        case nothing
        /// The store is as it was before the run.
        case undone
        /// The store is the new one: the run had committed.
        case completed
    }

    /// - Parameters:
    ///   - lock: held, without an open transaction.
    ///   - isEmpty: whether the store has just been made, so that nothing can be asked of it.
    ///   - keepsPaused: whether a migration that waits for its next call may go on then, because the store will not be
    ///     changed now.
    package static func heal(
        _ lock: StoreLock, _ system: any System, isEmpty: Bool = false, keepsPaused: Bool = false
    ) throws -> Outcome {
        let sidecar = lock.sidecar
        guard let journal = try readJournal(sidecar, system) else {
            try removeLeftovers(sidecar, BackupFolder(sidecar.backups, system), system)
            return .nothing
        }
        if keepsPaused, journal.state == .paused, let checkpoint = MigrationCheckpoint.read(sidecar, system) {
            try removeLeftovers(sidecar, BackupFolder(journal.backups, system), keeping: checkpoint, system)
            return .nothing
        }
        // A restore that died may have made the file and nothing in it.
        let isEmpty = try isEmpty || lock.connection.catalogue().entries.isEmpty
        let state = isEmpty ? nil : try StoreState(lock.connection)
        let outcome: Outcome = state.map { isNew($0, journal) } == true ? .completed : .undone
        let quarantine = Quarantine(sidecar, system)
        if outcome == .undone {
            try removeNewExternalFiles(journal, sidecar, system)
            try quarantine.remove(run: journal.run)
        }
        try forgetRestorations(journal, outcome, sidecar, system)
        try removeLeftovers(sidecar, BackupFolder(journal.backups, system), system)
        try RunHistory(sidecar, system).append(
            RunRecord(
                run: journal.run, operation: journal.operation, result: result(of: journal, outcome),
                from: journal.from, to: journal.to, startedAt: journal.startedAt, endedAt: system.now.iso8601,
                seconds: 0, backup: journal.backup, rows: 0, bytes: state?.size ?? 0,
                error: outcome == .undone ? journal.leftOutside : nil,
                quarantined: try quarantine.count(run: journal.run),
                losses: outcome == .completed ? journal.losses : []))
        MigrationLog(sidecar, system).append(sentence(about: journal, outcome))
        try Journal.remove(sidecar, system)
        return outcome
    }

    private static func result(of journal: Journal, _ outcome: Outcome) -> RunRecord.Result {
        // A call that ended on its budget has not died.
        outcome == .completed ? .recovered : journal.state == .paused ? .cancelled : .undone
    }

    private static func sentence(about journal: Journal, _ outcome: Outcome) -> String {
        if outcome == .completed {
            return "Run \(journal.run) had committed before it died; the store is the new one."
        }
        if journal.state == .paused {
            return "Run \(journal.run) waited for its next call; what it had done was thrown away."
        }
        return "Run \(journal.run) died before its commit; the store is as it was."
            + (journal.leftOutside.map { " \($0)" } ?? "")
    }

    /// Whether the commit happened. A store whose checksum differs from the journal's two was changed by somebody else
    /// since; then the counter alone decides.
    static func isNew(_ state: StoreState, _ journal: Journal) -> Bool {
        guard journal.state == .committing else { return false }
        if let new = journal.newChecksum, new != journal.oldChecksum, !new.isEmpty {
            if state.checksum == new { return true }
            if state.checksum == journal.oldChecksum { return false }
        }
        return state.schemaVersion != journal.schemaVersion
    }

    /// What was put back after the backup that a rollback has restored is in the quarantine alone again.
    private static func forgetRestorations(
        _ journal: Journal, _ outcome: Outcome, _ sidecar: Sidecar, _ system: any System
    ) throws {
        guard outcome == .completed, journal.operation == .rollback, let name = journal.backup else { return }
        do {
            let backup = try BackupFolder(journal.backups, system).backup(named: name)
            try Quarantine(sidecar, system).forgetRestorations(since: backup.manifest.createdAt)
        } catch let error as MigrationError where [.backupNotFound, .backupInvalid].contains(error.code) {
            // The store is restored; that somebody has removed the backup since must not keep it from being used.
            MigrationLog(sidecar, system).append("What went back from the quarantine since cannot be told: \(error)")
        }
    }

    /// A journal that cannot be read says nothing; it is kept aside for a person, for the store itself is whole.
    private static func readJournal(_ sidecar: Sidecar, _ system: any System) throws -> Journal? {
        do {
            return try Journal.read(sidecar, system)
        } catch let error as MigrationError where error.code == .metadataInvalid {
            try system.rename(sidecar.journal, to: sidecar.journal + ".unreadable")
            MigrationLog(sidecar, system).append("\(error)")
            return nil
        }
    }

    /// Working folders and unfinished backups of every run that died: the lock says that no other is alive.
    ///
    /// - Parameter checkpoint: of the migration whose next call goes on with its own.
    static func removeLeftovers(
        _ sidecar: Sidecar, _ backups: BackupFolder, keeping checkpoint: MigrationCheckpoint? = nil,
        _ system: any System
    ) throws {
        let kept = checkpoint.map { Path.name(of: sidecar.work($0.run)) }
        for name in try system.list(sidecar.folder)
        where name.hasPrefix("work-") && name != kept || name.hasSuffix(".part") {
            try system.removeTree(Path.join(sidecar.folder, name))
        }
        try backups.removeDrafts(except: checkpoint?.draft?.name)
    }

    static func removeNewExternalFiles(_ journal: Journal, _ sidecar: Sidecar, _ system: any System) throws {
        for name in journal.newExternalFiles where name.isPlainFileName {
            try system.remove(Path.join(sidecar.externalData, name))
        }
    }
}
