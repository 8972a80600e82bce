import CSQLite

/// An open file of an ``UnwrittenVFS``, in the memory that SQLite gives to a file: this header, then the file of the VFS
/// below, which is only read.
struct UnwrittenFile {
    /// The part of a file that SQLite itself reads; first, as SQLite requires.
    private var base: sqlite3_file
    private var state: Unmanaged<State>

    /// The pages that have been written.
    final class State {
        let sink: PageSink?
        /// By where they begin.
        private var pages: [Int64: [UInt8]] = [:]
        private var pageSize: Int64 = 0

        init(sink: PageSink?) { self.sink = sink }

        var size: Int64 { sink?.size ?? pages.keys.max().map { $0 + pageSize } ?? 0 }

        func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
            if let sink { return sink.take(bytes, at: offset) }
            // SQLite writes whole pages to a database, and reads nothing that reaches from one into another.
            pageSize = Int64(bytes.count)
            pages[offset] = Array(bytes)
        }

        /// Puts what has been written over what was read.
        func overlay(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int64) {
            if pageSize > 0, let page = pages[offset - offset % pageSize] {
                let start = Int(offset % pageSize)
                buffer.copyBytes(from: page[start..<min(start + buffer.count, page.count)])
            }
            // There is no log, whatever the header says (the SQLite file format, section 1.3.3).
            for place in Int64(18)...19 where (offset..<(offset + Int64(buffer.count))).contains(place) {
                buffer[Int(place - offset)] = 1
            }
        }
    }

    /// A multiple of what any file of a VFS is aligned to.
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
            UnsafeMutableRawPointer($0).assumingMemoryBound(to: UnwrittenFile.self).pointee.state
                .takeUnretainedValue()
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
            // Nothing that a sink took in is read again.
            bytes.initializeMemory(as: UInt8.self, repeating: 0)
            return IOError.shortRead
        }
        let result = methods.xRead?(real, buffer, count, offset) ?? IOError.read
        guard result == SQLITE_OK || result == IOError.shortRead else { return result }
        state.overlay(bytes, at: offset)
        return result
    }
}
