import MoultModel
import MoultSQLite
import MoultStore
import MoultSystem
import MoultVerify

/// One run on one store, from the lock that is held to the entry in the history.
final class MigrationRun {
    let migration: Migration
    let lock: StoreLock
    let options: MigrationOptions
    let system: any System
    let observer: MigrationObserver
    let backups: BackupFolder
    let identifier: String
    let before: StoreState
    let recovery: Recovery.Outcome
    let startedAt: Timestamp
    var timings: [MigrationOutcome.Timing] = []
    var journal: Journal
    /// Whether the new store may be in place.
    var isCommitted = false
    /// Whether that is not known, because the disk failed in the commit and afterwards.
    var isUnsettled = false
    var bytes: Int64 = 0
    /// The room that the run has made sure of.
    private var space = SpaceRequirement(parts: [])
    let trail: StepTrail
    /// Files of external data that code has written, next to the working copy.
    private var stagedFiles: [String] = []
    /// Objects that this run has put into the quarantine.
    private var quarantined: Int64 = 0
    /// For a run that has to end in time.
    let pace: MigrationPace?
    /// Whether whoever watches wants it to end.
    let isAskedToEnd: @Sendable () -> Bool

    var sidecar: Sidecar { lock.sidecar }
    var work: String { sidecar.work(identifier) }
    var log: MigrationLog { MigrationLog(sidecar, system) }
    private var runner: ScriptRunner { ScriptRunner(script: migration.script, observer: observer, system: system) }

    init(
        _ migration: Migration, _ lock: StoreLock, _ recovery: Recovery.Outcome, _ options: MigrationOptions,
        _ system: any System, _ observer: MigrationObserver, within budget: MigrationBudget? = nil
    ) throws {
        self.migration = migration
        self.lock = lock
        self.recovery = recovery
        self.options = options
        self.system = system
        isAskedToEnd = observer.isCancelled
        trail = StepTrail(store: lock.sidecar.store, system: system)
        backups = BackupFolder(options.backupFolder ?? lock.sidecar.backups, system)
        let checkpoint = budget?.checkpoint
        let begun = checkpoint?.startedAt ?? system.now
        let name = checkpoint?.run ?? "\(begun.iso8601Basic)-\(system.uniqueName().prefix(8))"
        (startedAt, identifier) = (begun, name)
        before = try StoreState(lock.connection)
        timings = checkpoint?.timings ?? []
        pace = budget.map { [before] in
            MigrationPace($0, migration, run: name, startedAt: begun, size: before.size, system)
        }
        let costs = try migration.script.costs(over: lock.connection)
        let estimate = RunEstimate(migration, costs, size: before.size)
        self.observer = observer.withTotalRows(of: migration.script)
            .timed(by: estimate, from: checkpoint?.fraction ?? 0, system).ending(pace)
        journal = Journal(
            run: identifier, operation: migration.operation, state: .started, from: migration.from, to: migration.to,
            startedAt: startedAt.iso8601, schemaVersion: before.schemaVersion, oldChecksum: before.checksum,
            newChecksum: nil, backup: checkpoint?.backup, backups: backups.folder,
            newExternalFiles: migration.newExternalFiles.map(\.name))
    }

    func perform() throws -> MigrationOutcome {
        do {
            migration.ledger.begin()
            try migration.precondition(lock.connection)
            space = try checkSpace()
            try journal.write(sidecar, system)
            log.append("Run \(identifier): \(migration.operation.sentence(from: migration.from, to: migration.to))")
            return finish(try change(), space)
        } catch {
            let error: any Error =
                (error as? MigrationError).map { blamingDamage(space.withNumbers($0, system)) } ?? error
            let end = Result { try pace.flatMap { try endOfCall($0, after: error) } }
            // The work is kept for the next call.
            if case .success(let kept?) = end { throw kept }
            let cause = end.failure ?? error
            // After the commit there is nothing to undo, and nothing that throws.
            let final = isCommitted || isUnsettled ? cause : trail.undoing(after: cause) { log.append($0) }
            abandon(final)
            throw final
        }
    }
}

extension MigrationRun {
    /// Damage of the old store explains what else was found: rows that are found by an index that does not match its table
    /// are not those of the table.
    private func blamingDamage(_ error: MigrationError) -> MigrationError {
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
            remedy: "The store is unchanged. moult repair --only indexes makes the index again; then migrate again.",
            cause: error.message)
    }
}

// MARK: - On a copy

extension MigrationRun {
    private func change() throws -> StoreBackup? {
        guard let pace else {
            let isInStore = migration.script.isInPlace || migration.staysInStore && !options.isFrugal
            return try isInStore ? changeStore() : changeOnCopy()
        }
        guard migration.script.isInPlace else { return try changeInPieces(pace) }
        return try pace.perform(units.whole) { try changeStore() }
    }

    /// The backup is what a script reads, and what the rows are compared with. A frugal run takes it away in the end.
    private func withDraft<Result>(_ body: (BackupFolder.Draft) throws -> Result) throws -> Result {
        let draft = try measure(.backup) {
            try backups.draft(
                of: lock, version: migration.from, for: migration.reason, copyingExternalData: !options.isFrugal,
                observer)
        }
        do {
            return try body(draft)
        } catch {
            backups.discard(draft)
            throw error
        }
    }

    /// The draft is verified on the other core while the script reads it; both only read.
    private func prove(_ draft: BackupFolder.Draft) -> BackgroundWork<BackupFolder.Proof> {
        BackgroundWork(isSequential: options.isSequential) { [backups, options] in
            try backups.prove(draft, isSequential: options.isSequential)
        }
    }

    private func changeOnCopy() throws -> StoreBackup? { try withDraft(changeOnCopy(of:)) }

    func changeOnCopy(of draft: BackupFolder.Draft) throws -> StoreBackup? {
        let proof = prove(draft)
        defer { _ = try? proof.wait() }
        var backup: StoreBackup?
        let path = try migration.forEachPass(on: draft.store, named: sidecar.nameOfCopy, makeCopy) { pass, copy in
            let isFirst = copy.source == draft.store
            try measure(.change) { try copy.run(pass, observer) }
            if isFirst { backup = try measure(.backup) { try finish(draft, proof) } }
            try verify(pass, copy.connection)
            try runSteps(of: pass, on: copy)
            try keepQuarantined(by: copy)
            try copy.connection.detach("source")
            journal.newChecksum = try StoreState(copy.connection).checksum
            if !isFirst, !trail.needs(copy.source) { try system.remove(copy.source) }
        }
        observer.report(.verify, 1, rows: observer.totalRows, "The new store is verified")
        if options.isFrugal { backups.discard(draft) }
        try measure(.commit) { try commit(path) }
        return backup
    }

    /// The journal names the steps whose undo would not be called if the process died.
    private func runSteps(of pass: Migration, on copy: WorkingCopy) throws {
        let steps = pass.steps.filter { $0.undo != nil }.map(\.name)
        if !steps.isEmpty {
            journal.steps += steps
            try journal.write(sidecar, system)
        }
        try measure(.change) { try copy.runSteps(of: pass, noting: trail, observer) }
    }

    /// The objects that a pass took out or put back are durable before the commit, under this run's name.
    private func keepQuarantined(by copy: WorkingCopy) throws {
        let quarantine = Quarantine(sidecar, system)
        quarantined += try quarantine.keep(from: copy.connection, run: identifier)
        try quarantine.noteRestored(from: copy.connection, run: identifier)
    }

    /// Verifies the new store, and writes what is due from its commit on. A verification that is cancelled ends at once.
    private func verify(_ pass: Migration, _ connection: Connection) throws {
        do {
            try measure(.verify) {
                let isLast = pass.next == nil && pass.steps.isEmpty
                let verify = connection.isInTransaction ? pass.verifyChanged ?? pass.verify : pass.verify
                try observer.watching(connection, as: isLast ? .verify : nil) { try verify(connection) }
            }
            try pass.writeMetadataEntries(connection)
        } catch let error as MigrationError where error.code == .cancelled {
            throw Self.cancelled(sidecar.store)
        }
    }

    private func makeCopy(of path: String, _ name: String) throws -> WorkingCopy {
        try measure(.copy) {
            try system.makeFolder(work)
            let copy = try WorkingCopy(
                of: path, at: Path.join(work, name), for: sidecar.store, options, system)
            if name == sidecar.nameOfCopy { observer.report(.copy, 1, bytes: before.size) }
            return copy
        }
    }

    /// Waits for the proof and gives the backup its name; a frugal run keeps none.
    ///
    /// - Parameter phase: the one that the run is in.
    func finish(
        _ draft: BackupFolder.Draft, _ proof: BackgroundWork<BackupFolder.Proof>,
        during phase: MigrationProgress.Phase = .change
    ) throws -> StoreBackup? {
        let proof = try proof.wait()
        bytes += proof.size
        guard !options.isFrugal else { return nil }
        let backup = try named { try backups.finish(draft, proof, naming: $0) }
        let start = migration.span.lowerBound
        observer.spanning(start...start)
            .report(phase, 1, rows: observer.totalRows, "Made the backup \(backup.name)", isBeside: true)
        return backup
    }

    /// The journal names a backup before it has its name, so that no death leaves one that no run names.
    func named(_ make: ((String) throws -> Void) throws -> StoreBackup) throws -> StoreBackup {
        do {
            return try make { name in
                journal.backup = name
                try journal.write(sidecar, system)
            }
        } catch {
            if let name = journal.backup, try !system.exists(Path.join(backups.folder, name)) { journal.backup = nil }
            throw error
        }
    }

    /// Copies the finished pages into the store through SQLite: one transaction in the same file.
    func commit(_ path: String) throws {
        try noteStagedFiles(path)
        try writeExternalFiles()
        guard !observer.isCancelled() else { throw MigrationRun.cancelled(sidecar.store) }
        journal.state = .committing
        journal.losses = migration.ledger.losses
        try journal.write(sidecar, system)
        let source = try Connection(path, mode: .immutable)
        defer { source.close() }
        let pageSize = before.pageSize
        try committing {
            try Backup(from: source, to: lock.connection).run(stepPages: 4_096) { done, all in
                // What is in the log has still to be written into the store's own file.
                let part = Double(done) / Double(max(all, 1)) * (before.usesWAL ? 0.5 : 0.9)
                observer.report(.commit, part, bytes: Int64(done) * pageSize)
                return true
            }
        }
    }

    /// The journal names the files that code has written before they are put where they belong.
    private func noteStagedFiles(_ path: String) throws {
        let folder = ExternalStorage(ofWorkingCopy: path, of: sidecar.store).folder
        guard try system.exists(folder) else { return }
        stagedFiles = try system.list(folder).map { Path.join(folder, $0) }
        journal.newExternalFiles += stagedFiles.map(Path.name(of:))
        try journal.write(sidecar, system)
    }

    private func writeExternalFiles() throws {
        guard !migration.newExternalFiles.isEmpty || !stagedFiles.isEmpty else { return }
        try ExternalStorage(store: sidecar.store).makeFolder(on: system)
        for file in migration.newExternalFiles {
            let path = Path.join(sidecar.externalData, file.name)
            try system.write(file.contents, to: path, sidecar.rights)
            try system.synchronise(path)
        }
        for file in stagedFiles {
            let path = Path.join(sidecar.externalData, Path.name(of: file))
            try system.copy(file, to: path, sidecar.rights)
            try system.synchronise(path)
        }
        for folder in [sidecar.externalData, sidecar.support, Path.folder(of: sidecar.store)] {
            try system.synchronise(folder)
        }
    }
}

// MARK: - On the store itself

extension MigrationRun {
    /// One transaction, next to the backup. A script that reads rows has it as `source`; they are compared with it.
    private func changeStore() throws -> StoreBackup? {
        guard !options.isFrugal, migration.script.needsBackup else {
            try changeInOneTransaction()
            return nil
        }
        return try withDraft { draft in
            let proof = prove(draft)
            defer { _ = try? proof.wait() }
            let isRead = !migration.script.isInPlace
            if isRead {
                try FormatFunctions.register(on: lock.connection)
                try WorkingCopy.limitMemory(of: lock.connection, options)
                try lock.connection.attach(draft.store, as: "source")
            }
            defer { if isRead { try? lock.connection.detach("source") } }
            var backup: StoreBackup?
            try changeInOneTransaction { isVerified in
                // A draft that is not sound explains whatever was found by comparing with it.
                guard isVerified else {
                    _ = try proof.wait()
                    return
                }
                backup = try measure(.backup) { try finish(draft, proof, during: .verify) }
            }
            return backup
        }
    }

    /// - Parameter ended: called when the verification has ended, before the commit, with whether it has found nothing. The
    ///   backup is proven meanwhile, on the other core.
    private func changeInOneTransaction(_ ended: (_ isVerified: Bool) throws -> Void = { _ in }) throws {
        let connection = lock.connection
        try connection.registerCoreDataStubs()
        for function in migration.functions { try connection.register(function) }
        try writeExternalFiles()
        try connection.execute("BEGIN IMMEDIATE")
        do {
            try measure(.change) { try runner.run(on: connection) }
            try migration.settleLosses()
            do { try verify(migration, connection) } catch {
                try ended(false)
                throw error
            }
            try ended(true)
            guard !observer.isCancelled() else { throw MigrationRun.cancelled(sidecar.store) }
            journal.state = .committing
            journal.losses = migration.ledger.losses
            journal.newChecksum = try distinctState(of: connection).checksum
            try journal.write(sidecar, system)
        } catch {
            if connection.isInTransaction { try? connection.execute("ROLLBACK") }
            throw error
        }
        try measure(.commit) {
            try committing {
                do {
                    try connection.execute("COMMIT")
                } catch {
                    if connection.isInTransaction { try? connection.execute("ROLLBACK") }
                    throw error
                }
            }
        }
        observer.report(.commit, 1, rows: observer.totalRows)
    }

    /// The state of the new store; a recovery tells it from the old one by its hashes, or by the number of its schema.
    private func distinctState(of connection: Connection) throws -> StoreState {
        let state = try StoreState(connection)
        guard state.checksum == before.checksum, state.schemaVersion == before.schemaVersion else { return state }
        try connection.execute("PRAGMA main.schema_version = \((state.schemaVersion &+ 1) & 0x7FFF_FFFF)")
        return state
    }
}

// MARK: - Parts

extension MigrationRun {
    static func cancelled(_ store: String) -> MigrationError {
        MigrationError(
            .cancelled, "The migration was cancelled. The store is unchanged.", place: store,
            remedy: "Run the command again to migrate the store.")
    }

    func checkSpace() throws -> SpaceRequirement {
        // An earlier call has made sure of the space, and has taken a part of it.
        if pace?.isResumed == true { return SpaceRequirement(parts: []) }
        try backups.makeFolder(sidecar.rights)
        let space = try SpaceRequirement(
            migration, on: before, sidecar, options, backups: backups.folder, isPaced: pace != nil, system)
        try space.check(system)
        return space
    }

    /// Runs the commit. Should it fail after SQLite has made it durable, the store itself says so, and it counts.
    private func committing(_ body: () throws -> Void) throws {
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

    func measure<Result>(_ phase: MigrationProgress.Phase, _ body: () throws -> Result) rethrows -> Result {
        let start = system.monotonicNanoseconds
        defer {
            let seconds = system.seconds(since: start)
            if let known = timings.firstIndex(where: { $0.phase == phase }) {
                timings[known].seconds += seconds
            } else {
                timings.append(.init(phase: phase, seconds: seconds))
            }
        }
        return try body()
    }

    /// After the commit nothing may fail any more: what cannot be tidied is logged, and the next run tidies it.
    private func finish(_ backup: StoreBackup?, _ space: SpaceRequirement) -> MigrationOutcome {
        var pruned: [StoreBackup] = []
        var after = before
        var untidied: MigrationError?
        do {
            try measure(.commit) {
                let writesBack = !before.usesWAL || hasTimeToWriteBack
                try lock.connection.keepWALOnClose(!writesBack)
                if writesBack { try lock.connection.writeBackLog(system) }
            }
            after = try StoreState(lock.connection)
            bytes += after.size
            try RunHistory(sidecar, system).append(record(.done, nil))
            try system.removeTree(work)
            try Journal.remove(sidecar, system)
            if hasTimeToPrune { pruned = try backups.prune(options.retention) }
        } catch {
            untidied = error as? MigrationError
            log.append("The store is the new one, but the cleanup failed: ", error)
        }
        for loss in migration.ledger.losses { log.append("Run \(identifier): \(loss.sentence)") }
        log.append("Run \(identifier): completed successfully in \(seconds) s.")
        observer.report(.done, 1, rows: observer.totalRows, bytes: bytes, "The store is of version \(migration.to)")
        return MigrationOutcome(
            run: identifier, backup: backup, rows: observer.totalRows, bytesBefore: before.size, bytesAfter: after.size,
            seconds: timings, recovery: recovery, space: space, pruned: pruned.map(\.name),
            untidied: untidied, policies: migration.ledger.counts, losses: migration.ledger.losses,
            rules: migration.ruleLog?.reports ?? [], quarantined: quarantined)
    }

    /// Takes back everything but the backup, should it be whole already; the error that led here is the one that counts.
    private func abandon(_ error: any Error) {
        guard !isCommitted else { return }
        // What is left tells the next run what it has to know.
        guard !isUnsettled else { return log.append("Run \(identifier): ", error) }
        let result: RunRecord.Result = (error as? MigrationError)?.code == .cancelled ? .cancelled : .failed
        try? Recovery.removeNewExternalFiles(journal, sidecar, system)
        if let draft = pace?.checkpoint.draft { _ = try? system.removeTree(Path.join(backups.folder, draft.name)) }
        _ = try? system.removeTree(work)
        if result == .cancelled { removeBackup() }
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

    func record(_ result: RunRecord.Result, _ error: (any Error)?) -> RunRecord {
        RunRecord(
            run: identifier, operation: migration.operation, result: result, from: migration.from, to: migration.to,
            startedAt: startedAt.iso8601, endedAt: system.now.iso8601, seconds: seconds,
            backup: journal.backup, backups: journal.backup.map { _ in backups.folder },
            rows: result == .done ? observer.totalRows : 0, bytes: bytes,
            error: error.map { ($0 as? MigrationError).map { "\($0.code): \($0.message)" } ?? "\(type(of: $0))" },
            quarantined: result == .done ? quarantined : 0,
            fixed: result == .done ? migration.ruleLog?.reports.fixed ?? 0 : 0,
            losses: result == .done ? migration.ledger.losses : [])
    }

    private var seconds: Double { (system.now.seconds(since: startedAt) * 1000).rounded() / 1000 }
}
