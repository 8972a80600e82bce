/// The only interface to the machine: files, synchronising, clones, locks, free space, processes and the clock.
///
/// All work outside SQLite goes through a value of this type, so that a test can substitute one that fails, dies or
/// runs out of space at any chosen call. Every failing operation throws a `MigrationError` with the path and, as its
/// cause, the system's own message.
package protocol System: Sendable {
    // MARK: Looking

    /// Returns the status of a file, following symbolic links; nil if the path does not exist.
    func status(of path: String) throws -> FileStatus?
    /// Whether the path itself is a symbolic link, wherever it leads; false if it does not exist.
    func isLink(_ path: String) throws -> Bool
    /// Returns the absolute path without symbolic links.
    func resolve(_ path: String) throws -> String
    /// Returns the names in a folder, in byte order, without `.` and `..`.
    func list(_ folder: String) throws -> [String]
    /// Returns at most `count` bytes from the start of a plain file.
    func read(_ path: String, prefix count: Int) throws -> [UInt8]
    /// Whether this process may write to a file, or create files in a folder.
    func isWritable(_ path: String) -> Bool
    func space(at path: String) throws -> VolumeSpace
    /// Returns the SHA-256 of a file's contents, which are read in pieces.
    func digest(of path: String) throws -> [UInt8]
    /// Drops a file from the system's cache if possible, so that the next read comes from the drive.
    func forgetCache(of path: String) throws

    // MARK: Writing

    /// Creates an empty file; the path must not exist.
    func makeFile(_ path: String, _ rights: FileRights) throws
    /// Creates or truncates the file, then writes; not synchronised. An existing file keeps its permissions.
    func write(_ bytes: [UInt8], to path: String, _ rights: FileRights) throws
    /// Appends to a file in one write, creating it if it is missing; not synchronised.
    func append(_ bytes: [UInt8], to path: String, _ rights: FileRights) throws
    /// Waits until a file's contents, or a folder's entries, are on the disk.
    func synchronise(_ path: String) throws
    /// Renames a file or folder and replaces an existing one at the new path, atomically.
    func rename(_ path: String, to newPath: String) throws
    /// Renames a file or folder to an unused path, atomically: it never replaces anything that another process creates
    /// there in the meantime.
    ///
    /// - Throws: `usage` if the new path exists.
    func rename(_ path: String, toUnused newPath: String) throws
    /// Exchanges two files or folders, atomically.
    ///
    /// - Returns: false, without any change, if the volume does not support it.
    func exchange(_ path: String, with other: String) throws -> Bool
    /// Removes a file or an empty folder; false if the path does not exist.
    @discardableResult func remove(_ path: String) throws -> Bool
    /// Creates a folder. An existing folder is not an error, and keeps its permissions.
    func makeFolder(_ path: String, _ rights: FileRights) throws
    /// Copies a plain file to `copy`, which must not exist, by cloning if the volume supports it; not synchronised. The
    /// source must not be a symbolic link.
    func copy(_ path: String, to copy: String, _ rights: FileRights) throws
    /// Clones a file that this process has open to `copy`, which must not exist. It closes no descriptor of the file,
    /// because that would drop SQLite's locks.
    ///
    /// - Returns: false, without creating anything, if the volume does not support it.
    func cloneOpenFile(_ path: String, to copy: String, _ rights: FileRights) throws -> Bool
    func setMode(_ mode: UInt32, of path: String) throws
    /// Truncates a file, or extends it with zeros; not synchronised.
    func setSize(_ size: Int64, of path: String) throws

    // MARK: Locks and processes

    /// Takes the advisory lock of a file, creating it if it is missing; nil while another process holds the lock.
    func lock(_ path: String, _ rights: FileRights) throws -> FileLock?
    var processIdentifier: Int32 { get }
    /// The identifier of this process's effective user.
    var user: UInt32 { get }
    /// Returns the start time of a process, as a text that tells apart two processes with the same identifier; nil if
    /// it is not running.
    func startTime(ofProcess identifier: Int32) -> String?
    /// Returns the other processes that hold a lock on a file, if the system reports them.
    func holders(of path: String) -> [RunningProcess]

    // MARK: Clock and names

    var now: Timestamp { get }
    /// The nanoseconds of a monotonic clock.
    var monotonicNanoseconds: UInt64 { get }
    /// The folder for files that are needed only during the process.
    var temporaryFolder: String { get }
    /// The folder where SQLite writes what does not fit in memory, such as large sorts.
    var sortingFolder: String { get }
    /// Returns sixteen random digits for a name that is not in use.
    func uniqueName() -> String
}

extension System {
    package func forgetCache(of path: String) throws {}
    package var sortingFolder: String { temporaryFolder }
}

/// A process with its identifier and name.
package struct RunningProcess: Sendable, Hashable {
    package var identifier: Int32
    /// The program's short name; empty if it is unknown.
    package var name: String

    package init(identifier: Int32, name: String) {
        self.identifier = identifier
        self.name = name
    }
}

/// The free space on a volume.
package struct VolumeSpace: Sendable, Hashable {
    /// The bytes that this process may still write.
    package var available: Int64
    /// The identifier of the volume. Two paths on one volume share its space.
    package var volume: UInt64

    package init(available: Int64, volume: UInt64) {
        self.available = available
        self.volume = volume
    }
}

/// A lock held on a file until `release`, or until the last reference is gone. A lock ends with its process.
package final class FileLock: Sendable {
    private let onRelease: @Sendable () -> Void

    package init(onRelease: @escaping @Sendable () -> Void) { self.onRelease = onRelease }
    deinit { onRelease() }
}

/// The information that the system has about a file without opening it (`man 2 stat`).
package struct FileStatus: Sendable, Hashable {
    package enum Kind: Sendable, Hashable { case file, folder, other }

    package var kind: Kind
    /// The size in bytes.
    package var size: Int64
    /// The time when the contents last changed.
    package var modified: Timestamp
    /// The time when the contents or the file's metadata last changed.
    package var changed: Timestamp
    package var device: UInt64
    package var inode: UInt64
    /// The number of hard links.
    package var links: UInt64
    /// The permission bits.
    package var mode: UInt32
    /// The identifiers of the file's user and group.
    package var owner: UInt32
    package var group: UInt32

    package init(
        kind: Kind, size: Int64, modified: Timestamp, changed: Timestamp, device: UInt64, inode: UInt64, links: UInt64,
        mode: UInt32, owner: UInt32, group: UInt32
    ) {
        (self.kind, self.size, self.modified, self.changed, self.device) = (kind, size, modified, changed, device)
        (self.inode, self.links, self.mode, self.owner, self.group) = (inode, links, mode, owner, group)
    }

    /// Whether both are the same file on the same volume, regardless of contents.
    package func isSameFile(as other: FileStatus) -> Bool { device == other.device && inode == other.inode }
}

/// The rights to a new file or folder, in force from the moment of its creation.
package enum FileRights: Sendable, Hashable {
    /// This user only: for copies, and the default.
    case own
    /// The same permissions as the file or folder at a path, and its owner and group if this user may set them, but
    /// never more, as SQLite does for a journal and its database. A file gets the extended attributes of a file, too. If
    /// the path does not exist, this user only.
    case like(String)
    /// By the process's umask: for files that do not come from a store.
    case byUmask
}
