import MoultCare
import MoultEngine

/// The result of salvaging a damaged store: what was read out of it, and what could not be.
public struct SalvageReport: Sendable {
    /// One table of the new store.
    public struct Table: Sendable, Hashable {
        /// The table's name.
        public let name: String
        /// Rows that the new store has.
        public let rows: Int64
        /// Keys of rows of which some values could not be read and are missing; both ends of a range included.
        public let partialKeys: [ClosedRange<Int64>]
        /// Keys of rows that could not be read; both ends included. Unless an index lists every row, a key in a range does
        /// not mean that there was a row.
        public let lostKeys: [ClosedRange<Int64>]
    }

    /// Values of the new store whose file of external data is gone, cannot be read or is no plain file.
    public struct MissingData: Sendable, Hashable {
        /// The entity that has the property.
        public let entity: String
        /// The attribute.
        public let property: String
        /// The keys of the objects; both ends of a range included.
        public let keys: [ClosedRange<Int64>]
    }

    /// The path of the new store.
    public let store: String
    /// The name of the version whose tables it has.
    public let version: String
    /// Rows of the new store.
    public let rows: Int64
    /// Its tables.
    public let tables: [Table]
    /// The reason why the new store is of its version, if the caller did not name it; then what could not be recovered
    /// of the store as a whole, and anything else worth knowing.
    public let notes: [String]
    /// The database with rows and columns that have no place in the version; nil if there are none.
    public let aside: String?
    /// Values whose files are missing, by property.
    public let missingData: [MissingData]
    /// Whether every row and value was read.
    public let isEverythingRead: Bool
    /// Whether the new store has everything.
    public let isWhole: Bool

    init(_ report: MoultCare.SalvageReport) {
        (store, version, rows) = (report.store, report.version, report.rows)
        tables = report.tables.map {
            Table(name: $0.name, rows: $0.rows, partialKeys: $0.partial, lostKeys: $0.lost)
        }
        missingData = report.missingData.map {
            MissingData(entity: $0.entity, property: $0.property, keys: $0.keys)
        }
        notes = (report.reason.map { [$0] } ?? []) + report.notes + report.remarks
        (aside, isEverythingRead, isWhole) = (report.aside, report.isEverythingRead, report.isWhole)
    }
}
