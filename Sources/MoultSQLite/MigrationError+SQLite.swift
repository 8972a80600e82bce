import CSQLite
import MoultModel

extension MigrationError {
    /// The error for a result code of SQLite's, with SQLite's own words as its cause.
    ///
    /// - Parameters:
    ///   - result: the extended result code.
    ///   - place: the path of the database.
    ///   - sql: the statement at fault, shortened in the cause.
    package static func sqlite(_ result: Int32, _ message: String, place: String, sql: String? = nil) -> MigrationError
    {
        let shortened = sql.map { $0.count > 200 ? "\($0.prefix(200))…" : $0 }
        let cause = "SQLite \(result): \(message)" + (shortened.map { " in: \($0)" } ?? "")
        // The index of a WAL cannot grow: SQLite calls it an I/O error.
        let (code, found, remedy) = words(of: result == IOError.shmSize ? SQLITE_FULL : result & 0xff)
        return MigrationError(code, found, place: place, remedy: remedy, cause: cause)
    }

    private static func words(of primary: Int32) -> (Code, String, String) {
        switch primary {
        case SQLITE_NOTADB:
            (.notAStore, "The file is not a SQLite database.", "Name a Core Data store.")
        case SQLITE_CORRUPT:
            (
                .storeCorrupted, "The database is damaged.",
                "Restore it from a backup, or recover it with the sqlite3 shell's .recover."
            )
        case SQLITE_BUSY, SQLITE_LOCKED:
            (
                .locked, "Another process is using the database.",
                "Close every app that has it open and run the command again."
            )
        case SQLITE_FULL:
            (.insufficientStorage, "The volume ran full.", "Free some space and run the command again.")
        case SQLITE_READONLY, SQLITE_PERM:
            (
                .readOnly, "The database or its folder cannot be written.",
                "Make the file and its folder writable for this user."
            )
        case SQLITE_AUTH:
            (.fileNotReadable, "The database may not be read.", "Give this user the permission to read it.")
        case SQLITE_CANTOPEN:
            (
                .fileNotReadable, "The database could not be opened.",
                "Check that the path names a file that this user may read, in a folder that this user may write."
            )
        case SQLITE_IOERR:
            (.inputOutput, "The disk failed while the database was read or written.", "Look into the cause.")
        case SQLITE_INTERRUPT:
            (.cancelled, "The work was cancelled.", "Run the command again when you want it done.")
        case SQLITE_CONSTRAINT:
            (
                .dataConflict, "The rows do not satisfy a rule of the tables.",
                "Look into the cause, and correct the rows or the plan."
            )
        case SQLITE_NOMEM, SQLITE_TOOBIG:
            (.sqlite, "A value or a query is larger than SQLite can hold.", "Look into the cause.")
        default:
            (.sqlite, "SQLite refused a statement.", "Look into the cause.")
        }
    }
}
