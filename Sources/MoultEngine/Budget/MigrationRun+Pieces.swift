import MoultModel
import MoultSQLite
import MoultStore
import MoultSystem

/// A run that ends with its budget, and goes on at the next call from what its checkpoint says.
extension MigrationRun {
    /// The same as on a copy, unit by unit.
    ///
    /// - Throws: ``MigrationPace/Stop`` before a unit that there is no time for.
    func changeInPieces(_ pace: MigrationPace) throws -> StoreBackup? {
        let units = MigrationUnits(migration, size: before.size)
        try copyPages(pace, units)
        if units.reasonForOne != nil {
            return try pace.perform(units.whole) { try changeOnCopy(of: draft(of: pace)) }
        }
        do {
            let copy = try openCopy(pace, units)
            defer { copy.close() }
            if !pace.checkpoint.isChanged { try change(copy, pace, units) }
            try proveBackup(pace, units)
            try verify(copy, pace, units)
            try copy.connection.detach("source")
            journal.newChecksum = try StoreState(copy.connection).checksum
        }
        observer.report(.verify, 1, rows: observer.totalRows, "The new store is verified")
        let backup = try pace.checkpoint.backup.map { try backups.backup(named: $0) }
        // How long a disk takes to synchronise varies more than anything else, and nothing can end a commit.
        try pace.perform(units.commit, expecting: pace.seconds(of: units.commit) * 2.5) {
            try measure(.commit) { try commit(pathOfCopy) }
        }
        if options.isFrugal, let draft = pace.checkpoint.draft { backups.discard(self.draft(draft, try state())) }
        return backup
    }

    private var pathOfCopy: String { Path.join(work, sidecar.nameOfCopy) }

    // MARK: - Units

    private func copyPages(_ pace: MigrationPace, _ units: MigrationUnits) throws {
        guard pace.checkpoint.sourceFolder(backups) == nil else { return }
        // What lies in a WAL would be written back later, and the store would seem to have been written to.
        try lock.connection.writeBackLog()
        let draft = try pace.perform(units.backup) {
            try measure(.backup) {
                try backups.draft(
                    of: lock, version: migration.from, for: migration.reason, copyingExternalData: !options.isFrugal,
                    observer)
            }
        }
        pace.checkpoint.draft = .init(name: Path.name(of: draft.folder), createdAt: draft.createdAt, rows: draft.rows)
        try system.makeFolder(work)
        try save(pace)
    }

    private func openCopy(_ pace: MigrationPace, _ units: MigrationUnits) throws -> WorkingCopy {
        let (source, isMade) = (try pathOfSource(pace), pace.checkpoint.hasCopy)
        func open() throws -> WorkingCopy {
            try WorkingCopy(
                of: source, at: pathOfCopy, for: sidecar.store, options, system, isKept: true, isMade: isMade)
        }
        guard !isMade else { return try open() }
        // A call that died may have left half of one.
        for suffix in ["", "-journal"] { try system.remove(pathOfCopy + suffix) }
        let copy = try pace.perform(units.copy) { try measure(.copy) { try open() } }
        observer.report(.copy, 1, bytes: before.size)
        pace.checkpoint.hasCopy = true
        try save(pace)
        return copy
    }

    private func change(_ copy: WorkingCopy, _ pace: MigrationPace, _ units: MigrationUnits) throws {
        for function in migration.functions { try copy.connection.register(function) }
        let script = PacedScript(
            runner: ScriptRunner(script: migration.script, observer: observer, system: system), units: units,
            pace: pace, keysPerPiece: options.keysPerPiece)
        try withProofBeside(pace, units) {
            try measure(.change) {
                try script.run(on: copy.connection)
            }
        }
        pace.checkpoint.isChanged = true
        try save(pace)
        try script.forget(on: copy.connection)
    }

    /// The backup is proven on the other core while the script reads it, where there is time for that in this call.
    private func withProofBeside(_ pace: MigrationPace, _ units: MigrationUnits, _ body: () throws -> Void) throws {
        guard pace.checkpoint.proof == nil, pace.mayRunAhead, pace.left >= pace.seconds(of: units.proof) * 1.5 else {
            return try body()
        }
        let path = try pathOfSource(pace)
        let proof = BackgroundWork(isSequential: options.isSequential) { [system] in
            try BackupFolder.prove(path, system)
        }
        let result = Result { try body() }
        pace.checkpoint.proof = try proof.wait()
        pace.gain()
        try result.get()
    }

    private func proveBackup(_ pace: MigrationPace, _ units: MigrationUnits) throws {
        guard let pages = pace.checkpoint.draft else { return }
        if pace.checkpoint.proof == nil {
            let path = try pathOfSource(pace)
            pace.checkpoint.proof = try pace.perform(units.proof) {
                try measure(.backup) { try BackupFolder.prove(path, system) }
            }
            try save(pace)
        }
        guard !options.isFrugal, let proof = pace.checkpoint.proof else { return }
        let backup = try backups.finish(draft(pages, state()), proof)
        bytes += proof.size
        journal.backup = backup.name
        pace.checkpoint.backup = backup.name
        pace.checkpoint.draft = nil
        try save(pace)
    }

    private func verify(_ copy: WorkingCopy, _ pace: MigrationPace, _ units: MigrationUnits) throws {
        copy.connection.onProgress(every: 20_000) { [observer] in !observer.isCancelled() }
        defer { copy.connection.onProgress(nil) }
        guard let pieces = try migration.verificationPieces?(copy.connection) else {
            guard pace.checkpoint.verified == 0 else { return }
            try verify(units.verification, pace) { try migration.verify(copy.connection) }
            return
        }
        try withPagesBeside(copy, pace, units) {
            for piece in pieces.dropFirst(pace.checkpoint.verified) {
                try verify(MigrationUnit(sentence: piece.sentence, seconds: piece.seconds), pace) {
                    try piece.check(copy.connection)
                }
                observer.report(.verify, Double(pace.checkpoint.verified) / Double(pieces.count + 1))
            }
        }
        guard !pace.checkpoint.pagesAreSound else { return }
        try pace.perform(units.pages) { try measure(.verify) { try migration.verifyPages(copy.connection) } }
        pace.checkpoint.pagesAreSound = true
        try save(pace)
    }

    private func verify(_ unit: MigrationUnit, _ pace: MigrationPace, _ body: () throws -> Void) throws {
        try pace.perform(unit) { try measure(.verify, body) }
        pace.checkpoint.verified += 1
        // What is not written down is verified once more.
        if !pace.mayRunAhead { try save(pace) }
    }

    /// The pages are checked on the other core while the rows are compared, where there is time for that in this call.
    private func withPagesBeside(
        _ copy: WorkingCopy, _ pace: MigrationPace, _ units: MigrationUnits, _ body: () throws -> Void
    ) throws {
        guard !pace.checkpoint.pagesAreSound, pace.mayRunAhead, pace.left >= pace.seconds(of: units.pages) * 1.5 else {
            return try body()
        }
        // It opens the copy once more by its path, and asks nothing of this connection.
        let (path, verifyPages) = (copy.path, migration.verifyPages)
        let pages = BackgroundWork(isSequential: options.isSequential) {
            let connection = try Connection(path, mode: .immutable)
            defer { connection.close() }
            try verifyPages(connection)
        }
        let rows = Result { try body() }
        // Damaged pages explain whatever else was found.
        try pages.wait()
        pace.checkpoint.pagesAreSound = true
        pace.gain()
        try rows.get()
    }

    /// Whether expired backups can be looked for in this call, which may read a whole one; else the next run does it.
    var hasTimeToPrune: Bool {
        pace.map { $0.left > 2 * $0.seconds(of: MigrationUnits(migration, size: before.size).proof) } ?? true
    }

    // MARK: - What is there

    private func pathOfSource(_ pace: MigrationPace) throws -> String {
        guard let folder = pace.checkpoint.sourceFolder(backups) else {
            throw MigrationError(
                .backupNotFound, "The backup of this migration is gone.", place: backups.folder,
                remedy: "Run the command again; the store is as it was.")
        }
        return Path.join(folder, Path.name(of: sidecar.store))
    }

    private func state() throws -> StoreState { try StoreState(lock.connection) }

    private func draft(of pace: MigrationPace) throws -> BackupFolder.Draft {
        guard let pages = pace.checkpoint.draft else {
            throw MigrationError(
                .backupNotFound, "The backup of this migration is gone.", place: backups.folder,
                remedy: "Run the command again; the store is as it was.")
        }
        return draft(pages, try state())
    }

    private func draft(_ pages: MigrationCheckpoint.CopiedPages, _ state: StoreState) -> BackupFolder.Draft {
        BackupFolder.Draft(
            folder: Path.join(backups.folder, pages.name), storeName: Path.name(of: sidecar.store),
            version: migration.from, createdAt: pages.createdAt, state: state, rows: pages.rows,
            reason: migration.reason)
    }
}

// MARK: - The end of a call

extension MigrationRun {
    /// Writes down how far the work has come, for a process that dies.
    private func save(_ pace: MigrationPace) throws {
        let start = pace.elapsed
        pace.checkpoint.timings = timings
        pace.checkpoint.fraction = observer.reached
        pace.checkpoint.store = try MigrationCheckpoint.facts(ofStore: sidecar.store, system)
        try pace.checkpoint.write(sidecar, system)
        pace.lastSave = pace.elapsed - start
    }

    /// Makes durable what was done, for the next call.
    func pause(_ pace: MigrationPace, before next: MigrationUnit) throws -> MigrationPause {
        let start = pace.elapsed
        if pace.checkpoint.hasCopy { try system.synchronise(pathOfCopy) }
        if pace.checkpoint.backup == nil { try system.synchronise(pathOfSource(pace)) }
        pace.checkpoint.calls += 1
        let facts = try MigrationCheckpoint.facts(ofStore: sidecar.store, system)
        // The store was written to a moment ago, by the app or by its log.
        if facts == .null { BackgroundWork<Void>.wait(seconds: 1.5 * MigrationCheckpoint.clockGrain) }
        // The checkpoint, the journal and the history are still to be written.
        pace.checkpoint.endSeconds = pace.elapsed - start + 3 * pace.lastSave
        try save(pace)
        journal.state = .paused
        try journal.write(sidecar, system)
        var call = record(.paused, nil)
        call.run += "-\(pace.checkpoint.calls)"
        try RunHistory(sidecar, system).append(call)
        let pause = MigrationPause(
            run: identifier, from: migration.from, to: migration.to, fraction: observer.reached,
            calls: pace.checkpoint.calls, seconds: pace.elapsed, next: next.sentence)
        log.append("Run \(identifier): paused after \(Int(observer.reached * 100)) %, before: \(next.sentence)")
        return pause
    }

    /// What the call ends with where its budget ended it, or whoever watches: a pause, or an error with the work kept;
    /// nil where it was something else.
    ///
    /// - Throws: where nothing of the work can be kept.
    func endOfCall(_ pace: MigrationPace, after error: any Error) throws -> (any Error)? {
        guard !isCommitted, !isUnsettled else { return nil }
        if let stop = error as? MigrationPace.Stop { return try pause(pace, before: stop.next) }
        guard let unit = pace.unit, (error as? MigrationError)?.code == .cancelled else { return nil }
        if isAskedToEnd() {
            guard canGoOn(pace) else { return nil }
            _ = try pause(pace, before: unit)
            return MigrationRun.cancelled(sidecar.store)
        }
        guard case .seconds(let budget) = pace.limit, pace.isLate() else { return nil }
        let tooSmall = MigrationError.budgetTooSmall(budget, max(unit.seconds, budget) * 2, unit.sentence)
        guard canGoOn(pace) else { throw tooSmall }
        let pause = try pause(pace, before: unit)
        return pace.gained > 0 ? pause : tooSmall
    }

    /// Whether the work is in pieces, and one of them is done.
    private func canGoOn(_ pace: MigrationPace) -> Bool {
        pace.checkpoint.sourceFolder(backups) != nil
            && MigrationUnits(migration, size: before.size).reasonForOne == nil
    }
}
