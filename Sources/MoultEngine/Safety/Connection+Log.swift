import MoultModel
import MoultSQLite
import MoultSystem

extension Connection {
    /// Writes the WAL back into the database and empties it.
    ///
    /// SQLite does not synchronise the empty file: after a power cut the old log would be there again.
    ///
    /// - Parameter isCompared: whether the pages are compared before and after; false if the caller does it.
    /// - Throws: `inputOutput` if a page is not read as it was in the log.
    package func writeBackLog(_ system: any System, isCompared: Bool = true) throws {
        guard try text("PRAGMA journal_mode") == "wal" else { return }
        let before = try isCompared ? PageDigests(self) : nil
        try run("PRAGMA wal_checkpoint(TRUNCATE)")
        if let before, let page = try PageDigests(self).firstDifference(from: before) {
            throw MigrationError.changedOnTheWay(path, page: page)
        }
        // No lock of SQLite's lies on this file.
        if try system.exists(path + "-wal") { try system.synchronise(path + "-wal") }
    }
}
