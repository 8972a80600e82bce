import MoultModel
import MoultObjects
import MoultSQLite

// What a repair changes by SQL is recorded in persistent history, as each save is.

extension RepairRun {
    /// Keeps the rows that the condition selects for ``tellHistory()``, with the property that is about to change.
    func tell(_ property: String, of table: String, where condition: String) throws {
        guard objects.history != nil else { return }
        try connection.run(
            """
            INSERT OR IGNORE INTO temp.moult_told SELECT \(table.quotedLiteral), Z_PK, \(property.quotedLiteral) \
            FROM main.\(table.quotedName) WHERE \(condition)
            """)
    }

    /// Writes an update for each object that was told of and is still there, in the transaction that is open.
    func tellHistory() throws {
        guard let history = objects.history else { return }
        let tables = try connection.rows("SELECT DISTINCT tbl FROM temp.moult_told ORDER BY 1") { $0.text(0) ?? "" }
        for table in tables {
            // The names of properties hold no comma.
            try connection.forEachRow(
                """
                SELECT r.Z_PK, r.Z_ENT, group_concat(t.property) FROM temp.moult_told AS t \
                JOIN main.\(table.quotedName) AS r ON r.Z_PK = t.key WHERE t.tbl = ? GROUP BY r.Z_PK ORDER BY r.Z_PK
                """, [.text(table)]
            ) { row in
                guard let name = objects.layout.entityName(number: Int(clamping: row.integer(1))) else { return }
                let entity = try objects.columns(of: name)
                // A relationship without an inverse is the owner's own affair.
                let properties = (row.text(2) ?? "").split(separator: ",").map(String.init)
                    .filter { entity.shape.position(of: $0) != nil }
                if !properties.isEmpty { try history.updated(entity, row.integer(0), properties: properties) }
            }
        }
        try connection.execute("DELETE FROM temp.moult_told")
    }
}
