import CSQLite
import MoultBasics

extension MigrationError {
    /// Returns the error for a SQLite result code, with SQLite's own message as its cause. Literals that SQLite quotes
    /// from statements, and from an app's own triggers and constraints, are left out.
    ///
    /// - Parameters:
    ///   - result: the extended result code.
    ///   - place: the path of the database.
    ///   - sql: the failed statement, shortened in the cause.
    ///   - system: the operating system's error number; 0 if unknown.
    package static func sqlite(
        _ result: Int32, _ message: String, place: String, sql: String? = nil, system: Int32 = 0
    ) -> MigrationError {
        let shortened = sql.map { sql in
            // A literal may be long. One that is cut off counts as ending with the text.
            let text = String(sql.prefix(2_000)).withoutSQLLiterals()
            return text.count > 200 ? "\(text.prefix(200))…" : text
        }
        let isOfSystem = [SQLITE_IOERR, SQLITE_CANTOPEN].contains(result & 0xff)
        let own = isOfSystem && system != 0 ? ", \(String(cString: strerror(system)))" : ""
        let cause = "SQLite \(result): \(words(of: message, result))\(own)" + (shortened.map { " in: \($0)" } ?? "")
        if result == missingCollation {
            return MigrationError(
                .unsupported, "An index or a table uses a collation that only its app has.", place: place,
                remedy:
                    "Drop the index with the collation that the cause names, run the command again, and let the app "
                    + "create the index again.", cause: cause)
        }
        if isOfSystem, system == EPERM { return .protectedData(place, cause: cause) }
        if result == readOnlyFolder {
            return MigrationError(
                .readOnly, "The folder of the database cannot be written.", place: place,
                remedy: """
                    Make the folder writable for this user: SQLite needs files of its own next to a database, in WAL mode also to \
                    read it. Or read a copy in another folder. A database that is out of WAL mode (PRAGMA journal_mode = \
                    DELETE) can be read where it is.
                    """, cause: cause)
        }
        let (code, found, remedy) = words(of: isFull(result, place, system) ? SQLITE_FULL : result & 0xff)
        return MigrationError(code, found, place: place, remedy: remedy, cause: cause)
    }

    /// Whether the error means a full volume although SQLite reports another code: a WAL index that cannot grow, or a
    /// file that cannot be created.
    private static func isFull(_ result: Int32, _ place: String, _ system: Int32) -> Bool {
        if result == IOError.shmSize { return true }
        guard [SQLITE_IOERR, SQLITE_CANTOPEN].contains(result & 0xff) else { return false }
        if [ENOSPC, EDQUOT].contains(system) { return true }
        // If SQLite cannot create a file, it tries to open it for reading, and reports the error of that attempt.
        var volume = statvfs()
        let folder = place.lastIndex(of: "/").map { String(place[...$0]) } ?? "."
        guard result & 0xff == SQLITE_CANTOPEN, statvfs(folder, &volume) == 0 else { return false }
        return volume.f_bavail == 0 || volume.f_files > 0 && volume.f_favail == 0
    }

    /// `SQLITE_ERROR_MISSING_COLLSEQ`, which does not mean damage.
    package static let missingCollation: Int32 = SQLITE_ERROR | 1 << 8

    /// `SQLITE_READONLY_DIRECTORY`.
    private static let readOnlyFolder: Int32 = SQLITE_READONLY | 6 << 8

    /// Returns SQLite's message without the parts it quotes.
    private static func words(of message: String, _ result: Int32) -> String {
        switch result {
        // The message comes from an app's own trigger, virtual table or function.
        case SQLITE_CONSTRAINT | 7 << 8, SQLITE_CONSTRAINT | 9 << 8, SQLITE_CONSTRAINT | 4 << 8:
            return String(cString: sqlite3_errstr(result))
        // The constraint's name, or its expression if it has no name.
        case SQLITE_CONSTRAINT | 1 << 8:
            return message.withoutSQLLiterals()
        default: return message.withoutQuotedParts
        }
    }

    private static func words(of primary: Int32) -> (Code, String, Remedy) {
        switch primary {
        case SQLITE_NOTADB:
            (.notAStore, "The file is not a SQLite database.", "Name a Core Data store.")
        case SQLITE_CORRUPT:
            (.storeCorrupted, "The database is damaged.", MigrationError.damagedStoreRemedy)
        case SQLITE_BUSY, SQLITE_LOCKED:
            (
                .locked, "Another process is using the database.",
                "Close every app that has it open and run the command again."
            )
        case SQLITE_FULL:
            (.insufficientStorage, "The volume is full.", "Free some space and run the command again.")
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
            (.inputOutput, "The disk failed while the database was read or written.", "Check the cause.")
        case SQLITE_INTERRUPT:
            (.cancelled, "The work was cancelled.", "Run the command again when you want it done.")
        case SQLITE_CONSTRAINT:
            (
                .dataConflict, "The rows do not satisfy a rule of the tables.",
                "Check the cause, and correct the rows or the plan."
            )
        case SQLITE_NOMEM, SQLITE_TOOBIG:
            (.sqlite, "A value or a query is larger than SQLite can hold.", "Check the cause.")
        default:
            (.sqlite, "SQLite refused a statement.", "Check the cause.")
        }
    }
}
