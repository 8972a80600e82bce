import CSQLite
import Synchronization

/// A VFS over SQLite's default one that lets a ``FileWatcher`` see, and refuse, every call for files below a folder.
///
/// It becomes the default when a folder is first watched, and hands every other file to the VFS below without a trace,
/// so that tests side by side do not disturb each other. Under its second name it also notes what is written to a
/// database (``Connection/proveWrites()``).
package enum WatchedVFS {
    private static let folders = Mutex<[(folder: String, watcher: any FileWatcher)]>([])
    static let below = Result { () throws(Missing) in
        guard let vfs = sqlite3_vfs_find(nil) else { throw Missing() }
        return Below(vfs: vfs)
    }

    struct Missing: Error {}

    struct Below: @unchecked Sendable {
        let vfs: UnsafeMutablePointer<sqlite3_vfs>
    }

    /// - Parameter folder: without symbolic links.
    /// - Returns: false where SQLite has no VFS to stand on.
    package static func watch(_ folder: String, by watcher: any FileWatcher) -> Bool {
        guard isRegistered else { return false }
        folders.withLock { $0.append((folder + "/", watcher)) }
        return true
    }

    package static func unwatch(_ folder: String) { folders.withLock { $0.removeAll { $0.folder == folder + "/" } } }

    static func watcher(of path: String) -> (any FileWatcher)? {
        folders.withLock { $0.first { path.hasPrefix($0.folder) }?.watcher }
    }

    /// The name of the VFS whose files note what is written to them; nil where SQLite has no VFS to stand on.
    static let proven: String? = {
        let isRegistered = register("moult-proven", isDefault: false) { _, name, file, flags, outFlags in
            WatchedFile.open(name, file, flags, outFlags, isProven: true)
        }
        return isRegistered ? "moult-proven" : nil
    }()

    private static let isRegistered = register("moult-watched", isDefault: true) { _, name, file, flags, outFlags in
        WatchedFile.open(name, file, flags, outFlags)
    }

    private typealias Opening =
        @convention(c) (
            UnsafeMutablePointer<sqlite3_vfs>?, UnsafePointer<CChar>?, UnsafeMutablePointer<sqlite3_file>?, Int32,
            UnsafeMutablePointer<Int32>?
        ) -> Int32

    private static func register(_ name: StaticString, isDefault: Bool, _ opening: @escaping Opening) -> Bool {
        guard case .success(let below) = below else { return false }
        let vfs = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        vfs.initialize(to: below.vfs.pointee)
        vfs.pointee.pNext = nil
        vfs.pointee.szOsFile = Int32(WatchedFile.headerSize) + below.vfs.pointee.szOsFile
        vfs.pointee.zName = UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
        vfs.pointee.xOpen = opening
        vfs.pointee.xDelete = { _, name, syncsFolder in WatchedVFS.delete(name, syncsFolder) }
        vfs.pointee.xAccess = { _, name, flags, result in WatchedVFS.access(name, flags, result) }
        vfs.pointee.xFullPathname = { _, name, count, result in
            WatchedVFS.forward { $0.pointee.xFullPathname?($0, name, count, result) }
        }
        return sqlite3_vfs_register(vfs, isDefault ? 1 : 0) == SQLITE_OK
    }

    static func forward(_ call: (UnsafeMutablePointer<sqlite3_vfs>) -> Int32?) -> Int32 {
        guard case .success(let below) = below else { return SQLITE_CANTOPEN }
        return call(below.vfs) ?? SQLITE_CANTOPEN
    }

    private static func delete(_ name: UnsafePointer<CChar>?, _ syncsFolder: Int32) -> Int32 {
        let path = name.map { String(cString: $0) } ?? ""
        let call = FileCall(
            operation: .delete(syncsFolder: syncsFolder != 0), path: path, bytes: .init(start: nil, count: 0),
            isJournal: false)
        return watcher(of: path).answering(call, failure: IOError.delete) {
            forward { $0.pointee.xDelete?($0, name, 0) }
        }
    }

    private static func access(
        _ name: UnsafePointer<CChar>?, _ flags: Int32, _ result: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        let path = name.map { String(cString: $0) } ?? ""
        let call = FileCall(operation: .read, path: path, bytes: .init(start: nil, count: 0), isJournal: false)
        return watcher(of: path).answering(call, failure: IOError.access) {
            forward { $0.pointee.xAccess?($0, name, flags, result) }
        }
    }
}

extension (any FileWatcher)? {
    /// Makes the call unless the watcher refuses it, and tells it of a success.
    func answering(_ call: FileCall, failure: Int32, _ body: () -> Int32) -> Int32 {
        guard let watcher = self else { return body() }
        var result = SQLITE_OK
        switch watcher.answer(call) {
        case .pass: result = body()
        case .pretend: break
        case .fail(.inputOutput): return failure
        case .fail(.full): return SQLITE_FULL
        }
        if result == SQLITE_OK { watcher.done(call) }
        return result
    }
}

/// One call of SQLite's to the file system, for a file below a folder that is watched.
package struct FileCall {
    package enum Operation: Sendable, Hashable {
        case open
        /// `bytes` at `offset`.
        case write(offset: Int64)
        /// To so many bytes.
        case truncate(size: Int64)
        case sync
        /// With the folder synchronised too where SQLite asks for it.
        case delete(syncsFolder: Bool)
        case lock
        /// A part of the WAL's index is mapped or locked.
        case shm
        /// A read, or a question; a file system that has died answers none.
        case read
    }

    package let operation: Operation
    package let path: String
    /// The bytes to write; empty for other operations, and valid during the call only.
    package let bytes: UnsafeRawBufferPointer
    /// Whether the file is a rollback journal or a WAL, whose folder SQLite synchronises with its first sync.
    package let isJournal: Bool

    /// The answer that a call gets instead of what it asked for.
    package enum Answer: Sendable, Hashable {
        /// SQLite's own default VFS does it.
        case pass
        /// It counts as done and is not done.
        case pretend
        case fail(Failure)
    }

    package enum Failure: Sendable, Hashable { case inputOutput, full }
}

/// Hears of SQLite's calls before and after they are made.
package protocol FileWatcher: AnyObject, Sendable {
    func answer(_ call: FileCall) -> FileCall.Answer
    /// The call has succeeded.
    func done(_ call: FileCall)
    /// A file that was opened was closed.
    func closed(_ path: String)
    /// The bytes that reach the disk in place of those of a write that passes; nil if they are the same.
    func altered(_ call: FileCall) -> [UInt8]?
}

extension FileWatcher {
    package func altered(_ call: FileCall) -> [UInt8]? { nil }
}

/// SQLite's extended codes of a failed call to the file system, which are macros that Swift does not import.
enum IOError {
    static let read = SQLITE_IOERR | 1 << 8
    static let write = SQLITE_IOERR | 3 << 8
    static let sync = SQLITE_IOERR | 4 << 8
    static let truncate = SQLITE_IOERR | 6 << 8
    static let size = SQLITE_IOERR | 7 << 8
    static let delete = SQLITE_IOERR | 10 << 8
    static let access = SQLITE_IOERR | 13 << 8
    static let checkReservedLock = SQLITE_IOERR | 14 << 8
    static let lock = SQLITE_IOERR | 15 << 8
    static let shmSize = SQLITE_IOERR | 19 << 8
    static let shmLock = SQLITE_IOERR | 20 << 8
    static let shmMap = SQLITE_IOERR | 21 << 8
    static let shortRead = SQLITE_IOERR | 2 << 8
}
