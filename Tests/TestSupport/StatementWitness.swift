import MoultSQLite
import MoultStore

extension StoreScript.Statement {
    /// Runs it, as the engine does but for its progress.
    package func run(on connection: Connection) throws {
        if kind == .retypeColumns { try connection.editSchema(sql) } else { try connection.execute(sql) }
    }

    /// What its words say otherwise than its values do: the kind, and the tables of the source whose rows it asks for.
    package var contradictions: [String] {
        let starts: [Kind: [String]] = [
            .createTable: ["CREATE TABLE", "CREATE VIRTUAL TABLE"], .renameTable: ["ALTER TABLE"],
            .dropTable: ["DROP TABLE"], .dropView: ["DROP VIEW"], .addColumn: ["ALTER TABLE"],
            .renameColumn: ["ALTER TABLE"], .dropColumn: ["ALTER TABLE"],
            .retypeColumns: ["UPDATE main.sqlite_master SET sql = 'CREATE TABLE"],
            .createIndex: ["CREATE INDEX", "CREATE UNIQUE INDEX"],
            .dropIndex: ["DROP INDEX"], .createTrigger: ["CREATE TRIGGER"], .dropTrigger: ["DROP TRIGGER"],
            .fill: ["INSERT", "CREATE TABLE main.\"Z_MOULT_PAIRS"], .update: ["UPDATE"], .delete: ["DELETE"],
            .metadata: ["INSERT", "UPDATE", "DELETE"],
        ]
        let isKind = starts[kind]?.contains { sql.hasPrefix($0) } == true
        let asked = ["source.\"", "\"source\".\""].flatMap { mark in
            sql.split(separator: mark, omittingEmptySubsequences: false).dropFirst().map {
                String($0.prefix { $0 != "\"" })
            }
        }
        let pairs = sql.split(separator: "\"").map(String.init).filter { $0.hasPrefix("Z_MOULT_PAIRS_") }
        let missing = Set(asked + pairs).subtracting(reads).filter { name in name != table && name + "_INDEX" != table }
        return (isKind ? [] : ["no \(kind): \(sql)"]) + missing.sorted().map { "\($0) is read: \(sql)" }
    }
}
