import MoultModel
import MoultStore
import MoultSystem

/// The measures taken to make room for a run.
package struct RoomMade: Sendable, Equatable {
    /// Backups that the retention policy let go.
    package var pruned: [String] = []
    /// Whether the run kept no backup, because only that fitted.
    package var isFrugal = false

    /// A sentence for each.
    package var sentences: [String] {
        pruned.map(BackupFolder.removal)
            + (isFrugal ? ["There was no space for a backup. The migration kept none."] : [])
    }
}

extension Migrator {
    /// Runs something, and helps it on where the space is short: first what is Moult's own goes, the leftovers of runs
    /// that died and the backups that the retention policy lets go; then it is done in the frugal mode, which keeps no
    /// backup.
    ///
    /// Any other failure is the caller's: the store is as it was, and the first error is the one that is thrown.
    ///
    /// - Parameter body: is given a migrator with the options to use, and may be called again after it has failed.
    /// - Throws: `insufficientStorage` with how much more is needed where not even that fits.
    package func makingRoom<Result>(for store: String, _ body: (Migrator) throws -> Result) throws -> (Result, RoomMade)
    {
        var made = RoomMade()
        do {
            return (try body(self), made)
        } catch let error as MigrationError where error.code == .insufficientStorage {
            made.pruned = try free(store)
        }
        var frugal = options
        frugal.isFrugal = true
        if !options.isFrugal {
            do {
                return (try body(self), made)
            } catch let error as MigrationError where error.code == .insufficientStorage {
                MigrationLog(Sidecar(store: try system.resolve(store)), system).append(
                    "There is no space for a backup. Trying without one.")
            }
        }
        made.isFrugal = !options.isFrugal
        return (try body(Migrator(options: frugal, system: system)), made)
    }

    /// Removes the backups next to a store, or in the folder of the options, that a policy does not keep; returns and logs
    /// them.
    package func prune(_ store: String, _ policy: RetentionPolicy) throws -> [StoreBackup] {
        var last: String?
        if policy.keepsEachVersion { last = try lastChange(of: store)?.backup }
        let gone = try backups(of: store).prune(policy, keeping: last)
        let log = MigrationLog(try sidecar(of: store), system)
        for backup in gone { log.append(BackupFolder.removal(of: backup.name)) }
        return gone
    }

    /// Removes what is no longer needed of Moult's own, the only backup of a version included if its time is over; the
    /// names of the backups that went.
    private func free(_ store: String) throws -> [String] {
        let path = try StoreProbe.checkFile(store, system)
        let lock = try StoreLock(path, system, patience: options.patience)
        defer { lock.release() }
        _ = try Recovery.heal(lock, system)
        var retention = options.retention
        retention.keepsEachVersion = false
        return try prune(path, retention).map(\.name)
    }
}
