import MoultModel
import MoultSQLite
import MoultStore
import MoultSystem

/// The only writer of schemas: changes a store by a script, so that it is the complete old store or the complete new
/// one at every instant.
///
/// Lock, heal, preflight, backup, working copy, script, verification, commit, history: each step is one function, here
/// and in `MigrationRun`.
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
    package func run(_ migration: Migration, on store: String, _ observer: MigrationObserver = .none) throws
        -> MigrationOutcome
    {
        if let refusal = migration.lossRefusal { throw refusal }
        let path = try StoreProbe.checkFile(store, system)
        try Preflight.checkFile(path, system)
        let lock = try StoreLock(path, system, patience: options.patience)
        defer { lock.release() }
        let recovery = try Recovery.heal(lock, system)
        try Attempts.check(migration, lock.sidecar, limit: options.maximumAttempts, system)
        observer.report(.lock, 1, "No other process has the store open")
        lock.report(to: observer)
        let run = try MigrationRun(migration, lock, recovery, options, system, observer)
        return try run.perform()
    }

    /// Recovers what a run that died left, without running anything; says what became of it. A migration that waits for
    /// its next call continues waiting.
    package func recover(_ store: String) throws -> RecoveryOutcome {
        let sidecar = try sidecar(of: store)
        // A migration into this path, or a salvage, may have died before there was a store.
        if try UnfinishedStore.removeAbandoned(sidecar.store, system), try !system.exists(sidecar.store) {
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
        let path = try StoreProbe.checkFile(store, system)
        try Preflight.checkFile(path, system)
        let lock = try StoreLock(path, system, patience: options.patience)
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
    func sidecar(of store: String) throws -> Sidecar { try Sidecar(of: store, system) }
}
