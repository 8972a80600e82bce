import MoultModel
import MoultSQLite

extension ChangeVerifier {
    /// The counter of writes may grow in a row that was noted, in one that differs otherwise, and in one that a link
    /// leads to which came, went or changed. Anything else was written for nothing, and an app that holds the object
    /// would be told of a conflict.
    func verifyCounter(of table: Table) throws {
        guard let counter = table.columns.first(where: \.grows)?.name.quotedName else { return }
        let name = table.name.quotedName
        let same = table.columns.filter { !$0.grows }.map { "d.\($0.name.quotedName) IS s.\($0.name.quotedName)" }
        let suspects = """
            SELECT s.Z_PK FROM source.\(name) AS s JOIN main.\(name) AS d ON d.Z_PK = s.Z_PK WHERE \
            \((["d.\(counter) IS NOT s.\(counter)"] + same).joined(separator: " AND ")) AND NOT EXISTS \
            (SELECT 1 FROM temp.moult_fixed AS f WHERE f.tbl = \(table.name.quotedLiteral) AND f.key = s.Z_PK)
            """
        guard try connection.value("\(suspects) LIMIT 1") != nil else { return }
        try connection.execute(
            """
            CREATE TEMP TABLE IF NOT EXISTS moult_end (key INTEGER PRIMARY KEY);
            DELETE FROM temp.moult_end
            """)
        for ends in ends(in: table.name) {
            try connection.run("INSERT OR IGNORE INTO temp.moult_end \(ends)")
        }
        try refuse(
            "\(table.name).\(counter)", "counters have grown in rows",
            "\(suspects) AND s.Z_PK NOT IN (SELECT key FROM temp.moult_end)")
    }

    /// Statements that select the rows of a table that a changed link leads to, before or after.
    private func ends(in table: String) -> [String] {
        let columns = tables.flatMap { owner in
            owner.columns.filter { $0.destination == table && !$0.isEntity }.map { (owner.name, $0.name) }
        }
        let links = columns.flatMap { owner, column in
            [("source", "main"), ("main", "source")].map { one, other in
                let (owner, column) = (owner.quotedName, column.quotedName)
                return """
                    SELECT a.\(column) FROM \(one).\(owner) AS a LEFT JOIN \(other).\(owner) AS b ON b.Z_PK = a.Z_PK \
                    WHERE a.\(column) IS NOT NULL AND a.\(column) IS NOT b.\(column)
                    """
            }
        }
        return links
            + pairs.flatMap { pairs in
                let keys = pairs.keys.map(\.name.quotedName).joined(separator: ", ")
                let name = pairs.name.quotedName
                return pairs.keys.filter { $0.destination == table }.flatMap { key in
                    [("source", "main"), ("main", "source")].map { one, other in
                        """
                        SELECT \(key.name.quotedName) FROM (SELECT \(keys) FROM \(one).\(name) EXCEPT \
                        SELECT \(keys) FROM \(other).\(name))
                        """
                    }
                }
            }
    }
}
