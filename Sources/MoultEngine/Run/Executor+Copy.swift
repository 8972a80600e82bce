import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore

// MARK: - On a copy

extension Executor {
    /// Changes a copy of the store, pass by pass, and commits it.
    ///
    /// - Returns: the backup to go back to; nil after a frugal run.
    func changeOnCopy(of draft: BackupFolder.Draft) throws -> StoreBackup? {
        let proof = prove(draft)
        defer { _ = try? proof.wait() }
        var backup: StoreBackup?
        let passes = PassCopies(of: migration, on: draft.store, in: work, for: sidecar.store, options, system)
        defer { passes.close() }
        while let (pass, copy) = try passes.next(timings, observer, size: before.size) {
            if let refusal = pass.lossRefusal { throw refusal }
            let isFirst = copy.source == draft.store
            try copy.perform(
                pass, noting: trail, timings, observer,
                changed: { if isFirst { backup = try timings.measure(.backup) { try finish(draft, proof) } } },
                beforeSteps: { try noteSteps(of: pass) })
            rows += copy.rows(of: pass)
            try keepQuarantined(by: copy)
            try copy.connection.detach("source")
            journal.newChecksum = try StoreState(copy.connection).checksum
            if !isFirst, !trail.needs(copy.source) { try system.remove(copy.source) }
        }
        observer.report(.verify, 1, rows: rows, "The new store is verified")
        if options.isFrugal { backups.discard(draft) }
        try timings.measure(.commit) { try commit(passes.path) }
        return backup
    }

    /// Records in the journal the steps that can be undone, so that a recovery can name those whose undo did not run.
    private func noteSteps(of pass: Pass) throws {
        let steps = pass.steps.filter(\.action.canBeUndone).map(\.name)
        guard !steps.isEmpty else { return }
        journal.steps += steps
        try journal.write(sidecar, system)
    }

    /// Makes the objects that a pass quarantined or restored durable before the commit, under this run's name.
    private func keepQuarantined(by copy: WorkingCopy) throws {
        let quarantine = Quarantine(sidecar, system)
        quarantined += try quarantine.keep(from: copy.connection, run: identifier)
        try quarantine.noteRestored(from: copy.connection, run: identifier)
    }

    /// Copies the finished pages into the store through SQLite: one transaction in the same file.
    func commit(_ path: String) throws {
        try noteStagedFiles(path)
        try writeExternalFiles()
        guard !observer.isCancelled() else { throw Executor.cancelled(sidecar.store) }
        let source = try Connection(path, mode: .immutable)
        defer { source.close() }
        try noteDroppedFiles(from: namedFiles(), to: source)
        journal.state = .committing
        journal.losses = migration.ledger.losses
        try journal.write(sidecar, system)
        let pages = try PageDigests(ofFile: path)
        try committing {
            do {
                try writePages(of: path)
            } catch {
                // The copy still has what has to be written.
                guard try lock.connection.fileChangedOnTheWay() != nil else { throw error }
                logWrittenAgain()
                try lock.settle()
                try lock.connection.proving { try writePages(of: path) }
            }
        }
        committed = (pages, path)
    }

    private func logWrittenAgain() {
        log.append("Run \(identifier): a page was not read as it was written. The new store is written again.")
    }

    private func writePages(of path: String) throws {
        let source = try Connection(path, mode: .immutable)
        defer { source.close() }
        let pageSize = before.pageSize
        try Backup(from: source, to: lock.connection).run(stepPages: 4_096) { done, all in
            // The contents of the WAL still have to be written to the store file.
            let part = Double(done) / Double(max(all, 1)) * (before.usesWAL ? 0.5 : 0.9)
            observer.report(.commit, part, bytes: Int64(done) * pageSize)
            return true
        }
    }

    /// Ends a commit, of which every write is proven: writes the WAL back, and compares every page of the store with the
    /// working copy's, if there is one. Writes the pages again if one differs.
    ///
    /// - Throws: `verificationFailed` if a page still differs; errors from the file system, after which the WAL stays.
    func proveCommit(_ backup: StoreBackup?, writingBack writesBack: Bool) throws {
        if writesBack { try lock.connection.writeBackLog(system) }
        /// Returns the first page that differs, or 1 if SQLite reports the store as damaged.
        func difference(from pages: PageDigests) throws -> Int? {
            do {
                return try PageDigests(lock.connection).firstDifference(from: pages)
            } catch let error as MigrationError where [.storeCorrupted, .notAStore].contains(error.code) {
                return 1
            }
        }
        guard let committed, try difference(from: committed.pages) != nil else { return }
        logWrittenAgain()
        do {
            try lock.connection.proving { try writePages(of: committed.copy) }
            try lock.connection.writeBackLog(system)
        } catch {
            log.append("Run \(identifier): the new store could not be written again: ", error)
            try? lock.settle()
        }
        guard let page = try difference(from: committed.pages) else { return }
        throw MigrationError(
            .verificationFailed, "The new store was committed, but its page \(page) is not read as it was written.",
            place: sidecar.store,
            remedy: "Check the disk and the memory of this machine. "
                + (backup.map { "Then \(.rollback) puts the old store back, the backup \($0.name)." }
                    ?? "No backup was kept: \(.diagnose) says what helps."))
    }

    /// Records in the journal the external files that code wrote, before they are moved into place.
    private func noteStagedFiles(_ path: String) throws {
        let folder = ExternalStorage(ofWorkingCopy: path, of: sidecar.store).folder
        guard try system.exists(folder) else { return }
        stagedFiles = try system.list(folder).map { Path.join(folder, $0) }
        if pace != nil {
            // A call that died may have left files of a piece that was rolled back.
            let copy = try Connection(path, mode: .immutable)
            defer { copy.close() }
            let named = try ExternalStorage.names(in: copy)
            stagedFiles = stagedFiles.filter { named.contains(Path.name(of: $0)) }
        }
        journal.newExternalFiles += stagedFiles.map(Path.name(of:))
        try journal.write(sidecar, system)
    }

    /// Returns the names of the external files that the store refers to now; empty if no external file exists.
    func namedFiles() throws -> Set<String> {
        let hasFiles = try !ExternalStorage(store: sidecar.store).files(on: system).isEmpty
        return hasFiles ? try ExternalStorage.names(in: lock.connection) : []
    }

    /// Records in the journal the external files to remove after the commit, because no row names them any more. The
    /// backup has its own copies.
    func noteDroppedFiles(from named: Set<String>, to new: Connection) throws {
        guard !named.isEmpty else { return }
        journal.droppedFiles = try ExternalStorage(store: sidecar.store).droppable(
            named.subtracting(ExternalStorage.names(in: new)), of: sidecar.store, on: system)
    }

    func writeExternalFiles() throws {
        guard !migration.newExternalFiles.isEmpty || !stagedFiles.isEmpty else { return }
        try ExternalStorage(store: sidecar.store).makeFolder(on: self.system)
        for file in migration.newExternalFiles {
            let path = Path.join(sidecar.externalData, file.name)
            try system.writeExactly(file.contents, to: path, sidecar.rights)
            try system.synchronise(path)
        }
        for file in stagedFiles {
            let path = Path.join(sidecar.externalData, Path.name(of: file))
            try system.copyExactly(file, to: path, sidecar.rights)
            try system.synchronise(path)
        }
        for folder in [sidecar.externalData, sidecar.support, Path.folder(of: sidecar.store)] {
            try system.synchronise(folder)
        }
    }
}

// MARK: - The backup

extension Executor {
    /// Makes the backup that a script reads and that the rows are compared with. A frugal run removes it at the end.
    func makeDraft() throws -> BackupFolder.Draft {
        let made = try copyPages()
        draft = made
        return made
    }

    func copyPages() throws -> BackupFolder.Draft {
        try timings.measure(.backup) {
            try backups.draft(
                of: lock, version: migration.from, for: migration.reason, copyingExternalData: !options.isFrugal,
                observer)
        }
    }

    /// Verifies the draft on another core while the script reads it; both only read.
    func prove(_ draft: BackupFolder.Draft) -> BackgroundWork<BackupFolder.Proof> {
        BackgroundWork(isSequential: options.isSequential) { [backups, options] in
            try backups.prove(draft, isSequential: options.isSequential)
        }
    }

    /// Waits for the proof and gives the backup its name; a frugal run keeps none.
    ///
    /// - Parameter phase: the current phase of the run.
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

    /// Records the name of a backup in the journal before the backup gets it, so that a crash leaves no backup that no
    /// run names.
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
}

// MARK: - On the store itself

extension Executor {
    /// Changes the store in one transaction, next to the backup. A script that reads rows reads the backup as `source`,
    /// and the rows are compared with it.
    func changeStore() throws -> StoreBackup? {
        guard !options.isFrugal, migration.script.needsBackup else {
            try changeInOneTransaction()
            return nil
        }
        let draft = try makeDraft()
        let proof = prove(draft)
        defer { _ = try? proof.wait() }
        let isRead = !migration.script.isInPlace
        if isRead {
            try WorkingCopy.limitMemory(of: lock.connection, options)
            try lock.connection.attach(draft.store, as: "source")
        }
        defer { if isRead { try? lock.connection.detach("source") } }
        var backup: StoreBackup?
        try changeInOneTransaction { isVerified in
            // If the draft is unsound, that explains any difference from it.
            guard isVerified else {
                _ = try proof.wait()
                return
            }
            backup = try timings.measure(.backup) { try finish(draft, proof, during: .verify) }
        }
        return backup
    }

    /// - Parameter ended: called after the verification and before the commit, with whether it succeeded. The backup is
    ///   proven meanwhile, on another core.
    private func changeInOneTransaction(_ ended: (_ isVerified: Bool) throws -> Void = { _ in }) throws {
        let connection = lock.connection
        try connection.registerCoreDataStubs()
        try FormatFunctions.register(on: connection)
        for function in migration.functions { try connection.register(function) }
        try writeExternalFiles()
        let named = try namedFiles()
        try connection.execute("BEGIN IMMEDIATE")
        do {
            do {
                let begun = system.monotonicNanoseconds
                defer { timings.add(.change, since: begun) }
                try runner.run(on: connection)
            }
            rows = migration.script.rows
            try migration.settleLosses()
            do { try migration.verify(connection, timings, observer) } catch {
                try ended(false)
                throw error
            }
            try ended(true)
            guard !observer.isCancelled() else { throw Executor.cancelled(sidecar.store) }
            try noteDroppedFiles(from: named, to: connection)
            journal.state = .committing
            journal.losses = migration.ledger.losses
            journal.newChecksum = try distinctState(of: connection).checksum
            try journal.write(sidecar, system)
        } catch {
            if connection.isInTransaction { try? connection.execute("ROLLBACK") }
            try? connection.forgetFailedTransaction()
            throw error
        }
        try timings.measure(.commit) {
            try committing {
                do {
                    // The WAL is written back by `proveCommit`, which does it again if a page differs.
                    try connection.proving { try connection.execute("PRAGMA wal_autocheckpoint = 0; COMMIT") }
                } catch {
                    if connection.isInTransaction { try? connection.execute("ROLLBACK") }
                    throw error
                }
            }
        }
        observer.report(.commit, 1, rows: observer.totalRows)
    }

    /// Returns the state of the new store. Recovery tells it from the old one by its hashes or its schema number.
    private func distinctState(of connection: Connection) throws -> StoreState {
        let state = try StoreState(connection)
        guard state.checksum == before.checksum, state.schemaVersion == before.schemaVersion else { return state }
        try connection.execute("PRAGMA main.schema_version = \((state.schemaVersion &+ 1) & 0x7FFF_FFFF)")
        return state
    }
}
