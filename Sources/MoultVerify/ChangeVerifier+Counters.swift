import MoultModel
import MoultSQLite

extension ChangeVerifier {
    /// The counter of writes may grow in a row that was noted, in one that differs otherwise, and in one that a link
    /// leads to which came, went or changed. Anything else was written for nothing, and an app that holds the object
    /// would be told of a conflict.
    ///
    /// - Parameter ends: as ``ends``.
    func verifyCounter(of table: Table, _ ends: [String: [String]]) throws {
        guard let counter = table.columns.first(where: \.grows)?.name.quotedName else { return }
        let name = table.name.quotedName
        let same = table.columns.filter { !$0.grows }.map { "d.\($0.name.quotedName) IS s.\($0.name.quotedName)" }
        let suspects = """
            SELECT s.Z_PK FROM source.\(name) AS s JOIN main.\(name) AS d ON d.Z_PK = s.Z_PK WHERE \
            \((["d.\(counter) IS NOT s.\(counter)"] + same).conditions(joinedBy: "AND")) AND NOT EXISTS \
            (SELECT 1 FROM temp.moult_fixed AS f WHERE f.tbl = \(table.name.quotedLiteral) AND f.key = s.Z_PK)
            """
        guard try connection.value("\(suspects) LIMIT 1") != nil else { return }
        try connection.execute(
            """
            CREATE TEMP TABLE IF NOT EXISTS moult_end (key NOT NULL PRIMARY KEY);
            DELETE FROM temp.moult_end
            """)
        for rows in ends[table.name] ?? [] { try connection.run("INSERT OR IGNORE INTO temp.moult_end \(rows)") }
        try refuse(
            "\(table.name).\(counter)", "counters have grown in rows",
            "\(suspects) AND s.Z_PK NOT IN (SELECT key FROM temp.moult_end)")
    }

    /// By table, statements that select its rows that a changed link leads to, before or after.
    var ends: [String: [String]] {
        var ends: [String: [String]] = [:]
        for table in tables {
            for column in table.columns where !column.isEntity {
                guard let destination = column.destination else { continue }
                let (owner, name) = (table.name.quotedName, column.name.quotedName)
                ends[destination, default: []] += Self.bothWays { one, other in
                    """
                    SELECT a.\(name) FROM \(one).\(owner) AS a LEFT JOIN \(other).\(owner) AS b ON b.Z_PK = a.Z_PK \
                    WHERE a.\(name) IS NOT NULL AND a.\(name) IS NOT b.\(name)
                    """
                }
            }
        }
        for pairs in pairs {
            let (name, keys) = (pairs.name.quotedName, pairs.keys.map(\.name.quotedName).joined(separator: ", "))
            for key in pairs.keys {
                guard let destination = key.destination else { continue }
                ends[destination, default: []] += Self.bothWays { one, other in
                    """
                    SELECT \(key.name.quotedName) FROM (SELECT \(keys) FROM \(one).\(name) EXCEPT \
                    SELECT \(keys) FROM \(other).\(name))
                    """
                }
            }
        }
        return ends
    }

    private static func bothWays(_ statement: (String, String) -> String) -> [String] {
        [statement("source", "main"), statement("main", "source")]
    }
}
