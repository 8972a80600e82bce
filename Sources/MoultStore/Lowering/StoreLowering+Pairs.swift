import MoultModel
import MoultSQLite

// What fills a row asks for the pairs of its object. Where the store has no index for that, the pairs are first copied into
// a table of the working copy that has one; it is gone before the script ends.

extension StoreLowering {
    /// The pairs as they stand behind FROM where they are asked for by their owners, one at a time.
    func byOwner(_ pairs: RelationshipPairs) -> SQLText {
        sortedPairs(pairs.table, pairs.ownerColumn).map { "main.\(table: $0)" } ?? pairs.rows(in: "source")
    }

    /// The name of the table that holds the rows of another in the order of one of its columns; nil where an index does.
    private func sortedPairs(_ table: String, _ column: String) -> String? {
        guard sortsPairs, !table.isEmpty, column != "Z_PK", !leadingColumns.contains([table, column]) else {
            return nil
        }
        return Self.prefix + table + "_" + column
    }

    private static let prefix = "Z_MOULT_PAIRS_"

    /// The statements that make and drop the tables that `statements` ask.
    func sortedPairs(for statements: [StoreScript.Statement]) -> (
        making: [StoreScript.Statement], dropping: [StoreScript.Statement]
    ) {
        let lacking = source.tables.flatMap { table in
            table.columns.filter(\.role.isForeignKey).map { (table.name, $0.name) }
        }
        let places = (lacking + source.joinTables.flatMap { join in join.keyColumns.map { (join.name, $0) } })
            .compactMap { table, column in sortedPairs(table, column).map { (name: $0, table: table, column: column) } }
        guard !places.isEmpty else { return ([], []) }
        let asked = places.filter { place in statements.contains { $0.reads.contains(place.name) } }
        let making = asked.flatMap { place -> [StoreScript.Statement] in
            let name = place.name.quotedName
            return [
                .init(
                    .fill, place.name, reads: [place.table],
                    "CREATE TABLE main.\(name) AS SELECT * FROM source.\(place.table.quotedName)",
                    "Copy the pairs of \(place.table), which have no index.", rows: .unknown),
                .init(
                    .createIndex, place.name, reads: [place.table],
                    "CREATE INDEX main.\((place.name + "_INDEX").quotedName) ON \(name) (\(place.column.quotedName))",
                    "Sort the pairs of \(place.table) by \(place.column).", rows: .unknown),
            ]
        }
        return (
            making,
            asked.map { .dropTable($0.name, "Take the copy of \($0.table) away.") }
        )
    }

    /// By table, the first column of each index of all its rows.
    static func leadingColumns(of layout: StoreLayout) -> Set<[String]> {
        var columns: Set<[String]> = []
        for index in layout.indexes {
            if let column = index.sql.firstListed(after: index.sql.startIndex), !index.sql.contains(" WHERE ") {
                columns.insert([index.table, column])
            }
        }
        for join in layout.joinTables {
            guard let key = join.sql.firstRange(of: "PRIMARY KEY"),
                let column = join.sql.firstListed(after: key.upperBound)
            else { continue }
            columns.insert([join.name, column])
        }
        return columns
    }
}

extension String {
    /// The first name of the list in parentheses that begins after a place.
    fileprivate func firstListed(after place: Index) -> String? {
        guard let open = self[place...].firstIndex(of: "(") else { return nil }
        let list = self[index(after: open)...].drop { $0 == " " }
        if list.first == "\"" { return list.dropFirst().split(separator: "\"").first.map(String.init) }
        return String(list.prefix { !" ,)".contains($0) })
    }
}
