import MoultModel
import MoultSQLite

extension PrimaryKeyRow {
    /// The rows of a store's `Z_PRIMARYKEY` that have a name, by number.
    static func all(_ connection: Connection, columns: [Catalogue.Column], findings: inout [Finding]) throws
        -> [PrimaryKeyRow]
    {
        let needed = ["Z_ENT", "Z_NAME", "Z_SUPER", "Z_MAX"]
        if let missing = needed.first(where: { name in !columns.contains { $0.name == name } }) {
            throw MigrationError(
                .storeCorrupted, "The table Z_PRIMARYKEY has no column \(missing).", place: "Z_PRIMARYKEY",
                remedy: MigrationError.damagedStoreRemedy)
        }
        let sql = "SELECT Z_ENT, Z_NAME, Z_SUPER, \(highestSQL), \(isUncountableSQL) FROM Z_PRIMARYKEY ORDER BY Z_ENT"
        let rows = try connection.rows(sql) { row in
            var found = PrimaryKeyRow(
                number: Int(row.integer(0)), name: row.text(1) ?? "", superNumber: Int(row.integer(2)),
                max: row.integer(3))
            found.isUncountable = row.integer(4) == 1
            return found
        }
        for row in rows where row.name.isEmpty {
            findings.append(
                Finding(
                    code: "entity-without-name", severity: .warning, place: "Z_PRIMARYKEY",
                    message: "The entity number \(row.number) has no name.", remedy: MigrationError.damagedStoreRemedy)
            )
        }
        return rows.filter { !$0.name.isEmpty }
    }
}
