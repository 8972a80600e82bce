import CSQLite
import Synchronization

/// A VFS that writes nothing to disk: it keeps written pages in memory, or only their digests.
enum UnwrittenVFS {
    fileprivate static let name: StaticString = "moult-unwritten"
    private static let folder = "/moult-unwritten/"
    private static let sinks = Mutex<(next: Int, open: [String: PageSink])>((0, [:]))

    struct Missing: Error {}

    /// Opens a connection to an empty database whose pages go to a sink.
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

    /// SQLite's default VFS, which handles everything but the files themselves.
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
        // Report that no side files exist.
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
    /// Opens a connection to a database whose changes stay in memory and never reach the file. The file must not change
    /// meanwhile. Files next to it, such as a WAL, are ignored.
    package convenience init(overlaying path: String) throws {
        guard UnwrittenVFS.isRegistered else { throw UnwrittenVFS.Missing() }
        try self.init(path, mode: .readWrite, vfs: "\(UnwrittenVFS.name)")
        try execute("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF")
    }
}

/// An open file of an ``UnwrittenVFS``, in the memory that SQLite allocates for a file: this header, followed by the
/// file of the VFS below, which is only read.
struct UnwrittenFile {
    /// The part of a file that SQLite itself reads. It must come first.
    private var base: sqlite3_file
    private var state: Unmanaged<State>

    /// The written pages.
    final class State {
        let sink: PageSink?
        /// The written pages, by offset.
        private var pages: [Int64: [UInt8]] = [:]
        private var pageSize: Int64 = 0

        init(sink: PageSink?) { self.sink = sink }

        var size: Int64 { sink?.size ?? pages.keys.max().map { $0 + pageSize } ?? 0 }

        func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
            if let sink { return sink.take(bytes, at: offset) }
            // SQLite writes whole pages to a database, and never reads across a page boundary.
            pageSize = Int64(bytes.count)
            pages[offset] = Array(bytes)
        }

        /// Overlays the written bytes on the bytes read from the file.
        func overlay(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int64) {
            if pageSize > 0, let page = pages[offset - offset % pageSize] {
                let start = Int(offset % pageSize)
                buffer.copyBytes(from: page[start..<min(start + buffer.count, page.count)])
            }
            // There is no WAL, whatever the header says (the SQLite file format, section 1.3.3).
            for place in Int64(18)...19 where (offset..<(offset + Int64(buffer.count))).contains(place) {
                buffer[Int(place - offset)] = 1
            }
        }
    }

    /// The size of this header, rounded up to the alignment of any VFS's files.
    static let headerSize = (MemoryLayout<UnwrittenFile>.stride + 15) / 16 * 16

    private typealias File = UnsafeMutablePointer<sqlite3_file>

    static func open(
        _ name: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32,
        _ outFlags: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        guard let file, let name, flags & SQLITE_OPEN_MAIN_DB != 0 else { return SQLITE_CANTOPEN }
        file.pointee.pMethods = nil
        let real = real(file)
        real.pointee.pMethods = nil
        let sink = UnwrittenVFS.sink(of: String(cString: name))
        if sink == nil {
            let result = UnwrittenVFS.forward {
                $0.pointee.xOpen?($0, name, real, SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB, nil)
            }
            guard result == SQLITE_OK else {
                _ = real.pointee.pMethods?.pointee.xClose?(real)
                return result
            }
        }
        outFlags?.pointee = flags
        UnsafeMutableRawPointer(file).bindMemory(to: UnwrittenFile.self, capacity: 1).initialize(
            to: UnwrittenFile(
                base: sqlite3_file(pMethods: methods.pointer), state: .passRetained(State(sink: sink))))
        return SQLITE_OK
    }

    private static func real(_ file: File) -> File {
        (UnsafeMutableRawPointer(file) + headerSize).assumingMemoryBound(to: sqlite3_file.self)
    }

    private static func state(_ file: File?) -> State? {
        file.map {
            UnsafeMutableRawPointer($0).assumingMemoryBound(to: UnwrittenFile.self).pointee.state.takeUnretainedValue()
        }
    }

    private struct Methods: @unchecked Sendable {
        let pointer: UnsafeMutablePointer<sqlite3_io_methods>
    }

    private static let methods: Methods = {
        let pointer = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        pointer.initialize(to: sqlite3_io_methods())
        pointer.pointee.iVersion = 1
        fill(&pointer.pointee)
        return Methods(pointer: pointer)
    }()

    private static func fill(_ methods: inout sqlite3_io_methods) {
        methods.xClose = { file in
            guard let file else { return SQLITE_OK }
            let real = UnwrittenFile.real(file)
            let result = real.pointee.pMethods?.pointee.xClose?(real) ?? SQLITE_OK
            UnsafeMutableRawPointer(file).assumingMemoryBound(to: UnwrittenFile.self).pointee.state.release()
            file.pointee.pMethods = nil
            return result
        }
        methods.xRead = { file, buffer, count, offset in UnwrittenFile.read(file, buffer, count, offset) }
        methods.xWrite = { file, buffer, count, offset in
            UnwrittenFile.state(file)?.write(UnsafeRawBufferPointer(start: buffer, count: Int(count)), at: offset)
            return SQLITE_OK
        }
        methods.xTruncate = { _, _ in SQLITE_OK }
        methods.xSync = { _, _ in SQLITE_OK }
        methods.xFileSize = { file, size in
            guard let file, let state = UnwrittenFile.state(file) else { return IOError.size }
            let real = UnwrittenFile.real(file)
            var present: Int64 = 0
            let result = real.pointee.pMethods?.pointee.xFileSize?(real, &present) ?? SQLITE_OK
            size?.pointee = max(present, state.size)
            return result
        }
        methods.xLock = { _, _ in SQLITE_OK }
        methods.xUnlock = { _, _ in SQLITE_OK }
        methods.xCheckReservedLock = { _, result in
            result?.pointee = 0
            return SQLITE_OK
        }
        methods.xFileControl = { _, _, _ in SQLITE_NOTFOUND }
        methods.xSectorSize = { _ in 4096 }
        methods.xDeviceCharacteristics = { _ in 0 }
    }

    private static func read(
        _ file: UnsafeMutablePointer<sqlite3_file>?, _ buffer: UnsafeMutableRawPointer?, _ count: Int32, _ offset: Int64
    ) -> Int32 {
        guard let file, let buffer, let state = state(file) else { return IOError.read }
        let bytes = UnsafeMutableRawBufferPointer(start: buffer, count: Int(count))
        let real = real(file)
        guard let methods = real.pointee.pMethods?.pointee else {
            // Pages sent to a sink are never read back.
            bytes.initializeMemory(as: UInt8.self, repeating: 0)
            return IOError.shortRead
        }
        let result = methods.xRead?(real, buffer, count, offset) ?? IOError.read
        guard result == SQLITE_OK || result == IOError.shortRead else { return result }
        state.overlay(bytes, at: offset)
        return result
    }
}
