import MoultEngine
import MoultModel
import MoultSQLite
import MoultStore
import MoultSystem

/// The full comparison of a mirror's store with a fresh migration: every value of every row, both ways. It shares
/// nothing with what writes the rows and knows neither keys that were listed nor counters.
struct MirrorComparison {
    /// `main` is the fresh migration, `replica` the store that follows.
    let connection: Connection

    private static let keyLimit = 10

    init(fresh: String, replica: String) throws {
        // With the right to write, the last to close leaves no log behind.
        connection = try Connection(fresh, mode: .readWrite, busyTimeout: MirroredStore.patience)
        try connection.attach(replica, as: "replica", mode: .readWrite)
    }

    /// - Parameters:
    ///   - columns: those to compare.
    ///   - numbers: the entity numbers of the rows; empty for all rows.
    func difference(in table: String, columns: [String], numbers: [Int]) throws -> MirrorVerification.Difference? {
        let condition =
            numbers.isEmpty ? "" : " WHERE Z_ENT IN (\(numbers.map(String.init).joined(separator: ", ")))"
        let list = columns.map(\.quotedName).joined(separator: ", ")
        func rows(_ schema: String) -> String {
            "SELECT \(list) FROM \(schema).\(table.quotedName)\(condition)"
        }
        let only = [("main", "replica"), ("replica", "main")].map { "\(rows($0.0)) EXCEPT \(rows($0.1))" }
        let counts = try only.map { try connection.integer("SELECT count(*) FROM (\($0))") ?? 0 }
        // Rows that are twice in one of them would be one in a set.
        let sizes = try ["main", "replica"].map { try connection.integer("SELECT count(*) FROM (\(rows($0)))") ?? 0 }
        guard counts != [0, 0] || sizes[0] != sizes[1] else { return nil }
        let key = (columns.contains("Z_PK") ? "Z_PK" : columns.first ?? "").quotedName
        let keys = try connection.rows(
            "SELECT DISTINCT \(key) FROM (SELECT * FROM (\(only[0])) UNION SELECT * FROM (\(only[1]))) "
                + "ORDER BY 1 LIMIT \(Self.keyLimit)"
        ) { $0.integer(0) }
        return .init(table: table, missing: counts[0], surplus: counts[1], keys: keys)
    }

    /// The tables, indexes and triggers that only one of the two has, by name.
    func catalogueDifferences() throws -> [String] {
        let (fresh, replica) = (try connection.catalogue(), try connection.catalogue(schema: "replica"))
        return Set(fresh.entries).symmetricDifference(replica.entries).map(\.name).sorted()
    }
}
