import CSQLite
import MoultBasics

/// A copy of all pages of one database to another with SQLite's backup API. It is one transaction of the destination.
package struct Backup: ~Copyable {
    private let destination: Connection
    // Kept so that the source outlives the copy.
    private let source: Connection
    private let handle: OpaquePointer

    /// Creates a copy. The destination stays untouched until the first step.
    package init(from source: Connection, schema: String = "main", to destination: Connection) throws {
        guard let handle = sqlite3_backup_init(destination.handle, "main", source.handle, schema) else {
            throw destination.error(destination.lastResult)
        }
        (self.handle, self.source, self.destination) = (handle, source, destination)
    }

    /// Rolls back an unfinished copy.
    deinit { sqlite3_backup_finish(handle) }

    /// Copies up to `pages` pages, or all remaining pages if negative. Returns true once the copy is complete and
    /// committed.
    package func step(pages: Int32) throws -> Bool {
        let result = sqlite3_backup_step(handle, pages)
        if result == SQLITE_DONE { return true }
        if result == SQLITE_OK { return false }
        throw MigrationError.sqlite(
            result, sqlite3_errstr(result).map { String(cString: $0) } ?? "unknown", place: destination.path)
    }

    /// The number of pages still to copy, valid after the first step.
    package var remaining: Int { Int(sqlite3_backup_remaining(handle)) }
    /// The number of pages in the source, valid after the first step.
    package var pageCount: Int { Int(sqlite3_backup_pagecount(handle)) }

    /// Copies everything. `progress` receives the number of pages copied and the total after each step. If it returns
    /// false, the copy fails with the error `cancelled`, and the destination is unchanged.
    package consuming func run(stepPages: Int32, progress: (_ done: Int, _ all: Int) throws -> Bool) throws {
        while try !step(pages: stepPages) {
            guard try progress(pageCount - remaining, pageCount) else {
                throw MigrationError.sqlite(SQLITE_INTERRUPT, "interrupted", place: destination.path)
            }
        }
        _ = try progress(pageCount, pageCount)
    }
}

extension Connection {
    /// The extended result code of the last call that failed.
    var lastResult: Int32 { handle.map(sqlite3_extended_errcode) ?? SQLITE_MISUSE }
}

/// A digest of every page of a database, as SQLite reads it. Databases with equal digests hold the same bytes.
///
/// SQLite copies the pages to a database that is never written to disk (``UnwrittenFile``), so pages in a WAL are
/// included as they are for every reader. Digests are comparable only within one process.
package struct PageDigests: Sendable, Equatable {
    private let digests: [Int]

    /// - Parameters:
    ///   - source: the database to read; it must have no open write transaction.
    ///   - again: whether to read each page from its file again. Otherwise a page in the connection's cache is used as
    ///     cached.
    ///   - isCancelled: called from time to time; if it returns true, the computation is cancelled.
    /// - Throws: `cancelled`, or SQLite's error.
    package init(_ source: Connection, again: Bool = true, isCancelled: () -> Bool = { false }) throws {
        if again { try source.forgetPages() }
        let sink = PageSink()
        let destination = try UnwrittenVFS.connection(to: sink)
        defer { destination.close() }
        try destination.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE")
        try Backup(from: source, to: destination).run(stepPages: 4_096) { _, _ in !isCancelled() }
        digests = sink.digests
    }

    /// Computes the digests of a file that no connection writes to, through a connection of its own.
    package init(ofFile path: String, isCancelled: () -> Bool = { false }) throws {
        let connection = try Connection(path, mode: .immutable)
        defer { connection.close() }
        try self.init(connection, isCancelled: isCancelled)
    }

    /// Returns the number of the first page that differs; nil if all pages are the same.
    package func firstDifference(from other: PageDigests) -> Int? {
        if let place = zip(digests, other.digests).enumerated().first(where: { $0.element.0 != $0.element.1 })?.offset {
            return place + 1
        }
        return digests.count == other.digests.count ? nil : min(digests.count, other.digests.count) + 1
    }
}

/// A receiver of the pages written to an ``UnwrittenFile``.
final class PageSink: Sendable {
    // SQLite uses a connection, and with it its files, on one thread at a time.
    nonisolated(unsafe) private(set) var digests: [Int] = []
    nonisolated(unsafe) private(set) var size: Int64 = 0

    /// The header bytes that differ between copies: the journal format, the file change counter, the schema cookie, and
    /// the version of the last writer (the SQLite file format, section 1.3).
    private static let own = [18..<20, 24..<28, 40..<44, 92..<100]

    func take(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
        guard !bytes.isEmpty else { return }
        let page = Int(offset) / bytes.count
        var hasher = Hasher()
        if page == 0 {
            var first = Array(bytes)
            for range in Self.own where range.upperBound <= first.count {
                for place in range { first[place] = 0 }
            }
            hasher.combine(first)
        } else {
            hasher.combine(bytes: bytes)
        }
        // SQLite never writes the lock-byte page.
        while digests.count <= page { digests.append(0) }
        digests[page] = hasher.finalize()
        size = max(size, offset + Int64(bytes.count))
    }
}

extension Connection {
    /// Makes SQLite read every page from its file again: writes the changed pages, and discards the rest of the cache.
    ///
    /// A page that a statement is reading stays in the cache.
    package func forgetPages() throws {
        if isInTransaction { _ = try flushPages() }
        try check(sqlite3_db_release_memory(handle))
    }

    /// Writes the changed pages, reads back everything written to the database and its WAL since the last call, and
    /// compares it with the bytes that SQLite passed to the file system. Does nothing unless the connection was opened
    /// with `isProven`.
    ///
    /// - Throws: `inputOutput` if a byte differs.
    package func proveWrites() throws {
        if let path = try fileChangedOnTheWay() { throw MigrationError.changedOnTheWay(path) }
    }

    /// Runs `body`, such as a commit or a write-back of the WAL, and names the file if it fails because a byte differs.
    ///
    /// - Throws: `inputOutput` if a byte differs; the errors of `body`.
    package func proving<Result>(_ body: () throws -> Result) throws -> Result {
        let result: Result
        do {
            result = try body()
        } catch {
            if let path = (try? fileChangedOnTheWay()) ?? nil { throw MigrationError.changedOnTheWay(path) }
            throw error
        }
        try proveWrites()
        return result
    }

    /// Ends a transaction that failed, and that SQLite has rolled back. `PRAGMA synchronous` is FULL, so that its frames
    /// in the WAL do not count, right or wrong. A page that SQLite has restored in memory may be one that was written
    /// wrong to the journal; SQLite plays the journal back, and removes it, when the database is read next.
    package func forgetFailedTransaction() throws {
        _ = try fileChangedOnTheWay()
        provenFile?.log?.written?.hasDiffered = false
        try forgetPages()
        _ = try integer("PRAGMA main.schema_version")
    }

    /// The file of the database, if what is written to it is recorded.
    private var provenFile: WatchedFile.State? {
        var pointer: UnsafeMutablePointer<sqlite3_file>?
        guard let handle, sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &pointer) == SQLITE_OK else {
            return nil
        }
        return WatchedFile.state(pointer)
    }

    /// Returns the file of which a byte differs from those that ``proveWrites()`` compares it with; nil if none does.
    package func fileChangedOnTheWay() throws -> String? {
        guard let file = provenFile else { return nil }
        let states = [file, file.log].compactMap(\.self).filter { $0.written != nil }
        if !states.isEmpty, isInTransaction { _ = try flushPages() }
        for state in states { try check(state.proveWrites()) }
        defer { file.wrongFile = nil }
        return states.filter { $0.written?.takeDifference() == true }.first?.path ?? file.wrongFile
    }
}
