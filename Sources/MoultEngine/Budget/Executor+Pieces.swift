import MoultBasics
import MoultModel
import MoultObjects
import MoultSQLite
import MoultStore

/// A run that ends when its budget is used up, and continues from its checkpoint at the next call.
extension Executor {
    /// Changes a copy of the store and commits it, as `changeOnCopy(of:)` does, but unit by unit.
    ///
    /// - Throws: ``CallBudget/Stop`` before a unit for which there is no time.
    func changeInPieces(_ pace: CallBudget) throws -> StoreBackup? {
        let units = self.units
        try saveRowFacts(pace)
        try makeBackup(pace, units)
        if units.reasonForOne != nil {
            return try pace.perform(units.whole) { try changeOnCopy(of: draft(of: pace)) }
        }
        do {
            let copy = try openCopy(pace, units)
            defer { copy.close() }
            do {
                if !pace.checkpoint.isChanged { try change(copy, pace, units) }
            } catch let kept as KeptPolicyState {
                copy.close()
                return try changeInOnePiece(pace, because: Pass.reason(kept.policy))
            }
            // A call that died may have recorded that all is changed, but done nothing after that.
            try PacedScript.forget(on: copy.connection)
            rows = migration.script.rows
            try takePolicies(copy, pace)
            try migration.settleLosses()
            try verify(copy, pace, units)
            try migration.writeMetadataEntries(copy.connection)
            for proof in try proofs(pace, units) { try perform(proof, .backup, pace) }
            try copy.connection.detach("source")
            journal.newChecksum = try StoreState(copy.connection).checksum
        }
        try finishBackup(pace)
        observer.report(.verify, 1, rows: observer.totalRows, "The new store is verified")
        let backup = try pace.checkpoint.backup.map { try backups.backup(named: $0) }
        let seconds = max(units.commit.seconds, pace.seconds(of: units.commit)) * CostModel.commitMargin
        try pace.perform(units.commit, expecting: seconds) {
            try keepQuarantined()
            try timings.measure(.commit) { try commit(pathOfCopy) }
        }
        if options.isFrugal, let draft = pace.checkpoint.draft { backups.discard(self.draft(draft, try state())) }
        return backup
    }

    var units: MigrationUnits {
        MigrationUnits(
            migration, size: before.size, usesWAL: before.usesWAL, reasonForOne: pace?.checkpoint.reasonForOne)
    }

    var pathOfCopy: String { Path.join(work, sidecar.nameOfCopy) }

    // MARK: - Units

    /// Saves the facts that the plan was made from: reading every row may have taken most of the first call.
    private func saveRowFacts(_ pace: CallBudget) throws {
        guard !pace.isResumed else { return }
        // If the WAL were written back later, another process would seem to have written to the store.
        try lock.connection.writeBackLog(system)
        try system.makeFolder(work)
        try save(pace)
        pace.noteProgress()
    }

    private func makeBackup(_ pace: CallBudget, _ units: MigrationUnits) throws {
        guard pace.checkpoint.sourceFolder(backups) == nil else { return }
        let draft = try pace.perform(units.backup, copyPages)
        pace.checkpoint.draft = .init(name: Path.name(of: draft.folder), createdAt: draft.createdAt)
        try save(pace)
    }

    private func openCopy(_ pace: CallBudget, _ units: MigrationUnits) throws -> WorkingCopy {
        let (source, isMade) = (try pathOfSource(pace), pace.checkpoint.hasCopy)
        func open() throws -> WorkingCopy {
            try WorkingCopy(
                of: source, at: pathOfCopy, for: sidecar.store, options, system, isKept: true, isMade: isMade)
        }
        guard !isMade else { return try open() }
        // A call that died may have left a partial copy.
        try system.removeDatabase(pathOfCopy)
        let copy = try pace.perform(units.copy) { try timings.measure(.copy) { try open() } }
        observer.report(.copy, 1, bytes: before.size)
        pace.checkpoint.hasCopy = true
        try save(pace)
        return copy
    }

    private func change(_ copy: WorkingCopy, _ pace: CallBudget, _ units: MigrationUnits) throws {
        for function in migration.functions { try copy.connection.register(function) }
        let weights = try migration.work(over: copy.connection, size: before.size)
        let script = PacedScript(
            runner: ScriptRunner(script: migration.script, observer: observer.piece(0, of: weights, in: migration)),
            units: units, pace: pace, keysPerPiece: options.keysPerPiece)
        try read(try proofs(pace, units), pace) {
            try timings.measure(.change) {
                try script.run(on: copy.connection)
                guard let policies = migration.policies else { return }
                let observer = observer.piece(1, of: weights, in: migration)
                let record = try copy.perform(policies, of: migration, within: pace, observer)
                try setAside(copy, pace)
                pace.checkpoint.policies = record.json
            }
        }
        pace.checkpoint.isChanged = true
        try save(pace)
    }

    /// Starts the change of the copy again, in one piece.
    private func changeInOnePiece(_ pace: CallBudget, because reason: String) throws -> StoreBackup? {
        pace.checkpoint.reasonForOne = reason
        pace.checkpoint.hasCopy = false
        try save(pace)
        try system.removeDatabase(pathOfCopy)
        return try pace.perform(units.whole) { try changeOnCopy(of: draft(of: pace)) }
    }

    private func finishBackup(_ pace: CallBudget) throws {
        guard let pages = pace.checkpoint.draft, !options.isFrugal, var proof = pace.checkpoint.proof,
            let rows = pace.checkpoint.rowsOfBackup
        else { return }
        proof.rows = rows
        let backup = try named { try backups.finish(draft(pages, state()), proof, naming: $0) }
        bytes += proof.size
        pace.checkpoint.backup = backup.name
        pace.checkpoint.draft = nil
        try save(pace)
    }

    private func verify(_ copy: WorkingCopy, _ pace: CallBudget, _ units: MigrationUnits) throws {
        try copy.connection.proveWrites()
        try copy.connection.forgetPages()
        try observer.watching(copy.connection) {
            let pieces = try migration.verification.pieces(copy.connection, isDivided: true)
            try read(pages(of: copy, pace, units) + proofs(pace, units), pace) {
                for piece in pieces.dropFirst(pace.checkpoint.verified) {
                    try verify(piece.unit.seconds > 0 ? piece.unit : units.verification, pace) {
                        try piece.check(copy.connection)
                    }
                    // A single piece needs only the report at the end.
                    guard pieces.count > 1 else { continue }
                    observer.report(.verify, Double(pace.checkpoint.verified) / Double(pieces.count + 1))
                }
            }
        }
        for check in pages(of: copy, pace, units) { try perform(check, .verify, pace) }
    }

    private func verify(_ unit: MigrationUnit, _ pace: CallBudget, _ body: () throws -> Void) throws {
        try pace.perform(unit) { try timings.measure(.verify, body) }
        pace.checkpoint.verified += 1
        // Verification results that are not recorded are computed again.
        if !pace.mayRunAhead { try save(pace) }
    }

    // MARK: - Existing files

    func pathOfSource(_ pace: CallBudget) throws -> String {
        guard let folder = pace.checkpoint.sourceFolder(backups) else {
            throw MigrationError(
                .backupNotFound, "The backup of this migration is missing.", place: backups.folder,
                remedy: "Run the command again. The store is unchanged.")
        }
        return Path.join(folder, Path.name(of: sidecar.store))
    }

    private func state() throws -> StoreState { try StoreState(lock.connection) }

    private func draft(of pace: CallBudget) throws -> BackupFolder.Draft {
        guard let pages = pace.checkpoint.draft else {
            throw MigrationError(
                .backupNotFound, "The backup of this migration is missing.", place: backups.folder,
                remedy: "Run the command again. The store is unchanged.")
        }
        return draft(pages, try state())
    }

    private func draft(_ pages: MigrationCheckpoint.CopiedPages, _ state: StoreState) -> BackupFolder.Draft {
        BackupFolder.Draft(
            folder: Path.join(backups.folder, pages.name), storeName: Path.name(of: sidecar.store),
            source: sidecar.store, version: migration.from, createdAt: pages.createdAt, state: state,
            reason: migration.reason)
    }
}

// MARK: - The end of a call

extension Executor {
    /// Records the progress in the checkpoint, in case the process dies.
    func save(_ pace: CallBudget) throws {
        let start = pace.clock.elapsed
        pace.checkpoint.timings = timings.all
        pace.checkpoint.fraction = observer.reached
        pace.checkpoint.store = try MigrationCheckpoint.facts(ofStore: sidecar.store, system)
        try pace.checkpoint.write(sidecar, system)
        pace.lastSave = pace.clock.elapsed - start
    }

    /// Makes the finished work durable for the next call.
    func pause(_ pace: CallBudget, before next: MigrationUnit) throws -> MigrationPause {
        let start = pace.clock.elapsed
        if pace.checkpoint.hasCopy { try system.synchronise(pathOfCopy) }
        if pace.checkpoint.draft != nil { try system.synchronise(pathOfSource(pace)) }
        if pace.checkpoint.policies != .null { try system.synchronise(pathOfPolicyRows) }
        pace.checkpoint.calls += 1
        let facts = try MigrationCheckpoint.facts(ofStore: sidecar.store, system)
        // The app, or writing back the WAL, has just written to the store.
        if facts == .null { BackgroundWork<Void>.wait(seconds: 1.5 * MigrationCheckpoint.clockGrain) }
        // The checkpoint, the journal and the history have yet to be written.
        pace.checkpoint.endSeconds = pace.clock.elapsed - start + 3 * pace.lastSave
        try save(pace)
        journal.state = .paused
        try journal.write(sidecar, system)
        var call = record(.paused, nil)
        call.run += "-\(pace.checkpoint.calls)"
        try RunHistory(sidecar, system).append(call)
        let pause = MigrationPause(
            run: identifier, from: migration.from, to: migration.to, fraction: observer.reached,
            calls: pace.checkpoint.calls, seconds: pace.clock.elapsed, next: next.sentence)
        log.append("Run \(identifier): paused after \(Int(observer.reached * 100)) %, before: \(next.sentence)")
        return pause
    }

    /// Returns the error for a call ended by its budget or its observer: a pause, or an error with the work kept; nil
    /// if something else ended it.
    ///
    /// - Throws: an error if none of the work can be kept.
    func endOfCall(_ pace: CallBudget, after error: any Error) throws -> (any Error)? {
        guard !isCommitted, !isUnsettled else { return nil }
        if let stop = error as? CallBudget.Stop { return try pause(pace, before: stop.next) }
        guard let unit = pace.unit, (error as? MigrationError)?.code == .cancelled else { return nil }
        if isAskedToEnd() {
            guard canGoOn(pace) else { return nil }
            _ = try pause(pace, before: unit)
            return Executor.cancelled(sidecar.store)
        }
        guard case .seconds(let budget) = pace.clock.limit, pace.isLate() else { return nil }
        let taken = max(unit.seconds, pace.clock.elapsed - pace.begun)
        let tooSmall = MigrationError.budgetTooSmall(budget, taken * 2, unit.sentence, after: pace.begun)
        guard canGoOn(pace) else { throw tooSmall }
        let pause = try pause(pace, before: unit)
        return pace.gained > 0 ? pause : tooSmall
    }

    /// Whether the next call can continue: the work is in pieces, and one is done. Before the backup, that is reading
    /// the rows.
    private func canGoOn(_ pace: CallBudget) -> Bool {
        guard pace.checkpoint.sourceFolder(backups) != nil else { return pace.gained > 0 || pace.isResumed }
        return units.reasonForOne == nil
    }

    // MARK: - The last call

    /// Whether this call writes back the WAL that the commit has left. Otherwise the next process that opens the store
    /// does it, as with every WAL: the commit has made it durable.
    var hasTimeToWriteBack: Bool {
        pace.map { $0.left >= $0.seconds(of: units.writeBack) * CostModel.margin } ?? true
    }

    /// Whether this call looks for expired backups, which may require reading a whole one; otherwise the next run does
    /// it.
    var hasTimeToPrune: Bool {
        pace.map { $0.left > 2 * $0.seconds(of: units.soundness) + 2 * $0.seconds(of: units.digest) } ?? true
    }
}

/// A unit that only reads, so it can run on another core alongside others.
struct ReadingUnit: Sendable {
    let unit: MigrationUnit
    /// The work of the unit; it returns the change that records the result in the checkpoint.
    let read: @Sendable () throws -> @Sendable (inout MigrationCheckpoint) -> Void
}

extension Executor {
    /// Returns the remaining checks of the backup.
    func proofs(_ pace: CallBudget, _ units: MigrationUnits) throws -> [ReadingUnit] {
        guard pace.checkpoint.draft != nil else { return [] }
        let path = try pathOfSource(pace)
        var proofs: [ReadingUnit] = []
        // Compute the digest first, so that later damage to the file does not match it.
        if pace.checkpoint.proof == nil {
            proofs.append(
                ReadingUnit(unit: units.digest) { [system] in
                    try system.synchronise(path)
                    let proof = try BackupFolder.Proof(of: path, system)
                    return { $0.proof = proof }
                })
        }
        if pace.checkpoint.rowsOfBackup == nil {
            proofs.append(
                ReadingUnit(unit: units.soundness) { [reason = migration.reason, store = sidecar.store] in
                    let rows = try BackupFolder.checkSoundness(of: path, for: reason, place: store)
                    return { $0.rowsOfBackup = rows }
                })
        }
        return proofs
    }

    /// Returns the check of the new store's pages, if it has not passed yet.
    func pages(of copy: WorkingCopy, _ pace: CallBudget, _ units: MigrationUnits) -> [ReadingUnit] {
        guard !pace.checkpoint.pagesAreSound, let plan = migration.verification.plan else { return [] }
        return [
            ReadingUnit(unit: units.pages) { [path = copy.path] in
                try plan.verifyPages(at: path)
                return { $0.pagesAreSound = true }
            }
        ]
    }

    /// Performs the first units that fit into this call on another core while `body` runs. They cannot be cancelled:
    /// SQLite cannot be interrupted while it checks pages.
    func read(_ units: [ReadingUnit], _ pace: CallBudget, beside body: () throws -> Void) throws {
        var seconds = 0.0
        let chosen = units.prefix { unit in
            // At the start of a call there is time for each unit, or the budget would have been refused.
            let margin = seconds == 0 && pace.gained == 0 ? 1 : CostModel.margin
            seconds += pace.seconds(of: unit.unit)
            return pace.mayRunAhead && pace.left >= seconds * margin
        }
        guard let first = chosen.first else { return try body() }
        pace.note(first.unit, at: pace.clock.elapsed)
        let reading = BackgroundWork(isSequential: options.isSequential) { [system] in
            try chosen.map { unit in
                let start = system.monotonicNanoseconds
                return (unit.unit, try unit.read(), system.seconds(since: start))
            }
        }
        let result = Result { try body() }
        // Damaged pages explain any other fault.
        for (unit, note, seconds) in try reading.wait() {
            note(&pace.checkpoint)
            pace.learn(seconds, of: unit)
            pace.noteProgress()
        }
        try result.get()
    }

    /// Performs one unit on this core.
    func perform(_ unit: ReadingUnit, _ phase: MigrationProgress.Phase, _ pace: CallBudget) throws {
        let note = try pace.perform(unit.unit) { try timings.measure(phase) { try unit.read() } }
        note(&pace.checkpoint)
        try save(pace)
    }
}
