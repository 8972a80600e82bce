import Foundation
import Moult
import MoultBasics
import MoultModel
import MoultStore
import TestSupport
import Testing

@testable import MoultCare
@testable import MoultEngine

/// Stores that no framework writes and SQLite reads all the same: what the plan says of them is what the run does. The
/// sqlite3 shell writes them, and says what is there afterwards.
struct UnusualStoreTests {
    private static func versions(converting: Bool = true) throws -> ModelVersions {
        try ModelVersions(
            """
            Item = title String, n Integer32, owner > Owner.items
            Owner = name String, items >> Item.owner
            """,
            """
            Item = title String, n \(converting ? "Double" : "Integer32"), extra String, owner > Owner.items
            Owner = name String, items >> Item.owner
            """)
    }

    private static func store(_ versions: ModelVersions, _ sql: String) throws -> DeferredStore {
        let store = try DeferredStore(versions.versions[0], rows: 6)
        _ = try store.shell(sql)
        return store
    }

    /// Rewrites the text of a table, as only an editor of the catalogue does.
    private static func text(_ replacement: String, of table: String = "ZITEM") -> String {
        """
        PRAGMA writable_schema = ON;
        UPDATE sqlite_master SET sql = \(replacement) WHERE type = 'table' AND name = '\(table)';
        PRAGMA writable_schema = RESET
        """
    }

    private static let texts = [
        text("replace(sql, 'CREATE TABLE', 'CREATE TABLE /* of the app */')"),
        text("replace(sql, 'CREATE TABLE ', 'CREATE TABLE -- of the app' || char(10))"),
        text("replace(sql, 'CREATE TABLE', 'create table')"), text("lower(sql)"),
        text("replace(sql, 'ZITEM', '[ZITEM]')"), text("replace(sql, 'ZITEM', 'ZItem')"),
        text("replace(sql, ' ', char(10) || char(9))"), text("replace(sql, 'ZTITLE VARCHAR', '[ztitle] varchar')"),
    ]

    private static let contents = "SELECT Z_PK, ZTITLE, ZN + 0.0, ZOWNER, ZEXTRA FROM ZITEM ORDER BY 1"

    /// By SQLite's own check and by what it compiles from the text.
    private func expectNew(_ store: DeferredStore, _ before: String, _ version: ModelVersion) throws {
        #expect(try store.shell(Self.contents) == before)
        #expect(try store.shell("PRAGMA integrity_check") == "ok\n")
        #expect(
            Set(try store.shell("SELECT upper(name) FROM pragma_table_info('ZITEM')").split(separator: "\n"))
                == ["Z_PK", "Z_ENT", "Z_OPT", "ZTITLE", "ZN", "ZOWNER", "ZEXTRA"])
        let audit = try StoreAudit(store.path, model: version.model)
        #expect(audit.isSound, "\(audit.findings)")
    }

    private static let old = contents.replacingOccurrences(of: "ZEXTRA", with: "NULL")

    @Test(arguments: texts, [true, false])
    func `a table is migrated however its text is spelled`(sql: String, converting: Bool) throws {
        let versions = try Self.versions(converting: converting)
        let store = try Self.store(versions, sql)
        #expect(try StoreAudit(store.path, model: versions.versions[0].model).isSound)
        let before = try store.shell(Self.old)
        let prepared = try PreparedMigration(store.path, versions: versions)
        #expect(try prepared.refusal() == nil)
        _ = try Migrator().run(#require(try prepared.migration()), on: store.path)
        try expectNew(store, before, versions.versions[1])
    }

    @Test(arguments: texts)
    func `so it is where the work waits`(sql: String) throws {
        let versions = try Self.versions(converting: false)
        let store = try Self.store(versions, sql)
        let before = try store.shell(Self.old)
        let prepared = try store.migrate(versions)
        #expect(try prepared.refusal() == nil)
        try store.finish()
        try expectNew(store, before, versions.versions[1])
    }

    @Test(arguments: [false, true])
    func `Z_PRIMARYKEY without its key numbers each entity once`(defers: Bool) throws {
        let versions = try Self.versions(converting: false)
        let store = try Self.store(
            versions,
            """
            CREATE TABLE other (Z_ENT INTEGER, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
            INSERT INTO other SELECT * FROM Z_PRIMARYKEY; DROP TABLE Z_PRIMARYKEY;
            ALTER TABLE other RENAME TO Z_PRIMARYKEY
            """)
        let (before, numbers) = (try store.shell(Self.old), "SELECT Z_ENT, Z_NAME, Z_MAX FROM Z_PRIMARYKEY ORDER BY 1")
        let counters = try store.shell(numbers)
        try store.migrate(versions, defers: defers, normalises: false)
        try store.finish()
        try expectNew(store, before, versions.versions[1])
        #expect(try store.shell(numbers) == counters)
    }

    @Test func `the values of a table without rowids are read by its key`() throws {
        let versions = try Self.versions()
        let store = try Self.store(
            versions,
            """
            CREATE TABLE other (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZN INTEGER, ZOWNER INTEGER,
                ZTITLE VARCHAR) WITHOUT ROWID;
            INSERT INTO other SELECT Z_PK, Z_ENT, Z_OPT, ZN, ZOWNER, ZTITLE FROM ZITEM; DROP TABLE ZITEM;
            ALTER TABLE other RENAME TO ZITEM; UPDATE ZITEM SET ZN = 'abc' WHERE Z_PK = 3
            """)
        let audit = try StoreAudit(store.path, model: versions.versions[0].model, withValues: true)
        #expect(audit.findings.filter { $0.code == "value-unreadable" }.map(\.keys) == [[3]])
        _ = try store.shell("UPDATE ZITEM SET ZN = 1 WHERE Z_PK = 3")
        let before = try store.shell(Self.old)
        _ = try Migrator().run(PreparedMigration(store.path, versions: versions))
        try expectNew(store, before, versions.versions[1])
    }

    @Test(
        arguments: [
            (
                "UPDATE ZITEM SET ZN = 9007199254740993 WHERE Z_PK = 1; UPDATE ZITEM SET ZN = 9223372036854775807 WHERE Z_PK = 2",
                "2 values of Item.n are whole numbers that a Double does not hold to the last digit."
            ),
            (
                "UPDATE ZITEM SET ZN = -9007199254740993 WHERE Z_PK = 1",
                "1 value of Item.n is a whole number that a Double does not hold to the last digit."
            ),
            (
                "UPDATE ZITEM SET Z_PK = 9223372036854775807 WHERE Z_PK = 1",
                "Item has an object with the key 9223372036854775807, the highest that there is: no other can follow it."
            ),
        ])
    func `what no run could verify is said by the plan, in its own words`(sql: String, sentence: String) throws {
        let versions = try Self.versions()
        let store = try Self.store(versions, sql)
        let refusal = try #require(try PreparedMigration(store.path, versions: versions).refusal())
        #expect(refusal.code == .dataConflict && refusal.message.contains(sentence), "\(refusal)")
        #expect(!refusal.remedy.isEmpty && !refusal.remedy.contains("bug"))
        // What it says helps.
        _ = try store.shell("UPDATE ZITEM SET ZN = 5; UPDATE ZITEM SET Z_PK = 1 WHERE Z_PK > 6")
        let before = try store.shell(Self.old)
        _ = try Migrator().run(PreparedMigration(store.path, versions: versions))
        try expectNew(store, before, versions.versions[1])
    }

    @Test(arguments: [9_007_199_254_740_992, -9_007_199_254_740_992, 4_611_686_018_427_387_904])
    func `whole numbers that a Double holds are taken over`(number: Int64) throws {
        let versions = try Self.versions()
        let store = try Self.store(versions, "UPDATE ZITEM SET ZN = \(number) WHERE Z_PK = 1")
        _ = try Migrator().run(PreparedMigration(store.path, versions: versions))
        #expect(try store.shell("SELECT CAST(ZN AS INTEGER) = \(number) FROM ZITEM WHERE Z_PK = 1") == "1\n")
    }
}
