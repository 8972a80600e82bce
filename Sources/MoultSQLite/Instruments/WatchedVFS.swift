import CSQLite
import Synchronization

/// A VFS over SQLite's default one that lets a ``FileWatcher`` observe and refuse every call for files below a folder.
///
/// It becomes the default VFS when a folder is first watched, and passes calls for all other files straight to the VFS
/// below, so that parallel tests do not disturb each other. Under its second name it also records the bytes written to
/// a database (``Connection/proveWrites()``).
package enum WatchedVFS {
    private static let folders = Mutex<[(folder: String, watcher: any FileWatcher)]>([])
    private static let seed = Mutex<UInt64?>(nil)
    static let below = Result { () throws(Missing) in
        guard let vfs = sqlite3_vfs_find(nil) else { throw Missing() }
        return Below(vfs: vfs)
    }

    struct Missing: Error {}

    struct Below: @unchecked Sendable {
        let vfs: UnsafeMutablePointer<sqlite3_vfs>
    }

    /// - Parameter folder: a path without symbolic links.
    /// - Returns: false if SQLite has no default VFS.
    package static func watch(_ folder: String, by watcher: any FileWatcher) -> Bool {
        guard isRegistered else { return false }
        folders.withLock { $0.append((folder + "/", watcher)) }
        return true
    }

    package static func unwatch(_ folder: String) { folders.withLock { $0.removeAll { $0.folder == folder + "/" } } }

    /// Makes SQLite's random numbers, such as the salts of a WAL, follow from a seed; nil for those of the system again.
    package static func seedRandomness(_ number: UInt64?) {
        guard isRegistered else { return }
        seed.withLock { $0 = number }
        // SQLite asks for a new start.
        sqlite3_randomness(0, nil)
    }

    private static func fillRandomly(_ count: Int32, _ bytes: UnsafeMutablePointer<CChar>?) -> Int32 {
        guard var state = seed.withLock({ $0 }), let bytes else {
            return forward { $0.pointee.xRandomness?($0, count, bytes) }
        }
        for place in 0..<Int(count) {
            // The generator of Knuth's MMIX; SQLite only mixes the bytes into its own.
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            bytes[place] = CChar(truncatingIfNeeded: state >> 56)
        }
        return count
    }

    static func watcher(of path: String) -> (any FileWatcher)? {
        folders.withLock { $0.first { path.hasPrefix($0.folder) }?.watcher }
    }

    /// The name of the VFS that records the bytes written to its files; nil if SQLite has no default VFS.
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
        vfs.pointee.xRandomness = { _, count, bytes in WatchedVFS.fillRandomly(count, bytes) }
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
    /// Makes the call unless the watcher refuses it, and notifies the watcher of a success.
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

/// One call from SQLite to the file system, for a file below a watched folder.
package struct FileCall {
    package enum Operation: Sendable, Hashable {
        case open
        /// Writes `bytes` at `offset`.
        case write(offset: Int64)
        /// Truncates the file to `size` bytes.
        case truncate(size: Int64)
        case sync
        /// Deletes the file. `syncsFolder` is whether SQLite asks for its folder to be synchronised.
        case delete(syncsFolder: Bool)
        case lock
        /// Maps or locks a part of the WAL index.
        case shm
        /// A read or a query, which a file system that has failed does not answer either.
        case read
    }

    package let operation: Operation
    package let path: String
    /// The bytes to write, valid only during the call; empty for other operations.
    package let bytes: UnsafeRawBufferPointer
    /// Whether the file is a rollback journal or a WAL. SQLite synchronises their folder with their first sync.
    package let isJournal: Bool

    /// The watcher's decision about a call.
    package enum Answer: Sendable, Hashable {
        /// Passes the call to SQLite's default VFS.
        case pass
        /// Reports success without making the call.
        case pretend
        case fail(Failure)
    }

    package enum Failure: Sendable, Hashable { case inputOutput, full }
}

/// An observer of SQLite's calls, notified before and after each one.
package protocol FileWatcher: AnyObject, Sendable {
    func answer(_ call: FileCall) -> FileCall.Answer
    /// Notifies the watcher that a call has succeeded.
    func done(_ call: FileCall)
    /// Notifies the watcher that an open file was closed.
    func closed(_ path: String)
    /// Returns the bytes to write in place of those of a write that passes; nil to leave them unchanged.
    func altered(_ call: FileCall) -> [UInt8]?
}

extension FileWatcher {
    package func altered(_ call: FileCall) -> [UInt8]? { nil }
}

/// SQLite's extended result codes for failed file system calls, which are macros that Swift does not import.
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
