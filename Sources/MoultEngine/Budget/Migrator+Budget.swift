import MoultBasics
import MoultModel
import MoultStore

extension Migrator {
    /// Runs as much of a prepared migration as there is time for, and continues where the last such call ended.
    ///
    /// The store is unchanged until the last call, which ends in the only commit. The work of earlier calls is in the
    /// sidecar, durable at the end of each. If the store was written to in between, the migration starts over, and the
    /// outcome says so.
    ///
    /// - Parameters:
    ///   - limit: the time of this call; or one unit, for tests and for other ways of counting.
    ///   - started: the start of the call on the system's monotonic clock; nil for now.
    /// - Throws: `budgetTooSmall` with the longest unit that cannot be interrupted, before any work or when a unit
    ///   takes longer than estimated; what ``run(_:on:_:)`` throws. None of the work is kept then, except after a unit
    ///   that took too long.
    package func run(
        _ prepared: PreparedMigration, within limit: CallLimit, since started: UInt64? = nil,
        _ observer: MigrationObserver = .none
    ) throws -> BudgetOutcome {
        let given = started
        let started = started ?? system.monotonicNanoseconds
        guard let migration = try prepared.choosing(.normalised).migration() else {
            try recoverIfNeeded(prepared.store)
            return .nothingToDo
        }
        if prepared.stopsAtEachVersion {
            throw MigrationError(
                .usage, "A budget and a stop at each version exclude each other.", place: prepared.store,
                remedy: "Omit one of them. A call with a budget may end anywhere.")
        }
        // Reading the models and planning have taken time.
        let begun = given.map { max(0, system.seconds(since: $0) - CostModel.call) } ?? 0
        let units = MigrationUnits(migration, size: prepared.size, usesWAL: prepared.usesWAL)
        try limit.check(against: units.longest, after: begun)
        var damage: String?
        do {
            let outcome = try run(
                migration, on: prepared.store, limit, started, mayStartOver: !prepared.continuesEarlierCall, observer)
            if let outcome { return outcome }
        } catch is DamagedWork {
            damage = "The working files of the last call are damaged."
        }
        guard let again = try prepared.lookingAgain().choosing(.normalised).migration() else {
            return .nothingToDo
        }
        return try run(again, on: prepared.store, limit, started, mayStartOver: true, after: damage, observer)
            ?? .nothingToDo
    }

    /// The error of a call that continued with damaged files, which are discarded.
    private struct DamagedWork: Error {}

    /// - Parameters:
    ///   - mayStartOver: whether the rows were read for this plan. If they were not, and the work cannot continue,
    ///     nothing is done and nil is returned.
    ///   - damage: the reason why earlier work was discarded in this call.
    private func run(
        _ migration: Pass, on store: String, _ limit: CallLimit, _ started: UInt64, mayStartOver: Bool,
        after damage: String? = nil, _ observer: MigrationObserver
    ) throws -> BudgetOutcome? {
        if let refusal = migration.lossRefusal { throw refusal }
        let lock = try lock(store)
        defer { lock.release() }
        let (checkpoint, change) = try checkpoint(of: lock, for: migration)
        let obstacle = damage ?? change
        guard checkpoint != nil || mayStartOver else { return nil }
        let recovery = try checkpoint == nil ? Recovery.heal(lock, system) : .nothing
        try CrashLoopGuard.check(migration, lock.sidecar, limit: options.maximumAttempts, system)
        observer.report(
            .lock, 1, obstacle.map { "\($0) The migration starts over." } ?? "No other process has the store open")
        let budget = CallStart(
            clock: CallClock(limit: limit, started: started, system: system), checkpoint: checkpoint)
        do {
            let run = try Executor(migration, lock, recovery, options, system, observer, within: budget)
            return .finished(try run.perform(), startedOver: obstacle)
        } catch var pause as MigrationPause {
            pause.startedOver = obstacle
            return .paused(pause)
        } catch let error as MigrationError
            where damage == nil && checkpoint != nil
            && [.storeCorrupted, .notAStore, .metadataInvalid].contains(error.code)
        {
            // If the store itself is damaged, the new copy shows it.
            throw DamagedWork()
        }
    }

    /// Returns the checkpoint that the work can continue from, or the reason why an existing one cannot be used.
    private func checkpoint(
        of lock: StoreLock, for migration: Pass
    ) throws -> (checkpoint: MigrationCheckpoint?, obstacle: String?) {
        let sidecar = lock.sidecar
        guard var checkpoint = MigrationCheckpoint.read(sidecar, system),
            var journal = try Journal.read(sidecar, system)
        else { return (nil, nil) }
        let backups = BackupFolder(options.backupFolder ?? sidecar.backups, system)
        let hasDied = journal.state == .started
        if let obstacle = try checkpoint.obstacle(migration, sidecar, backups, isDurable: !hasDied, system) {
            return (nil, obstacle)
        }
        if hasDied {
            // Count the call as dead unless a person stopped it. Its work so far is as good as a pause's.
            for path in try checkpoint.workingFiles(sidecar, backups, system) { try system.synchronise(path) }
            let wasStopped = try journal.wasStopped(sidecar, system)
            try RunHistory(sidecar, system).append(
                .ended(wasStopped ? .cancelled : .undone, journal, checkpoint.backup, endedAt: system.now))
            let end = wasStopped ? "was stopped" : "died"
            MigrationLog(sidecar, system).append("Run \(journal.run) \(end); it continues from its last checkpoint.")
            journal.state = .paused
            try journal.write(sidecar, system)
        }
        try Recovery.removeLeftovers(sidecar, backups, keeping: checkpoint, system)
        checkpoint.boot = MigrationCheckpoint.boot(system)
        try checkpoint.write(sidecar, system)
        return (checkpoint, nil)
    }
}

extension MigrationCheckpoint {
    /// The database files that the next call needs.
    fileprivate func workingFiles(
        _ sidecar: StoreRecords, _ backups: BackupFolder, _ system: any System
    ) throws -> [String] {
        let copy = Path.join(sidecar.work(run), sidecar.nameOfCopy)
        let source = sourceFolder(backups).map { Path.join($0, Path.name(of: sidecar.store)) }
        // A hot journal belongs to the copy.
        let rows = policies == .null ? nil : Path.join(sidecar.work(run), sidecar.nameOfPolicyRows)
        return try ((hasCopy ? [copy, copy + "-journal"] : []) + [source, rows].compactMap { $0 }).filter(system.exists)
    }
}

extension StoreRun {
    /// Returns the record of a call that died before its commit, or was stopped.
    fileprivate static func ended(
        _ result: Result, _ journal: Journal, _ backup: String?, endedAt: Timestamp
    ) -> StoreRun {
        StoreRun(
            run: journal.run, operation: .migrate, result: result, from: journal.from, to: journal.to,
            startTime: journal.startedAt, endTime: endedAt.iso8601, seconds: 0, backup: backup,
            backups: backup.map { _ in journal.backups }, rows: 0, bytes: 0, error: nil)
    }
}

extension PreparedMigration {
    /// The unit that a budget must have room for; nil if there is nothing to do, or the migration cannot run.
    package var longestUnit: MigrationUnit? {
        (try? choosing(.normalised).migration()).map { MigrationUnits($0, size: size, usesWAL: usesWAL).longest }
    }

    /// Returns the same migration, with every row read.
    fileprivate func lookingAgain() throws -> PreparedMigration {
        var options = options
        options.continuesEarlierCall = false
        return try PreparedMigration(store, versions: versions, to: plan.to.name, options: options, system: system)
    }
}

/// A migration that used up the budget of a call and continues at the next. The store is unchanged.
package struct MigrationPause: Error, Sendable, Equatable {
    package var run: String
    package var from: String
    package var to: String
    /// The finished part of the whole, 0 to 1.
    package var fraction: Double
    /// The number of calls so far that ended on their budget.
    package var calls: Int
    /// The seconds that this call took.
    package var seconds: Double
    /// The work that the next call begins with.
    package var next: String
    /// The reason why the work of earlier calls was discarded; nil if it was not.
    package var startedOver: String?
}

/// The result of a call with a budget.
package enum BudgetOutcome: Sendable {
    /// The store was of the target version already.
    case nothingToDo
    case finished(MigrationOutcome, startedOver: String?)
    case paused(MigrationPause)
}
