import Foundation
import Moult
import MoultBasics
import MoultModel
import MoultStore
import TestSupport
import Testing

@testable import MoultCare
@testable import MoultEngine

/// Stores whose metadata name the current version while tables, columns or indexes are missing: made with the sqlite3
/// shell, repaired, and compared by the shell with what a fresh store has.
struct SchemaRepairTests {  // tier: long
    /// Every object of the catalogue with its text, by the shell.
    private func objects(_ path: String) throws -> Set<String> {
        Set(
            try SQLiteShell.run(path, "SELECT type || ' ' || name || ' ' || sql FROM sqlite_master WHERE sql NOT NULL")
                .split(separator: "\n").map(String.init))
    }

    private func freshObjects(_ library: LibraryStore, history: Bool = false) throws -> Set<String> {
        let path = library.folder.path + "/fresh.sqlite"
        try StoreCreator(library.version, history: history).make(at: path)
        return try objects(path)
    }

    /// Repairs after a rehearsal, which leaves every byte and finds the same.
    @discardableResult
    private func repair(_ library: LibraryStore, _ rules: Set<RepairRule> = Set(RepairRule.allCases)) throws
        -> RepairReport
    {
        // A table that was made anew has none of the objects that were referred to.
        let repair = try StoreRepair(library.path, at: library.version, rules: rules, accepting: .all)
        let bytes = try POSIXSystem().digest(of: library.path)
        _ = try Migrator().rehearse(try #require(repair.migration), on: library.path)
        #expect(try POSIXSystem().digest(of: library.path) == bytes)
        let rehearsed = repair.report
        let outcome = try Migrator().run(try #require(repair.migration), on: library.path)
        #expect(repair.report == rehearsed)
        #expect(outcome.backup?.manifest.reason == .repair)
        #expect(try library.line("PRAGMA integrity_check") == "ok")
        return repair.report
    }

    private func places(_ report: RepairReport, _ rule: RepairRule) -> Set<String> {
        Set(report.faults.filter { $0.rule == rule }.map(\.place))
    }

    // MARK: - Tables

    @Test func `missing tables are made with their indexes, and no row of another changes`() throws {
        let library = try LibraryStore(history: true)
        let fresh = try freshObjects(library, history: true)
        try library.shell(HistoryDamageTests.rows)
        let rows = """
            SELECT * FROM ZBOOK ORDER BY 1; SELECT * FROM ZSHELF ORDER BY 1; SELECT * FROM ZLOAN ORDER BY 1;
            SELECT * FROM ACHANGE; SELECT * FROM Z_PRIMARYKEY; SELECT Z_UUID, hex(Z_PLIST) FROM Z_METADATA
            """
        let before = try library.line(rows)
        try library.shell("DROP TABLE ZTAG; DROP TABLE Z_1TAGS; DROP TABLE ZCOVER")
        let report = try repair(library)
        #expect(places(report, .tables) == ["ZTAG", "Z_1TAGS", "ZCOVER"])
        #expect(report.left == 0 && report.quarantined == 0)
        #expect(Set(report.remarks.map(\.place)) == ["Book.cover"], "\(report.remarks)")
        #expect(try objects(library.path) == fresh)
        #expect(try library.line(rows) == before)
        #expect(try library.line("SELECT count(*) FROM ZTAG") == "0")
        // What led to the covers is for the next repair.
        let next = try StoreRepair(library.path, at: library.version)
        #expect(next.found.faults.map(\.place) == ["Book.cover"])
    }

    @Test func `an entity that Z_PRIMARYKEY does not name gets its number back`() throws {
        let library = try LibraryStore()
        let before = try library.line("SELECT * FROM Z_PRIMARYKEY WHERE Z_NAME <> 'Tag'")
        try library.shell("DROP TABLE ZTAG; DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'Tag'")
        try repair(library)
        #expect(try library.line("SELECT * FROM Z_PRIMARYKEY WHERE Z_NAME <> 'Tag'") == before)
        #expect(try library.line("SELECT * FROM Z_PRIMARYKEY WHERE Z_NAME = 'Tag'") == "6|Tag|0|0")
    }

    @Test func `a number that a fresh store would give is not given twice`() throws {
        let library = try LibraryStore()
        try library.shell(
            """
            DROP TABLE ZCOVER; DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'Cover';
            UPDATE Z_PRIMARYKEY SET Z_ENT = 3 WHERE Z_NAME = 'Tag'; UPDATE ZTAG SET Z_ENT = 3
            """)
        try repair(library)
        #expect(
            try library.line("SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY WHERE Z_NAME IN ('Cover', 'Tag') ORDER BY 1")
                == "3|Tag\n6|Cover")
    }

    @Test func `whether a table was renamed into a missing one is not guessed`() throws {
        let library = try LibraryStore()
        try library.shell(
            """
            ALTER TABLE ZTAG RENAME TO ZLABEL; UPDATE Z_PRIMARYKEY SET Z_NAME = 'Label' WHERE Z_NAME = 'Tag';
            DROP TABLE ZCOVER
            """)
        let bytes = try POSIXSystem().digest(of: library.path)
        let error = #expect(throws: MigrationError.self) { try StoreRepair(library.path, at: library.version) }
        #expect(error?.code == .storeCorrupted && error?.message.contains("Label") == true)
        #expect(error?.remedy.contains("renaming identifier") == true)
        #expect(try POSIXSystem().digest(of: library.path) == bytes)
    }

    // MARK: - Join tables

    @Test func `the column of places that a join table lacks is a fault, and is made`() throws {
        let (path, version, folder) = try Self.lists()
        defer { withExtendedLifetime(folder) {} }
        let order = try #require(
            try SQLiteShell.run(path, "SELECT name FROM pragma_table_info('Z_1TAGS') WHERE name LIKE 'Z_FOK%'")
                .split(separator: "\n").first.map(String.init))
        _ = try SQLiteShell.run(path, "ALTER TABLE Z_1TAGS DROP COLUMN \(order)")
        let audit = try StoreAudit(path, model: version.model)
        #expect(audit.findings.contains { $0.code == "column-missing" && $0.place == "Z_1TAGS.\(order)" })
        let repair = try StoreRepair(path, at: version)
        #expect(repair.found.faults.map(\.place) == ["Z_1TAGS.\(order)"])
        #expect(repair.found.faults.map(\.count) == [3])
        _ = try Migrator().run(try #require(repair.migration), on: path)
        #expect(
            try SQLiteShell.run(path, "SELECT Z_1ITEMS, Z_2TAGS, \(order) FROM Z_1TAGS ORDER BY 1, 2")
                == "1|1|2048\n1|2|3072\n2|1|2048\n")
        #expect(try StoreAudit(path, model: version.model).isSound)
    }

    @Test func `a key column that a join table lacks is a fault that says what is left to do`() throws {
        let (path, version, folder) = try Self.lists()
        defer { withExtendedLifetime(folder) {} }
        _ = try SQLiteShell.run(path, "DROP TABLE Z_1TAGS; CREATE TABLE Z_1TAGS (Z_1ITEMS INTEGER)")
        let audit = try StoreAudit(path, model: version.model)
        let fault = try #require(audit.findings.first { $0.place == "Z_1TAGS.Z_2TAGS" })
        #expect(fault.code == "column-missing" && fault.severity == .error && fault.remedy.contains("Project.salvage("))
        let repair = try StoreRepair(path, at: version)
        #expect(repair.found.remarks.first { $0.place == "Z_1TAGS.Z_2TAGS" }?.remedy == fault.remedy)
        #expect(repair.leavesRows)
    }

    /// Items with a list of tags: `Z_1ITEMS`, `Z_2TAGS` and a column of places.
    private static func lists() throws -> (path: String, version: ModelVersion, folder: ScratchFolder) {
        let folder = try ScratchFolder()
        let version = ModelVersion(
            names: ["1"],
            model: try ManagedObjectModel(
                """
                Item = tags >> Tag.items ordered
                Tag = items >> Item.tags
                """))
        let path = folder.path + "/Lists.sqlite"
        try StoreCreator(version).make(at: path)
        _ = try SQLiteShell.run(
            path,
            """
            INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1), (2, 1, 1);
            INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT) VALUES (1, 2, 1), (2, 2, 1);
            UPDATE Z_PRIMARYKEY SET Z_MAX = 2 WHERE Z_ENT IN (1, 2);
            INSERT INTO Z_1TAGS (Z_1ITEMS, Z_2TAGS) VALUES (1, 1), (1, 2), (2, 1);
            """)
        return (path, version, folder)
    }

    // MARK: - Names that are taken

    @Test(arguments: ["VIEW", "INDEX"])
    func `what has the name of a table of history is a fault that says what to do`(kind: String) throws {
        let library = try LibraryStore(history: true)
        let what = kind == "VIEW" ? "VIEW ATRANSACTION AS SELECT 1" : "INDEX ATRANSACTION ON ZTAG (ZNAME)"
        try library.shell("DROP TABLE ATRANSACTION; CREATE \(what)")
        let audit = try StoreAudit(library.path, model: library.version.model)
        let fault = try #require(audit.findings.first { $0.code == "name-taken" })
        #expect(fault.place == "ATRANSACTION" && fault.message.contains("\(kind.lowercased()) ATRANSACTION"))
        let found = try StoreRepair(library.path, at: library.version)
        #expect(found.found.remarks.first { $0.place == "ATRANSACTION" }?.remedy == fault.remedy)
        #expect(found.migration == nil)
        try library.shell("DROP \(kind) ATRANSACTION")
        try repair(library)
        #expect(try library.line("SELECT count(*) FROM ATRANSACTION") == "0")
    }

    // MARK: - Columns

    @Test func `a column that is missing gets the model's default in the rows of its entity alone`() throws {
        let folder = try ScratchFolder()
        let path = folder.path + "/Kinds.store"
        try StoreCreator(Self.kinds()).make(at: path)
        _ = try SQLiteShell.run(
            path,
            """
            INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZTITLE) VALUES (1, 1, 4, 'one'), (2, 2, 5, 'two'), (3, 1, 6, NULL);
            UPDATE Z_PRIMARYKEY SET Z_MAX = 3 WHERE Z_ENT = 1;
            ALTER TABLE ZITEM DROP COLUMN ZCOUNT; ALTER TABLE ZITEM DROP COLUMN ZISDONE;
            ALTER TABLE ZITEM DROP COLUMN ZPRICE; ALTER TABLE ZITEM DROP COLUMN ZNAME;
            ALTER TABLE ZITEM DROP COLUMN ZDAY; ALTER TABLE ZITEM DROP COLUMN ZDATA; ALTER TABLE ZITEM DROP COLUMN ZEXTRA;
            ALTER TABLE ZITEM DROP COLUMN ZNOTE; ALTER TABLE ZITEM ADD COLUMN MINE TEXT NOT NULL DEFAULT 'kept'
            """)
        let version = try Self.kinds()
        let repair = try StoreRepair(path, at: version)
        #expect(
            Set(repair.found.faults.map(\.place)) == [
                "ZITEM.ZCOUNT", "ZITEM.ZISDONE", "ZITEM.ZPRICE", "ZITEM.ZNAME", "ZITEM.ZDAY", "ZITEM.ZDATA",
                "ZITEM.ZEXTRA", "ZITEM.ZNOTE",
            ])
        _ = try Migrator().run(try #require(repair.migration), on: path)
        let rows = try SQLiteShell.run(
            path,
            """
            SELECT Z_PK, Z_ENT, Z_OPT, ZTITLE, ZCOUNT, ZISDONE, ZPRICE, ZNAME, ZDAY, hex(ZDATA), ZEXTRA, ZNOTE, MINE
            FROM ZITEM ORDER BY Z_PK
            """)
        #expect(
            rows == """
                1|1|4|one|7|1|12.5|it's|3600|0102|||kept
                2|2|5|two|7|1|12.5|it's|3600|0102|special||kept
                3|1|6||7|1|12.5|it's|3600|0102|||kept

                """)
        let audit = try StoreAudit(path, model: version.model)
        #expect(audit.findings.filter { $0.severity > .note }.map(\.place) == ["ZITEM.MINE"])
        // What an app has added to the table works as before.
        _ = try SQLiteShell.run(path, "INSERT INTO ZITEM (Z_PK, Z_ENT) VALUES (9, 1)")
        #expect(try SQLiteShell.run(path, "SELECT MINE FROM ZITEM WHERE Z_PK = 9") == "kept\n")
    }

    /// An item with a default of every kind, and a special one with one of its own.
    private static func kinds() throws -> ModelVersion {
        ModelVersion(
            names: ["kinds"],
            model: try ManagedObjectModel(entities: [
                EntityDescription(
                    name: "Item",
                    attributes: [
                        .init(name: "title", type: .string), .init(name: "note", type: .string),
                        .init(name: "count", type: .integer32, isOptional: false, defaultValue: .integer(7)),
                        .init(name: "isDone", type: .boolean, isOptional: false, defaultValue: .boolean(true)),
                        .init(name: "price", type: .decimal, defaultValue: .decimal("12.5")),
                        .init(name: "name", type: .string, isOptional: false, defaultValue: .string("it's")),
                        .init(name: "day", type: .date, defaultValue: .date(3600)),
                        .init(name: "data", type: .binary, defaultValue: .binary([1, 2])),
                    ]),
                EntityDescription("Special (Item) = extra String =special"),
            ]))
    }

    @Test func `entity numbers, places in lists and counts are made anew; keys that nobody knows stay empty`() throws {
        let library = try LibraryStore()
        let expected = try library.line("SELECT Z_PK, Z1_BOOK FROM ZLOAN ORDER BY 1")
        try library.shell(
            """
            ALTER TABLE ZLOAN DROP COLUMN Z1_BOOK; ALTER TABLE ZBOOK DROP COLUMN Z_FOK_SHELF;
            ALTER TABLE ZSHELF DROP COLUMN ZBOOKCOUNT
            """)
        #expect(try repair(library).isWell)
        #expect(try library.line("SELECT Z_PK, Z1_BOOK FROM ZLOAN ORDER BY 1") == expected)
        #expect(
            try library.line("SELECT group_concat(Z_FOK_SHELF) FROM ZBOOK WHERE ZSHELF = 2")
                == "2048,3072,4096,5120,6144,7168,8192,9216,10240,11264")
        #expect(try library.line("SELECT count(*), min(ZBOOKCOUNT), max(ZBOOKCOUNT) FROM ZSHELF") == "10|10|10")
        let triggers = try library.line("SELECT count(*) FROM sqlite_master WHERE type = 'trigger'")
        #expect(Int(triggers) == library.layout.triggers.count)
        #expect(try StoreRepair(library.path, at: library.version).found.faults.isEmpty)
    }

    @Test func `objects are not quarantined for a key that the repair has just made room for`() throws {
        let library = try LibraryStore()
        try library.shell("DROP INDEX ZBOOK_ZSHELF_INDEX; ALTER TABLE ZBOOK DROP COLUMN ZSHELF")
        let report = try repair(library)
        let column = try #require(report.faults.first { $0.place == "ZBOOK.ZSHELF" })
        #expect(column.count == 100 && column.left == 100 && !report.isWell)
        #expect(report.quarantined == 0 && places(report, .indexes) == ["ZBOOK_ZSHELF_INDEX"])
        #expect(try library.line("SELECT count(*) FROM ZBOOK WHERE ZSHELF IS NULL") == "100")
    }

    @Test func `a default value that would have to be unique is not given to every row`() throws {
        let folder = try ScratchFolder()
        let path = folder.path + "/Codes.store"
        let version = ModelVersion(
            names: ["codes"],
            model: try ManagedObjectModel("Item unique=code = code Integer64 required =0, title String"))
        try StoreCreator(version).make(at: path)
        _ = try SQLiteShell.run(
            path,
            """
            INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZCODE) VALUES (1, 1, 1, 5), (2, 1, 1, 6);
            UPDATE Z_PRIMARYKEY SET Z_MAX = 2; DROP INDEX Z_Item_UNIQUE_code; ALTER TABLE ZITEM DROP COLUMN ZCODE
            """)
        let repair = try StoreRepair(path, at: version)
        _ = try Migrator().run(try #require(repair.migration), on: path)
        #expect(repair.report.left == 2 && repair.report.quarantined == 0)
        #expect(try SQLiteShell.run(path, "SELECT Z_PK, ZCODE FROM ZITEM") == "1|\n2|\n")
        #expect(try SQLiteShell.run(path, "SELECT count(*) FROM sqlite_master WHERE name LIKE 'Z_Item_U%'") == "1\n")
        // The next repair has no duplicates to merge.
        #expect(try StoreRepair(path, at: version).found.faults.isEmpty)
    }

    // MARK: - Indexes

    @Test func `a missing index is made, and one that an app has made by hand stands in for it`() throws {
        let library = try LibraryStore()
        let fresh = try freshObjects(library)
        try library.shell("DROP INDEX ZLOAN_ZBOOK_INDEX; DROP INDEX ZSHELF_ZPARENT_INDEX")
        try library.shell("CREATE INDEX mine ON ZSHELF (ZPARENT, ZNAME)")
        let report = try repair(library)
        #expect(report.faults.map(\.place) == ["ZLOAN_ZBOOK_INDEX"] && report.faults.first?.count == 50)
        let now = try objects(library.path)
        #expect(fresh.subtracting(now).map { $0.prefix(26) } == ["index ZSHELF_ZPARENT_INDEX"])
        #expect(now.subtracting(fresh) == ["index mine CREATE INDEX mine ON ZSHELF (ZPARENT, ZNAME)"])
        // An index of some rows, or of other columns first, is none for all.
        try library.shell("DROP INDEX mine; CREATE INDEX mine ON ZSHELF (ZPARENT) WHERE ZPARENT > 3")
        #expect(
            try StoreRepair(library.path, at: library.version).found.faults.map(\.place) == ["ZSHELF_ZPARENT_INDEX"])
        try library.shell("DROP INDEX mine; CREATE INDEX mine ON ZSHELF (ZNAME, ZPARENT)")
        #expect(
            try StoreRepair(library.path, at: library.version).found.faults.map(\.place) == ["ZSHELF_ZPARENT_INDEX"])
    }

    @Test(arguments: ["", "CREATE INDEX Z_Tag_UNIQUE_name ON ZTAG (ZNAME)"])
    func `a unique index is made after the objects that share a value are repaired, in one run`(other: String) throws {
        let library = try LibraryStore()
        let index = try #require(library.layout.indexes.first { $0.isUnique })
        try library.shell(
            "DROP INDEX \"\(index.name)\"; \(other); UPDATE ZTAG SET ZNAME = 'tag 1' WHERE Z_PK IN (2, 3)")
        let report = try repair(library)
        #expect(report.isWell && report.faults.map(\.place) == [index.name, "Tag.name"])
        #expect(report.faults.map(\.quarantined) == [0, 2])
        #expect(try library.line("SELECT sql FROM sqlite_master WHERE name = '\(index.name)'") == index.sql)
        #expect(try StoreAudit(library.path, model: library.version.model).isSound)
    }

    @Test func `a unique index that duplicates keep from being made is named with their keys`() throws {
        let library = try LibraryStore()
        try library.shell(
            """
            DROP INDEX Z_Tag_UNIQUE_name; UPDATE ZTAG SET ZNAME = 'tag 1' WHERE Z_PK IN (2, 3);
            DROP INDEX ZLOAN_ZBOOK_INDEX
            """)
        let report = try repair(library, [.indexes])
        #expect(report.remarks.map(\.code) == ["not-unique"] && report.remarks.first?.keys == [1, 2, 3])
        #expect(!report.isWell && report.left == 1)
        let found = try StoreAudit(library.path, model: library.version.model).findings
        #expect(Set(found.filter { $0.severity > .note }.map(\.code)) == ["not-unique", "index-missing"], "\(found)")
    }

    // MARK: - What is reported

    @Test func `a column of another declared type is reported with its remedy, and stays`() throws {
        let library = try LibraryStore()
        let sql = try library.line("SELECT sql FROM sqlite_master WHERE name = 'ZTAG'")
        try library.shell(
            """
            CREATE TABLE old AS SELECT * FROM ZTAG; DROP TABLE ZTAG;
            \(sql.replacingOccurrences(of: "ZNAME VARCHAR", with: "ZNAME INTEGER")); INSERT INTO ZTAG SELECT * FROM old;
            DROP TABLE old; \(library.layout.indexes.filter { $0.table == "ZTAG" }.map(\.sql).joined(separator: ";"))
            """)
        let repair = try StoreRepair(library.path, at: library.version)
        #expect(repair.migration == nil && repair.found.faults.isEmpty && !repair.found.isWell)
        let remark = try #require(repair.found.remarks.first)
        #expect(remark.code == "column-type" && remark.place == "ZTAG.ZNAME")
        #expect(remark.message.contains("INTEGER") && remark.message.contains("VARCHAR"))
        #expect(remark.remedy.contains("Project.salvage("))
        let diagnosis = StoreDiagnosis(library.path, versions: ModelVersions(versions: [library.version]))
        #expect(diagnosis.findings.count { $0.code == "column-type" } == 1)
        // The remedy helps.
        let saved = library.folder.path + "/saved.sqlite"
        _ = try StoreSalvage(library.version).run(library.path, into: saved)
        #expect(try SQLiteShell.run(saved, "SELECT sql FROM sqlite_master WHERE name = 'ZTAG'") == sql + "\n")
        #expect(try SQLiteShell.run(saved, "SELECT group_concat(ZNAME) FROM ZTAG WHERE Z_PK < 3") == "tag 1,tag 2\n")
    }

    @Test func `a diagnosis says what is missing, what that costs, and what to type`() throws {
        let library = try LibraryStore()
        let versions = ModelVersions(versions: [library.version])
        try library.shell("DROP INDEX ZLOAN_ZBOOK_INDEX")
        let slow = StoreDiagnosis(library.path, versions: versions)
        let index = try #require(slow.findings.first { $0.code == "index-missing" })
        #expect(slow.isWell && index.message.contains("(50 rows)"))
        #expect(index.remedy.hasPrefix("Project.repair(") && index.advice.namesModel)
        try library.shell("DROP TABLE ZTAG; ALTER TABLE ZLOAN DROP COLUMN ZREADER")
        let broken = StoreDiagnosis(library.path, versions: versions)
        #expect(!broken.isWell)
        #expect(
            Set(broken.findings.filter { $0.severity == .error }.map(\.code)) == ["schema-tables", "schema-columns"])
        let audit = try StoreAudit(library.path, model: library.version.model)
        #expect(
            Set(audit.findings.filter { $0.severity == .error }.map(\.code)) == ["table-missing", "column-missing"])
        #expect(audit.rowCounts["Book"] == 80 && audit.rowCounts["Tag"] == nil)
    }

    @Test func `rows are not repaired over missing tables, and other repairs say why they cannot begin`() throws {
        let library = try LibraryStore()
        try library.shell("DROP TABLE ZTAG; UPDATE Z_PRIMARYKEY SET Z_MAX = 3 WHERE Z_NAME = 'Book'")
        let error = #expect(throws: MigrationError.self) {
            try StoreRepair(library.path, at: library.version, rules: [.keyCounters])
        }
        #expect(error?.code == .storeCorrupted && error?.remedy.contains("the argument only") == true)
        #expect(try repair(library).faults.map(\.rule) == [.tables, .indexes])
        #expect(try repair(library).faults.map(\.rule).contains(.keyCounters))
    }

    @Test func `a rollback takes a repair back`() throws {
        let library = try LibraryStore()
        try library.shell("DROP TABLE ZTAG; DROP INDEX ZLOAN_ZBOOK_INDEX")
        let before = try library.hash()
        try repair(library)
        #expect(try library.hash() != before)
        let backup = try #require(try Migrator().backups(of: library.path).list().last)
        _ = try Migrator().rollback(library.path, to: backup, currentVersion: "1")
        #expect(try library.hash() == before)
    }
}
