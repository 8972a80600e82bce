import Foundation
import Moult
import MoultBasics
import MoultModel
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// Faults made with the sqlite3 shell, one kind at a time; what a repair makes of them is read with plain SQL.
struct StoreRepairTests {  // tier: long
    private func repair(_ library: LibraryStore, _ rules: Set<RepairRule> = Set(RepairRule.allCases)) throws
        -> RepairReport
    {
        let repair = try StoreRepair(library.path, at: library.version, rules: rules)
        let migration = try #require(repair.migration)
        // A rehearsal finds the same, and leaves every byte as it was.
        let bytes = try POSIXSystem().digest(of: library.path)
        _ = try Migrator().rehearse(migration, on: library.path)
        let rehearsed = repair.report
        #expect(try POSIXSystem().digest(of: library.path) == bytes)
        let outcome = try Migrator().run(try #require(repair.migration), on: library.path)
        #expect(repair.report == rehearsed)
        #expect(outcome.backup?.manifest.reason == .repair)
        #expect(outcome.quarantined == repair.report.quarantined)
        // What was mended is not found again, and nothing else is broken.
        let again = try StoreRepair(library.path, at: library.version, rules: rules).found
        // A unique index waits for its values to be so.
        let isOfRows = { (finding: RepairReport.Fault) in finding.rule != .indexes }
        #expect(
            again.faults.filter(isOfRows).reduce(0) { $0 + $1.count }
                == repair.report.faults.filter(isOfRows).reduce(0) { $0 + $1.left })
        #expect(try library.line("PRAGMA integrity_check") == "ok")
        return repair.report
    }

    @Test func `a sound store has nothing to repair`() throws {
        let library = try LibraryStore()
        let repair = try StoreRepair(library.path, at: library.version)
        #expect(repair.found.faults.isEmpty)
        #expect(repair.migration == nil)
        #expect(
            try StoreAudit(library.path, model: library.version.model).findings.filter { $0.severity > .note } == [])
    }

    /// `Entity number, key, type` of each change by the names of the transactions, by plain SQL.
    private func history(_ library: LibraryStore) throws -> [String: Set<String>] {
        let lines = try library.line(
            """
            SELECT s.ZNAME || '|' || c.ZENTITY || ' ' || c.ZENTITYPK || ' ' || c.ZCHANGETYPE FROM ACHANGE AS c
            JOIN ATRANSACTION AS t ON t.Z_PK = c.ZTRANSACTIONID
            JOIN ATRANSACTIONSTRING AS s ON s.Z_PK = t.ZCONTEXTNAMETS
            """)
        return lines.split(separator: "\n").reduce(into: [:]) { found, line in
            let parts = line.split(separator: "|")
            found[String(parts[0]), default: []].insert(String(parts[1]))
        }
    }

    @Test func `a store that keeps history is told of every object that a repair has changed`() throws {
        let library = try LibraryStore(history: true)
        let index = try #require(library.layout.indexes.first { $0.table == "ZTAG" && $0.sql.contains("UNIQUE") })
        let book = try #require(library.layout.joinTables.first?.keyColumns.first { $0.contains("BOOK") })
        try library.shell(
            """
            UPDATE ZCOVER SET ZBOOK = 4711, Z1_BOOK = 2 WHERE Z_PK = 7; UPDATE ZBOOK SET ZCOVER = NULL WHERE Z_PK = 7;
            INSERT INTO Z_1TAGS VALUES (8, 99), (4711, 4); UPDATE ZSHELF SET ZPARENT = 77 WHERE Z_PK = 10;
            UPDATE ZBOOK SET ZCOVER = NULL WHERE Z_PK = 1; UPDATE ZSHELF SET ZBOOKCOUNT = 99 WHERE Z_PK = 4;
            UPDATE ZSHELF SET ZPARENT = 6 WHERE Z_PK = 5;
            DROP INDEX "\(index.name)"; UPDATE ZTAG SET ZNAME = 'tag 1' WHERE Z_PK = 2;
            DELETE FROM Z_1TAGS WHERE "\(book)" NOT IN (8, 4711, 11, 21)
            """)
        _ = try repair(library, Set(RepairRule.allCases))
        let history = try history(library)
        // Types: 1 an update, 2 a deletion.
        #expect(history["repair dangling"] == ["3 7 1", "1 8 1", "6 4 1", "5 10 1"])
        #expect(history["repair inverses"] == ["1 1 1"])
        #expect(history["repair counts"] == ["5 4 1"])
        #expect(history["repair cycles"]?.contains("5 5 1") == true)
        // Tag 2 goes; its books 11 and 21 are those of tag 1 now.
        #expect(history["repair duplicates"] == ["6 2 2", "6 1 1", "1 11 1", "1 21 1"])
        #expect(try library.line("SELECT count(*) FROM ATRANSACTION WHERE ZAUTHORTS IS NULL") == "0")
    }

    @Test func `references that lead nowhere end, with what stands beside them`() throws {
        let library = try LibraryStore()
        try library.shell(
            """
            UPDATE ZCOVER SET ZBOOK = 4711, Z1_BOOK = 2 WHERE Z_PK = 7; UPDATE ZBOOK SET ZCOVER = NULL WHERE Z_PK = 7;
            INSERT INTO Z_1TAGS VALUES (8, 99), (4711, 3); UPDATE ZSHELF SET ZPARENT = 77 WHERE Z_PK = 10
            """)
        let report = try repair(library)
        #expect(Dictionary(grouping: report.faults, by: \.rule).keys.map(\.rawValue) == ["dangling"])
        #expect(report.count == 4 && report.left == 0 && report.quarantined == 0)
        #expect(try library.line("SELECT ZBOOK IS NULL, Z1_BOOK IS NULL FROM ZCOVER WHERE Z_PK = 7") == "1|1")
        #expect(try library.line("SELECT count(*), max(rowid) FROM Z_1TAGS") == "100|100")
        #expect(try library.line("SELECT count(*) FROM ZSHELF WHERE ZPARENT IS NULL") == "2")
    }

    @Test func `orphans go to the quarantine with those that need them, and come back`() throws {
        let library = try LibraryStore()
        // Books 11 to 20 lose their shelf; loans 11 to 20 need these books.
        try library.shell("DELETE FROM ZSHELF WHERE Z_PK = 2; UPDATE ZSHELF SET ZPARENT = 1 WHERE Z_PK = 3")
        let report = try repair(library)
        let orphans = try #require(report.faults.first { $0.rule == .orphans && $0.place == "Book.shelf" })
        #expect(orphans.count == 10 && orphans.quarantined == 20 && orphans.left == 0)
        #expect(
            try library.line(
                "SELECT (SELECT count(*) FROM ZBOOK), (SELECT count(*) FROM ZLOAN), (SELECT count(*) FROM Z_1TAGS)")
                == "90|40|90")
        #expect(try library.line("SELECT count(*) FROM ZCOVER WHERE ZBOOK IS NULL") == "10")
        let quarantine = Quarantine(StoreRecords(store: try POSIXSystem().resolve(library.path)))
        var kept: [String: [Int64]] = [:]
        try quarantine.forEachEntry { kept[$0.object.entity, default: []].append($0.object.key) }
        #expect(
            kept.mapValues { $0.sorted() } == [
                "Book": [11, 12, 13, 14, 16, 17, 18, 19], "Novel": [15, 20], "Loan": Array(11...20),
            ])
        // With the shelf there again they go back to where they were.
        try library.shell(
            "INSERT INTO ZSHELF (Z_PK, Z_ENT, Z_OPT, ZNAME, ZCODE, ZBOOKCOUNT) VALUES (2, 5, 1, 'Shelf 2', 2, 0)")
        let restoration = try Restoration(into: library.path, at: library.version)
        _ = try Migrator().run(restoration.migration, on: library.path)
        #expect(restoration.report.refused.isEmpty && restoration.report.restored.count == 20)
        #expect(try library.line("SELECT ZTITLE, ZSHELF FROM ZBOOK WHERE Z_PK = 13") == "It's \"13\"|2")
        #expect(try library.line("SELECT count(*) FROM ZLOAN WHERE ZBOOK = Z_PK") == "50")
    }

    @Test func `the end of a one-to-one that is free answers, and one that is answered elsewhere ends`() throws {
        let library = try LibraryStore()
        try library.shell(
            """
            UPDATE ZBOOK SET ZCOVER = NULL WHERE Z_PK = 1;
            UPDATE ZCOVER SET ZBOOK = 3, Z1_BOOK = 1 WHERE Z_PK = 2; UPDATE ZBOOK SET ZCOVER = NULL WHERE Z_PK = 2
            """)
        let report = try repair(library)
        #expect(report.faults.map(\.rule) == [.inverses] && report.left == 0)
        #expect(try library.line("SELECT ZCOVER FROM ZBOOK WHERE Z_PK = 1") == "1")
        #expect(try library.line("SELECT ZBOOK IS NULL FROM ZCOVER WHERE Z_PK = 2") == "1")
        #expect(try library.line("SELECT ZBOOK FROM ZCOVER WHERE Z_PK = 3") == "3")
    }

    @Test func `of objects with one key the first stays and gets what led to the others`() throws {
        let library = try LibraryStore()
        // Tag 1 has books 10, 20, …; tag 2 has 1, 11, …; tag 3 has 2, 12, …
        let index = try #require(library.layout.indexes.first { $0.table == "ZTAG" && $0.sql.contains("UNIQUE") })
        try library.shell("DROP INDEX \"\(index.name)\"; UPDATE ZTAG SET ZNAME = 'tag 1' WHERE Z_PK IN (2, 3)")
        let report = try repair(library, [.duplicates])
        #expect(report.faults.map(\.place) == ["Tag.name"])
        #expect(report.count == 2 && report.quarantined == 2)
        #expect(try library.line("SELECT count(*) FROM ZTAG") == "8")
        let columns = try #require(library.layout.joinTables.first).keyColumns
        let tag = try #require(columns.first { $0.contains("TAG") })
        #expect(try library.line("SELECT count(*) FROM Z_1TAGS WHERE \"\(tag)\" = 1") == "30")
        #expect(try library.line("SELECT count(*) FROM Z_1TAGS") == "100")
    }

    @Test func `one link of a cycle is cut`() throws {
        let library = try LibraryStore()
        try library.shell("UPDATE ZSHELF SET ZPARENT = 4 WHERE Z_PK = 2; UPDATE ZSHELF SET ZPARENT = 9 WHERE Z_PK = 9")
        let report = try repair(library, [.cycles])
        #expect(report.faults.map(\.rule) == [.cycles] && report.left == 0)
        #expect(try library.line("SELECT group_concat(Z_PK) FROM ZSHELF WHERE ZPARENT IS NULL") == "1,2,9")
    }

    @Test func `a derived count that is wrong is made anew, and a counter of keys raised`() throws {
        let library = try LibraryStore()
        try library.shell(
            "UPDATE ZSHELF SET ZBOOKCOUNT = 99 WHERE Z_PK = 4; UPDATE Z_PRIMARYKEY SET Z_MAX = 3 WHERE Z_NAME = 'Book'")
        let report = try repair(library)
        #expect(report.faults.map(\.rule) == [.counts, .keyCounters] && report.left == 0)
        #expect(try library.line("SELECT ZBOOKCOUNT FROM ZSHELF WHERE Z_PK = 4") == "10")
        #expect(try library.line("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Book'") == "100")
    }

    @Test func `a row of no entity gets the number that only fits, else it goes to the quarantine`() throws {
        let library = try LibraryStore()
        // Loan 5 can only be a loan, book 10 only a novel, for it has a genre; book 11 may be either.
        try library.shell(
            """
            UPDATE ZLOAN SET Z_ENT = 99 WHERE Z_PK = 5; UPDATE ZBOOK SET Z_ENT = 77 WHERE Z_PK IN (10, 61);
            UPDATE ZCOVER SET Z1_BOOK = 5 WHERE Z_PK = 20
            """)
        let report = try repair(library)
        #expect(report.left == 0 && report.quarantined == 1)
        #expect(try library.line("SELECT Z_ENT FROM ZLOAN WHERE Z_PK = 5") == "4")
        #expect(try library.line("SELECT Z_ENT FROM ZBOOK WHERE Z_PK = 10") == "2")
        #expect(try library.line("SELECT count(*) FROM ZBOOK WHERE Z_PK = 61") == "0")
        #expect(try library.line("SELECT Z1_BOOK FROM ZCOVER WHERE Z_PK = 20") == "2")
    }

    @Test func `only what is named is mended`() throws {
        let library = try LibraryStore()
        try library.shell(
            "UPDATE ZSHELF SET ZPARENT = 77 WHERE Z_PK = 10; UPDATE Z_PRIMARYKEY SET Z_MAX = 3 WHERE Z_NAME = 'Book'")
        let report = try repair(library, [.keyCounters])
        #expect(report.faults.map(\.rule) == [.keyCounters])
        #expect(try library.line("SELECT ZPARENT FROM ZSHELF WHERE Z_PK = 10") == "77")
    }

    @Test func `a store that was changed since it was looked at is refused`() throws {
        let library = try LibraryStore()
        try library.shell("UPDATE ZSHELF SET ZPARENT = 77 WHERE Z_PK = 10")
        let repair = try StoreRepair(library.path, at: library.version)
        _ = try SQLiteShell.run(library.path, "CREATE TABLE ZOTHER (a)")
        let error = #expect(throws: MigrationError.self) {
            try Migrator().run(try #require(repair.migration), on: library.path)
        }
        #expect(error?.code == .planStale)
    }

    @Test func `damaged pages are not for a repair of rows`() throws {
        let library = try LibraryStore()
        var bytes = try POSIXSystem().read(library.path)
        for offset in (bytes.count / 2)..<(bytes.count / 2 + 9000) { bytes[offset] = 0xA5 }
        try POSIXSystem().write(bytes, to: library.path)
        let error = #expect(throws: MigrationError.self) { try StoreRepair(library.path, at: library.version) }
        #expect(error?.code == .storeCorrupted)
    }
}
