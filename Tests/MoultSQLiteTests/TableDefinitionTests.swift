import MoultSQLite
import Testing

/// What an app may write into CREATE TABLE, as https://sqlite.org/lang_createtable.html draws it.
struct TableDefinitionTests {
    @Test func `columns and constraints are told apart, whatever they hold`() throws {
        let definition = try #require(
            TableDefinition(
                """
                CREATE TABLE "a (b" (x VARCHAR(20) NOT NULL DEFAULT (1, 2), -- a comma, a bracket (
                    [y z] INT UNIQUE/* ) */, `q``r` AS (x || ', )') STORED, "AS" TEXT, 'CHECK' INT,
                    g TEXT GENERATED ALWAYS AS (length(x)), CONSTRAINT k CHECK (x > 'it''s, )'), UNIQUE (x, [y z]))
                    STRICT
                """))
        let parts = definition.parts
        #expect(parts.map(\.column) == ["x", "y z", "q`r", "AS", "CHECK", "g", nil, nil])
        #expect(parts.filter(\.isGenerated).compactMap(\.column) == ["q`r", "g"])
        #expect(
            parts.map(\.constraints) == [
                "NOT NULL DEFAULT (1, 2)", "UNIQUE", "AS (x || ', )') STORED", "", "",
                "GENERATED ALWAYS AS (length(x))", "CONSTRAINT k CHECK (x > 'it''s, )')", "UNIQUE (x, [y z])",
            ])
        #expect(parts.last?.names == ["x", "y z"])
        #expect(definition.options == "STRICT")
    }

    @Test(arguments: ["", "CREATE VIEW v AS SELECT 1", "CREATE TABLE t AS SELECT 1", "CREATE", "SELECT (1)"])
    func `what has no columns is none`(sql: String) { #expect(TableDefinition(sql) == nil) }

    @Test(arguments: [
        "CREATE TABLE t (", "CREATE TABLE t (a, 'b", "CREATE TABLE t (a /* b", "CREATE TABLE t (a [b", ")(",
    ])
    func `text that does not end is read to its end`(sql: String) { _ = TableDefinition(sql) }
}
