/// A trigger of a store: it keeps a derived attribute or an R-tree index up to date.
package struct TriggerDefinition: Sendable, Hashable {
    package let name: String
    package let table: String
    /// The `CREATE TRIGGER` statement.
    package let sql: String

    package init(name: String, table: String, sql: String) {
        self.name = name
        self.table = table
        self.sql = sql
    }
}
