import MoultBasics
import MoultSQLite
import MoultStore

extension Migrator {
    /// Makes and verifies a backup. Does not change the store.
    ///
    /// Backs up one state of the store through SQLite even if another process has it open and writes to it. If no
    /// process has the store open, first recovers an earlier run.
    ///
    /// - Throws: `locked` while another Moult run changes the store, or while a writer does not release it.
    package func backUp(
        _ store: String, version: String, for reason: StoreBackup.Manifest.Reason = .request,
        _ observer: MigrationObserver = .none
    ) throws -> StoreBackup {
        let path = try ReadOnlyStore.checkFile(store, system)
        try StorePrecheck.checkFile(path, system)
        let observer = observer.timed(
            by: Estimate(restoring: 0, over: try system.status(of: path)?.size ?? 0), system)
        let backup = try exclusively(path, version, reason, observer) ?? besideWriters(path, version, reason, observer)
        MigrationLog(StoreRecords(store: path), system).append("Made the backup \(backup.name).")
        observer.report(.backup, 1, bytes: backup.manifest.size)
        return backup
    }

    /// Backs up a store that no other process uses; returns nil if one has it open.
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
        try checkSpace(backingUp: lock.connection, of: lock.sidecar)
        return try backups(of: path).make(of: lock, version: version, for: reason, observer)
    }

    /// Backs up a store while others write. Core Data writes a file before it commits the row that names it, and
    /// removes one after the commit. All files of the copied state exist at the start, so the copy is consistent if
    /// none of them disappeared meanwhile.
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
                try checkSpace(backingUp: lock.connection, of: lock.sidecar)
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

    /// Checks the space for a backup of a store, and for restoring another one over it.
    ///
    /// - Parameters:
    ///   - other: the backup that is restored afterwards.
    ///   - work: the work that needs the space.
    /// - Throws: `insufficientStorage`.
    func checkSpace(
        backingUp connection: Connection, of sidecar: StoreRecords, restoring other: StoreBackup? = nil,
        for work: String = "The backup"
    ) throws {
        try SpaceRequirement(
            backingUp: StoreState(connection), of: sidecar, to: backups(of: sidecar.store).folder,
            restoring: other?.manifest, system
        ).check(for: work, system)
    }

    private func externalFiles(_ support: String) throws -> Set<String> {
        try system.exists(support) ? Set(system.files(below: support)) : []
    }

    /// Makes and verifies a backup of a store that is open, in this process or another. SQLite copies it alongside
    /// readers, and writers wait meanwhile. Only SQLite connections open the file, so that no locks are lost.
    ///
    /// - Throws: `locked` if another Moult run holds the store, or a writer does not finish.
    package func backUpOpen(_ store: String, _ observer: MigrationObserver = .none) throws -> StoreBackup {
        let path = try system.resolve(store)
        let sidecar = StoreRecords(store: path)
        try sidecar.make(system)
        let right = try RunOwner.take(sidecar, system)
        return try withExtendedLifetime(right) {
            // A connection that writes cannot be the source of a copy: one connection blocks writers, and another
            // reads.
            let guardian = try Connection(path, mode: .readWrite, busyTimeout: options.patience, isProven: true)
            defer { guardian.close() }
            try guardian.execute("BEGIN IMMEDIATE")
            defer { _ = try? guardian.execute("ROLLBACK") }
            let reader = try Connection(path, mode: .readOnly, busyTimeout: options.patience)
            defer { reader.close() }
            let version = try StoreSnapshot(reader).metadata.versionIdentifiers.first ?? ""
            let folder = try backups(of: path)
            try folder.removeDrafts(of: sidecar)
            try checkSpace(backingUp: reader, of: sidecar)
            let backup = try folder.proven(
                folder.draft(
                    of: reader, named: Path.name(of: path), beside: path, version: version, for: .request,
                    copyingExternalData: true, .like(path), observer))
            MigrationLog(sidecar, system).append("Made the backup \(backup.name) of the open store.")
            return backup
        }
    }
}

/// The measures taken to free space for a run.
package struct FreedSpace: Sendable, Equatable {
    /// The backups that the retention policy removed.
    package var pruned: [String] = []
    /// Whether the run kept no backup, because there was no space for one.
    package var isFrugal = false

    /// A sentence for each measure.
    package var sentences: [String] {
        pruned.map(BackupFolder.removal)
            + (isFrugal ? ["There was no space for a backup. The migration kept none."] : [])
    }
}

extension Migrator {
    /// Runs `body`, and frees space if there is not enough: first removes the leftovers of dead runs and the backups
    /// that the retention policy does not keep, then uses the frugal mode, which keeps no backup.
    ///
    /// Any other error is passed to the caller: the store is unchanged, and the first error is thrown.
    ///
    /// - Parameter body: receives a migrator with the options to use, and may be called again after it has failed.
    /// - Throws: `insufficientStorage` with the missing amount if even that is not enough.
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

    /// Removes the backups next to a store, or in the folder of the options, that a policy does not keep. Returns and
    /// logs them.
    package func prune(_ store: String, _ policy: RetentionPolicy) throws -> [StoreBackup] {
        var last: String?
        if policy.keepsEachVersion { last = try lastChange(of: store)?.backup }
        let gone = try backups(of: store).prune(policy, keeping: last)
        let log = MigrationLog(try sidecar(of: store), system)
        for backup in gone { log.append(BackupFolder.removal(of: backup.name)) }
        return gone
    }

    /// Removes Moult files that are no longer needed, including an expired only backup of a version. Returns the names
    /// of the removed backups.
    private func free(_ store: String) throws -> [String] {
        let path = try ReadOnlyStore.checkFile(store, system)
        let lock = try StoreLock(path, system, patience: options.patience)
        defer { lock.release() }
        _ = try Recovery.heal(lock, system)
        var retention = options.retention
        retention.keepsEachVersion = false
        return try prune(path, retention).map(\.name)
    }
}
