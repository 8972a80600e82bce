import MoultEngine
import MoultModel
import MoultStore
import MoultSystem
import MoultTransform

/// The use cases of one store that need no migration: its backups, its records, its checks and its repairs.
///
/// It is the only caller of the engine for them; each face makes one for a call, and prints or returns the answer.
package struct StoreKeeper: Sendable {
    package let store: String
    package let options: RunOptions
    package let system: any System
    /// Returns the versions of the model; nil if none is known. It is asked only when they are needed.
    package let knownVersions: @Sendable () throws -> ModelVersions?

    package init(
        _ store: String, _ options: RunOptions = RunOptions(), on system: any System = POSIXSystem(),
        versions: @escaping @Sendable () throws -> ModelVersions? = { nil }
    ) {
        (self.store, self.options, self.system, knownVersions) = (store, options, system, versions)
    }

    package var migrator: Migrator { options.migrator(on: system) }

    /// Returns the versions of the model, otherwise the one inside the store.
    package func versions() throws -> ModelVersions {
        if let versions = try knownVersions() { return versions }
        let own = try ModelVersion(ownOfStore: store)
        return ModelVersions(versions: [own], currentName: own.name)
    }

    /// Returns the store's version.
    func version() throws -> ModelVersion { try versions().version(ofStore: store) }

    /// Returns the name of the version of the store at a path; empty if it is not known.
    package func knownVersionName(of path: String) -> String {
        (try? migrator.versionName(of: path, in: knownVersions)) ?? ""
    }

    /// Recovers what a run that died left, before the store is changed; a rehearsal changes nothing.
    package func heal(unlessRehearsal isRehearsal: Bool) throws {
        if !isRehearsal { try migrator.healed(store) }
    }

    /// Runs a migration, or only rehearses it; nil then.
    package func perform(
        _ migration: Migration, isRehearsal: Bool, _ observer: MigrationObserver
    ) throws -> MigrationOutcome? {
        guard isRehearsal else { return try migrator.run(migration, on: store, observer) }
        _ = try migrator.rehearse(migration, on: store, observer)
        return nil
    }

    /// Does the work that a deferred migration has left.
    ///
    /// - Throws: `budgetTooSmall` if the time is shorter than the longest task; what running one throws.
    package func finish(_ limit: DeferredLimit, _ observer: MigrationObserver) throws -> FinishReport {
        FinishReport(try migrator.finishDeferred(store, versions: knownVersions(), limit, observer))
    }

    /// Returns how the store stands to the versions of the model.
    package func status(aimingAt target: String? = nil) throws -> StoreStatus {
        try StoreStatus(of: store, in: versions(), target: target, migrator)
    }
}

// MARK: - Backups

extension StoreKeeper {
    /// Makes and verifies a backup.
    package func backUp(_ observer: MigrationObserver = .none) throws -> StoreBackup {
        let migrator = migrator
        let version = try migrator.versionName(of: store, in: knownVersions)
        return try migrator.backUp(store, version: version, for: .request, observer)
    }

    /// Whether anything is kept next to the store; its file is not opened.
    package var hasRecords: Bool {
        get throws { try system.exists(Sidecar(of: store, system).folder) }
    }

    /// Returns the backups; the store may be gone.
    package func backups() throws -> BackupListing {
        try BackupListing(migrator.backupFolders(of: store), of: store)
    }

    /// Returns the backup of that name, or at that path.
    package func backup(named name: String) throws -> StoreBackup {
        try migrator.backupFolders(of: store).backup(named: name)
    }

    /// Verifies that a backup still is what its manifest says; its files are read from the drive.
    ///
    /// - Throws: `backupInvalid`, which says what differs.
    package func verify(_ backup: StoreBackup) throws {
        if let error = backup.error { throw error }
        try migrator.backups(of: store).verify(backup, fromDrive: true)
    }

    /// Verifies the backup of that name, otherwise every one.
    package func verifyBackups(named name: String? = nil) throws -> BackupVerification {
        let all = try name.map { [try backup(named: $0)] } ?? backups().backups
        let inOrder = all.filter { $0.error == nil } + all.filter { $0.error != nil }
        return BackupVerification(
            inOrder.map { backup in
                do {
                    try verify(backup)
                    return (backup.name, nil)
                } catch {
                    return (backup.name, MigrationError(any: error))
                }
            })
    }

    /// Copies a backup into a folder or an archive, verified at both ends.
    package func export(_ backup: StoreBackup, to path: String) throws {
        if let error = backup.error { throw error }
        try migrator.backups(of: store).export(backup, to: path)
    }

    /// Imports an exported backup, or a store that was copied by hand; the store may be gone.
    package func importBackup(_ path: String, wasClosed: Bool) throws -> StoreBackup {
        try migrator.importBackup(path, for: store, version: knownVersionName(of: path), wasClosed: wasClosed)
    }

    /// Removes the backups that a policy does not keep, and returns them.
    ///
    /// - Throws: `fileNotFound` if there is neither a store nor anything that Moult keeps of it.
    package func prune(_ policy: RetentionPolicy) throws -> [StoreBackup] {
        let migrator = migrator
        _ = try migrator.records(of: store)
        return try migrator.prune(store, policy)
    }

    /// Restores the backup of the last migration, or the one that is named.
    package func rollback(to name: String? = nil, _ observer: MigrationObserver = .none) throws -> RollbackReport {
        try restore(migrator.backup(named: name, of: store, in: knownVersions), observer)
    }

    /// Restores a backup in place of the store; the current state is backed up first.
    package func restore(_ backup: StoreBackup, _ observer: MigrationObserver = .none) throws -> RollbackReport {
        if let error = backup.error { throw error }
        return try migrator.rollback(store, to: backup, currentVersion: knownVersionName(of: store), observer)
    }
}

// MARK: - Records

extension StoreKeeper {
    /// Recovers what a run left whose process died.
    package func recover() throws -> RecoveryReport {
        let migrator = migrator
        let leftOutside = try migrator.leftOutside(store)
        let outcome = try migrator.recover(store)
        let isMissing = try !system.exists(store)
        return RecoveryReport(outcome: outcome, isOfNewStore: isMissing && outcome == .undone, leftOutside: leftOutside)
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

    /// Returns the objects that runs took out of the store, which may be gone.
    package func quarantine(limit: Int = 1_000) throws -> QuarantineListing {
        try QuarantineListing(migrator.quarantine(of: store), limit: limit)
    }

    /// Returns the object of that number in the quarantine, otherwise the newest; nil if there is none.
    package func quarantined(_ number: Int64? = nil) throws -> QuarantineEntry? {
        let quarantine = try migrator.quarantine(of: store)
        return try number.map { try quarantine.entry($0) } ?? quarantine.newest()
    }
}
