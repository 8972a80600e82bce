import MoultBasics
import MoultSQLite
import MoultStore

extension Migrator {
    /// Makes and verifies a backup; the store is not changed.
    ///
    /// A store that another process has open, and writes to, is backed up anyway: one state of it, through SQLite. What
    /// an earlier run left is recovered where no process has the store open.
    ///
    /// - Throws: `locked` while another run of Moult changes the store, or where a writer does not release it.
    package func backUp(
        _ store: String, version: String, for reason: StoreBackup.Manifest.Reason = .request,
        _ observer: MigrationObserver = .none
    ) throws -> StoreBackup {
        let path = try StoreProbe.checkFile(store, system)
        try StorePrecheck.checkFile(path, system)
        let observer = observer.timed(
            by: Estimate(restoring: 0, over: try system.status(of: path)?.size ?? 0), system)
        let backup = try exclusively(path, version, reason, observer) ?? besideWriters(path, version, reason, observer)
        MigrationLog(StoreRecords(store: path), system).append("Made the backup \(backup.name).")
        observer.report(.backup, 1, bytes: backup.manifest.size)
        return backup
    }

    /// Imports an exported backup, or a store that was copied by hand, as a backup of a store that may be gone.
    ///
    /// - Throws: `locked` while another run of Moult changes the store; as ``BackupFolder/take(_:version:wasClosed:)``.
    package func importBackup(
        _ path: String, for store: String, version: String = "", wasClosed: Bool = false
    ) throws -> StoreBackup {
        let sidecar = try sidecar(of: store)
        if try system.exists(sidecar.store) { try StoreProbe.checkKind(sidecar.store, system) }
        try sidecar.make(system)
        let owner = try RunOwner.take(sidecar, system)
        return try withExtendedLifetime(owner) {
            let folder = try backups(of: store)
            try folder.removeDrafts(of: sidecar)
            // Of a store that is gone the sidecar still knows who could read it.
            let rights: FileRights = try system.exists(sidecar.store) ? sidecar.rights : .like(sidecar.folder)
            let backup = try folder.take(path, version: version, wasClosed: wasClosed, rights)
            MigrationLog(sidecar, system).append("Imported the backup \(backup.name).")
            return backup
        }
    }

    /// Nil if somebody has the store open.
    private func exclusively(
        _ path: String, _ version: String, _ reason: StoreBackup.Manifest.Reason, _ observer: MigrationObserver
    ) throws -> StoreBackup? {
        let lock: StoreLock
        do {
            lock = try StoreLock(path, system, patience: min(options.patience, 250))
        } catch let error as MigrationError where error.code == .locked {
            return nil
        }
        defer { lock.release() }
        _ = try Recovery.heal(lock, system, keepsPaused: true)
        return try backups(of: path).make(of: lock, version: version, for: reason, observer)
    }

    /// Core Data writes a file before the row that names it is committed, and removes one after: the files of the state
    /// that is copied are there when it begins, and the copy counts once none of them went away in the meantime.
    private func besideWriters(
        _ path: String, _ version: String, _ reason: StoreBackup.Manifest.Reason, _ observer: MigrationObserver
    ) throws -> StoreBackup {
        let folder = try backups(of: path)
        let support = StoreRecords(store: path).support
        for _ in 0..<5 {
            let before = try externalFiles(support)
            let lock = try StoreLock(reading: path, system, patience: max(options.patience, 5_000))
            let draft: BackupFolder.Draft
            do {
                defer { lock.release() }
                try folder.removeDrafts(of: lock.sidecar)
                let files = try before.union(externalFiles(support))
                draft = try folder.draft(of: lock, version: version, for: reason, copyingExternalData: true, observer)
                let copied = try externalFiles(Path.join(draft.folder, Path.name(of: support)))
                guard files.isSubset(of: copied) else {
                    folder.discard(draft)
                    continue
                }
            } catch let error as MigrationError where error.code == .fileNotFound {
                continue
            }
            return try folder.proven(draft)
        }
        throw MigrationError(
            .locked, "Another process kept removing files of external data while they were copied.", place: path,
            remedy: "Close the app that uses the store, or try again when it is less busy.")
    }

    private func externalFiles(_ support: String) throws -> Set<String> {
        try system.exists(support) ? Set(system.files(below: support)) : []
    }

    /// Makes and verifies a backup of a store that is open, in this process or another: SQLite copies it next to those
    /// who read, and those who write wait in the meantime. Only connections touch the file, so that no locks are
    /// lost.
    ///
    /// - Throws: `locked` if another run of Moult has the store, or somebody does not end writing.
    package func backUpOpen(_ store: String, _ observer: MigrationObserver = .none) throws -> StoreBackup {
        let path = try system.resolve(store)
        let sidecar = StoreRecords(store: path)
        try sidecar.make(system)
        let right = try RunOwner.take(sidecar, system)
        return try withExtendedLifetime(right) {
            // A connection that writes cannot be copied from: one keeps the others from writing, and one reads.
            let guardian = try Connection(path, mode: .readWrite, busyTimeout: options.patience)
            defer { guardian.close() }
            try guardian.execute("BEGIN IMMEDIATE")
            defer { _ = try? guardian.execute("ROLLBACK") }
            let reader = try Connection(path, mode: .readOnly, busyTimeout: options.patience)
            defer { reader.close() }
            let version = try StoreSnapshot(reader).metadata.versionIdentifiers.first ?? ""
            let folder = try backups(of: path)
            try folder.removeDrafts(of: sidecar)
            let backup = try folder.proven(
                folder.draft(
                    of: reader, named: Path.name(of: path), beside: path, version: version, for: .request,
                    copyingExternalData: true, .like(path), observer))
            MigrationLog(sidecar, system).append("Made the backup \(backup.name) of the open store.")
            return backup
        }
    }
}

/// The measures taken to make room for a run.
package struct FreedSpace: Sendable, Equatable {
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
    package func freeingSpace<Result>(for store: String, _ body: (Migrator) throws -> Result) throws -> (
        Result, FreedSpace
    ) {
        var made = FreedSpace()
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
                MigrationLog(StoreRecords(store: try system.resolve(store)), system).append(
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
