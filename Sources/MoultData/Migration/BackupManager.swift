import Moult
import MoultBasics
internal import MoultCoreData
import MoultEngine

/// Makes, lists, verifies and puts back the backups of one store. Every migration makes one by itself before it changes
/// anything; this is for a button that says "Create backup now".
///
/// A backup is a whole store in a folder next to it, made through SQLite and verified by its checksum. A store may be
/// open while it is backed up; what a context has not saved is not in it. To put one back, release the container
/// first.
public struct BackupManager: Sendable {
    /// The store whose backups these are.
    public let url: URL

    /// The backups of the store at a URL; nothing is read or written yet.
    public init(storeAt url: URL) { self.url = url }

    /// The backups of `default.store` in the program's own folder; in the code of a stage, those of the store that is
    /// being migrated.
    public init() { url = Self.migrating ?? ModelConfiguration().url }

    /// The store whose stage has its code running on this thread.
    @TaskLocal static var migrating: URL?

    /// One backup: a whole store in a folder of its own.
    public struct Backup: Sendable, Hashable, Identifiable {
        /// The name of its folder: time, version and number.
        public let name: String
        /// The version of the store, by the store's own name for it.
        public let version: String
        /// When the backup was made, to the second.
        public let createdAt: Date
        /// The store's size in bytes.
        public let size: Int64
        /// The store in the backup, which opens as it stands.
        public let url: URL
        /// The reason why its manifest cannot be read, so that it cannot be put back; nil for any other backup. Then
        /// only its name, when it was made and where it is are known.
        public let error: MigrationError?

        /// The backup's name, which no other backup of the store has.
        public var id: String { name }
    }

    /// Copies the store as it was last saved. Saves of this process wait in the meantime. In the code of a stage it
    /// returns the backup that the migration has made.
    ///
    /// - Throws: `locked` if another process has the store; `backupNotFound` in a migration that makes no backup.
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

    /// The backups next to the store and in the folders that its history names, oldest first; none where there is no
    /// store and never was. A backup whose manifest cannot be read is among them, with its ``Backup/error``.
    public func backups() throws -> [Backup] {
        // The file is not looked at: closing it would release the locks of a container that has it open.
        try keeper.hasRecords ? keeper.backups().backups.map(Backup.init) : []
    }

    /// Verifies that a backup still is what it was when it was made.
    ///
    /// - Throws: `backupInvalid` that says what differs; `backupNotFound`.
    public func verify(_ backup: Backup) throws { try keeper.verify(keeper.backup(named: backup.name)) }

    /// Puts a backup in place of the store, in one commit, when it has been verified.
    ///
    /// - Returns: the backup of what was there before; nil if there was no store that could be read.
    /// - Throws: `backupInvalid` before anything is done; `usage` if the store is open in this process, `locked` if
    ///   another one has it.
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
