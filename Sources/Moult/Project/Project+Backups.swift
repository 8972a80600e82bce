import MoultEngine
import MoultSession

extension Project {
    /// Returns the backups of a store, oldest first: those next to it, and those in the folders that its history names.
    /// The store may be gone. A backup whose manifest is unreadable is included, with its `error`.
    ///
    /// - Throws: `fileNotFound` if there is neither a store nor any record of it.
    public func backups(of store: String, options: RunOptions = RunOptions()) async throws -> [StoreBackup] {
        try await onThread { _ in try keeper(of: store, options).backups().backups }
    }

    /// Makes and verifies a backup of a store. An app may have the store open and write to it: the backup has its state
    /// at one moment.
    ///
    /// The report's errors: `locked`, `insufficientStorage`, `cancelled`, `storeCorrupted`.
    public func backUp(_ store: String, options: RunOptions = RunOptions()) -> StoreTask<StoreBackup> {
        task("backup", store) { observer, _ in try keeper(of: store, options).backUp(observer) }
    }

    /// Checks that a backup matches its manifest: every file, the pages, the version and the number of rows.
    ///
    /// - Throws: `backupInvalid` with the difference.
    public func verify(_ backup: StoreBackup) async throws {
        try await onThread { _ in try keeper(of: backup.store).verify(backup) }
    }

    /// Copies a backup, verified before and after.
    ///
    /// - Parameters:
    ///   - backup: the backup.
    ///   - path: a folder, or an archive if it ends with `.tar`; nothing may exist there.
    /// - Throws: `usage` if the path is taken; `backupInvalid`, `locked`, `insufficientStorage`.
    public func export(_ backup: StoreBackup, to path: String) async throws {
        try await onThread { _ in try keeper(of: backup.store).export(backup, to: path) }
    }

    /// Imports an exported backup, or a store that was copied by hand, as a backup of a store that may be gone.
    ///
    /// - Parameters:
    ///   - path: an exported folder or archive, or the file of a store.
    ///   - store: the store's path.
    ///   - wasClosed: whether the app had closed that store before it was copied, so that its WAL was empty.
    ///   - options: the options with the folder for backups.
    /// - Throws: `backupInvalid` with the reason if it is not whole; `locked`.
    public func importBackup(
        _ path: String, for store: String, wasClosed: Bool = false, options: RunOptions = RunOptions()
    ) async throws -> StoreBackup {
        try await onThread { _ in try keeper(of: store, options).importBackup(path, wasClosed: wasClosed) }
    }

    /// Removes the backups next to a store, or in the folder of the options, that the policy does not keep, and returns
    /// them. Never removes the newest sound backup. The store's log names the removed backups.
    public func pruneBackups(
        of store: String, keeping policy: RetentionPolicy = RetentionPolicy(), options: RunOptions = RunOptions()
    ) async throws -> [StoreBackup] {
        try await onThread { _ in try keeper(of: store, options).prune(policy) }
    }

    /// Restores the named backup, or the backup of the last migration. Verifies the backup first, and backs up the
    /// present state. The store may be damaged or gone.
    ///
    /// The report's errors: `backupNotFound`, `backupInvalid`, `deferredWork`, `locked` before any change; `cancelled`;
    /// `verificationFailed` if the restored store differs from the backup.
    ///
    /// - Parameters:
    ///   - store: the store's path.
    ///   - name: a backup's name or path, or the name of a version for its newest backup.
    ///   - options: the options for changing the store.
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

    /// Moves a store to another path, such as an App Group's folder or another volume, with its external data, its
    /// history and its earlier backups. A verified backup stays at the old path, and a record there says where the
    /// store went. If the process dies, the same call again ends the move, and so does the next call for either path.
    ///
    /// The report's errors: `usage` if something is at the new path, or if the store has a mirror; `fileNotFound` if
    /// its folder is missing; `locked` if another process has the store open; `insufficientStorage`, `cancelled`,
    /// `storeCorrupted`. The store is at its old path then.
    ///
    /// - Parameters:
    ///   - store: the store's path.
    ///   - destination: the new path, or an existing folder, in which the store keeps its name.
    ///   - options: the options with the folder for backups.
    public func move(
        _ store: String, to destination: String, options: RunOptions = RunOptions()
    ) -> StoreTask<MoveReport> {
        task("move", store) { observer, _ in try keeper(of: store, options).move(to: destination, observer) }
    }

    // MARK: - Records

    /// Returns the history of a store: the runs on it, oldest first. The store may be gone. A line of the ``logger``
    /// reports the number of unreadable records.
    ///
    /// - Throws: `fileNotFound` if there is neither a store nor any record of it.
    public func history(of store: String) async throws -> [StoreRun] {
        try await onThread { _ in
            let listing = try keeper(of: store).runs()
            if let unreadable = listing.unreadable {
                logger?(LogLine(call: "history", store: store, message: unreadable.sentence))
            }
            return listing.runs
        }
    }

    /// Returns the lines of a store's log, oldest first, each `[time] sentence`; empty if nothing was done.
    ///
    /// - Throws: `fileNotFound` if there is neither a store nor any record of it.
    public func log(of store: String) async throws -> [String] {
        try await onThread { _ in try keeper(of: store).log() }
    }
}
