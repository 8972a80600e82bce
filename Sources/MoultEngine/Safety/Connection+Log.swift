import MoultSQLite

extension Connection {
    /// Writes the WAL back into the database and empties it.
    ///
    /// - Returns: whether there is one; with a rollback journal nothing is done.
    @discardableResult
    func writeBackLog() throws -> Bool {
        guard try text("PRAGMA journal_mode") == "wal" else { return false }
        try run("PRAGMA wal_checkpoint(TRUNCATE)")
        return true
    }
}
