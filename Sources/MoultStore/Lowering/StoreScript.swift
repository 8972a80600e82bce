/// What will be done to a store, as statements: a bound plan lowered to SQL. Running it is the engine's business.
///
/// The statements run in order, in one transaction, on a connection whose `main` is the working copy (or the store
/// itself, when ``isInPlace``) and whose schema `source` is the unchanged backup of the store.
package struct StoreScript: Sendable, Equatable {
    package var statements: [Statement]
    /// Whether the script may run on the store itself: it touches the catalogue and the metadata only.
    package var isInPlace: Bool

    package init(statements: [Statement], isInPlace: Bool = false) {
        self.statements = statements
        self.isInPlace = isInPlace
    }

    /// One SQL statement with what it does in one sentence.
    package struct Statement: Sendable, Equatable {
        package var sql: String
        package var sentence: String
        /// About how many rows it reads or writes, the unit of progress; 0 for the catalogue alone.
        package var rows: Int64

        package init(_ sql: String, _ sentence: String, rows: Int64 = 0) {
            self.sql = sql
            self.sentence = sentence
            self.rows = rows
        }
    }
}
