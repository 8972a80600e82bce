/// The one seam to the machine: files, synchronising, clones, locks, free space, processes, the clock.
///
/// Everything that probe and engine do outside SQLite goes through a value of this kind, so that a test can put
/// one in its place that fails, dies or runs out of space at any chosen call. Every operation that fails throws a
/// `MigrationError` that names the path and carries the system's own words as its cause.
package protocol System: Sendable {
    // MARK: Looking

    /// Follows symbolic links; nil if nothing has that name.
    func status(of path: String) throws -> FileStatus?
    /// Whether the name itself is that of a symbolic link, wherever it leads; false where nothing has it.
    func isLink(_ path: String) throws -> Bool
    /// The absolute path without symbolic links.
    func resolve(_ path: String) throws -> String
    /// The names in a folder, in byte order, without `.` and `..`.
    func list(_ folder: String) throws -> [String]
    /// At most `count` bytes from the start of a plain file.
    func read(_ path: String, prefix count: Int) throws -> [UInt8]
    /// Whether this process may write to a file, or may make files in a folder.
    func isWritable(_ path: String) -> Bool
    func space(at path: String) throws -> VolumeSpace
    /// SHA-256 of a file's contents, read in pieces.
    func digest(of path: String) throws -> [UInt8]
    /// Has the system read a file from the drive when it is read next, where it can.
    func forgetCache(of path: String) throws

    // MARK: Writing

    /// Makes an empty file; nothing may have that name.
    func makeFile(_ path: String, _ rights: FileRights) throws
    /// Makes or empties the file, then writes; not synchronised. A file that is there keeps its rights.
    func write(_ bytes: [UInt8], to path: String, _ rights: FileRights) throws
    /// Adds to the end of a file that need not exist yet, in one write; not synchronised.
    func append(_ bytes: [UInt8], to path: String, _ rights: FileRights) throws
    /// Waits until a file's contents, or a folder's names, have reached the disk.
    func synchronise(_ path: String) throws
    /// Replaces what has the new name, in one step.
    func rename(_ path: String, to newPath: String) throws
    /// Gives a file or a folder a name that nothing has, in one step: what another process makes there in the meantime is
    /// not replaced.
    ///
    /// - Throws: `usage` if something has the name.
    func rename(_ path: String, toUnused newPath: String) throws
    /// Gives two files or folders the names of each other, in one step.
    ///
    /// - Returns: false, and changes nothing, where the volume cannot.
    func exchange(_ path: String, with other: String) throws -> Bool
    /// Removes a file, or an empty folder; false where nothing has that name.
    @discardableResult func remove(_ path: String) throws -> Bool
    /// A folder that is there already is fine, and keeps its rights.
    func makeFolder(_ path: String, _ rights: FileRights) throws
    /// Makes `copy`, which must not exist, of a plain file that is reached by no link, by cloning where the volume can,
    /// otherwise by copying; not synchronised.
    func copy(_ path: String, to copy: String, _ rights: FileRights) throws
    /// Makes `copy`, which must not exist, of a file that this process has open, by cloning. No descriptor of the file is
    /// closed: that would drop SQLite's locks on it.
    ///
    /// - Returns: false, and makes nothing, where the volume cannot.
    func cloneOpenFile(_ path: String, to copy: String, _ rights: FileRights) throws -> Bool
    func setMode(_ mode: UInt32, of path: String) throws
    /// Cuts a file off, or adds zeros to its end; not synchronised.
    func setSize(_ size: Int64, of path: String) throws

    // MARK: Locks and processes

    /// Takes the advisory lock of a file, which is made when missing; nil while another holds it.
    func lock(_ path: String, _ rights: FileRights) throws -> FileLock?
    var processIdentifier: Int32 { get }
    /// The number of the user whose rights this process has.
    var user: UInt32 { get }
    /// When a process started, as a text that differs for two processes of one number; nil when it is not running.
    func startTime(ofProcess identifier: Int32) -> String?
    /// The other processes that hold a lock on a file, as far as the system tells.
    func holders(of path: String) -> [RunningProcess]

    // MARK: Clock and names

    var now: Timestamp { get }
    /// Nanoseconds of a clock that never goes back.
    var monotonicNanoseconds: UInt64 { get }
    /// The folder for files that are not needed after the process.
    var temporaryFolder: String { get }
    /// Sixteen random digits for a name that is not in use.
    func uniqueName() -> String
}

extension System {
    package func forgetCache(of path: String) throws {}
}

/// A process by number and name.
package struct RunningProcess: Sendable, Hashable {
    package var identifier: Int32
    /// The program's short name; empty where it is not known.
    package var name: String

    package init(identifier: Int32, name: String) {
        self.identifier = identifier
        self.name = name
    }
}

/// The room on a volume.
package struct VolumeSpace: Sendable, Hashable {
    /// Bytes that this process may still write.
    package var available: Int64
    /// The identifier of the volume: two paths of one volume share their room.
    package var volume: UInt64

    package init(available: Int64, volume: UInt64) {
        self.available = available
        self.volume = volume
    }
}

/// A lock held on a file until `release` or until the last reference is gone; a dead process holds none.
package final class FileLock: Sendable {
    private let onRelease: @Sendable () -> Void

    package init(onRelease: @escaping @Sendable () -> Void) { self.onRelease = onRelease }
    deinit { onRelease() }
}

/// The information that the system has about a file without opening it (`man 2 stat`).
package struct FileStatus: Sendable, Hashable {
    package enum Kind: Sendable, Hashable { case file, folder, other }

    package var kind: Kind
    /// Bytes.
    package var size: Int64
    /// When the contents last changed.
    package var modified: Timestamp
    /// When the contents or the file's own record last changed.
    package var changed: Timestamp
    package var device: UInt64
    package var inode: UInt64
    /// The number of names the file has.
    package var links: UInt64
    /// The permission bits.
    package var mode: UInt32
    /// The numbers of the user and the group that the file belongs to.
    package var owner: UInt32
    package var group: UInt32

    package init(
        kind: Kind, size: Int64, modified: Timestamp, changed: Timestamp, device: UInt64, inode: UInt64, links: UInt64,
        mode: UInt32, owner: UInt32, group: UInt32
    ) {
        (self.kind, self.size, self.modified, self.changed, self.device) = (kind, size, modified, changed, device)
        (self.inode, self.links, self.mode, self.owner, self.group) = (inode, links, mode, owner, group)
    }

    /// Whether both name one file of one volume, whatever it holds.
    package func isSameFile(as other: FileStatus) -> Bool { device == other.device && inode == other.inode }
}

/// The rights to read and write a new file or folder; each has its rights from the moment it is there.
package enum FileRights: Sendable, Hashable {
    /// This user alone: for copies, and wherever no other rights are given.
    case own
    /// Whoever may read and write the file or folder at a path, never anybody more: its permissions, and its owner and
    /// group where this user may give them. SQLite gives a journal the rights of its database in the same way. Where
    /// nothing is at the path, this user alone.
    case like(String)
    /// As the process's umask says: for what is made from no store.
    case byUmask
}
