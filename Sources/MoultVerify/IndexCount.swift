import MoultBasics
import MoultSQLite

/// An index whose number of entries differs from the number of rows in its table, or that cannot be read.
///
/// Counting reads only the pages of the index, which `quick_check` does not compare with anything. A partial index is
/// not counted, because its expected count would require evaluating its condition for each row.
package struct IndexCount: Sendable, Equatable {
    package let index: String
    package let table: String
    package let rows: Int64
    /// The number of entries; nil if one of the index's pages belongs to another b-tree.
    package let entries: Int64?
    /// Whether every index of the table has more entries than the table has rows, so that the table has lost rows and
    /// no index is stale. The indexes are then the only evidence of the rows, and must not be rebuilt.
    package fileprivate(set) var lacksRows = false

    /// Returns the differences in a database or in some tables, table by table.
    ///
    /// - Throws: `unsupported` if an index needs a function or collation that only the app has.
    package static func differences(
        _ connection: Connection, schema: String = "main", of chosen: [String]? = nil
    ) throws -> [IndexCount] {
        let name = schema.quotedName
        var tables = Set(try connection.catalogue(schema: schema).tables.filter { !$0.isVirtual }.map(\.name))
        if let chosen { tables.formIntersection(chosen) }
        let indexes = try connection.rows(
            """
            SELECT m.name, i.name FROM \(name).sqlite_master AS m, pragma_index_list(m.name, ?) AS i
            WHERE m.type = 'table' AND NOT i.partial ORDER BY m.rowid, i.seq
            """, [.text(schema)]
        ) { (table: $0.text(0) ?? "", index: $0.text(1) ?? "") }
        let byTable: [String: [(table: String, index: String)]] = Dictionary(
            grouping: indexes.filter { tables.contains($0.table) }, by: \.table)
        return try byTable.sorted { $0.key < $1.key }.flatMap { table, indexes in
            try differences(connection, "\(name).\(table.quotedName)", table, indexes.map(\.index))
        }
    }

    private static func differences(
        _ connection: Connection, _ place: String, _ table: String, _ indexes: [String]
    ) throws -> [IndexCount] {
        let rows = try connection.integer("SELECT count(*) FROM \(place) NOT INDEXED") ?? 0
        let counts = try indexes.map { index in
            IndexCount(index: index, table: table, rows: rows, entries: try entries(connection, place, index))
        }
        let readable = counts.compactMap(\.entries)
        let lacksRows = !readable.isEmpty && readable.allSatisfy { $0 > rows }
        return counts.filter { $0.entries != rows }.map { count in
            var count = count
            count.lacksRows = lacksRows
            return count
        }
    }

    private static func entries(_ connection: Connection, _ place: String, _ index: String) throws -> Int64? {
        do {
            // Without a condition, SQLite counts by the smallest index, whatever INDEXED BY says.
            return try connection.integer("SELECT count(*) FROM \(place) INDEXED BY \(index.quotedName) WHERE 1")
        } catch let error as MigrationError where error.code == .storeCorrupted {
            return nil
        }
    }

    /// Whether the index cannot be rebuilt, or not without a loss.
    package var isDamage: Bool { lacksRows || entries == nil }

    package var message: String {
        guard let entries else { return "The index \(index) of \(table) cannot be read: a page of it is damaged." }
        let listed = "\(Quantity.count(entries, "row")), but \(table) has \(rows)"
        return lacksRows
            ? "\(table) has lost rows: its index \(index) lists \(listed)."
            : "The index \(index) does not match its table: it lists \(listed)."
    }

    package var remedy: Remedy { isDamage ? MigrationError.damagedStoreRemedy : "\(.repair) makes it again." }

    /// Returns the error that refuses a store with such an index.
    package func refusal(_ store: String) -> MigrationError {
        MigrationError(
            .storeCorrupted, "The database is damaged. \(message)", place: store,
            remedy: isDamage ? remedy : "\(.repair, .only(["indexes"])) makes the index again.")
    }
}

/// An index whose entries do not match its table's rows, so that queries with and without it give different results.
///
/// The cause is a program that wrote while the index was not in the catalogue, or damage within a page.
package struct IndexFault: Sendable, Equatable {
    package let index: Catalogue.Entry
    /// SQLite's message for the first difference.
    package let message: String
    /// The number of values of a unique index that occur more than once in the table.
    package let doubles: Int64

    /// Returns the faults that `integrity_check` reports for a database, in its order.
    package static func all(_ connection: Connection, schema: String = "main") throws -> [IndexFault] {
        let indexes = try connection.catalogue(schema: schema).entries.filter { $0.kind == .index }
        var last: Catalogue.Entry?
        let messages = try connection.withIndexCache {
            // There may be a message for each row.
            try connection.checkMessages("integrity_check", schema: schema, of: "2147483647") { message, kept in
                if let last, kept.last?.isAbout(last) == true, message.isAbout(last) { return false }
                guard let index = indexes.first(where: message.isAbout), !kept.contains(where: { $0.isAbout(index) })
                else { return false }
                last = index
                return true
            }
        }
        return try messages.compactMap { message in
            guard let index = indexes.first(where: message.isAbout) else { return nil }
            return IndexFault(
                index: index, message: message, doubles: try doubles(of: index, connection, schema: schema))
        }
    }

    /// Returns the number of repeated values. Skips expression and partial indexes: SQLite itself refuses to rebuild
    /// these if values repeat.
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

extension Connection {
    /// Runs a check that looks every row up in each of its indexes, with a cache that holds most of an index.
    func withIndexCache<Result>(_ body: () throws -> Result) throws -> Result {
        try withCache(ofKibibytes: 16_384, body)
    }
}

extension String {
    /// Whether the message is about an index: `row 3 missing from index Z_Post_byDate`, `wrong # of entries in index
    /// …`, `non-unique entry in index …`.
    func isAbout(_ index: Catalogue.Entry) -> Bool { hasSuffix(" index \(index.name)") }
}
