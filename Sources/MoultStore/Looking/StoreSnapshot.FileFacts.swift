import MoultModel
import MoultSQLite

extension StoreSnapshot {
    /// The facts in the database's header.
    package struct FileFacts: Sendable, Hashable {
        package enum JournalMode: String, Sendable, Hashable { case rollback, wal }

        /// Bytes.
        package let pageSize: Int64
        package let pageCount: Int64
        package let freePages: Int64
        /// 0 none, 1 full, 2 incremental.
        package let autoVacuum: Int64
        package let journalMode: JournalMode

        package var size: Int64 { pageSize.multipliedReportingOverflow(by: pageCount).partialValue }

        init(_ connection: Connection, header: [UInt8]?) throws {
            pageSize = try connection.integer("PRAGMA page_size") ?? 0
            pageCount = try connection.integer("PRAGMA page_count") ?? 0
            freePages = try connection.integer("PRAGMA freelist_count") ?? 0
            autoVacuum = try connection.integer("PRAGMA auto_vacuum") ?? 0
            // Byte 18 of the header, the file format write version (SQLite file format 1.3.3).
            if let header, header.count > 18 {
                journalMode = header[18] == 2 ? .wal : .rollback
            } else {
                journalMode = try connection.text("PRAGMA journal_mode") == "wal" ? .wal : .rollback
            }
        }
    }
}
