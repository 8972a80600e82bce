import MoultModel
import MoultSQLite

extension RepairRun {
    /// The counter of writes of a row that is written, as SQL, whatever it holds.
    static let nextVersion = "min(ifnull(CAST(Z_OPT AS INTEGER), 0), 9223372036854775806) + 1"

    /// Ends references, with what stands beside them.
    func clear(_ link: RepairFault.Link, where condition: String) throws {
        try note(link.property, of: link.table, where: condition)
        let columns = ([link.column] + link.companions).map { "\($0.quotedName) = NULL" }.joined(separator: ", ")
        try connection.run(
            "UPDATE main.\(link.table.quotedName) SET \(columns), Z_OPT = \(Self.nextVersion) WHERE \(condition)")
    }

    func unlink(_ table: String, _ columns: [RepairFault.PairColumn]) throws {
        let rows = "main.\(table.quotedName) AS r WHERE r.rowid IN (SELECT key FROM temp.moult_fault)"
        for column in columns {
            try tell(
                column.property, of: column.target, where: "Z_PK IN (SELECT r.\(column.name.quotedName) FROM \(rows))")
        }
        try connection.run(
            "INSERT OR IGNORE INTO temp.moult_gone SELECT \(table.quotedLiteral), key FROM temp.moult_fault")
        try connection.run(
            "DELETE FROM main.\(table.quotedName) WHERE rowid IN (SELECT key FROM temp.moult_fault)")
    }

    func renumber(_ link: RepairFault.Link) throws {
        guard let column = link.entityColumn else { return }
        let condition = "Z_PK IN (SELECT key FROM temp.moult_fault)"
        try note(link.property, of: link.table, where: condition)
        try connection.run(
            """
            UPDATE main.\(link.table.quotedName) AS r SET \(column.quotedName) = (SELECT t.Z_ENT FROM \
            main.\(link.target.quotedName) AS t WHERE t.Z_PK = r.\(link.column.quotedName)) WHERE \(condition)
            """)
    }

    /// The other end answers where it is free and only one object names it; else the end that has no answer goes.
    func answer(_ link: RepairFault.Link, _ inverse: RepairFault.Link) throws {
        let pairs = try connection.rows("SELECT key, other FROM temp.moult_fault ORDER BY key") {
            ($0.integer(0), $0.integer(1))
        }
        for (key, other) in pairs {
            let there = "main.\(inverse.table.quotedName)"
            let isFree = try connection.integer(
                "SELECT 1 FROM \(there) WHERE Z_PK = ? AND \(inverse.column.quotedName) IS NULL", [.integer(other)])
            let named = try connection.integer(
                "SELECT count(*) FROM main.\(link.table.quotedName) WHERE \(link.column.quotedName) = ?",
                [.integer(other)])
            if isFree == 1, named == 1 {
                try set(inverse, of: other, to: key, entityIn: link.table)
            } else if link.isOptional {
                try clear(link, where: "Z_PK = \(key)")
            }
        }
    }

    private func set(_ link: RepairFault.Link, of key: Int64, to other: Int64, entityIn table: String) throws {
        try note(link.property, of: link.table, where: "Z_PK = \(key)")
        let number = link.entityColumn.map {
            ", \($0.quotedName) = (SELECT Z_ENT FROM main.\(table.quotedName) WHERE Z_PK = \(other))"
        }
        try connection.run(
            """
            UPDATE main.\(link.table.quotedName) SET \(link.column.quotedName) = ?\(number ?? ""), \
            Z_OPT = \(Self.nextVersion) WHERE Z_PK = ?
            """, [.integer(other), .integer(key)])
    }
}
