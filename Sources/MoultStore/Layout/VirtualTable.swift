/// An R-tree of a store (MORE 6).
package struct VirtualTable: Sendable, Hashable {
    package let name: String
    /// The `CREATE VIRTUAL TABLE` statement.
    package let sql: String

    package init(name: String, sql: String) {
        self.name = name
        self.sql = sql
    }
}
