import MoultModel
import MoultSQLite
import MoultStore
import MoultSystem

// MARK: - The end

extension MigrationRun {
    /// After the commit nothing may fail any more but the proof of it: what cannot be tidied is logged, and the next run
    /// tidies it.
    ///
    /// - Throws: `verificationFailed` if a page of the new store is not read as it was written.
    func finish(_ backup: StoreBackup?, _ space: SpaceRequirement) throws -> MigrationOutcome {
        var pruned: [StoreBackup] = []
        var after = before
        var untidied: MigrationError?
        do {
            try timings.measure(.commit) {
                let writesBack = !before.usesWAL || hasTimeToWriteBack
                try lock.connection.keepWALOnClose(!writesBack)
                try proveCommit(backup, writingBack: writesBack)
            }
            after = try StoreState(lock.connection)
            bytes += after.size
            if hasTimeToPrune { pruned = try backups.prune(options.retention, keeping: journal.backup) }
            for backup in pruned { log.append(BackupFolder.removal(of: backup.name)) }
            var record = record(.done, nil)
            record.removed = pruned.map(\.name)
            try RunHistory(sidecar, system).append(record)
            let removed = try Recovery.removeDroppedFiles(journal, lock, system)
            if removed > 0 {
                log.append(
                    "Run \(identifier): \(Quantity.count(removed, "file")) of external data went with the objects that "
                        + "named \(removed == 1 ? "it" : "them").")
            }
            try migration.afterCommit?(lock, identifier)
            try system.removeTree(work)
            try Journal.remove(sidecar, system)
        } catch let error as MigrationError where error.code == .verificationFailed {
            log.append("Run \(identifier): ", error)
            throw error
        } catch {
            untidied = error as? MigrationError
            log.append("The store is the new one, but the cleanup failed: ", error)
        }
        for loss in migration.ledger.losses { log.append("Run \(identifier): \(loss.sentence)") }
        log.append("Run \(identifier): completed successfully in \(seconds) s.")
        observer.report(.done, 1, rows: observer.totalRows, bytes: bytes, "The store is of version \(migration.to)")
        return MigrationOutcome(
            run: identifier, backup: backup, rows: rows, bytesBefore: before.size, bytesAfter: after.size,
            seconds: timings.all, recovery: recovery, space: space, pruned: pruned.map(\.name),
            untidied: untidied, policies: migration.ledger.counts, losses: migration.ledger.losses,
            rules: migration.ruleLog?.reports ?? [], quarantined: quarantined)
    }

    /// Takes back everything but the backup, should it be whole already; the error that led here is the one that counts.
    func abandon(_ error: any Error) {
        guard !isCommitted else { return }
        // What is left tells the next run what it has to know.
        guard !isUnsettled else { return log.append("Run \(identifier): ", error) }
        let result: StoreRun.Result = (error as? MigrationError)?.code == .cancelled ? .cancelled : .failed
        try? Recovery.removeNewExternalFiles(journal, sidecar, system)
        if let draft = pace?.checkpoint.draft { _ = try? system.removeTree(Path.join(backups.folder, draft.name)) }
        _ = try? system.removeTree(work)
        // So would each call whose budget was too short.
        if result == .cancelled || (error as? MigrationError)?.code == .budgetTooSmall { removeBackup() }
        log.append("Run \(identifier): \(result.rawValue): ", error)
        do {
            // Where they cannot be undone now, or the run cannot be recorded, the journal stays and the next run does it.
            try RunHistory(sidecar, system).append(record(result, error))
            try Quarantine(sidecar, system).remove(run: identifier)
            try Journal.remove(sidecar, system)
        } catch {
            log.append("Run \(identifier): the cleanup failed: ", error)
        }
    }

    /// The store is as it was, and would have one more copy for each time that somebody changes his mind.
    private func removeBackup() {
        guard let name = journal.backup, let backup = try? backups.backup(named: name) else { return }
        do {
            try backups.remove(backup)
            journal.backup = nil
        } catch {
            log.append("Run \(identifier): the backup \(name) could not be removed: ", error)
        }
    }

    func record(_ result: StoreRun.Result, _ error: (any Error)?) -> StoreRun {
        StoreRun(
            run: identifier, operation: migration.operation, result: result, from: migration.from, to: migration.to,
            startTime: startedAt.iso8601, endTime: system.now.iso8601, seconds: seconds,
            backup: journal.backup, backups: journal.backup.map { _ in backups.folder },
            rows: result == .done ? rows : 0, bytes: bytes,
            error: error.map { ($0 as? MigrationError).map { "\($0.code): \($0.message)" } ?? "\(type(of: $0))" },
            quarantined: result == .done ? quarantined : 0,
            fixed: result == .done ? migration.ruleLog?.reports.fixed ?? 0 : 0,
            losses: result == .done ? migration.ledger.losses : [])
    }

    private var seconds: Double { (system.now.seconds(since: startedAt) * 1000).rounded() / 1000 }
}
