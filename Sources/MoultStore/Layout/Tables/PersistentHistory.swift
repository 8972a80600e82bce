import MoultModel

/// The tables of persistent history (STORE_FORMAT 8, MORE 3).
package struct PersistentHistory: Sendable, Equatable {
    package let level: FrameworkLevel
    /// The largest number of attributes that one entity keeps after deletion.
    package let tombstones: Int

    package init(of layout: StoreLayout) {
        level = layout.level
        tombstones =
            layout.model.entities.map { entity in
                layout.model.attributes(of: entity).filter(\.preservesValueInHistoryOnDeletion).count
            }.max() ?? 0
    }

    package var createStatements: [String] {
        [changeTable, transactionTable] + (level.hasHistoryStrings ? [stringTable] : []) + indexes
    }

    package var primaryKeyRows: [PrimaryKeyRow] {
        let names = ["CHANGE", "TRANSACTION"] + (level.hasHistoryStrings ? ["TRANSACTIONSTRING"] : [])
        return names.enumerated().map { PrimaryKeyRow(number: 16001 + $0, name: $1, superNumber: 0, max: 0) }
    }

    private var changeTable: String {
        let kept = (0..<tombstones).map { ", ZTOMBSTONE\($0) BLOB" }.joined()
        return "CREATE TABLE ACHANGE ( \(Self.keys), ZCHANGETYPE INTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER, "
            + "ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB\(kept) )"
    }

    private var transactionTable: String {
        let references = level.hasHistoryStrings ? Self.references.map { "\($0) INTEGER, " }.joined() : ""
        return "CREATE TABLE ATRANSACTION ( \(Self.keys), \(references)ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, "
            + "ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR, ZQUERYGEN BLOB )"
    }

    private var stringTable: String { "CREATE TABLE ATRANSACTIONSTRING ( \(Self.keys), ZNAME VARCHAR )" }

    private var indexes: [String] {
        let references = level.hasHistoryStrings ? Self.references : []
        let fetch = [("TransactionAuthorIndex", "ZAUTHOR"), ("TransactionTimestampIndex", "ZTIMESTAMP")]
        let unique =
            "CREATE UNIQUE INDEX Z_TRANSACTIONSTRING_UNIQUE_NAME ON ATRANSACTIONSTRING (ZNAME COLLATE BINARY ASC)"
        return ["CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID)"]
            + references.map { "CREATE INDEX ATRANSACTION_\($0)_INDEX ON ATRANSACTION (\($0))" }
            + fetch.map { "CREATE INDEX Z_TRANSACTION_\($0) ON ATRANSACTION (\($1) COLLATE BINARY ASC)" }
            + (level.hasHistoryStrings ? [unique] : [])
    }

    private static let keys = "Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER"
    private static let references = ["ZAUTHORTS", "ZBUNDLEIDTS", "ZCONTEXTNAMETS", "ZPROCESSIDTS"]
}
