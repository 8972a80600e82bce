import MoultModel
import MoultSQLite
import MoultSystem

extension Connection {
    /// Writes the WAL back into the database and empties it.
    ///
    /// SQLite does not synchronise the empty file: after a power cut the old log would be there again.
    ///
    /// - Parameter isProven: whether the pages are proven (``proveWrites()``); false if the caller compares them.
    /// - Throws: `inputOutput` if a page is not read as it was in the log.
    package func writeBackLog(_ system: any System, isProven: Bool = true) throws {
        guard try text("PRAGMA journal_mode") == "wal" else { return }
        try run("PRAGMA wal_checkpoint(TRUNCATE)")
        if isProven { try proveWrites() }
        // No lock of SQLite's lies on this file.
        if try system.exists(path + "-wal") { try system.synchronise(path + "-wal") }
    }
}
