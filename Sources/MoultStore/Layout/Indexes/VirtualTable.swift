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
}
