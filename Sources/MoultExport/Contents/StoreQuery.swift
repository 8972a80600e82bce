import MoultModel
import MoultPlan
import MoultSQLite
import MoultStore
import MoultSystem

/// A query that a person has written over the views of a store. Nothing is written anywhere.
package struct StoreQuery {
    private let probe: StoreProbe
    private let statement: Statement
    /// The names of the result's columns, each once.
    package let columns: [String]

    /// - Throws: `usage` with SQLite's own words for a text that is no query.
    package init(_ sql: String, over probe: StoreProbe, versions: ModelVersions?) throws {
        self.probe = probe
        try StoreViews(StoreContents(probe, in: versions)).make(on: probe.connection, isTemporary: true)
        try probe.connection.execute("PRAGMA query_only = ON")
        statement = try probe.connection.query(sql)
        var names = DistinctNames()
        columns = (0..<statement.columnCount).map { [statement] in names.next(statement.columnName($0)) }
    }

    /// Calls `body` for each row until it returns false.
    package func forEachRow(_ body: ([SQLiteValue]) throws -> Bool) throws {
        defer { statement.reset() }
        while try probe.connection.step(query: statement) {
            guard try body(statement.row) else { return }
        }
    }
}
