import MoultModel
import MoultSQLite

/// What the indexes of a store are on, as SQLite itself tells.
package struct IndexColumns {
    private let connection: Connection
    private let snapshot: StoreSnapshot

    /// - Parameter connection: the store.
    package init(_ connection: Connection, _ snapshot: StoreSnapshot) {
        self.connection = connection
        self.snapshot = snapshot
    }

    /// Whether an index of another name does what a missing one would: one of all rows whose first columns are the same,
    /// such as an app has made by hand.
    package func isCovered(_ index: IndexDefinition) throws -> Bool {
        let wanted = try columns(of: index)
        guard !wanted.isEmpty else { return false }
        return try connection.rows(
            "SELECT name, \"unique\", partial FROM pragma_index_list(?)", [.text(index.table)]
        ) { (name: $0.text(0) ?? "", isUnique: $0.integer(1) != 0, isPartial: $0.integer(2) != 0) }
        .contains { other in
            guard !other.isPartial, !index.isUnique || other.isUnique else { return false }
            let columns = try Self.columns(of: other.name, connection)
            return index.isUnique ? columns == wanted : columns.starts(with: wanted)
        }
    }

    /// Made where nobody sees it, over the table's own words.
    private func columns(of index: IndexDefinition) throws -> [String] {
        guard let table = snapshot.catalogue.table(index.table)?.sql else { return [] }
        let memory = try Connection(":memory:", mode: .create)
        defer { memory.close() }
        do {
            // One statement, as SQLite reads it: the words are the store's.
            try memory.run(table)
            try memory.run(index.sql)
        } catch {
            // A column of it is missing, too.
            return []
        }
        return try Self.columns(of: index.name, memory)
    }

    private static func columns(of index: String, _ connection: Connection) throws -> [String] {
        try connection.rows("SELECT name FROM pragma_index_info(?) ORDER BY seqno", [.text(index)]) {
            $0.text(0) ?? ""
        }
    }
}
