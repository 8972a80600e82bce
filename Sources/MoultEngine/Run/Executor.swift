import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore
import MoultVerify

/// One run on one store, from taking the lock to the entry in the history.
final class Executor {
    let migration: Pass
    let lock: StoreLock
    let options: MigrationOptions
    let system: any System
    let observer: MigrationObserver
    let backups: BackupFolder
    let identifier: String
    let before: StoreState
    let recovery: RecoveryOutcome
    let startedAt: Timestamp
    let timings: PhaseTimings
    var journal: Journal
    /// Whether the commit may have put the new store in place.
    var isCommitted = false
    /// Whether the state is unknown, because the disk failed during the commit and afterwards.
    var isUnsettled = false
    /// The pages that the new store must have, and the working copy that holds them; nil without a working copy, and
    /// until the commit.
    var committed: (pages: PageDigests, copy: String)?
    var bytes: Int64 = 0
    /// The rows of the scripts that have run, and the objects that the app's code has written.
    var rows: Int64 = 0
    /// The backup to discard if the run fails; nil if none was made, or the next call needs it.
    var draft: BackupFolder.Draft?
    /// The space that the run has checked for.
    private var space = SpaceRequirement(parts: [])
    let trail: StepUndoLog
    /// Files of external data that code has written, next to the working copy.
    var stagedFiles: [String] = []
    /// The number of objects that this run has quarantined.
    var quarantined: Int64 = 0
    /// The budget of a run that must end in time.
    let pace: CallBudget?
    /// Whether the observer has asked to cancel the run.
    let isAskedToEnd: @Sendable () -> Bool

    var sidecar: StoreRecords { lock.sidecar }
    var work: String { sidecar.work(identifier) }
    var log: MigrationLog { MigrationLog(sidecar, system) }
    var runner: ScriptRunner { ScriptRunner(script: migration.script, observer: observer) }

    init(
        _ migration: Pass, _ lock: StoreLock, _ recovery: RecoveryOutcome, _ options: MigrationOptions,
        _ system: any System, _ observer: MigrationObserver, within budget: CallStart? = nil
    ) throws {
        self.migration = migration
        self.lock = lock
        self.recovery = recovery
        self.options = options
        self.system = system
        isAskedToEnd = observer.isCancelled
        trail = StepUndoLog(store: lock.sidecar.store, system: system)
        backups = BackupFolder(options.backupFolder ?? lock.sidecar.backups, system)
        let checkpoint = budget?.checkpoint
        let begun = checkpoint?.startedAt ?? system.now
        let name = checkpoint?.run ?? "\(begun.iso8601Basic)-\(system.uniqueName().prefix(8))"
        (startedAt, identifier) = (begun, name)
        before = try StoreState(lock.connection)
        timings = PhaseTimings(after: checkpoint?.timings ?? [], system)
        pace = budget.map { [before] in
            CallBudget($0, migration, run: name, startedAt: begun, size: before.size, system)
        }
        let estimate = try Estimate(migration, over: lock.connection, size: before.size)
        self.observer = observer.withTotalRows(of: migration)
            .timed(by: estimate, from: checkpoint?.fraction ?? 0, system).ending(pace)
        journal = Journal(
            run: identifier, operation: migration.operation, state: .started, from: migration.from, to: migration.to,
            startedAt: startedAt.iso8601, schemaVersion: before.schemaVersion, oldChecksum: before.checksum,
            newChecksum: nil, backup: checkpoint?.backup, backups: backups.folder,
            newExternalFiles: migration.newExternalFiles.map(\.name), request: options.request)
    }

    func perform() throws -> MigrationOutcome {
        do {
            migration.ledger.begin()
            for check in migration.preconditions { try check.check(lock.connection) }
            space = try checkSpace()
            try journal.write(sidecar, system)
            if migration.operation == .downgrade {
                let numbers = try GivenNumbers(lock.connection)
                try KeptKeys.add(numbers.entityKeys, sidecar, of: StoreMetadata(from: lock.connection).uuid, system)
            }
            log.append("Run \(identifier): \(migration.operation.sentence(from: migration.from, to: migration.to))")
            let backup: StoreBackup?
            if let pace {
                backup =
                    migration.script.isInPlace
                    ? try pace.perform(units.whole, changeStore) : try changeInPieces(pace)
            } else {
                let isInStore = migration.script.isInPlace || migration.staysInStore && !options.isFrugal
                backup = isInStore ? try changeStore() : try changeOnCopy(of: makeDraft())
            }
            draft = nil
            return try finish(backup, space)
        } catch {
            if let draft { backups.discard(draft) }
            let error: any Error = (error as? MigrationError).map(explained) ?? error
            let end = Result { try pace.flatMap { try endOfCall($0, after: error) } }
            // The work is kept for the next call.
            if case .success(let kept?) = end { throw kept }
            let cause = end.failure ?? error
            // After the commit there is nothing to undo, and nothing may throw.
            let final = isCommitted || isUnsettled ? cause : trail.undoing(after: cause) { log.append($0) }
            abandon(final)
            throw final
        }
    }
}

extension Executor {
    /// Prepares an error for a person: a cancelled run mentions no statement and no working copy.
    private func explained(_ error: MigrationError) -> MigrationError {
        error.code == .cancelled
            ? Self.cancelled(sidecar.store) : preferringDamage(space.withNumbers(error, system))
    }

    /// Reports damage of the old store in place of other errors that it explains: an index that does not match its
    /// table finds rows that the table does not have.
    private func preferringDamage(_ error: MigrationError) -> MigrationError {
        guard [.verificationFailed, .dataConflict].contains(error.code) else { return error }
        do {
            try lock.connection.checkSoundness(place: sidecar.store)
        } catch let damage as MigrationError where damage.code == .storeCorrupted {
            return damage
        } catch {}
        guard error.code == .verificationFailed, let fault = (try? IndexFault.all(lock.connection))?.first else {
            return error
        }
        return MigrationError(
            .storeCorrupted,
            "The index \(fault.index.name) does not match its table, so the migration could not be verified.",
            place: sidecar.store,
            remedy: "The store is unchanged. \(.repair, .only(["indexes"])) makes the index again; then migrate again.",
            cause: error.message)
    }
}

extension Executor {
    static func cancelled(_ store: String) -> MigrationError {
        MigrationError(
            .cancelled, "The migration was cancelled. The store is unchanged.", place: store,
            remedy: "Run the command again to migrate the store.")
    }

    private func checkSpace() throws -> SpaceRequirement {
        // An earlier call checked the space and has used part of it.
        if pace?.isResumed == true { return SpaceRequirement(parts: []) }
        try backups.makeFolder(sidecar.rights)
        let space = try SpaceRequirement(
            migration, over: lock.connection, sidecar, options, backups: backups.folder, isPaced: pace != nil, system)
        try space.check(for: migration.operation.work, offering: migration.ways(options), system)
        return space
    }

    /// Runs the commit. If it fails after SQLite made it durable, the store's own state decides.
    func committing(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch {
            switch Recovery.isNew(lock, journal) {
            case .success(true): log.append("The commit reported an error, but the store is the new one: ", error)
            case .success(false): throw error
            case .failure:
                isUnsettled = true
                throw unsettled(error)
            }
        }
        isCommitted = true
    }

    private func unsettled(_ error: any Error) -> MigrationError {
        let known = error as? MigrationError
        return MigrationError(
            known?.code ?? .inputOutput,
            "The disk failed during the commit. The store is the complete old one or the complete new one. Which one "
                + "will be known when the disk works again.", place: sidecar.store,
            remedy: "Repair the disk, then run the command again. No file that either store needs was removed.",
            cause: known?.cause ?? "\(error)")
    }
}

// MARK: - The end

extension Executor {
    /// Finishes a committed run. Only the proof of the commit may still fail; failed cleanup is logged and left to the
    /// next run.
    ///
    /// - Throws: `verificationFailed` if a page of the new store does not read back as written.
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
            try migration.unnamedFiles?.moveAway(lock, identifier)
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
        observer.report(.done, 1, rows: rows, bytes: bytes, "The store is of version \(migration.to)")
        return MigrationOutcome(
            run: identifier, backup: backup, rows: rows, bytesBefore: before.size, bytesAfter: after.size,
            seconds: timings.all, recovery: recovery, space: space, pruned: pruned.map(\.name),
            untidied: untidied, policies: migration.ledger.counts, losses: migration.ledger.losses,
            rules: migration.ruleLog?.reports ?? [], quarantined: quarantined)
    }

    /// Removes everything but a finished backup. The error that led here takes precedence over errors in this cleanup.
    func abandon(_ error: any Error) {
        guard !isCommitted else { return }
        // The next run needs the files that are left.
        guard !isUnsettled else { return log.append("Run \(identifier): ", error) }
        let result: StoreRun.Result = (error as? MigrationError)?.code == .cancelled ? .cancelled : .failed
        if let draft = pace?.checkpoint.draft { _ = try? system.removeTree(Path.join(backups.folder, draft.name)) }
        _ = try? system.removeTree(work)
        // Likewise for a call whose budget was too short: repeated calls would pile up backups.
        if result == .cancelled || (error as? MigrationError)?.code == .budgetTooSmall { removeBackup() }
        log.append("Run \(identifier): \(result.rawValue): ", error)
        do {
            // If the files cannot be removed, the steps cannot be undone or the run cannot be recorded, the journal stays
            // and the next run cleans up.
            try Recovery.removeNewExternalFiles(journal, sidecar, system)
            try RunHistory(sidecar, system).append(record(result, error))
            try Quarantine(sidecar, system).remove(run: identifier)
            try Journal.remove(sidecar, system)
        } catch {
            log.append("Run \(identifier): the cleanup failed: ", error)
        }
    }

    /// Removes the backup of an unchanged store; otherwise each cancelled run would leave one more copy.
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
