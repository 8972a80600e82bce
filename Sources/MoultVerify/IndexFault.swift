import MoultSQLite

/// An index whose entries are not those of its table's rows, so that a query by it gives other rows than one without it.
///
/// A program that wrote while the index was not in the catalogue leaves one, and so does damage within a page.
package struct IndexFault: Sendable, Equatable {
    package let index: Catalogue.Entry
    /// SQLite's words for the first difference.
    package let message: String
    /// The number of values of a unique index that occur more than once in the table.
    package let doubles: Int64

    /// All of a database, by `integrity_check`, in the order in which it names them.
    package static func all(_ connection: Connection, schema: String = "main") throws -> [IndexFault] {
        let indexes = try connection.catalogue(schema: schema).entries.filter { $0.kind == .index }
        var found: [(index: Catalogue.Entry, message: String)] = []
        try connection.forEachRow("PRAGMA \(schema.quotedName).integrity_check(2147483647)") { row in
            let message = row.text(0) ?? ""
            if found.last.map({ message.isAbout($0.index) }) != true,
                let index = indexes.first(where: message.isAbout), !found.contains(where: { $0.index == index })
            {
                found.append((index, message))
            }
        }
        return try found.map { fault in
            IndexFault(
                index: fault.index, message: fault.message,
                doubles: try doubles(of: fault.index, connection, schema: schema))
        }
    }

    /// An index on an expression or with a condition is not asked about: SQLite refuses to make it where it is not unique.
    private static func doubles(of index: Catalogue.Entry, _ connection: Connection, schema: String) throws -> Int64 {
        let isUnique = try connection.integer(
            "SELECT count(*) FROM pragma_index_list(?, ?) WHERE name = ? AND \"unique\" AND NOT partial",
            [.text(index.tableName), .text(schema), .text(index.name)])
        let columns = try connection.rows(
            "SELECT name FROM pragma_index_info(?, ?) ORDER BY seqno", [.text(index.name), .text(schema)]
        ) { $0.text(0)?.quotedName }
        guard isUnique == 1, !columns.isEmpty, !columns.contains(nil) else { return 0 }
        let names = columns.compactMap { $0 }
        return try connection.integer(
            """
            SELECT count(*) FROM (SELECT 1 FROM \(schema.quotedName).\(index.tableName.quotedName) NOT INDEXED \
            WHERE \(names.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")) \
            GROUP BY \(names.joined(separator: ", ")) HAVING count(*) > 1)
            """) ?? 0
    }
}

extension String {
    /// `row 3 missing from index Z_Post_byDate`, `wrong # of entries in index …`, `non-unique entry in index …`.
    func isAbout(_ index: Catalogue.Entry) -> Bool { hasSuffix(" index \(index.name)") }
}
