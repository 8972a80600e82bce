/// What was read out of a damaged store, and what could not be.
package struct SalvageReport: Sendable, Equatable {
    package struct Table: Sendable, Equatable {
        package var name: String
        /// Rows that the new store has.
        package var rows: Int64
        /// Of them, rows in which some values could not be read and are missing.
        package var partial: Int64
        /// Rows that could not be read, or had no place in the new store: keys, both ends included. That a key is in a
        /// range does not say that there was a row.
        package var lost: [ClosedRange<Int64>]
        /// Of the first loss, SQLite's own words.
        package var cause: String?
        /// Whether the reading was given up, because too many keys could not be read one by one.
        package var isCutShort: Bool
    }

    /// The path of the new store.
    package var store: String
    /// The name of the version whose tables it has.
    package var version: String
    package var tables: [Table]
    /// What could not be had of the store as a whole, such as its metadata.
    package var notes: [String]
    /// Files of external data that were copied.
    package var externalFiles: Int

    package var rows: Int64 { tables.reduce(0) { $0 + $1.rows } }
    package var isWhole: Bool {
        notes.isEmpty && tables.allSatisfy { $0.lost.isEmpty && $0.partial == 0 && !$0.isCutShort }
    }
}
