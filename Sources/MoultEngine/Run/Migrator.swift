import MoultBasics
import MoultModel
import MoultObjects
import MoultSQLite
import MoultStore

/// The only writer of schemas. It changes a store by a script, so that the store is completely old or completely new at
/// every instant.
///
/// Lock, recover, preflight, backup, working copy, script, verification, commit, history: each step is one function,
/// here or in `Executor`.
package struct Migrator: Sendable {
    package let options: MigrationOptions
    package let system: any System

    package init(options: MigrationOptions = MigrationOptions(), system: any System = POSIXSystem()) {
        self.options = options
        self.system = system
    }

    /// Runs a migration and returns its outcome.
    ///
    /// Recovers an earlier run that died first. When this throws, the store is unchanged and the working files are
    /// gone; a process that dies leaves them to the next run. No probe of the store may be open in this process:
    /// closing it would drop the locks of the run (``ReadOnlyStore``).
    ///
    /// - Throws: `lossNotAccepted`, `locked`, `readOnly`, `hardLinked`, `insufficientStorage`, `tooManyAttempts` and
    ///   what `precondition` throws before any change; `cancelled`, `migrationFailed` and what `verify` throws
    ///   afterwards.
    package func run(_ migration: Pass, on store: String, _ observer: MigrationObserver = .none) throws
        -> MigrationOutcome
    {
        let run = try begin(migration, on: store, observer)
        defer { run.lock.release() }
        return try run.perform()
    }

    /// Locks and recovers the store. The code that performs the run releases the lock.
    private func begin(
        _ migration: Pass, on store: String, _ observer: MigrationObserver
    ) throws -> Executor {
        if let refusal = migration.lossRefusal { throw refusal }
        let lock = try lock(store)
        do {
            let recovery = try Recovery.heal(lock, system)
            try CrashLoopGuard.check(migration, lock.sidecar, limit: options.maximumAttempts, system)
            observer.report(.lock, 1, "No other process has the store open")
            lock.report(to: observer)
            return try Executor(migration, lock, recovery, options, system, observer)
        } catch {
            lock.release()
            throw error
        }
    }

    /// Checks a store's surroundings and locks it.
    package func lock(_ store: String) throws -> StoreLock {
        try finishMove(sidecar(of: store))
        let path = try ReadOnlyStore.checkFile(store, system)
        try StorePrecheck.checkFile(path, system)
        return try StoreLock(path, system, patience: options.patience)
    }

    /// Recovers a run that died, without running anything, and returns the outcome. A migration that is paused stays
    /// paused.
    package func recover(_ store: String) throws -> RecoveryOutcome {
        let sidecar = try sidecar(of: store)
        // A migration into this path, or a salvage, may have died before it made the store.
        if try StagedStore.removeAbandoned(sidecar.store, system), try !system.exists(sidecar.store) {
            return .undone
        }
        if let outcome = try finishMove(sidecar) { return outcome }
        if try Journal.unlessDamaged(sidecar, system)?.operation == .rollback {
            // There may be no store to open.
            let owner = try RunOwner.take(sidecar, system)
            let outcome = try withExtendedLifetime(owner) {
                try Recovery.healUnsound(sidecar, StoreCondition(of: sidecar.store, system), system)
            }
            guard outcome == .nothing else { return outcome }
        }
        let lock = try lock(store)
        defer { lock.release() }
        let outcome = try Recovery.heal(lock, system, keepsPaused: true)
        if options.backupFolder != nil { try backups(of: store).removeDrafts(of: sidecar) }
        // The WAL need not be kept on close, as after a run.
        try lock.connection.keepWALOnClose(false)
        return outcome
    }

    /// Whether a run on the store died and has not been recovered yet.
    package func isUnfinished(_ store: String) throws -> Bool {
        let sidecar = try sidecar(of: store)
        guard try system.exists(sidecar.journal) else { return false }
        return (try? Journal.read(sidecar, system))?.state != .paused
    }

    /// Returns the journal of a run that has not ended, paused or active runs included; nil if there is none that can be
    /// read.
    package func journal(of store: String) throws -> Journal? { try? Journal.read(sidecar(of: store), system) }

    /// Returns the checkpoint of a paused migration; nil if there is none.
    package func paused(_ store: String) throws -> MigrationCheckpoint? {
        let sidecar = try sidecar(of: store)
        guard try Journal.unlessDamaged(sidecar, system)?.state == .paused else { return nil }
        return MigrationCheckpoint.read(sidecar, system)
    }

    /// Returns a sentence about effects outside the store that the steps of a dead, unrecovered run may have left; nil
    /// if there are none.
    package func leftOutside(_ store: String) throws -> String? {
        try? Journal.read(sidecar(of: store), system)?.leftOutside
    }

    /// Returns the folder of a store's backups.
    package func backups(of store: String) throws -> BackupFolder {
        BackupFolder(try options.backupFolder ?? sidecar(of: store).backups, system)
    }

    /// Returns the sidecar of the store at a path, even if the store is gone.
    package func sidecar(of store: String) throws -> StoreRecords { try StoreRecords(of: store, system) }
}

extension Migrator {
    /// Runs everything that a prepared migration needs: one run, or one for each version if it stops at each.
    ///
    /// A run that stops at each version and fails or dies leaves a complete store of the last version that it reached;
    /// preparing the migration again continues from there.
    ///
    /// - Returns: the outcome of each run; empty if the store already has the target version.
    /// - Throws: what ``PreparedMigration/migration()`` and ``run(_:on:_:)`` throw; with stops, the message names the
    ///   version that the store has reached.
    package func run(
        _ prepared: PreparedMigration, _ observer: MigrationObserver = .none
    ) throws -> [MigrationOutcome] {
        guard let whole = try prepared.migration() else {
            try recoverIfNeeded(prepared.store)
            return []
        }
        guard prepared.stopsAtEachVersion else {
            let run = try begin(whole, on: prepared.store, observer)
            defer { run.lock.release() }
            return [try run.perform()]
        }
        // Refuse before the first stop, not at the one that would lose data.
        if let refusal = whole.lossRefusal { throw refusal }
        var outcomes: [MigrationOutcome] = []
        let started = system.monotonicNanoseconds
        let count = prepared.plan.edges.count
        for (number, edge) in prepared.plan.edges.enumerated() {
            do {
                var options = prepared.options
                options.registry.rules = options.registry.rules.atStop(number, of: count)
                options.isStop = true
                // Earlier stops have changed the store, so read its rows again.
                let next = try PreparedMigration(
                    prepared.store, versions: prepared.versions, to: edge.to, options: options,
                    system: system)
                guard let migration = try next.migration() else { continue }
                outcomes.append(
                    try run(
                        migration, on: prepared.store,
                        observer.part(number, of: count, since: started, system)))
            } catch var error as MigrationError where number > 0 {
                error.message += " The store stays at \(edge.from), the last version that it reached."
                throw error
            }
        }
        return outcomes
    }
}

extension MigrationObserver {
    /// Returns an observer for one of several runs that the user sees as one.
    ///
    /// Later runs are expected to take as long as this one or, before anything of it was measured, as the earlier ones.
    ///
    /// - Parameter started: the start time of the first run.
    fileprivate func part(
        _ number: Int, of count: Int, since started: UInt64, _ system: any System
    ) -> MigrationObserver {
        var observer = self
        let begun = system.monotonicNanoseconds
        observer.onProgress = { [onProgress] progress in
            var progress = progress
            progress.fraction = (Double(number) + progress.fraction) / Double(count)
            if let left = progress.estimatedTimeRemaining {
                let whole = system.seconds(since: begun) + left
                progress.estimatedTimeRemaining = left + whole * Double(count - number - 1)
            } else if number > 0 {
                let each = system.seconds(since: started, to: begun) / Double(number)
                progress.estimatedTimeRemaining = each * Double(count - number)
            }
            if progress.phase == .done, number + 1 < count { progress.phase = .commit }
            onProgress(progress)
        }
        return observer
    }
}

extension MigrationOutcome {
    /// Combines the outcomes of consecutive runs into one; nil if there are none.
    package init?(joining outcomes: [MigrationOutcome]) {
        guard let first = outcomes.first, let last = outcomes.last else { return nil }
        self = last
        (backup, bytesBefore, recovery) = (first.backup, first.bytesBefore, first.recovery)
        rows = outcomes.reduce(0) { $0 + $1.rows }
        pruned = outcomes.flatMap(\.pruned)
        backupsOnTheWay = outcomes.dropFirst().compactMap(\.backup?.name).filter { !pruned.contains($0) }
        policies = outcomes.flatMap(\.policies)
        losses = outcomes.flatMap(\.losses)
        rules = outcomes.flatMap(\.rules)
        quarantined = outcomes.reduce(0) { $0 + $1.quarantined }
        seconds = []
        for timing in outcomes.flatMap(\.seconds) { seconds.add(timing) }
    }
}

/// The result of a rehearsal.
package struct RehearsalOutcome: Sendable, Equatable {
    package var rows: Int64
    package var bytesBefore: Int64
    package var bytesAfter: Int64
    package var seconds: [MigrationOutcome.Timing]
    /// The space that the run itself will need.
    package var space: SpaceRequirement
    /// The same space by volume.
    package var volumes: [SpaceRequirement.Volume]
    /// The way in which the store was read; `readOnly` if its side files may have changed.
    package var way: ReadOnlyStore.Way
    /// The findings of rules, and the changes that their fixes would make.
    package var rules: [RuleReport] = []
    /// The outcomes for objects of entity mappings with migration policies, pass by pass.
    package var policies: [InstanceCounts] = []
    /// The counted data that the new store would not have.
    package var losses: [MigrationLoss] = []
    /// The number of objects that would be quarantined.
    package var quarantined: Int64 = 0
    /// The findings about parts of a WAL or a rollback journal that SQLite would leave out.
    package var findings: [Finding] = []
}

extension Migrator {
    /// Runs a migration on a copy in a scratch folder and verifies it. The store and its folder stay unchanged, and
    /// nothing is kept.
    package func rehearse(
        _ migration: Pass, on store: String, scratch: String? = nil, _ observer: MigrationObserver = .none
    ) throws -> RehearsalOutcome {
        try ReadOnlyStore.read(store, system: system, folder: scratch) { probe in
            let temporary = try TemporaryFolder("rehearsal", in: scratch, system)
            let folder = temporary.path
            defer { temporary.remove() }
            migration.ledger.begin()
            let findings = try DamagedSideFiles.findings(beside: probe.path, system)
            for finding in findings where finding.code == DamagedSideFiles.code {
                observer.report(.lock, 1, "\(finding.message) A copy of it is kept before the store is changed.")
            }
            for check in migration.preconditions { try check.check(probe.connection) }
            let size = try StoreState(probe.connection).size
            let observer = observer.withTotalRows(of: migration).timed(
                by: try Estimate(migration, over: probe.connection, size: size, keepsNothing: true), system)
            let trail = StepUndoLog(store: probe.path, system: system)
            var outcome: RehearsalOutcome
            do {
                outcome = try rehearse(
                    migration, probe, folder, isTemporary: scratch == nil, trail, observer)
            } catch {
                var cause = error
                // The copy is gone by the time anyone reads this error.
                if var known = error as? MigrationError {
                    if known.place.hasPrefix(folder) { known.place = probe.path }
                    cause = known.code == .cancelled ? Executor.cancelled(probe.path) : known
                }
                throw trail.undoing(after: cause)
            }
            outcome.findings = findings
            // A rehearsal keeps nothing, so effects of its steps outside the store must be undone too.
            guard let failed = trail.undo().first(where: { $0.error != nil }) else { return outcome }
            throw MigrationError(
                .stageFailed, "The rehearsal succeeded, but a step could not be undone afterwards. \(failed.sentence)",
                place: failed.step,
                remedy: "The store is unchanged. Undo by hand what the step did outside the store.")
        }
    }

    private func rehearse(
        _ migration: Pass, _ probe: ReadOnlyStore, _ folder: String, isTemporary: Bool, _ trail: StepUndoLog,
        _ observer: MigrationObserver
    ) throws -> RehearsalOutcome {
        let before = try StoreState(probe.connection)
        let sidecar = StoreRecords(store: probe.path)
        let space = try SpaceRequirement(
            migration, over: probe.connection, sidecar, options, backups: try backups(of: probe.path).folder,
            isPaced: options.isPaced, system)
        try SpaceRequirement(
            rehearsing: migration, over: probe.connection, in: folder, isTemporary: isTemporary, options, system
        ).check(for: "The rehearsal", system)
        let timings = PhaseTimings(system)
        let source = Path.join(folder, "source")
        try timings.measure(.backup) {
            try BackupFolder(folder, system).copyPages(from: probe.connection, to: source, .own, observer)
            try BackupFolder.checkSoundness(of: source, for: migration.reason, place: probe.path)
        }
        var (quarantined, rows) = (Int64(0), Int64(0))
        var size = before.size
        let passes = PassCopies(of: migration, on: source, in: folder, for: probe.path, options, system)
        defer { passes.close() }
        while let (pass, copy) = try passes.next(timings, observer, size: size) {
            try copy.perform(pass, noting: trail, timings, observer)
            rows += copy.rows(of: pass)
            try QuarantinedObject.forEach(on: copy.connection) { _ in quarantined += 1 }
            size = try StoreState(copy.connection).size
        }
        observer.report(.verify, 1, rows: rows)
        observer.report(.done, 1, rows: rows)
        return RehearsalOutcome(
            rows: rows, bytesBefore: before.size, bytesAfter: size,
            seconds: timings.all, space: space, volumes: try space.volumes(system), way: probe.way,
            rules: migration.ruleLog?.reports ?? [],
            policies: migration.ledger.counts, losses: migration.ledger.losses, quarantined: quarantined)
    }
}
