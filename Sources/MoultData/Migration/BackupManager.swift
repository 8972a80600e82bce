import MoultBasics
internal import MoultCoreData
import MoultEngine
import MoultSession

/// Makes, lists, verifies and restores the backups of one store. A migration makes a backup automatically before it
/// changes anything; use this type for a "Create backup now" button.
///
/// A backup is a whole store in a folder next to the original, made through SQLite and verified by its checksum. The
/// store may be open during a backup; unsaved changes of a context are not included. Release the container before you
/// restore a backup.
public struct BackupManager: Sendable {
    /// The store whose backups these are.
    public let url: URL

    /// Creates a manager for the backups of the store at a URL. Nothing is read or written yet.
    public init(storeAt url: URL) { self.url = url }

    /// Creates a manager for the backups of `default.store` in the program's own folder or, in the code of a stage, of
    /// the store being migrated.
    public init() { url = Self.migrating ?? ModelConfiguration().url }

    /// The store whose stage code is running in this task.
    @TaskLocal static var migrating: URL?

    /// One backup: a whole store in a folder of its own.
    public struct Backup: Sendable, Hashable, Identifiable {
        /// The name of the backup's folder: time, version and number.
        public let name: String
        /// The version of the store, as the store names it.
        public let version: String
        /// The time of the backup, to the second.
        public let createdAt: Date
        /// The store's size in bytes.
        public let size: Int64
        /// The store in the backup, ready to be opened.
        public let url: URL
        /// The reason why the manifest cannot be read and the backup cannot be restored; nil for a good backup. If set,
        /// only the backup's name, date and URL are known.
        public let error: MigrationError?

        /// The backup's name, which is unique among the store's backups.
        public var id: String { name }
    }

    /// Copies the store as it was last saved. Saves in this process wait until the copy is made. In the code of a
    /// stage, returns the backup that the migration has made.
    ///
    /// - Throws: `locked` if another process is using the store; `backupNotFound` in a migration that makes no backup.
    @discardableResult
    public func createBackup() throws -> Backup {
        if url == Self.migrating {
            if let made = try backups().last(where: { $0.error == nil }) { return made }
            throw MigrationError(
                .backupNotFound, "The migration makes no backup.", place: url.path,
                remedy: "Copy the store before it is opened.")
        }
        let isOpen = try PersistentStoreCoordinator.isOpen(url)
        return Backup(try isOpen ? keeper.migrator.backUpOpen(url.path) : keeper.backUp())
    }

    /// Returns the backups next to the store and in the folders that its history names, oldest first; an empty list if
    /// there never was a store. A backup with an unreadable manifest is included, with its ``Backup/error``.
    public func backups() throws -> [Backup] {
        // Do not open the file: closing it would release the locks of a container that has it open.
        try keeper.hasRecords ? keeper.backups().backups.map(Backup.init) : []
    }

    /// Verifies that a backup has not changed since it was made.
    ///
    /// - Throws: `backupInvalid`, with what differs; `backupNotFound`.
    public func verify(_ backup: Backup) throws { try keeper.verify(keeper.backup(named: backup.name)) }

    /// Verifies a backup, then replaces the store with it in one commit.
    ///
    /// - Returns: a backup of the previous store; nil if there was no readable store.
    /// - Throws: `backupInvalid` before anything is changed; `usage` if the store is open in this process; `locked` if
    ///   another process is using it.
    @discardableResult
    public func restore(_ backup: Backup) throws -> Backup? {
        try PersistentStoreCoordinator.checkIsNotOpen(url)
        return try keeper.restore(keeper.backup(named: backup.name)).saved.map(Backup.init)
    }

    private var keeper: StoreKeeper { StoreKeeper(url.path) }
}

extension BackupManager.Backup {
    fileprivate init(_ backup: StoreBackup) {
        (name, version, size, error) = (backup.name, backup.version, backup.bytes, backup.error)
        createdAt = Date(timeIntervalSince1970: backup.createdAt.timeIntervalSince1970.rounded(.down))
        url = URL(fileURLWithPath: backup.store)
    }
}
