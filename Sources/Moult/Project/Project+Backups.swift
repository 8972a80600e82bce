import MoultEngine

extension Project {
    /// The backups of a store, oldest first: those next to it, and those in the folders that its history names. The store
    /// may be gone. A backup whose manifest cannot be read is among them, with its `error`.
    ///
    /// - Throws: `fileNotFound` if there is neither a store nor anything that Moult keeps of it.
    public func backups(of store: String, options: RunOptions = RunOptions()) async throws -> [StoreBackup] {
        try await onThread { _ in try keeper(of: store, options).backups().backups }
    }

    /// Makes and verifies a backup of a store. An app may have the store open and write to it: the backup holds its state
    /// at one moment.
    ///
    /// The report's errors: `locked`, `insufficientStorage`, `cancelled`, `storeCorrupted`.
    public func backUp(_ store: String, options: RunOptions = RunOptions()) -> StoreTask<StoreBackup> {
        task("backup", store) { observer, _ in try keeper(of: store, options).backUp(observer) }
    }

    /// Checks that a backup still is what its manifest says: every file, the pages, the version and the number of rows.
    ///
    /// - Throws: `backupInvalid`, which says what differs.
    public func verify(_ backup: StoreBackup) async throws {
        try await onThread { _ in try keeper(of: backup.store).verify(backup) }
    }

    /// Copies a backup, verified at both ends.
    ///
    /// - Parameters:
    ///   - backup: the backup.
    ///   - path: a folder, or an archive if it ends with `.tar`; nothing may exist there.
    /// - Throws: `usage` if the path is taken; `backupInvalid`, `locked`, `insufficientStorage`.
    public func export(_ backup: StoreBackup, to path: String) async throws {
        try await onThread { _ in try keeper(of: backup.store).export(backup, to: path) }
    }

    /// Imports an exported backup, or a store that was copied by hand, as a backup of a store, which may be gone.
    ///
    /// - Parameters:
    ///   - path: an exported folder or archive, or the file of a store.
    ///   - store: the store's path.
    ///   - wasClosed: whether the app had closed that store before it was copied, so that its WAL was empty.
    ///   - options: where backups are.
    /// - Throws: `backupInvalid` with the reason if it is not whole; `locked`.
    public func importBackup(
        _ path: String, for store: String, wasClosed: Bool = false, options: RunOptions = RunOptions()
    ) async throws -> StoreBackup {
        try await onThread { _ in try keeper(of: store, options).importBackup(path, wasClosed: wasClosed) }
    }

    /// Removes the backups next to a store, or in the folder of the options, that the policy does not keep; returns them.
    /// The newest sound backup is never removed. The store's log names what was.
    public func pruneBackups(
        of store: String, keeping policy: RetentionPolicy = RetentionPolicy(), options: RunOptions = RunOptions()
    ) async throws -> [StoreBackup] {
        try await onThread { _ in try keeper(of: store, options).prune(policy) }
    }

    /// Restores the backup of the last migration, or the one that is named. The backup is verified first, and the present
    /// state is backed up. The store may be damaged or gone.
    ///
    /// The report's errors: `backupNotFound`, `backupInvalid`, `deferredWork`, `locked` before anything is done;
    /// `cancelled`; `verificationFailed` if the restored store differs from the backup.
    ///
    /// - Parameters:
    ///   - store: the store's path.
    ///   - name: a backup's name or path, or the name of a version for its newest backup.
    ///   - options: how the store is changed.
    public func rollback(
        _ store: String, to name: String? = nil, options: RunOptions = RunOptions()
    ) -> StoreTask<RollbackReport> {
        task("rollback", store) { observer, _ in try keeper(of: store, options).rollback(to: name, observer) }
    }

    /// Restores a backup in place of a store, as ``rollback(_:to:options:)`` does.
    public func restore(
        _ backup: StoreBackup, to store: String, options: RunOptions = RunOptions()
    ) -> StoreTask<RollbackReport> {
        task("rollback", store) { observer, _ in try keeper(of: store, options).restore(backup, observer) }
    }

    // MARK: - Records

    /// Returns the history of a store: the runs on it, oldest first. The store may be gone. Records that cannot be read
    /// are counted in a line of the ``logger``.
    ///
    /// - Throws: `fileNotFound` if there is neither a store nor anything that Moult keeps of it.
    public func history(of store: String) async throws -> [StoreRun] {
        try await onThread { _ in
            let listing = try keeper(of: store).runs()
            if let unreadable = listing.unreadable {
                logger?(LogLine(call: "history", store: store, message: unreadable.sentence))
            }
            return listing.runs
        }
    }

    /// The lines of a store's log, oldest first, each `[time] sentence`; empty if nothing was done.
    ///
    /// - Throws: `fileNotFound` if there is neither a store nor anything that Moult keeps of it.
    public func log(of store: String) async throws -> [String] {
        try await onThread { _ in try keeper(of: store).log() }
    }
}
