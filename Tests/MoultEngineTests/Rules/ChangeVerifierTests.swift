import MoultBasics
import MoultModel
import MoultObjects
import MoultSQLite
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine
@testable import MoultVerify

/// What fixes were to change is accepted, and every other change of any table is found.
struct ChangeVerifierTests {  // tier: long
    private static let noteTables = """
        CREATE TEMP TABLE moult_fixed (tbl TEXT, key INTEGER, property TEXT);
        CREATE TEMP TABLE moult_gone (tbl TEXT, key INTEGER);
        CREATE TEMP TABLE moult_new (tbl TEXT, key INTEGER);

        """

    private static func verify(_ change: String, noting notes: String = "") throws {
        let forum = try BrokenForum.closed()
        let copy = forum.folder.path + "/copy.sqlite"
        _ = try forum.shell("VACUUM INTO '\(copy)'")
        _ = try SQLiteShell.run(copy, change)
        let connection = try Connection(copy, mode: .readWrite)
        defer { connection.close() }
        try connection.attach(forum.path, as: "source")
        try connection.execute(noteTables + notes)
        let layout = try StoreLayout(actual: StoreSnapshot(connection), model: BrokenForum.makeModel())
        try ChangeVerifier(connection, layout).verify()
    }

    @Test(arguments: [
        "UPDATE ZPOST SET ZBODY = 'other' WHERE Z_PK = 7",
        "UPDATE ZPOST SET ZRATE = 1 WHERE Z_PK = 400",
        "UPDATE ZTOPIC SET ZFORUM = NULL WHERE Z_PK = 1",
        "UPDATE ZTOPIC SET ZFORUM = 2 WHERE Z_PK = 99",
        "UPDATE ZFORUM SET Z_ENT = 1 WHERE Z_PK = 2",
        "DELETE FROM ZPOST WHERE Z_PK = 3",
        "INSERT INTO ZPOST (Z_PK, Z_ENT, Z_OPT) VALUES (401, 3, 1)",
        "DELETE FROM Z_4RELATEDBY WHERE Z_4RELATED = 5",
        "INSERT INTO Z_4RELATEDBY VALUES (1, 50)",
        // Nobody has written these rows, and no link of theirs has changed.
        "UPDATE ZPOST SET Z_OPT = 2 WHERE Z_PK = 7", "UPDATE ZFORUM SET Z_OPT = Z_OPT + 1",
        "UPDATE ZPOST SET Z_OPT = 0 WHERE Z_PK = 7", "UPDATE ZPOST SET Z_OPT = NULL WHERE Z_PK = 7",
        "UPDATE ZPOST SET Z_FOK_TOPIC = 4096 WHERE Z_PK = 7", "UPDATE ZTOPIC SET Z1_FORUM = 2 WHERE Z_PK = 99",
        "UPDATE Z_METADATA SET Z_UUID = 'FE8EA8F2-2D16-4A0A-8AD4-4C8A4D9D6F36'",
    ])
    func `a change that nobody meant is found`(change: String) {
        let error = #expect(throws: MigrationError.self) { try Self.verify(change) }
        #expect(error?.code == .verificationFailed)
    }

    /// SQLite takes 2,000 columns in the aggregates of a query, and a comparison names each twice.
    @Test func `a change in the last of very many columns is found`() throws {
        let folder = try ScratchFolder()
        let names = (0..<1_100).map { "c\($0)" }
        for (file, value) in [("old", 1), ("new", 2)] {
            _ = try SQLiteShell.run(
                "\(folder.path)/\(file)",
                """
                CREATE TABLE t (Z_PK INTEGER PRIMARY KEY, \(names.joined(separator: ", ")));
                INSERT INTO t (Z_PK, c1099) VALUES (1, \(value))
                """)
        }
        let connection = try Connection(folder.path + "/new", mode: .readWrite)
        defer { connection.close() }
        try connection.attach(folder.path + "/old", as: "source")
        try connection.execute(Self.noteTables)
        let table = ChangeVerifier.Table(name: "t", columns: names.map { ChangeVerifier.Column(name: $0) })
        let error = #expect(throws: MigrationError.self) {
            try ChangeVerifier(connection, tables: [table], pairs: []).verify()
        }
        #expect(error?.code == .verificationFailed)
        #expect(error?.description.contains("t.c1099") == true)
    }

    @Test(arguments: [
        ("SELECT 1", ""),
        (
            "UPDATE ZPOST SET ZBODY = 'other', Z_OPT = 2 WHERE Z_PK = 7",
            "INSERT INTO moult_fixed VALUES ('ZPOST', 7, 'body')"
        ),
        (
            "UPDATE ZTOPIC SET ZFORUM = 2, Z1_FORUM = 2 WHERE Z_PK = 99",
            "INSERT INTO moult_fixed VALUES ('ZTOPIC', 99, 'forum')"
        ),
        // Both lists count it: the one that it left and the one that it came to.
        (
            """
            UPDATE ZPOST SET ZTOPIC = 2, Z_FOK_TOPIC = 9000, Z_OPT = 2 WHERE Z_PK = 77;
            UPDATE ZTOPIC SET Z_OPT = 2 WHERE Z_PK IN (2, 20)
            """,
            "INSERT INTO moult_fixed VALUES ('ZPOST', 77, 'topic')"
        ),
        (
            """
            DELETE FROM ZPOST WHERE Z_PK = 78; UPDATE ZTOPIC SET Z_OPT = 2 WHERE Z_PK = 20;
            DELETE FROM ZTOPIC WHERE Z_PK = 5; UPDATE ZPOST SET ZTOPIC = NULL, Z_OPT = 2 WHERE ZTOPIC = 5;
            UPDATE ZTOPIC SET Z_OPT = 2 WHERE Z_PK IN (SELECT Z_4RELATED FROM Z_4RELATEDBY WHERE Z_4RELATEDBY = 5);
            DELETE FROM Z_4RELATEDBY WHERE Z_4RELATED = 5 OR Z_4RELATEDBY = 5
            """, "INSERT INTO moult_gone VALUES ('ZPOST', 78), ('ZTOPIC', 5)"
        ),
        (
            "UPDATE ZPOST SET ZTOPIC = 2, Z_FOK_TOPIC = 9000 WHERE Z_PK = 77",
            "INSERT INTO moult_fixed VALUES ('ZPOST', 77, 'topic')"
        ),
        (
            "INSERT INTO ZTOPIC (Z_PK, Z_ENT, Z_OPT) VALUES (200, 4, 1); INSERT INTO Z_4RELATEDBY VALUES (200, 5)",
            "INSERT INTO moult_new VALUES ('ZTOPIC', 200)"
        ),
        (
            """
            DELETE FROM ZTOPIC WHERE Z_PK = 5; UPDATE ZPOST SET ZTOPIC = NULL WHERE ZTOPIC = 5;
            DELETE FROM Z_4RELATEDBY WHERE Z_4RELATED = 5 OR Z_4RELATEDBY = 5
            """, "INSERT INTO moult_gone VALUES ('ZTOPIC', 5)"
        ),
        (
            "INSERT INTO ZPOST (Z_PK, Z_ENT, Z_OPT) VALUES (401, 3, 1)",
            "INSERT INTO moult_new VALUES ('ZPOST', 401)"
        ),
    ])
    func `a change that was meant is accepted`(change: String, notes: String) throws {
        try Self.verify(change, noting: notes)
    }

    @Test(arguments: [
        // Another row, another property, another table.
        ("UPDATE ZPOST SET ZBODY = 'other' WHERE Z_PK = 8", "INSERT INTO moult_fixed VALUES ('ZPOST', 7, 'body')"),
        ("UPDATE ZPOST SET ZNUMBER = 99 WHERE Z_PK = 7", "INSERT INTO moult_fixed VALUES ('ZPOST', 7, 'body')"),
        ("UPDATE ZPOST SET ZBODY = 'other' WHERE Z_PK = 7", "INSERT INTO moult_fixed VALUES ('ZTOPIC', 7, 'body')"),
        // A key that ends though its object stays; an object that was to go and did not.
        ("UPDATE ZPOST SET ZTOPIC = NULL WHERE ZTOPIC = 6", "INSERT INTO moult_gone VALUES ('ZTOPIC', 5)"),
        ("SELECT 1", "INSERT INTO moult_gone VALUES ('ZTOPIC', 5)"),
        // The counter of a list that the object was never in.
        (
            "UPDATE ZPOST SET ZTOPIC = 2 WHERE Z_PK = 77; UPDATE ZTOPIC SET Z_OPT = 2 WHERE Z_PK = 3",
            "INSERT INTO moult_fixed VALUES ('ZPOST', 77, 'topic')"
        ),
        // A key that leads elsewhere under the number of another entity.
        (
            "UPDATE ZTOPIC SET ZFORUM = 2, Z1_FORUM = 1 WHERE Z_PK = 99",
            "INSERT INTO moult_fixed VALUES ('ZTOPIC', 99, 'forum')"
        ),
        ("INSERT INTO Z_4RELATEDBY VALUES (1, 50)", "INSERT INTO moult_new VALUES ('ZTOPIC', 200)"),
        ("DELETE FROM Z_4RELATEDBY WHERE Z_4RELATED = 7", "INSERT INTO moult_gone VALUES ('ZTOPIC', 50)"),
    ])
    func `what was meant covers nothing else`(change: String, notes: String) {
        #expect(throws: MigrationError.self) { try Self.verify(change, noting: notes) }
    }
}
