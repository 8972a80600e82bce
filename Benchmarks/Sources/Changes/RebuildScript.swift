import Foundation
import MoultBasics
import MoultModel

/// SQLite's documented way to change a table that ALTER cannot change (lang_altertable, section 7): a new table, the
/// rows, the old table away, the name, the indexes and triggers.
struct RebuildScript {
    private let table: String
    private let columns: [String]
    private let company: [String]

    init(_ store: String) throws {
        func lines(_ sql: String) throws -> [String] {
            try Command.shell(store, sql).run().output.split(separator: "\n").map(String.init)
        }
        table = try lines("SELECT sql FROM sqlite_master WHERE name = 'ZITEM'").joined(separator: "\n")
        columns = try lines("SELECT name FROM pragma_table_info('ZITEM')")
        company = try lines("SELECT sql FROM sqlite_master WHERE type IN ('index', 'trigger') AND tbl_name = 'ZITEM'")
        guard !columns.isEmpty, company.count >= 2 else {
            throw MigrationError(.internal, "The store has not the table and indexes that it should.", remedy: "")
        }
    }

    /// The table with a count that is a FLOAT, without the transaction around it.
    var statements: String {
        let text = table.replacingOccurrences(of: "CREATE TABLE ZITEM", with: "CREATE TABLE ZITEM_NEW")
            .replacingOccurrences(of: "ZCOUNT INTEGER", with: "ZCOUNT FLOAT")
        let names = columns.joined(separator: ", ")
        return """
            \(text);
            INSERT INTO ZITEM_NEW (\(names)) SELECT \(names) FROM ZITEM;
            DROP TABLE ZITEM;
            ALTER TABLE ZITEM_NEW RENAME TO ZITEM;
            \(company.joined(separator: ";\n"))
            """
    }
}
