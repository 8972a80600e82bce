import Foundation
import Moult
import MoultBasics
import MoultModel
import MoultStore
import TestSupport
import Testing

@testable import MoultCare
@testable import MoultEngine

/// Indexes that do not match their tables, made with the sqlite3 shell: rows are written while an index is not in the
/// catalogue. Whether the result is sound, the shell says too.
struct IndexFaultTests {
    /// Runs `sql` while `index` is away, and puts its row of the catalogue back with the old root page.
    private func write(_ sql: String, without index: String, _ library: LibraryStore) throws {
        let row = try library.line(
            """
            SELECT 'INSERT INTO sqlite_master VALUES (' || quote(type) || ',' || quote(name) || ',' || quote(tbl_name)
            || ',' || rootpage || ',' || quote(sql) || ')' FROM sqlite_master WHERE name = '\(index)'
            """)
        let edit = "PRAGMA writable_schema = ON;\n"
        try library.shell(edit + "DELETE FROM sqlite_master WHERE name = '\(index)';")
        try library.shell(sql)
        try library.shell(edit + row + ";")
        #expect(try library.line("PRAGMA integrity_check") != "ok")
        #expect(try library.line("PRAGMA quick_check") == "ok")
    }

    private func repair(_ library: LibraryStore) throws -> RepairReport {
        let repair = try StoreRepair(library.path, at: library.version)
        _ = try Migrator().run(try #require(repair.migration), on: library.path)
        return repair.report
    }

    private func codes(_ library: LibraryStore) throws -> [String] {
        try StoreAudit(library.path, model: library.version.model, full: true).findings.map { "\($0.code) \($0.place)" }
    }

    @Test func `an index that misses rows is found by validate and doctor, and made again`() throws {
        let library = try LibraryStore()
        let index = try #require(library.layout.indexes.first { $0.table == "ZBOOK" && !$0.isUnique }).name
        let rows = "SELECT * FROM ZBOOK NOT INDEXED ORDER BY Z_PK"
        try write(
            "UPDATE ZBOOK SET ZSHELF = 3 WHERE Z_PK < 20; DELETE FROM ZBOOK WHERE Z_PK = 50", without: index, library)
        let before = try library.line(rows)
        #expect(try codes(library) == ["index-damaged \(index)"])
        // Rows are looked up by indexes, so that they are compared in any case.
        let plain = try StoreAudit(library.path, model: library.version.model)
        #expect(plain.findings.map(\.code) == ["index-damaged"] && !plain.isSound)
        let diagnosis = StoreDiagnosis(library.path, versions: ModelVersions(versions: [library.version]))
        #expect(
            diagnosis.findings.filter { $0.code == "index-damaged" && $0.place == index && $0.severity == .error }.count
                == 1)
        // What was found once is not looked for again.
        let told = try StoreRepair(library.path, at: library.version, knowing: plain).found
        #expect(try told == StoreRepair(library.path, at: library.version).found)
        #expect(told.faults.map(\.place) == [index])
        // What a rule looks up by the index would be wrong.
        #expect(throws: MigrationError.self) {
            try StoreRepair(library.path, at: library.version, rules: [.dangling])
        }
        let report = try repair(library)
        #expect(report.faults.map(\.place) == [index] && report.left == 0)
        #expect(try library.line("PRAGMA integrity_check") == "ok")
        #expect(try library.line(rows) == before)
    }

    @Test func `a store with an index that lists fewer rows than its table is migrated only after a repair`() throws {
        let library = try LibraryStore()
        let index = try #require(library.layout.indexes.first { $0.table == "ZBOOK" && !$0.isUnique }).name
        try write("DELETE FROM ZBOOK WHERE Z_PK = 50", without: index, library)
        let before = try library.hash()
        for isRehearsed in [true, false] {
            let error = #expect(throws: MigrationError.self) {
                if isRehearsed {
                    _ = try Migrator().rehearse(Pass(), on: library.path)
                } else {
                    _ = try Migrator().run(Pass(), on: library.path)
                }
            }
            #expect(error?.code == .storeCorrupted && error?.place.hasSuffix("/Library.sqlite") == true)
            #expect(error?.place.contains(".part") == false && error?.place.contains("rehearsal") == false)
            #expect(error?.message.contains("\(index) does not match its table: it lists 100 rows") == true)
            #expect(error?.remedy.contains("Project.repair(_:only:isRehearsal:options:) with only: [.indexes]") == true)
        }
        #expect(try library.hash() == before)
        #expect(try Migrator().backups(of: library.path).list().isEmpty)
        _ = try repair(library)
        _ = try Migrator().run(Pass(), on: library.path)
        // The backup of the repair has the index as it was, and can be put back.
        for backup in try Migrator().backups(of: library.path).list() {
            try Migrator().backups(of: library.path).verify(backup)
        }
    }

    /// One page of the file is overwritten with another, as by a write that went to the wrong place.
    @Test func `an index is not made again where it is the only evidence of rows`() throws {
        let library = try LibraryStore()
        try library.shell("DELETE FROM Z_1TAGS; DELETE FROM ZLOAN; PRAGMA wal_checkpoint(TRUNCATE); VACUUM")
        try library.overwritePage(of: "ZTAG", with: "ZLOAN")
        #expect(try library.line("PRAGMA quick_check") == "ok")
        #expect(try library.line("SELECT count(*) FROM ZTAG NOT INDEXED") == "0")
        let before = try POSIXSystem().read(library.path)
        let errors = [
            #expect(throws: MigrationError.self) { try StoreRepair(library.path, at: library.version) },
            #expect(throws: MigrationError.self) { try Migrator().run(Pass(), on: library.path) },
        ]
        for error in errors {
            #expect(error?.code == .storeCorrupted && error?.message.contains("ZTAG has lost rows") == true)
            #expect(error?.message.contains("lists 10 rows, but ZTAG has 0") == true)
            #expect(error?.remedy.contains("Project.repair(") == false)
            #expect(error?.remedy.contains("Project.salvage(") == true)
        }
        #expect(try POSIXSystem().read(library.path) == before)
        let findings = try StoreAudit(library.path, model: library.version.model).findings
        #expect(findings.contains { $0.code == "damaged-page" && $0.message.contains("ZTAG has lost rows") })
        #expect(!findings.contains { $0.remedy.contains("Project.repair(") })
        let advice = StoreDiagnosis(library.path, versions: ModelVersions(versions: [library.version])).findings
        #expect(advice.contains { $0.code == "damaged-page" && $0.message.contains("ZTAG has lost rows") })
        #expect(!advice.contains { $0.code == "can-migrate" || $0.remedy.contains("Project.repair(") })
    }

    @Test func `a unique index over values that occur twice goes, and comes back with the repair of the rows`() throws {
        let library = try LibraryStore()
        let index = try #require(library.layout.indexes.first { $0.table == "ZTAG" && $0.isUnique })
        try write("UPDATE ZTAG SET ZNAME = 'tag 1' WHERE Z_PK IN (2, 3)", without: index.name, library)
        #expect(try codes(library) == ["index-damaged \(index.name)"])
        #expect(try repair(library).left == 1)
        #expect(try library.line("SELECT count(*) FROM sqlite_master WHERE name = '\(index.name)'") == "0")
        #expect(try library.line("SELECT count(*) FROM ZTAG") == "10")
        #expect(try repair(library).quarantined == 2)
        #expect(try library.line("SELECT sql FROM sqlite_master WHERE name = '\(index.name)'") == index.sql)
        #expect(try library.line("PRAGMA integrity_check") == "ok")
        #expect(try StoreAudit(library.path, model: library.version.model, full: true).isSound)
    }

    @Test func `the index of an app's own constraint is made again, or named where its rows share a value`() throws {
        for (sql, isRepaired) in [
            ("UPDATE notes SET word = 'c' WHERE id = 1", true), ("UPDATE notes SET word = 'b'", false),
        ] {
            let library = try LibraryStore()
            try library.shell(
                "CREATE TABLE notes (id INTEGER PRIMARY KEY, word TEXT UNIQUE); INSERT INTO notes VALUES (1, 'a'), (2, 'b')"
            )
            // Without its index SQLite cannot open the table: its pages are changed through another one.
            try library.shell(
                """
                PRAGMA writable_schema = ON;
                UPDATE sqlite_master SET sql = 'CREATE TABLE notes (id INTEGER PRIMARY KEY, word TEXT)' WHERE name = 'notes';
                CREATE TABLE kept AS SELECT * FROM sqlite_master WHERE name = 'sqlite_autoindex_notes_1';
                DELETE FROM sqlite_master WHERE name = 'sqlite_autoindex_notes_1';
                """)
            try library.shell(sql)
            try library.shell(
                """
                PRAGMA writable_schema = ON;
                INSERT INTO sqlite_master SELECT * FROM kept; DROP TABLE kept;
                UPDATE sqlite_master SET sql = 'CREATE TABLE notes (id INTEGER PRIMARY KEY, word TEXT UNIQUE)'
                    WHERE name = 'notes';
                """)
            let found = try StoreRepair(library.path, at: library.version).found
            #expect(found.faults.map(\.place) == ["sqlite_autoindex_notes_1"])
            #expect(found.isWell == isRepaired && (found.remarks.map(\.code) == ["index-damaged"]) == !isRepaired)
            guard isRepaired else { continue }
            _ = try repair(library)
            #expect(try library.line("PRAGMA integrity_check") == "ok")
        }
    }

    @Test func `a migration that cannot be verified for such an index names it`() throws {
        let library = try LibraryStore()
        let index = try #require(library.layout.indexes.first { $0.table == "ZBOOK" && $0.sql.contains("(ZSHELF)") })
            .name
        try write("UPDATE ZBOOK SET ZSHELF = (ZSHELF % 5) + 1 WHERE Z_PK < 20", without: index, library)
        let check = ClosureCheck { _ in throw MigrationError(.verificationFailed, "Links are gone.", remedy: "") }
        var migration = Pass(from: "1", to: "1", preconditions: [check])
        migration.script = StoreScript(statements: [])
        let error = #expect(throws: MigrationError.self) { try Migrator().run(migration, on: library.path) }
        #expect(error?.code == .storeCorrupted && error?.message.contains(index) == true)
        #expect(error?.remedy.contains("Project.repair(_:only:isRehearsal:options:) with only: [.indexes]") == true)
    }
}
