/// An index of a store.
package struct IndexDefinition: Sendable, Hashable {
    package let name: String
    package let table: String
    package let isUnique: Bool
    /// The `CREATE INDEX` statement.
    package let sql: String

    package init(name: String, table: String, isUnique: Bool = false, sql: String) {
        self.name = name
        self.table = table
        self.isUnique = isUnique
        self.sql = sql
    }
}
