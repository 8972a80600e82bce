import Moult
import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore

/// A user's query on the views of a store. It cannot write.
package struct StoreQuery {
    private let probe: ReadOnlyStore
    private let contents: StoreContents
    private let statement: Statement
    /// The names of the result's columns, without duplicates.
    package let columns: [String]

    /// - Throws: `usage` with SQLite's message if the text is not a query.
    package init(_ sql: String, over probe: ReadOnlyStore, versions: ModelVersions?) throws {
        try self.init(sql, over: probe, StoreContents(probe, in: versions))
    }

    /// - Parameter contents: the contents of the store for the views, which the first query of a probe makes.
    /// - Throws: `usage` with SQLite's message if the text is not a query.
    init(_ sql: String, over probe: ReadOnlyStore, _ contents: StoreContents) throws {
        (self.probe, self.contents) = (probe, contents)
        if try probe.connection.integer("SELECT count(*) FROM sqlite_temp_master") == 0 {
            for function in StoreViews.functions { try probe.connection.register(function) }
            try StoreViews(contents, isForMoult: true).make(on: probe.connection, isTemporary: true)
            try probe.connection.execute("PRAGMA query_only = ON")
        }
        do {
            statement = try probe.connection.query(sql)
        } catch let error as MigrationError where error.code == .usage {
            throw contents.explaining(error, in: sql)
        }
        guard statement.parameterCount == 0 else {
            throw MigrationError(
                .usage, "The query has parameters, such as ? or :name, which have no values here.",
                remedy: "Write the values into the query: numbers as they are, texts in apostrophes.")
        }
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

/// The form in JSON of an attribute whose values in a view do not show it: 0 and 1, and the text of a document.
enum QueryForm: String, Sendable {
    /// The cases are declared types of columns.
    case boolean = "BOOLEAN"
    case json = "JSON"
}

extension StoreQuery {
    /// Returns the form of each column of the result that is an attribute of a view, taken directly; nil for any other
    /// column, such as an expression.
    ///
    /// SQLite knows the declared type of a table's column, but not of an expression in a view. So the query is compiled
    /// once more, over empty tables in memory that stand for the views and for the tables that it names.
    func forms() throws -> [QueryForm?] {
        let unknown = [QueryForm?](repeating: nil, count: columns.count)
        let words = Set(statement.sql.lowercased().utf8.split { !Self.isPartOfName($0) }.map { String(Substring($0)) })
        // SQLite gives a union the types of its first part alone.
        guard !words.contains("union") else { return unknown }
        let memory = try Connection(":memory:", mode: .create)
        defer { memory.close() }
        for function in StoreViews.functions { try memory.register(function) }
        for view in StoreViews(contents).views { _ = try memory.attempt { try memory.run(view.emptyTable) } }
        for table in contents.taken where words.contains(table.lowercased()) {
            let columns = try probe.connection.attempt { try probe.connection.columns(of: table) } ?? []
            let names = columns.map(\.name.quotedName).joined(separator: ", ")
            _ = try memory.attempt { try memory.run("CREATE TABLE \(table.quotedName) (\(names))") }
        }
        let query = try memory.attempt { try memory.query(statement.sql) }
        guard let query, query.columnCount == columns.count else { return unknown }
        return columns.indices.map { query.declaredType($0).flatMap(QueryForm.init) }
    }

    /// Whether a byte, in lower case, belongs to a name that needs no quotes.
    private static func isPartOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }
}

extension ObjectReader {
    /// Returns a query over the store's views.
    ///
    /// - Throws: `usage` with SQLite's message if the text is not a query.
    package func query(_ sql: String) throws -> StoreQuery { try StoreQuery(sql, over: probe, contents) }

    /// The views that a query can name.
    package var views: [StoreViews.View] { StoreViews(contents).views }
}
