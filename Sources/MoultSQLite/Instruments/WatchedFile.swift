import CSQLite
import MoultBasics

/// An open file of a ``WatchedVFS``, in the memory that SQLite allocates for a file: this header, followed by the file
/// of the VFS below.
struct WatchedFile {
    /// The part of a file that SQLite itself reads. It must come first.
    private var base: sqlite3_file
    private var state: Unmanaged<State>

    final class State {
        let path: String
        let isJournal: Bool
        let watcher: (any FileWatcher)?
        /// The blocks written to the file; nil if they are not verified (``Connection/proveWrites()``).
        var written: WrittenBlocks?
        /// The WAL of a database, while it is open.
        weak var log: State?
        /// The database of a WAL or a journal.
        weak var database: State?
        /// The path of the database or of its journal, if a call has failed because it is not read as it was written.
        var wrongFile: String?
        /// The number of differences after which a synchronisation has failed.
        private var reported = 0
        private let real: File

        init(path: String, isJournal: Bool, watcher: (any FileWatcher)?, isProven: Bool, real: File) {
            (self.path, self.isJournal, self.watcher, self.real) = (path, isJournal, watcher, real)
            if isProven { written = WrittenBlocks() }
        }

        func answering(
            _ operation: FileCall.Operation, _ bytes: UnsafeRawBufferPointer = .init(start: nil, count: 0),
            failure: Int32, _ body: () -> Int32?
        ) -> Int32 {
            let call = FileCall(operation: operation, path: path, bytes: bytes, isJournal: isJournal)
            return watcher.answering(call, failure: failure) { body() ?? failure }
        }

        func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) -> Int32 {
            let count = Int32(bytes.count)
            if written?.isFull == true || written?.overlaps(count, at: offset) == true {
                let result = proveWrites()
                guard result == SQLITE_OK else { return result }
            }
            // With its last frame, the transaction would count for the next process that reads the WAL.
            if database?.log === self, written?.hasDiffered == true { return IOError.write }
            let result = answering(.write(offset: offset), bytes, failure: IOError.write) {
                let methods = real.pointee.pMethods?.pointee
                let call = FileCall(operation: .write(offset: offset), path: path, bytes: bytes, isJournal: isJournal)
                guard let altered = watcher?.altered(call) else {
                    return methods?.xWrite?(real, bytes.baseAddress, count, offset)
                }
                return altered.withUnsafeBytes { methods?.xWrite?(real, $0.baseAddress, count, offset) }
            }
            if result == SQLITE_OK { written?.note(bytes, at: offset) }
            return result
        }

        /// Reads from the file, and fails if a page is not read as it was written: SQLite would change it, and write it
        /// over the page before it is proven. It writes over nothing in a rollback journal.
        func read(_ buffer: UnsafeMutableRawPointer?, _ count: Int32, at offset: Int64) -> Int32 {
            let result = answering(.read, failure: IOError.read) {
                real.pointee.pMethods?.pointee.xRead?(real, buffer, count, offset)
            }
            guard result == SQLITE_OK || result == IOError.shortRead, !isJournal || database?.log === self,
                written?.match(UnsafeRawBufferPointer(start: buffer, count: Int(count)), at: offset) == false
            else { return result }
            (database ?? self).wrongFile = path
            return IOError.read
        }

        /// Synchronises the file, and fails if it is not read as it was written: a commit, the playback of a journal or
        /// the write-back of a WAL then fails, and SQLite keeps the journal or the WAL.
        func synchronise(_ body: () -> Int32?) -> Int32 {
            let result = answering(.sync, failure: IOError.sync, body)
            guard result == SQLITE_OK, written != nil else { return result }
            let proof = proveWrites()
            guard proof == SQLITE_OK, let written else { return proof }
            // The frames of a WAL that were found wrong stay wrong.
            if database?.log === self { return written.hasDiffered ? IOError.sync : SQLITE_OK }
            // The pages of a database are written again, from the WAL or, when SQLite rolls back, from the journal. What
            // is in a journal counts once it is synchronised.
            defer { reported = written.differences }
            guard written.differs, written.differences > reported else { return SQLITE_OK }
            database?.wrongFile = path
            return IOError.sync
        }

        /// Reads back the written blocks and records any difference in ``written``.
        func proveWrites() -> Int32 {
            written?.prove { buffer, count, offset in
                answering(.read, failure: IOError.read) {
                    real.pointee.pMethods?.pointee.xRead?(real, buffer, count, offset)
                }
            } ?? SQLITE_OK
        }
    }

    /// The size of this header, rounded up to the alignment of any VFS's files.
    static let headerSize = (MemoryLayout<WatchedFile>.stride + 15) / 16 * 16

    typealias File = UnsafeMutablePointer<sqlite3_file>

    static func open(
        _ name: UnsafePointer<CChar>?, _ file: File?, _ flags: Int32, _ outFlags: UnsafeMutablePointer<Int32>?,
        isProven: Bool = false
    ) -> Int32 {
        guard let file else { return SQLITE_CANTOPEN }
        let path = name.map { String(cString: $0) } ?? ""
        let watcher = name == nil ? nil : WatchedVFS.watcher(of: path)
        // Leave out temporary files.
        let isProven = isProven && flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL) != 0
        guard let name, watcher != nil || isProven else {
            return WatchedVFS.forward { $0.pointee.xOpen?($0, name, file, flags, outFlags) }
        }
        file.pointee.pMethods = nil
        let journals = SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL | SQLITE_OPEN_WAL
        let real = below(file)
        let state = State(
            path: path, isJournal: flags & journals != 0, watcher: watcher, isProven: isProven, real: real)
        let result = state.answering(.open, failure: SQLITE_CANTOPEN) {
            WatchedVFS.forward { $0.pointee.xOpen?($0, name, real, flags, outFlags) }
        }
        guard result == SQLITE_OK else {
            // A file that failed to open may have methods; it must then be closed.
            _ = real.pointee.pMethods?.pointee.xClose?(real)
            return result
        }
        UnsafeMutableRawPointer(file).bindMemory(to: WatchedFile.self, capacity: 1).initialize(
            to: WatchedFile(base: sqlite3_file(pMethods: methods.pointer), state: .passRetained(state)))
        if isProven, state.isJournal, let database = Self.state(sqlite3_database_file_object(name)) {
            state.database = database
            if flags & SQLITE_OPEN_WAL != 0 { database.log = state }
        }
        return SQLITE_OK
    }

    /// Returns the file of the VFS below, prepared for a VFS that fails to open it.
    private static func below(_ file: File) -> File {
        let real = (UnsafeMutableRawPointer(file) + headerSize).assumingMemoryBound(to: sqlite3_file.self)
        real.pointee.pMethods = nil
        return real
    }

    /// Returns the state of a file of this VFS; nil for any other file.
    static func state(_ file: File?) -> State? {
        guard let file, file.pointee.pMethods == UnsafePointer(methods.pointer) else { return nil }
        return parts(file)?.state
    }

    fileprivate static func parts(_ file: File?) -> (state: State, real: File, methods: sqlite3_io_methods)? {
        guard let file else { return nil }
        let raw = UnsafeMutableRawPointer(file)
        let real = (raw + headerSize).assumingMemoryBound(to: sqlite3_file.self)
        guard let methods = real.pointee.pMethods?.pointee else { return nil }
        return (raw.assumingMemoryBound(to: WatchedFile.self).pointee.state.takeUnretainedValue(), real, methods)
    }

    private struct Methods: @unchecked Sendable {
        let pointer: UnsafeMutablePointer<sqlite3_io_methods>
    }

    private static let methods: Methods = {
        let pointer = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        pointer.initialize(to: sqlite3_io_methods())
        // Version 3 would add memory mapping, through which SQLite could write unnoticed.
        pointer.pointee.iVersion = 2
        fillContents(&pointer.pointee)
        fillLocks(&pointer.pointee)
        fillIndex(&pointer.pointee)
        return Methods(pointer: pointer)
    }()

    // MARK: - Contents

    private static func fillContents(_ methods: inout sqlite3_io_methods) {
        methods.xClose = { file in
            guard let (state, real, methods) = WatchedFile.parts(file), let file else { return SQLITE_OK }
            let result = methods.xClose?(real) ?? SQLITE_OK
            state.watcher?.closed(state.path)
            UnsafeMutableRawPointer(file).assumingMemoryBound(to: WatchedFile.self).pointee.state.release()
            file.pointee.pMethods = nil
            return result
        }
        methods.xRead = { file, buffer, count, offset in
            guard let (state, _, _) = WatchedFile.parts(file) else { return IOError.read }
            return state.read(buffer, count, at: offset)
        }
        methods.xWrite = { file, buffer, count, offset in
            guard let (state, _, _) = WatchedFile.parts(file) else { return IOError.write }
            return state.write(UnsafeRawBufferPointer(start: buffer, count: Int(count)), at: offset)
        }
        methods.xTruncate = { file, size in
            guard let (state, real, methods) = WatchedFile.parts(file) else { return IOError.truncate }
            let result = state.answering(.truncate(size: size), failure: IOError.truncate) {
                methods.xTruncate?(real, size)
            }
            if result == SQLITE_OK { state.written?.truncate(to: size) }
            return result
        }
        methods.xSync = { file, flags in
            guard let (state, real, methods) = WatchedFile.parts(file) else { return IOError.sync }
            return state.synchronise { methods.xSync?(real, flags) }
        }
        methods.xFileSize = { file, size in
            guard let (state, real, methods) = WatchedFile.parts(file) else { return IOError.size }
            return state.answering(.read, failure: IOError.size) { methods.xFileSize?(real, size) }
        }
        methods.xFileControl = { file, operation, argument in
            guard let (_, real, methods) = WatchedFile.parts(file) else { return SQLITE_NOTFOUND }
            return methods.xFileControl?(real, operation, argument) ?? SQLITE_NOTFOUND
        }
        methods.xSectorSize = { file in
            guard let (_, real, methods) = WatchedFile.parts(file) else { return 4096 }
            return methods.xSectorSize?(real) ?? 4096
        }
        methods.xDeviceCharacteristics = { file in
            guard let (_, real, methods) = WatchedFile.parts(file) else { return 0 }
            return methods.xDeviceCharacteristics?(real) ?? 0
        }
    }

    // MARK: - Locks and the WAL index

    private static func fillLocks(_ methods: inout sqlite3_io_methods) {
        methods.xLock = { file, level in
            guard let (state, real, methods) = WatchedFile.parts(file) else { return IOError.lock }
            return state.answering(.lock, failure: IOError.lock) { methods.xLock?(real, level) }
        }
        // Never fail an unlock: a process that dies releases its locks.
        methods.xUnlock = { file, level in
            guard let (_, real, methods) = WatchedFile.parts(file) else { return SQLITE_OK }
            return methods.xUnlock?(real, level) ?? SQLITE_OK
        }
        methods.xCheckReservedLock = { file, result in
            guard let (state, real, methods) = WatchedFile.parts(file) else { return IOError.checkReservedLock }
            return state.answering(.read, failure: IOError.checkReservedLock) {
                methods.xCheckReservedLock?(real, result)
            }
        }
    }

    /// The locks of the WAL index that a writer and a checkpoint hold (the WAL format, section 2.3.1).
    private static let (writeLock, checkpointLock): (Int32, Int32) = (0, 1)

    private static func fillIndex(_ methods: inout sqlite3_io_methods) {
        methods.xShmMap = { file, page, size, isExtending, memory in
            guard let (state, real, methods) = WatchedFile.parts(file) else { return IOError.shmMap }
            return state.answering(.shm, failure: IOError.shmMap) {
                methods.xShmMap?(real, page, size, isExtending, memory)
            }
        }
        methods.xShmLock = { file, offset, count, flags in
            guard let (state, real, methods) = WatchedFile.parts(file) else { return IOError.shmLock }
            if flags & SQLITE_SHM_UNLOCK != 0 {
                // Then another process may write over the frames of a WAL, or over the pages that were written back.
                if offset == WatchedFile.writeLock { _ = state.log?.proveWrites() }
                if offset == WatchedFile.checkpointLock { _ = state.proveWrites() }
                return methods.xShmLock?(real, offset, count, flags) ?? SQLITE_OK
            }
            return state.answering(.shm, failure: IOError.shmLock) {
                methods.xShmLock?(real, offset, count, flags)
            }
        }
        methods.xShmBarrier = { file in
            guard let (_, real, methods) = WatchedFile.parts(file) else { return }
            methods.xShmBarrier?(real)
        }
        methods.xShmUnmap = { file, isDeleting in
            guard let (_, real, methods) = WatchedFile.parts(file) else { return SQLITE_OK }
            return methods.xShmUnmap?(real, isDeleting) ?? SQLITE_OK
        }
    }
}

/// The blocks that SQLite has written to a file since the last verification, with their bytes.
///
/// A block is a page of a database, or a header or a page in a WAL. Verifying early bounds the memory (``isFull``).
struct WrittenBlocks {
    private struct Block {
        let offset: Int64
        let count: Int
        /// Where its bytes begin in `written`.
        let place: Int

        var end: Int64 { offset + Int64(count) }
    }

    /// In file order; none overlaps another.
    private var blocks: [Block] = []
    private var written: [UInt8] = []
    /// Whether a verification has found a block that differs, since the last call of ``takeDifference()``.
    private(set) var differs = false
    /// Whether any verification has, since the file was last emptied.
    var hasDiffered = false
    /// The number of blocks read together that a verification has found different.
    private(set) var differences = 0

    var isFull: Bool { written.count >= 2 << 20 }

    /// Whether a write would cover part of a block not yet verified, and so must wait for the verification.
    func overlaps(_ count: Int32, at offset: Int64) -> Bool {
        let (index, end) = (index(of: offset), offset + Int64(count))
        if index < blocks.count, blocks[index].offset < end {
            return blocks[index].offset != offset || blocks[index].end != end
        }
        return index > 0 && blocks[index - 1].end > offset
    }

    /// Notes a write that ``overlaps(_:at:)`` no other.
    mutating func note(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
        let index = index(of: offset)
        if index < blocks.count, blocks[index].offset == offset {
            let place = blocks[index].place
            written.withUnsafeMutableBytes { $0[place..<(place + bytes.count)].copyBytes(from: bytes) }
        } else {
            blocks.insert(Block(offset: offset, count: bytes.count, place: written.count), at: index)
            written.append(contentsOf: bytes)
        }
    }

    /// Whether bytes that were read are those of the blocks not yet verified.
    func match(_ bytes: UnsafeRawBufferPointer, at offset: Int64) -> Bool {
        guard let read = bytes.baseAddress else { return true }
        let end = offset + Int64(bytes.count)
        let first = index(of: offset)
        let place = first > 0 && blocks[first - 1].end > offset ? first - 1 : first
        return written.withUnsafeBytes { written in
            guard let noted = written.baseAddress else { return true }
            return blocks[place...].prefix { $0.offset < end }.allSatisfy { block in
                let (lower, upper) = (max(offset, block.offset), min(end, block.end))
                let noted = noted + block.place + Int(lower - block.offset)
                return memcmp(read + Int(lower - offset), noted, Int(upper - lower)) == 0
            }
        }
    }

    /// Returns the number of blocks before an offset.
    private func index(of offset: Int64) -> Int {
        guard let last = blocks.last, last.offset >= offset else { return blocks.count }
        var (lower, upper) = (0, blocks.count)
        while lower < upper {
            let middle = (lower + upper) / 2
            if blocks[middle].offset < offset { lower = middle + 1 } else { upper = middle }
        }
        return lower
    }

    /// Forgets the blocks beyond the new end of the file.
    mutating func truncate(to size: Int64) {
        if size == 0 { hasDiffered = false }
        while let last = blocks.last, last.end > size { blocks.removeLast() }
    }

    /// Reads every block back in file order, notes any difference, and forgets the blocks.
    ///
    /// - Returns: SQLite's result code if a read fails.
    mutating func prove(_ read: (UnsafeMutableRawPointer?, Int32, Int64) -> Int32) -> Int32 {
        guard !blocks.isEmpty else { return SQLITE_OK }
        var rest = blocks[...]
        var bytes = [UInt8](repeating: 0, count: min(Self.readSize, written.count))
        while let first = rest.first {
            // Blocks that follow each other are read together.
            var (end, count) = (first.offset, 0)
            for block in rest {
                guard block.offset == end, count == 0 || block.end - first.offset <= Int64(Self.readSize) else { break }
                (end, count) = (block.end, count + 1)
            }
            let size = Int(end - first.offset)
            if bytes.count < size { bytes = [UInt8](repeating: 0, count: size) }
            let result = bytes.withUnsafeMutableBytes { read($0.baseAddress, Int32(size), first.offset) }
            // SQLite reads zeros beyond the end of the file.
            guard result == SQLITE_OK || result == IOError.shortRead else { return result }
            if result == IOError.shortRead || !areEqual(rest.prefix(count), bytes) {
                (differs, hasDiffered, differences) = (true, true, differences + 1)
            }
            rest = rest.dropFirst(count)
        }
        blocks.removeAll(keepingCapacity: true)
        written.removeAll(keepingCapacity: true)
        return SQLITE_OK
    }

    /// The bytes of one read; a page has at most 65,536.
    private static let readSize = 1 << 18

    /// Compares blocks that follow each other with the bytes read from the first one's offset on.
    private func areEqual(_ blocks: ArraySlice<Block>, _ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { bytes in
            written.withUnsafeBytes { written in
                guard let read = bytes.baseAddress, let noted = written.baseAddress, let first = blocks.first else {
                    return blocks.isEmpty
                }
                return blocks.allSatisfy { block in
                    memcmp(read + Int(block.offset - first.offset), noted + block.place, block.count) == 0
                }
            }
        }
    }

    /// Returns whether a verification has found a block that differs from the written bytes since the last call.
    mutating func takeDifference() -> Bool {
        defer { differs = false }
        return differs
    }
}
