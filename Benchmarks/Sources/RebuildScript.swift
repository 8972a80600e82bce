import Foundation
import MoultModel

/// SQLite's documented way to change a table that ALTER cannot change (lang_altertable, section 7): a new table, the
/// rows, the old table away, the name, the indexes, in one transaction; and the checkpoint that empties the WAL.
struct RebuildScript {
    private let table: String
    private let columns: [String]
    private let indexes: [String]

    init(_ store: String) throws {
        func lines(_ sql: String) throws -> [String] {
            try Command.shell(store, sql).run().output.split(separator: "\n").map(String.init)
        }
        table = try lines("SELECT sql FROM sqlite_master WHERE name = 'ZITEM'").joined(separator: "\n")
        columns = try lines("SELECT name FROM pragma_table_info('ZITEM')")
        indexes = try lines("SELECT sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'ZITEM'")
        guard !columns.isEmpty, indexes.count >= 2 else {
            throw MigrationError(.internal, "The store has not the table and indexes that it should.", remedy: "")
        }
    }

    func sql(for change: String) -> String {
        var text = table.replacingOccurrences(of: "CREATE TABLE ZITEM", with: "CREATE TABLE ZITEM_NEW")
        var values = columns
        switch change {
        case "required": values = columns.map { $0 == "ZNOTE" ? "COALESCE(ZNOTE, 'none')" : $0 }
        default: text = text.replacingOccurrences(of: "ZCOUNT INTEGER", with: "ZCOUNT FLOAT")
        }
        return """
            PRAGMA foreign_keys = OFF;
            BEGIN;
            \(text);
            INSERT INTO ZITEM_NEW (\(columns.joined(separator: ", "))) SELECT \(values.joined(separator: ", ")) FROM ZITEM;
            DROP TABLE ZITEM;
            ALTER TABLE ZITEM_NEW RENAME TO ZITEM;
            \(indexes.map { $0 + ";" }.joined(separator: "\n"))
            COMMIT;
            PRAGMA wal_checkpoint(TRUNCATE);
            """
    }
}
