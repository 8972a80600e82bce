import Foundation
import MoultBasics
import MoultSQLite
import MoultVerify
import TestSupport
import Testing

/// What must not pass, made by hand: each change to the store beside what was asked for is found.
struct SchemaRepairVerifierTests {
    private static let old = """
        CREATE TABLE ZA (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, ZN VARCHAR); CREATE INDEX I ON ZA (ZN);
        INSERT INTO ZA VALUES (1, 1, 'a'), (2, 2, 'b');
        CREATE TABLE J (X INTEGER, Y INTEGER, PRIMARY KEY (X, Y)); INSERT INTO J VALUES (1, 2);
        CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR); INSERT INTO Z_PRIMARYKEY VALUES (1, 'A');
        """
    private static let asked = """
        ALTER TABLE ZA ADD COLUMN ZC INTEGER; UPDATE ZA SET ZC = 7 WHERE Z_ENT IN (1); CREATE INDEX N ON ZA (ZC);
        CREATE TABLE ZB (Z_PK INTEGER PRIMARY KEY); INSERT INTO Z_PRIMARYKEY VALUES (3, 'B');
        """

    private func verify(_ changes: String) throws {
        let folder = try ScratchFolder()
        let (before, after) = (folder.path + "/before", folder.path + "/after")
        _ = try SQLiteShell.run(before, Self.old)
        _ = try SQLiteShell.run(after, Self.old + Self.asked + changes)
        let connection = try Connection(after, mode: .readWrite)
        defer { connection.close() }
        try connection.attach(before, as: "source")
        try SchemaRepairVerifier(
            connection,
            objects: [
                .init(kind: "index", name: "N", sql: "CREATE INDEX N ON ZA (ZC)"),
                .init(kind: "table", name: "ZB", sql: "CREATE TABLE ZB (Z_PK INTEGER PRIMARY KEY)"),
            ], columns: [.init(table: "ZA", name: "ZC", type: "INTEGER", numbers: [1], value: "7")], numbers: [3]
        ).verify()
    }

    @Test func `what was asked for passes`() throws { try verify("") }

    @Test(arguments: [
        "UPDATE ZA SET ZN = 'x' WHERE Z_PK = 1", "DELETE FROM ZA WHERE Z_PK = 2",
        "INSERT INTO ZA VALUES (3, 1, 'c', 7)",
        "UPDATE ZA SET ZC = 8 WHERE Z_PK = 1", "UPDATE ZA SET ZC = 7 WHERE Z_PK = 2", "UPDATE ZA SET ZC = NULL",
        "DELETE FROM J", "UPDATE J SET Y = 3", "INSERT INTO J VALUES (5, 5)", "DROP TABLE J", "DROP INDEX I",
        "DROP INDEX I; CREATE INDEX I ON ZA (Z_ENT)", "DROP INDEX N", "DROP INDEX N; CREATE INDEX N ON ZA (ZN)",
        "CREATE INDEX M ON ZA (ZN)", "CREATE TABLE ZZ (A)", "INSERT INTO ZB VALUES (1)", "DROP TABLE ZB",
        "ALTER TABLE ZA ADD COLUMN ZD", "UPDATE Z_PRIMARYKEY SET Z_NAME = 'X' WHERE Z_ENT = 1",
        "INSERT INTO Z_PRIMARYKEY VALUES (9, 'Z')",
        "CREATE TRIGGER T AFTER INSERT ON ZA BEGIN SELECT 1; END", "CREATE VIEW V AS SELECT 1",
    ])
    func `anything else is found`(changes: String) throws {
        #expect { try verify(changes) } throws: { ($0 as? MigrationError)?.code == .verificationFailed }
    }
}
