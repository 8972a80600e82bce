import MoultSQLite

/// The work of SQLite that says how fast a machine is at the moment. A bound in units of time is for the machine on which
/// it was set; on a slower or busier one, it is as many times wider as this work takes longer.
enum ReferenceWork {
    /// The seconds that it takes on the machine of the bounds, on which Python's sqlite3 inserts 100,000 objects in 0.8 s
    /// and fetches them in 0.2 s.
    private static let seconds = 0.25

    private static let query = """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
        SELECT count(DISTINCT printf('%x', i * 2654435761 % 1000003)) FROM n
        """

    /// How many times longer it takes here, at least 1: the median of three.
    static func pace() throws -> Double {
        let connection = try Connection(":memory:", mode: .create)
        defer { connection.close() }
        let taken = try (0..<3).map { _ in
            let begun = Clock.now
            _ = try connection.text(query)
            return Clock.now - begun
        }
        return max(taken.median, seconds) / seconds
    }
}
