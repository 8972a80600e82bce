import MoultSQLite

extension ObjectStore {
    /// - Parameters: a pragma and a value, both plain words or numbers.
    package func setPragma(_ name: String, _ value: String) throws {
        try connection.execute("PRAGMA \(name) = \(value)")
    }

    /// Has SQLite count what its indexes hold, for better plans.
    package func analyze() throws { try connection.execute("ANALYZE") }

    /// Rebuilds the file without its unused space.
    package func vacuum() throws { try connection.execute("VACUUM") }

    /// The connection, for copying its pages; nothing else may be done with it.
    package func withConnection<Result>(_ body: (Connection) throws -> Result) rethrows -> Result {
        try body(connection)
    }
}
