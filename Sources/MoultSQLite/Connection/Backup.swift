import CSQLite
import MoultBasics

/// A copy of all pages of one database into another, by SQLite's backup API: one transaction of the destination.
package struct Backup: ~Copyable {
    private let destination: Connection
    // Kept so that the source outlives the copy.
    private let source: Connection
    private let handle: OpaquePointer

    /// Nothing of the destination is touched before the first step.
    package init(from source: Connection, schema: String = "main", to destination: Connection) throws {
        guard let handle = sqlite3_backup_init(destination.handle, "main", source.handle, schema) else {
            throw destination.error(destination.lastResult)
        }
        (self.handle, self.source, self.destination) = (handle, source, destination)
    }

    /// An unfinished copy is undone.
    deinit { sqlite3_backup_finish(handle) }

    /// Copies up to `pages` pages, all that are left when negative; true when the copy is whole and committed.
    package func step(pages: Int32) throws -> Bool {
        let result = sqlite3_backup_step(handle, pages)
        if result == SQLITE_DONE { return true }
        if result == SQLITE_OK { return false }
        throw MigrationError.sqlite(
            result, sqlite3_errstr(result).map { String(cString: $0) } ?? "unknown", place: destination.path)
    }

    /// Pages that are still to be copied, after the first step.
    package var remaining: Int { Int(sqlite3_backup_remaining(handle)) }
    /// Pages of the source, after the first step.
    package var pageCount: Int { Int(sqlite3_backup_pagecount(handle)) }

    /// Copies everything. `progress` gets the pages done and all of them after each step, and ends the copy,
    /// with the error `cancelled` and the destination as it was, by returning false.
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
    /// The extended code of the last call that failed.
    var lastResult: Int32 { handle.map(sqlite3_extended_errcode) ?? SQLITE_MISUSE }
}

/// A digest of every page of a database, as SQLite reads it: two databases with the same digests hold the same bytes.
///
/// SQLite copies the pages into a database that is written nowhere (``UnwrittenFile``), so that the pages in a WAL count
/// as they do for every reader. The digests differ between processes.
package struct PageDigests: Sendable, Equatable {
    private let digests: [Int]

    /// - Parameters:
    ///   - source: without a transaction that writes.
    ///   - again: whether each page is read from its file again. Otherwise a page in the connection's cache counts as it is
    ///     there.
    ///   - isCancelled: asked now and then; the digests are not made if it is.
    /// - Throws: `cancelled`; what SQLite says.
    package init(_ source: Connection, again: Bool = true, isCancelled: () -> Bool = { false }) throws {
        if again { try source.forgetPages() }
        let sink = PageSink()
        let destination = try UnwrittenVFS.connection(to: sink)
        defer { destination.close() }
        try destination.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE")
        try Backup(from: source, to: destination).run(stepPages: 4_096) { _, _ in !isCancelled() }
        digests = sink.digests
    }

    /// The digests of a file that no connection writes to, read through a connection of its own.
    package init(ofFile path: String, isCancelled: () -> Bool = { false }) throws {
        let connection = try Connection(path, mode: .immutable)
        defer { connection.close() }
        try self.init(connection, isCancelled: isCancelled)
    }

    /// The number of the first page that is not the same; nil if all are.
    package func firstDifference(from other: PageDigests) -> Int? {
        if let place = zip(digests, other.digests).enumerated().first(where: { $0.element.0 != $0.element.1 })?.offset {
            return place + 1
        }
        return digests.count == other.digests.count ? nil : min(digests.count, other.digests.count) + 1
    }
}

/// A receiver of the pages that are written to an ``UnwrittenFile``.
final class PageSink: Sendable {
    // SQLite uses a connection, and with it its files, on one thread at a time.
    nonisolated(unsafe) private(set) var digests: [Int] = []
    nonisolated(unsafe) private(set) var size: Int64 = 0

    /// The bytes of the header that each copy has of its own: how it is journalled, the file change counter, the schema
    /// cookie, and who wrote it last (the SQLite file format, section 1.3).
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
        // SQLite does not write the page of its locks.
        while digests.count <= page { digests.append(0) }
        digests[page] = hasher.finalize()
        size = max(size, offset + Int64(bytes.count))
    }
}

extension Connection {
    /// Has SQLite read every page from its file again: what is changed is written, and the rest of the cache is forgotten.
    ///
    /// A page that a statement is reading stays.
    package func forgetPages() throws {
        if isInTransaction { _ = try flushPages() }
        try check(sqlite3_db_release_memory(handle))
    }

    /// Writes what is changed, reads what has been written to the database and its WAL since the last call, and compares
    /// it with what SQLite gave to the file system. Only a connection that was opened with `isProven` does so.
    ///
    /// - Throws: `inputOutput` if a byte differs.
    package func proveWrites() throws {
        var pointer: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &pointer) == SQLITE_OK,
            let file = WatchedFile.state(pointer)
        else { return }
        let states = [file, file.log].compactMap(\.self).filter { $0.written != nil }
        if !states.isEmpty, isInTransaction { _ = try flushPages() }
        for state in states { try check(state.proveWrites()) }
        for state in states where state.written?.takeDifference() == true {
            throw MigrationError.changedOnTheWay(state.path)
        }
    }
}
