import MoultModel
import MoultSQLite

/// The columns of an index, and whether it is unique or partial, as SQLite itself reports them.
package struct IndexShape: Hashable {
    package struct Column: Hashable {
        /// Nil for an expression.
        package let name: String?
        let collation: String
        let isDescending: Bool
    }

    let isUnique: Bool
    let isPartial: Bool
    package let columns: [Column]
    /// The index' own words from its columns on, where it has an expression or a condition, which SQLite does not report.
    private let words: String?

    /// Makes the index in a database of its own, over the table's own words.
    ///
    /// - Parameters:
    ///   - table: the statement that makes its table.
    ///   - sql: the statement that makes the index.
    /// - Returns: nil if SQLite refuses it, as for a column that the table lacks.
    package init?(of name: String, _ sql: String, on table: String) throws {
        let memory = try Connection(":memory:", mode: .create)
        defer { memory.close() }
        do {
            // One statement, as SQLite reads it: the words are the store's.
            try memory.run(table)
            try memory.run(sql)
        } catch {
            return nil
        }
        let found = try memory.rows(
            "SELECT l.\"unique\", l.partial FROM sqlite_master AS m, pragma_index_list(m.tbl_name) AS l "
                + "WHERE m.type = 'index' AND m.name = ?1 AND l.name = ?1", [.text(name)]
        ) { ($0.integer(0) != 0, $0.integer(1) != 0) }.first
        guard let found else { return nil }
        (isUnique, isPartial) = found
        columns = try memory.rows(
            "SELECT name, coll, \"desc\" FROM pragma_index_xinfo(?) WHERE key ORDER BY seqno", [.text(name)]
        ) { Column(name: $0.text(0), collation: $0.text(1) ?? "", isDescending: $0.integer(2) != 0) }
        let isReported = !isPartial && columns.allSatisfy { $0.name != nil }
        words = isReported ? nil : String(sql.drop { $0 != "(" }.filter { !$0.isWhitespace && $0 != "\"" })
    }

    /// Whether this index does what the other would: one of all rows whose first columns are the same, and all of them
    /// where values must be unique.
    func covers(_ other: IndexShape) -> Bool {
        guard !isPartial, !other.columns.isEmpty, other.columns.allSatisfy({ $0.name != nil }) else { return false }
        let (own, wanted) = (columns.map(\.name), other.columns.map(\.name))
        return other.isUnique ? isUnique && own == wanted : own.starts(with: wanted)
    }
}

extension SchemaGaps {
    /// Adds the indexes of a list that the store lacks or has in another form, without those that another index replaces.
    mutating func addIndexes(_ wanted: [IndexDefinition], _ catalogue: Catalogue) throws {
        for index in wanted {
            let present = catalogue.index(index.name)
            guard present?.sql != index.sql else { continue }
            let table = catalogue.table(index.table)?.sql
            let shape = try table.flatMap { try IndexShape(of: index.name, index.sql, on: $0) }
            if let present {
                let actual = try table.flatMap { try IndexShape(of: index.name, present.sql ?? "", on: $0) }
                // Where a column of it is missing, that is the fault.
                guard present.tableName != index.table || shape != nil && actual != shape else { continue }
                indexes.append(index)
                differing.insert(index.name)
            } else if let shape, let table, try isCovered(shape, by: catalogue.indexes(of: index.table), on: table) {
                continue
            } else {
                indexes.append(index)
            }
        }
    }

    private func isCovered(_ shape: IndexShape, by others: [Catalogue.Entry], on table: String) throws -> Bool {
        try others.contains { other in
            guard let sql = other.sql else { return false }
            return try IndexShape(of: other.name, sql, on: table)?.covers(shape) == true
        }
    }
}
