import MoultEngine
import MoultModel

/// The data that was read out of a damaged store, and the data that could not be.
package struct SalvageReport: Sendable, Equatable {
    package struct Table: Sendable, Equatable {
        package var name: String
        /// Rows that the new store has.
        package var rows: Int64
        /// Rows of which some values could not be read and are missing: keys, both ends included.
        package var partial: [ClosedRange<Int64>]
        /// Rows that could not be read: keys, both ends included. Where an index lists every row these are the rows that
        /// are lost; else a key in a range does not say that there was a row.
        package var lost: [ClosedRange<Int64>]
        /// Rows that were there, by an index that lists them all; nil where no such index can be read.
        package var listed: Int64?
        /// The highest key that was handed out, by the store's own counter.
        package var counter: Int64?
        /// The first cause of a loss.
        package var cause: String?
        /// Whether the damaged store has no such table.
        package var isMissing: Bool
    }

    /// Rows or values that were read and have no place in the new store.
    package struct Unplaced: Sendable, Equatable {
        package enum Reason: String, Sendable {
            /// The version has no such table, entity or column.
            case table, entity, column
            /// A rule of the new table, such as a uniqueness constraint, refuses the row.
            case rule
            /// The row's page may belong to several tables, or its key was met twice.
            case page
        }

        package var table: String
        package var reason: Reason
        /// The column, or the number of the entity.
        package var detail: String?
        /// Rows, or rows with a value in the column.
        package var rows: Int64
    }

    /// Values of the new store whose file of external data is gone, cannot be read or is no plain file.
    package struct MissingData: Sendable, Equatable {
        package var entity: String
        package var property: String
        /// The keys of the objects, both ends included: each has such a value.
        package var keys: [ClosedRange<Int64>]

        package var objects: Int64 { keys.reduce(0) { $0 + $1.upperBound - $1.lowerBound + 1 } }
    }

    /// The evidence that the damaged store is of the version.
    package enum Evidence: Sendable, Equatable {
        /// The caller.
        case named
        case metadata
        /// The model inside the damaged store.
        case model
        /// Nothing in the store: the version places the most rows of all.
        case rows([Trial])
    }

    /// A version that was tried.
    package struct Trial: Sendable, Equatable {
        package var version: String
        /// Rows that its tables take.
        package var rows: Int64
    }

    /// The pages of the damaged store, counted by their state.
    package struct Pages: Sendable, Equatable {
        package var count: Int
        package var size: Int
        /// Of a table, an index or a long value, and read.
        package var read: Int
        package var free: Int
        /// That a table or an index leads to and that cannot be read.
        package var damaged: [ClosedRange<Int64>]
        /// That nothing leads to.
        package var unexplained: Int
        /// That the store should have and the file has not.
        package var missing: Int
        /// Pages that were read in all, the same ones again included.
        package var reads: Int
    }

    /// The path of the new store.
    package var store: String
    /// The name of the version whose tables it has.
    package var version: String
    package var evidence: Evidence = .named
    package var tables: [Table]
    package var pages: Pages
    /// The losses of the store as a whole, such as its metadata, in sentences.
    package var notes: [String]
    /// Further remarks about the store, in sentences.
    package var remarks: [String] = []
    package var unplaced: [Unplaced] = []
    /// The database with what has no place; nil where there is nothing.
    package var aside: String?
    package var missingData: [MissingData] = []
    /// Files of external data that were copied.
    package var externalFiles: Int = 0

    package var rows: Int64 { tables.reduce(0) { $0 + $1.rows } }
    /// Whether every row and value was read.
    package var isEverythingRead: Bool {
        notes.isEmpty && missingData.isEmpty
            && tables.allSatisfy { $0.lost.isEmpty && $0.partial.isEmpty && !$0.isMissing }
            && !unplaced.contains { $0.reason == .page }
    }
    /// Whether the new store has everything.
    package var isWhole: Bool { isEverythingRead && unplaced.isEmpty }
}

extension SalvageReport {
    /// The reason for the new store's version, in a sentence; nil if the caller named it.
    package var reason: String? {
        switch evidence {
        case .named: return nil
        case .metadata: return "The store is of version \(version), by its metadata."
        case .model: return "The store is of version \(version), by the model inside it."
        case .rows(let trials):
            let others = trials.filter { $0.version != version }.map { "\($0.version): \(Quantity.count($0.rows))" }
            let most = trials.first { $0.version == version }?.rows ?? rows
            return "The damaged store does not say of which version it is. Of the \(Quantity.count(trials.count)) "
                + "versions of the model, \(version) places the most rows: \(Quantity.count(most)) "
                + "(\(others.joined(separator: ", ")))."
        }
    }
}
