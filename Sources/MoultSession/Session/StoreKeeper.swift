import MoultBasics
import MoultEngine
import MoultModel
import MoultObjects

/// The use cases of one store that need no migration: its backups and its records; `Moult` adds its checks and repairs.
///
/// It is the only caller of the engine for them. Every interface makes one for each call, and prints or returns the
/// answer.
package struct StoreKeeper: Sendable {
    package let store: String
    package let options: RunOptions
    package let system: any System
    /// The files of the model, which a run keeps in its journal; nil if none is named.
    package var models: StoreRequest.Models?
    /// Returns the versions of the model; nil if none is known. Called only when they are needed.
    package let knownVersions: @Sendable () throws -> ModelVersions?
    /// Whether everything runs on one thread, so that a call makes the same calls in the same order each time.
    package var isSequential = false

    package init(
        _ store: String, _ options: RunOptions = RunOptions(), on system: any System = POSIXSystem(),
        versions: @escaping @Sendable () throws -> ModelVersions? = { nil }
    ) {
        (self.store, self.options, self.system, knownVersions) = (store, options, system, versions)
    }

    package var migrator: Migrator { options.migrator(on: system, isSequential: isSequential) }

    /// Returns the versions of the model, or else the store's own.
    package func versions() throws -> ModelVersions {
        if let versions = try knownVersions() { return versions }
        let own = try ModelVersion(ownOfStore: store)
        return ModelVersions(versions: [own], currentName: own.name)
    }

    /// Returns the store's version.
    package func version() throws -> ModelVersion { try versions().version(ofStore: store) }

    /// Returns the name of the version of the store at a path; empty if unknown.
    package func knownVersionName(of path: String) -> String {
        (try? migrator.versionName(of: path, in: knownVersions)) ?? ""
    }

    /// Recovers a dead run before the store is changed; does nothing for a rehearsal.
    package func heal(unlessRehearsal isRehearsal: Bool) throws {
        if !isRehearsal { try migrator.recoverIfNeeded(store) }
    }

    /// Runs a migration, or only rehearses it; returns nil then.
    ///
    /// - Parameter work: the work that the migration does, for the journal of its run.
    package func perform(
        _ migration: Pass, _ work: StoreRequest.Work, to target: String? = nil, isRehearsal: Bool,
        _ observer: MigrationObserver
    ) throws -> MigrationOutcome? {
        guard isRehearsal else { return try run(migration, work, to: target, observer) }
        _ = try rehearse(migration, observer)
        return nil
    }

    package func run(
        _ migration: Pass, _ work: StoreRequest.Work, to target: String? = nil, rules: String? = nil,
        _ observer: MigrationObserver
    ) throws -> MigrationOutcome {
        let request = StoreRequest(store, to: target, work, options, models: models, rules: rules)
        return try request.keeping(migrator).run(migration, on: store, observer)
    }

    /// Rehearses a migration, which is refused for lack of space as the run itself is.
    package func rehearse(_ migration: Pass, _ observer: MigrationObserver) throws -> RehearsalOutcome {
        let migrator = migrator
        try migrator.needs(of: migration, on: store).space
            .check(for: migration.operation.work, offering: migration.ways(migrator.options), system)
        return try migrator.rehearse(migration, on: store, observer)
    }

    /// Performs the work that a deferred migration has left.
    ///
    /// - Throws: `budgetTooSmall` if the time is shorter than the longest task; what running one throws.
    package func finish(_ limit: CallLimit, _ observer: MigrationObserver) throws -> FinishReport {
        FinishReport(try migrator.finishDeferred(store, versions: knownVersions(), limit, observer))
    }

    // MARK: - Backups

    /// Makes and verifies a backup.
    package func backUp(_ observer: MigrationObserver = .none) throws -> StoreBackup {
        let migrator = migrator
        let version = try migrator.versionName(of: store, in: knownVersions)
        return try migrator.backUp(store, version: version, for: .request, observer)
    }

    /// Whether there are any records next to the store. Does not open the store's file.
    package var hasRecords: Bool { get throws { try system.exists(StoreRecords(of: store, system).folder) } }

    /// Returns the backups; the store may be gone.
    package func backups() throws -> BackupListing { try BackupListing(migrator.backupFolders(of: store), of: store) }

    /// Returns the backup with that name or path.
    package func backup(named name: String) throws -> StoreBackup {
        try migrator.backupFolders(of: store).backup(named: name)
    }

    /// Verifies that a backup matches its manifest, reading its files from the drive.
    ///
    /// - Throws: `backupInvalid` with the difference.
    package func verify(_ backup: StoreBackup) throws {
        if let error = backup.error { throw error }
        try migrator.backups(of: store).verify(backup, fromDrive: true)
    }

    /// Removes the backups that a policy does not keep, and returns them.
    ///
    /// - Throws: `fileNotFound` if there is neither a store nor any record of it.
    package func prune(_ policy: RetentionPolicy) throws -> [StoreBackup] {
        let migrator = migrator
        _ = try migrator.records(of: store)
        return try migrator.prune(store, policy)
    }

    /// Restores the named backup, or the backup of the last migration.
    package func rollback(to name: String? = nil, _ observer: MigrationObserver = .none) throws -> RollbackReport {
        let backup = try backup(named: name)
        let newer = try name == nil ? migrator.newerByHand(than: backup, of: store) : nil
        var report = try restore(backup, observer)
        report.newer = newer
        return report
    }

    /// Returns the backup to restore.
    ///
    /// - Throws: `backupNotFound`, which names a run that has not ended: it can be undone without a backup.
    private func backup(named name: String?) throws -> StoreBackup {
        do {
            return try migrator.backup(named: name, of: store, in: knownVersions)
        } catch var error as MigrationError where error.code == .backupNotFound && name == nil {
            guard let run = try? interrupted(), !run.isPaused else { throw error }
            error.message += " A run has not ended."
            error.advice = """
                \(run.finishing(isModelKnown: false)) finishes it. \(.makeBackup, .store(store)) undoes what it had not \
                committed, and begins nothing.
                """
            throw error
        }
    }

    /// Restores a backup in place of the store; the current state is backed up first.
    package func restore(_ backup: StoreBackup, _ observer: MigrationObserver = .none) throws -> RollbackReport {
        if let error = backup.error { throw error }
        return try migrator.rollback(store, to: backup, currentVersion: knownVersionName(of: store), observer)
    }

    // MARK: - Records

    /// Recovers a run whose process died, and begins nothing.
    package func recover() throws -> RecoveryReport {
        let migrator = migrator
        let (run, leftOutside) = (try interrupted(), try migrator.leftOutside(store))
        let backups = try migrator.backups(of: store).folder
        let drafts = try migrator.leftovers(of: StoreRecords(of: store, system))
            .filter { Path.folder(of: $0) == backups }
        let outcome = try migrator.recover(store)
        let isMissing = try !system.exists(store)
        return RecoveryReport(
            outcome: outcome, run: run, isOfNewStore: isMissing && outcome == .undone, leftOutside: leftOutside,
            wasBackingUp: run == nil && !drafts.isEmpty)
    }

    /// Returns the history of the store, which may be gone.
    package func runs() throws -> RunListing {
        let contents = try RunHistory(migrator.records(of: store), system).contents()
        return RunListing(runs: contents.records, unreadable: contents.unreadable)
    }

    /// Returns the lines of the store's log, oldest first.
    package func log() throws -> [String] {
        try MigrationLog(migrator.records(of: store), system).read().split(separator: "\n").map(String.init)
    }
}
