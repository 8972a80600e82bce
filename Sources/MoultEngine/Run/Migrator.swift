import MoultBasics
import MoultModel
import MoultObjects
import MoultSQLite
import MoultStore

/// The only writer of schemas: changes a store by a script, so that it is the complete old store or the complete new
/// one at every instant.
///
/// Lock, heal, preflight, backup, working copy, script, verification, commit, history: each step is one function, here
/// and in `Executor`.
package struct Migrator: Sendable {
    package let options: MigrationOptions
    package let system: any System

    package init(options: MigrationOptions = MigrationOptions(), system: any System = POSIXSystem()) {
        self.options = options
        self.system = system
    }

    /// Runs a migration and returns what was done.
    ///
    /// What an earlier run left is recovered first. When this throws, the store is as it was, and the working files are
    /// gone; a process that dies leaves them to the next run. No probe of the store may be open in this process:
    /// closing it would drop the locks of the run (``StoreProbe``).
    ///
    /// - Throws: `lossNotAccepted`, `locked`, `readOnly`, `hardLinked`, `insufficientStorage`, `tooManyAttempts` and what
    ///   `precondition` throws before anything is done; `cancelled`, `migrationFailed` and what `verify` throws afterwards.
    package func run(_ migration: Pass, on store: String, _ observer: MigrationObserver = .none) throws
        -> MigrationOutcome
    {
        let run = try begin(migration, on: store, observer)
        defer { run.lock.release() }
        return try run.perform()
    }

    /// Locks and recovers the store. The lock is released by whoever performs the run.
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

    /// Locks a store after a look at its surroundings.
    func lock(_ store: String) throws -> StoreLock {
        let path = try StoreProbe.checkFile(store, system)
        try StorePrecheck.checkFile(path, system)
        return try StoreLock(path, system, patience: options.patience)
    }

    /// Recovers what a run that died left, without running anything; says what became of it. A migration that waits for
    /// its next call continues waiting.
    package func recover(_ store: String) throws -> RecoveryOutcome {
        let sidecar = try sidecar(of: store)
        // A migration into this path, or a salvage, may have died before there was a store.
        if try StagedStore.removeAbandoned(sidecar.store, system), try !system.exists(sidecar.store) {
            return .undone
        }
        if (try? Journal.read(sidecar, system))?.operation == .rollback {
            // There may be no store that could be opened.
            let owner = try RunOwner.take(sidecar, system)
            let outcome = try withExtendedLifetime(owner) {
                try Recovery.healUnsound(sidecar, StoreCondition(of: sidecar.store, system), system)
            }
            guard outcome == .nothing else { return outcome }
        }
        let lock = try lock(store)
        defer { lock.release() }
        let outcome = try Recovery.heal(lock, system, keepsPaused: true)
        // Nothing of a WAL has to be kept for anybody, as after a run.
        try lock.connection.keepWALOnClose(false)
        return outcome
    }

    /// Whether a run died on that store and has not been recovered yet.
    package func isUnfinished(_ store: String) throws -> Bool {
        let sidecar = try sidecar(of: store)
        guard try system.exists(sidecar.journal) else { return false }
        return (try? Journal.read(sidecar, system))?.state != .paused
    }

    /// Returns the checkpoint of a migration that waits for its next call; nil if none does.
    package func paused(_ store: String) throws -> MigrationCheckpoint? {
        let sidecar = try sidecar(of: store)
        guard (try? Journal.read(sidecar, system))?.state == .paused else { return nil }
        return MigrationCheckpoint.read(sidecar, system)
    }

    /// Returns a sentence about the effects that the steps of a run that died, and has not been recovered yet, may have
    /// left outside the store; nil if there are none.
    package func leftOutside(_ store: String) throws -> String? {
        try? Journal.read(sidecar(of: store), system)?.leftOutside
    }

    /// The backups of a store.
    package func backups(of store: String) throws -> BackupFolder {
        BackupFolder(try options.backupFolder ?? sidecar(of: store).backups, system)
    }

    /// Returns the sidecar of the store at a path, even where the store is gone.
    func sidecar(of store: String) throws -> StoreRecords { try StoreRecords(of: store, system) }
}

extension Migrator {
    /// Runs everything that a prepared migration needs: one run, or one for each version where it stops at each.
    ///
    /// A run that stops at each version and fails, or dies, leaves the store at the last version that it has reached,
    /// whole; preparing it again continues from there.
    ///
    /// - Returns: what each run has done; none where the store is of the target version already.
    /// - Throws: what ``PreparedMigration/migration()`` and ``run(_:on:_:)`` throw; with stops, the message
    ///   says which version the store has by then.
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
        // Before the first stop, not at the one that would lose something.
        if let refusal = whole.lossRefusal { throw refusal }
        var outcomes: [MigrationOutcome] = []
        let started = system.monotonicNanoseconds
        let count = prepared.plan.edges.count
        for (number, edge) in prepared.plan.edges.enumerated() {
            do {
                var options = prepared.options
                options.registry.rules = options.registry.rules.atStop(number, of: count)
                options.isStop = true
                // Earlier stops have changed the store: what its rows say now is asked of them now.
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
    /// For one of several runs that are one to the person who watches.
    ///
    /// Those that are still to come are expected to take as long as this one; before anything of it was measured, as those
    /// before it.
    ///
    /// - Parameter started: when the first of them began.
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
    /// Combines the outcomes of several runs after each other into one; nil if there was none.
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
    /// The room that the run itself will ask for.
    package var space: SpaceRequirement
    /// The same by volume.
    package var volumes: [SpaceRequirement.Volume]
    /// The way in which the store was read; `readOnly` where side files may have changed.
    package var way: StoreProbe.Way
    /// The findings of rules, and the changes that their fixes would make.
    package var rules: [RuleReport] = []
    /// The outcome that the objects of entity mappings with migration policies would have, pass by pass.
    package var policies: [InstanceCounts] = []
    /// The data that would not be in the new store, counted.
    package var losses: [MigrationLoss] = []
    /// Objects that would lie in the quarantine.
    package var quarantined: Int64 = 0
    /// The findings about parts of a log or a rollback journal next to the store that SQLite would leave out.
    package var findings: [Finding] = []
}

extension Migrator {
    /// Runs a migration on a copy in a scratch folder and verifies it; the store and every file of its folder stay as
    /// they are, and nothing is kept.
    package func rehearse(
        _ migration: Pass, on store: String, scratch: String? = nil, _ observer: MigrationObserver = .none
    ) throws -> RehearsalOutcome {
        try StoreProbe.read(store, system: system, folder: scratch) { probe in
            let temporary = try TemporaryFolder("rehearsal", in: scratch, system)
            let folder = temporary.path
            defer { temporary.remove() }
            migration.ledger.begin()
            let findings = try DamagedSideFiles.findings(beside: probe.path, system)
            for finding in findings where finding.code == DamagedSideFiles.code {
                observer.report(.lock, 1, "\(finding.message) A copy of it is kept before the store is changed.")
            }
            for check in migration.preconditions { try check.check(probe.connection) }
            let costs = try migration.script.costs(over: probe.connection)
            let observer = observer.withTotalRows(of: migration.script).timed(
                by: Estimate(
                    migration, costs, size: try StoreState(probe.connection).size, keepsNothing: true), system)
            let trail = StepUndoLog(store: probe.path, system: system)
            var outcome: RehearsalOutcome
            do {
                outcome = try rehearse(migration, probe, folder, trail, observer)
            } catch {
                var cause = error
                // The copy is gone by the time that this is read.
                if var known = error as? MigrationError {
                    if known.place.hasPrefix(folder) { known.place = probe.path }
                    cause = known.code == .cancelled ? Executor.cancelled(probe.path) : known
                }
                throw trail.undoing(after: cause)
            }
            outcome.findings = findings
            // Nothing of a rehearsal is kept, so what its steps did elsewhere must not stay either.
            guard let failed = trail.undo().first(where: { $0.error != nil }) else { return outcome }
            throw MigrationError(
                .stageFailed, "The rehearsal succeeded, but a step could not be undone afterwards. \(failed.sentence)",
                place: failed.step,
                remedy: "The store is unchanged. Undo by hand what the step did outside the store.")
        }
    }

    private func rehearse(
        _ migration: Pass, _ probe: StoreProbe, _ folder: String, _ trail: StepUndoLog,
        _ observer: MigrationObserver
    ) throws -> RehearsalOutcome {
        let before = try StoreState(probe.connection)
        let sidecar = StoreRecords(store: probe.path)
        let space = try SpaceRequirement(
            migration, on: before, sidecar, options, backups: try backups(of: probe.path).folder, system)
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
            rows += pass.script.rows
            try QuarantinedObject.forEach(on: copy.connection) { _ in quarantined += 1 }
            size = try StoreState(copy.connection).size
        }
        observer.report(.verify, 1, rows: observer.totalRows)
        observer.report(.done, 1, rows: observer.totalRows)
        return RehearsalOutcome(
            rows: rows, bytesBefore: before.size, bytesAfter: size,
            seconds: timings.all, space: space, volumes: try space.volumes(system), way: probe.way,
            rules: migration.ruleLog?.reports ?? [],
            policies: migration.ledger.counts, losses: migration.ledger.losses, quarantined: quarantined)
    }
}
