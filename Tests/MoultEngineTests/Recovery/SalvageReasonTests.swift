import Moult
import MoultBasics
import MoultModel
import MoultStore
import TestSupport
import Testing

@testable import MoultCare
@testable import MoultEngine

/// The reason that a salvage names for rows without a place is the damage that the sqlite3 shell has done.
struct SalvageReasonTests {  // tier: long
    private func lines(_ library: LibraryStore) throws -> [String] {
        let new = library.folder.path + "/new.sqlite"
        let report = try StoreSalvage(library.version).run(library.path, into: new)
        #expect(!report.isWhole && report.isEverythingRead, "\(report)")
        // What has no place is kept.
        let aside = try #require(report.aside)
        #expect(try SQLiteShell.run(aside, "PRAGMA integrity_check") == "ok\n")
        return report.lines(model: nil, style: .plain)
    }

    @Test(arguments: [
        ("UPDATE ZTAG SET Z_ENT = 1 WHERE Z_PK = 3", "ZTAG: objects of Book are in another table; 1 row."),
        ("UPDATE ZTAG SET Z_ENT = 99 WHERE Z_PK < 3", "ZTAG: Z_ENT 99 is the number of no known entity; 2 rows."),
        ("UPDATE ZTAG SET Z_ENT = NULL WHERE Z_PK = 3", "ZTAG: Z_ENT NULL is the number of no known entity; 1 row."),
        ("UPDATE ZTAG SET Z_ENT = 'x' WHERE Z_PK = 3", "ZTAG: Z_ENT 'x' is the number of no known entity; 1 row."),
        ("ALTER TABLE ZTAG RENAME COLUMN Z_PK TO ZGONE", "ZTAG: the table has no column Z_PK; 10 rows."),
        ("ALTER TABLE ZTAG RENAME COLUMN Z_ENT TO ZGONE", "ZTAG: the table has no column Z_ENT; 10 rows."),
        (
            "CREATE TABLE ZOWN (a); INSERT INTO ZOWN VALUES (1), (2)",
            "ZOWN: the version has no such table; 2 rows."
        ),
        (
            "ALTER TABLE ZTAG ADD COLUMN ZOWN; UPDATE ZTAG SET ZOWN = 1 WHERE Z_PK < 5",
            "ZTAG: the version has no column ZOWN; 4 rows with a value."
        ),
        (
            "DROP INDEX Z_Tag_UNIQUE_name; UPDATE ZTAG SET ZNAME = 'tag 1' WHERE Z_PK IN (2, 3)",
            "ZTAG: 2 rows with unique values that another row has already."
        ),
    ])
    func `the reason is what was done`(sql: String, reason: String) throws {
        let library = try LibraryStore()
        try library.shell(sql)
        let lines = try lines(library)
        #expect(lines.contains(reason), "\(lines)")
        // There is one reason, and no table is called missing.
        #expect(lines.count { $0.contains("; ") || $0.contains("unique values") || $0.contains("with a value") } == 1)
        #expect(!lines.contains { $0.contains("no such table") && $0.hasPrefix("ZTAG") }, "\(lines)")
    }

    @Test func `a pair that is there twice is told of as that`() throws {
        let library = try LibraryStore()
        let keys = try #require(library.layout.joinTables.first).keyColumns.joined(separator: ", ")
        try library.shell(
            """
            CREATE TABLE kept AS SELECT \(keys) FROM Z_1TAGS; DROP TABLE Z_1TAGS; CREATE TABLE Z_1TAGS (\(keys));
            INSERT INTO Z_1TAGS SELECT * FROM kept; INSERT INTO Z_1TAGS SELECT * FROM kept LIMIT 3; DROP TABLE kept
            """)
        #expect(try lines(library).contains("Z_1TAGS: 3 rows with unique values that another row has already."))
    }

    @Test func `a version that the model does not have is not taken for one that cannot be read`() throws {
        let library = try LibraryStore()
        // Another model with the same tables: its hashes are others.
        let tag = EntityDescription("Tag = name String, color String")
        let other = ModelVersion(names: ["other"], model: try ManagedObjectModel(entities: [tag]))
        try library.shell("DELETE FROM Z_MODELCACHE")
        let new = library.folder.path + "/new.sqlite"
        let report = try StoreSalvage(among: ModelVersions(versions: [other])).run(library.path, into: new)
        #expect(report.evidence == .rows([]))
        #expect(
            report.reason
                == "The damaged store is of a version that the model does not have. The model has only the version other."
        )
    }
}
