import MoultModel
import MoultSQLite

/// Compares a table that was made anew with the old one, while both are there.
package struct RebuildVerifier {
    package struct Column: Sendable {
        let name: String
        let origin: String
        let numbers: [Int]?

        /// - Parameters:
        ///   - origin: what the old table calls it.
        ///   - numbers: the entity numbers of the rows that have it; nil for all.
        package init(_ name: String, origin: String, numbers: [Int]?) {
            self.name = name
            self.origin = origin
            self.numbers = numbers
        }
    }

    let connection: Connection
    let table: String
    let old: String
    let keys: [Column]
    let columns: [Column]
    private let rows: String

    /// - Parameter left: which rows `s` of the old table the new one does not have, as SQL; nil for none.
    package init(
        _ connection: Connection, table: String, old: String, keys: [Column], columns: [Column],
        without left: String? = nil
    ) {
        rows = "main.\(old.quotedName) AS s" + (left.map { " WHERE NOT (\($0))" } ?? "")
        self.connection = connection
        self.table = table
        self.old = old
        self.keys = keys
        self.columns = columns
    }

    /// - Throws: `verificationFailed` where a row is missing, is one too many, or has another value.
    package func verify() throws {
        let counts = try [rows, "main.\(table.quotedName)"].map {
            try connection.integer("SELECT count(*) FROM \($0)") ?? 0
        }
        guard counts[0] == counts[1] else {
            throw failure("The old table had \(Quantity.count(counts[0], "row")) and the new one has \(counts[1]).")
        }
        let join = keys.map { "d.\($0.name.quotedName) = s.\($0.origin.quotedName)" }.conditions(joinedBy: "AND")
        let missing = keys.map { "d.\($0.name.quotedName) IS NULL" }
        let differing = try connection.integer(
            """
            SELECT count(*) FROM (SELECT s.* FROM \(rows)) AS s LEFT JOIN main.\(table.quotedName) AS d ON \(join) \
            WHERE \((missing + columns.map(difference)).conditions(joinedBy: "OR"))
            """)
        guard let differing, differing > 0 else { return }
        throw failure("\(differing) of its \(Quantity.count(counts[0], "row")) are missing or have another value.")
    }

    /// A value is as it was where the row's entity has it, and nothing elsewhere.
    private func difference(_ column: Column) -> String {
        let (new, old) = ("d.\(column.name.quotedName)", "s.\(column.origin.quotedName)")
        guard let numbers = column.numbers else { return "\(new) IS NOT \(old)" }
        let list = numbers.map(String.init).joined(separator: ", ")
        return "(s.Z_ENT IN (\(list)) AND \(new) IS NOT \(old)) OR (s.Z_ENT NOT IN (\(list)) AND \(new) IS NOT NULL)"
    }

    private func failure(_ message: String) -> MigrationError {
        MigrationError(
            .verificationFailed, "The table \(table) was not made anew as it should be. \(message)", place: table,
            remedy: "This task changed nothing. Report this as a bug, with the model.")
    }
}
