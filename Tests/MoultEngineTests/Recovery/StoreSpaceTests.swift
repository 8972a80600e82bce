import Foundation
import Moult
import MoultBasics
import MoultModel
import MoultStore
import TestSupport
import Testing

@testable import Moult
@testable import MoultCare
@testable import MoultEngine

/// What lies in a store and is not needed: old history, free pages, objects without an owner.
struct StoreSpaceTests {
    /// Transactions of the days 1 to 3,000 after the reference date, each with a change.
    private func library() throws -> LibraryStore {
        let library = try LibraryStore(history: true)
        try library.shell(
            """
            INSERT INTO ATRANSACTION (Z_PK, Z_ENT, Z_OPT, ZTIMESTAMP) SELECT value, 16002, 1, value * 86400.0
                FROM generate_series(1, 3000);
            INSERT INTO ACHANGE (Z_PK, Z_ENT, Z_OPT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID)
                SELECT value, 16001, 1, 0, 6, 1, value FROM generate_series(1, 3000);
            UPDATE Z_PRIMARYKEY SET Z_MAX = 3000 WHERE Z_ENT > 16000
            """)
        return library
    }

    private func keeper(_ library: LibraryStore) -> StoreKeeper {
        let version = library.version
        return StoreKeeper(library.path, versions: { ModelVersions(versions: [version]) })
    }

    private func size(_ library: LibraryStore) throws -> Int64 {
        try POSIXSystem().status(of: library.path)?.size ?? 0
    }

    private static let rows = ["ZBOOK", "ZSHELF", "ZTAG", "ZLOAN", "ZCOVER", "Z_1TAGS"].map {
        "SELECT * FROM \($0) ORDER BY 1, 2;"
    }.joined()

    @Test(arguments: [false, true])
    func `history before a date is deleted, and nothing else changes`(givesSpaceBack: Bool) throws {
        let rules: Set<RepairRule> = givesSpaceBack ? [.history, .space] : [.history]
        let library = try library()
        let (rows, before) = (try library.line(Self.rows), try size(library))
        let limit = HistoryLimit("2006-06-24", seconds: 2_000 * 86_400)
        // A rehearsal changes nothing.
        let rehearsed = try keeper(library).repair(rules, trimmingHistory: limit, isRehearsal: true)
        #expect(try library.line("SELECT count(*) FROM ATRANSACTION") == "3000")
        let report = try keeper(library).repair(rules, trimmingHistory: limit, isRehearsal: false)
        #expect(report.isWell && rehearsed.faults == report.faults, "\(report)")
        let trimmed = report.faults.filter { $0.rule == .history }
        #expect(trimmed.map(\.place) == ["ACHANGE before 2006-06-24", "ATRANSACTION before 2006-06-24"])
        #expect(trimmed.map(\.count) == [1_999, 1_999] && trimmed.allSatisfy(\.isTrimmed))
        #expect(try library.line("SELECT min(Z_PK), count(*) FROM ATRANSACTION") == "2000|1001")
        #expect(try library.line("SELECT min(ZTRANSACTIONID), count(*) FROM ACHANGE") == "2000|1001")
        #expect(try library.line("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = 16002") == "3000")
        #expect(try library.line(Self.rows) == rows && library.line("PRAGMA integrity_check") == "ok")
        let free = try library.line("PRAGMA freelist_count")
        if rules.contains(.space) {
            #expect(free == "0")
            #expect(try size(library) < before - 100_000)
        } else {
            #expect(free != "0")
        }
        // The backup holds what was deleted, and brings it back.
        _ = try keeper(library).restore(#require(report.backup))
        #expect(try library.line("SELECT count(*) FROM ATRANSACTION") == "3000")
    }

    @Test func `the newest transaction stays, whatever the date, and its number is not used again`() throws {
        let library = try library()
        _ = try keeper(library).repair(
            [.history], trimmingHistory: HistoryLimit("2100-01-01", seconds: 3e9), isRehearsal: false)
        #expect(try library.line("SELECT Z_PK FROM ATRANSACTION") == "3000")
        #expect(try library.line("SELECT ZTRANSACTIONID FROM ACHANGE") == "3000")
        let report = try keeper(library).repair(
            [.history], trimmingHistory: HistoryLimit("2100-01-01", seconds: 3e9), isRehearsal: false)
        #expect(report.faults.isEmpty && report.run == nil)
    }

    @Test func `without a date history is repaired as before, and none is deleted`() throws {
        let library = try library()
        #expect(try keeper(library).repair([.history], isRehearsal: false).faults.isEmpty)
        #expect(try keeper(library).repair(RepairRule.byDefault, isRehearsal: false).faults.isEmpty)
    }

    /// Tags that were deleted.
    private func emptied() throws -> LibraryStore {
        let library = try LibraryStore()
        try library.shell(
            """
            INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME)
                SELECT value, 6, 1, hex(zeroblob(500)) || value FROM generate_series(11, 600);
            DELETE FROM ZTAG WHERE Z_PK > 10; UPDATE Z_PRIMARYKEY SET Z_MAX = 600 WHERE Z_NAME = 'Tag'
            """)
        return library
    }

    @Test func `a store with statistics whose rows VACUUM numbers anew is compacted`() throws {
        let library = try emptied()
        try library.shell("ANALYZE; DELETE FROM sqlite_stat1 WHERE rowid = 1")
        #expect(try library.line("SELECT min(rowid) > 1 FROM sqlite_stat1") == "1")
        let statistics = "SELECT * FROM sqlite_stat1 ORDER BY 1, 2"
        let before = try library.line(statistics)
        #expect(try keeper(library).repair([.space], isRehearsal: false).isWell)
        #expect(try library.line("PRAGMA freelist_count") == "0" && library.line(statistics) == before)
    }

    @Test func `free pages are given back, and every row stays`() throws {
        let library = try emptied()
        let (rows, before) = (try library.line(Self.rows), try size(library))
        let free = Int64(try library.line("PRAGMA freelist_count")) ?? 0
        #expect(free > 100)
        let report = try keeper(library).repair([.space], isRehearsal: false)
        #expect(report.isWell && report.faults.map(\.rule) == [.space], "\(report)")
        #expect(report.faults.first?.count == free && report.faults.first?.bytes == free * 4_096)
        #expect(try size(library) <= before - free * 4_096)
        #expect(try library.line("PRAGMA freelist_count") == "0")
        #expect(try library.line(Self.rows) == rows && library.line("PRAGMA integrity_check") == "ok")
        #expect(report.backup?.manifest.reason == .repair)
        #expect(try keeper(library).repair([.space], isRehearsal: false).faults.isEmpty)
        // Without being asked for, free pages are no fault.
        let other = try emptied()
        #expect(try keeper(other).repair(RepairRule.byDefault, isRehearsal: false).faults.isEmpty)
    }

    private func notes(_ library: LibraryStore) -> [Finding] {
        StoreDiagnosis(library.path, versions: ModelVersions(versions: [library.version])).findings
    }

    @Test func `the diagnosis names history and free pages with their sizes, and no fault`() throws {
        let history = try #require(notes(library()).first { $0.code == "history-large" })
        #expect(history.severity == .note && history.message.contains("3,000 transactions and 3,000 changes"))
        #expect(history.message.contains("% of the file. They are of 2001-01-02 to 2009-03-20."), "\(history.message)")
        let free = try #require(notes(emptied()).first { $0.code == "mostly-free" })
        #expect(free.severity == .note && free.message.contains(" are empty: ") && free.message.contains(" of "))
        #expect(free.remedy.contains(".space"))
        let codes = try notes(LibraryStore(history: true)).map(\.code)
        #expect(!codes.contains("history-large") && !codes.contains("mostly-free"))
    }

    @Test func `the date that the diagnosis suggests deletes all history but the newest`() throws {
        let library = try LibraryStore(history: true)
        // All in one day.
        try library.shell(
            """
            INSERT INTO ATRANSACTION (Z_PK, Z_ENT, Z_OPT, ZTIMESTAMP) SELECT value, 16002, 1, 86400.0 + value
                FROM generate_series(1, 2000);
            INSERT INTO ACHANGE (Z_PK, Z_ENT, Z_OPT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID)
                SELECT value, 16001, 1, 0, 6, 1, value FROM generate_series(1, 2000);
            UPDATE Z_PRIMARYKEY SET Z_MAX = 2000 WHERE Z_ENT > 16000
            """)
        let finding = try #require(notes(library).first { $0.code == "history-large" })
        #expect(finding.message.contains("They are of 2001-01-02 to 2001-01-02."), "\(finding.message)")
        #expect(finding.remedy.contains("2001-01-03"), "\(finding.remedy)")
        let limit = HistoryLimit("2001-01-03", seconds: 2 * 86_400)
        _ = try keeper(library).repair([.history], trimmingHistory: limit, isRehearsal: false)
        #expect(try library.line("SELECT count(*), max(Z_PK) FROM ATRANSACTION") == "1|2000")
    }

    @Test func `a history of many rows that takes up less than a tenth of the file is not named`() throws {
        let library = try library()
        #expect(notes(library).contains { $0.code == "history-large" })
        // What the history takes, by SQLite's own count of pages; twelve times as much of something else.
        let size =
            "SELECT sum(pgsize) FROM dbstat WHERE name IN (SELECT name FROM sqlite_master WHERE tbl_name GLOB 'A*')"
        let bytes = try #require(Int(try library.line(size)))
        try library.shell("CREATE TABLE own (a); INSERT INTO own VALUES (zeroblob(\(12 * bytes)))")
        #expect(!notes(library).contains { $0.code == "history-large" })
    }

    private func ownerless(_ path: String, _ version: ModelVersion) -> [Finding] {
        StoreDiagnosis(path, versions: ModelVersions(versions: [version])).findings
            .filter { $0.code == "objects-without-owner" }
    }

    @Test func `the diagnosis counts objects without any owner, where owners delete the others`() throws {
        let folder = try ScratchFolder()
        let path = folder.path + "/Clips.sqlite"
        let model = try ManagedObjectModel(
            """
            Clip = title String, parts >> Part.clip cascade
            Film = title String, parts >> Part.film cascade
            Part = type String, clip > Clip.parts, film > Film.parts
            """)
        let version = ModelVersion(names: ["1"], model: model)
        try StoreCreator(version).make(at: path)
        _ = try SQLiteShell.run(
            path,
            """
            INSERT INTO ZCLIP (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1);
            INSERT INTO ZFILM (Z_PK, Z_ENT, Z_OPT) VALUES (1, 2, 1);
            INSERT INTO ZPART (Z_PK, Z_ENT, Z_OPT, ZCLIP) SELECT value, 3, 1, iif(value > 150, 1, NULL)
                FROM generate_series(1, 200);
            UPDATE Z_PRIMARYKEY SET Z_MAX = 200
            """)
        let found = ownerless(path, version)
        #expect(found.map(\.severity) == [.note] && found.map(\.place) == ["Part"], "\(found)")
        #expect(found[0].message.contains("150 of 200 objects of Part have no owner"), "\(found[0].message)")
        #expect(found[0].remedy.contains("clip == nil AND film == nil"), "\(found[0].remedy)")
        #expect(!found[0].remedy.contains("delete"), "\(found[0].remedy)")
        // Each inverse is nil in most rows, and yet most have an owner.
        _ = try SQLiteShell.run(path, "UPDATE ZPART SET ZFILM = 1 WHERE Z_PK <= 120")
        #expect(ownerless(path, version).isEmpty)
        // Where no object has an owner, the app may not use the relationships.
        _ = try SQLiteShell.run(path, "UPDATE ZPART SET ZFILM = NULL, ZCLIP = NULL")
        #expect(ownerless(path, version).isEmpty)
    }

    @Test func `the roots of a tree are no objects without an owner`() throws {
        let folder = try ScratchFolder()
        let path = folder.path + "/Tree.sqlite"
        let model = try ManagedObjectModel(
            "Node = name String, children >> Node.parent cascade, parent > Node.children")
        let version = ModelVersion(names: ["1"], model: model)
        try StoreCreator(version).make(at: path)
        _ = try SQLiteShell.run(
            path,
            """
            INSERT INTO ZNODE (Z_PK, Z_ENT, Z_OPT, ZPARENT) SELECT value, 1, 1, iif(value > 150, 1, NULL)
                FROM generate_series(1, 200);
            UPDATE Z_PRIMARYKEY SET Z_MAX = 200
            """)
        #expect(ownerless(path, version).isEmpty)
    }
}
