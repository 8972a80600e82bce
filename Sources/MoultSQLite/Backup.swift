import CSQLite
import MoultModel

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
        self.handle = handle
        self.source = source
        self.destination = destination
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
