import MoultModel

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
