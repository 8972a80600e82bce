import CSQLite
import Synchronization

/// A VFS that writes nothing to a disk: what is written to a file of it stays in memory, or only leaves a digest.
enum UnwrittenVFS {
    fileprivate static let name: StaticString = "moult-unwritten"
    private static let folder = "/moult-unwritten/"
    private static let sinks = Mutex<(next: Int, open: [String: PageSink])>((0, [:]))

    struct Missing: Error {}

    /// A connection to an empty database whose pages a sink takes in.
    static func connection(to sink: PageSink) throws -> Connection {
        let path = sinks.withLock { sinks in
            sinks.next += 1
            let path = "\(folder)\(sinks.next)"
            sinks.open[path] = sink
            return path
        }
        defer { sinks.withLock { _ = $0.open.removeValue(forKey: path) } }
        return try connection(to: path, mode: .create)
    }

    static func connection(to path: String, mode: Connection.Mode) throws -> Connection {
        guard isRegistered else { throw Missing() }
        return try Connection(path, mode: mode, vfs: "\(name)")
    }

    static func sink(of path: String) -> PageSink? { sinks.withLock { $0.open[path] } }

    /// SQLite's own, which is asked for all but the files.
    private static let below = Result { () throws(Missing) in
        guard let vfs = sqlite3_vfs_find(nil) else { throw Missing() }
        return Below(vfs: vfs)
    }

    private struct Below: @unchecked Sendable {
        let vfs: UnsafeMutablePointer<sqlite3_vfs>
    }

    fileprivate static let isRegistered: Bool = {
        guard case .success(let below) = below else { return false }
        let vfs = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        vfs.initialize(to: below.vfs.pointee)
        vfs.pointee.pNext = nil
        vfs.pointee.szOsFile = Int32(UnwrittenFile.headerSize) + below.vfs.pointee.szOsFile
        vfs.pointee.zName = UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
        vfs.pointee.xOpen = { _, name, file, flags, outFlags in UnwrittenFile.open(name, file, flags, outFlags) }
        vfs.pointee.xDelete = { _, _, _ in SQLITE_OK }
        // Of what would be next to the file, nothing counts.
        vfs.pointee.xAccess = { _, _, _, result in
            result?.pointee = 0
            return SQLITE_OK
        }
        vfs.pointee.xFullPathname = { _, name, count, result in
            forward { $0.pointee.xFullPathname?($0, name, count, result) }
        }
        return sqlite3_vfs_register(vfs, 0) == SQLITE_OK
    }()

    static func forward(_ call: (UnsafeMutablePointer<sqlite3_vfs>) -> Int32?) -> Int32 {
        guard case .success(let below) = below else { return SQLITE_CANTOPEN }
        return call(below.vfs) ?? SQLITE_CANTOPEN
    }
}

extension Connection {
    /// A connection to a database whose changes stay in memory: nothing of its file changes. The file must not change
    /// meanwhile, and nothing next to it counts, such as a WAL.
    package convenience init(overlaying path: String) throws {
        guard UnwrittenVFS.isRegistered else { throw UnwrittenVFS.Missing() }
        try self.init(path, mode: .readWrite, vfs: "\(UnwrittenVFS.name)")
        try execute("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF")
    }
}
