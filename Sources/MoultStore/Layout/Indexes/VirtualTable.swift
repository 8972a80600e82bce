/// An R-tree of a store.
package struct VirtualTable: Sendable, Hashable {
    package let name: String
    /// The `CREATE VIRTUAL TABLE` statement.
    package let sql: String
    /// The statement that fills it from the rows of its entity's table; nil for one that was read from a store.
    package let fillStatement: String?

    package init(name: String, sql: String, fillStatement: String?) {
        self.name = name
        self.sql = sql
        self.fillStatement = fillStatement
    }

    /// Makes it, and fills it where that is known.
    var statements: [StoreScript.Statement] {
        let fill = fillStatement.map {
            StoreScript.Statement(.fill, name, $0, "Fill the R-tree \(name).", rows: .unknown)
        }
        return [.init(.createTable, name, sql, "Make the R-tree \(name).")] + (fill.map { [$0] } ?? [])
    }
}
