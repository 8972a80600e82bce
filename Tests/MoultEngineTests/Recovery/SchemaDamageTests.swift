import Foundation
import Moult
import MoultBasics
import MoultModel
import MoultStore
import TestSupport
import Testing

@testable import MoultCare
@testable import MoultEngine

/// Stores from which somebody has dropped tables of persistent history or the index of a uniqueness constraint, or has
/// made an index of the same name on something else, with the sqlite3 shell.
struct SchemaDamageTests {  // tier: long
    private func objects(_ path: String) throws -> String {
        try SQLiteShell.run(path, "SELECT type, name, sql FROM sqlite_master WHERE sql NOT NULL ORDER BY 1, 2")
    }

    private func errors(_ library: LibraryStore) throws -> [Finding] {
        try StoreAudit(library.path, model: library.version.model, full: true).findings.filter { $0.severity == .error }
    }

    private func diagnosis(_ library: LibraryStore) -> StoreDiagnosis {
        StoreDiagnosis(library.path, versions: ModelVersions(versions: [library.version]))
    }

    @discardableResult
    private func repair(_ library: LibraryStore) throws -> RepairReport {
        let repair = try StoreRepair(library.path, at: library.version)
        _ = try Migrator().run(try #require(repair.migration), on: library.path)
        #expect(try library.line("PRAGMA integrity_check") == "ok")
        return repair.report
    }

    // MARK: - Persistent history

    private static let historyTables = ["ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"]

    private static let historyRows = """
        INSERT INTO ATRANSACTIONSTRING (Z_PK, Z_ENT, ZNAME) VALUES (3, 16003, 'app');
        INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZAUTHORTS) VALUES (7, 16002, 3);
        INSERT INTO ACHANGE (Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID)
            VALUES (9, 16001, 0, 6, 3, 7);
        UPDATE Z_PRIMARYKEY SET Z_MAX = iif(Z_ENT = 16001, 9, iif(Z_ENT = 16002, 7, 3)) WHERE Z_ENT > 16000
        """

    @Test(
        arguments: [["ACHANGE"], ["ATRANSACTION"], ["ATRANSACTIONSTRING"], historyTables], [false, true])
    func `missing tables of history are found and made, and their counters go on`(
        tables: [String], losesNumbers: Bool
    ) throws {
        let library = try LibraryStore(history: true)
        let fresh = try objects(library.path)
        try library.shell(Self.historyRows)
        let numbers = try library.line("SELECT * FROM Z_PRIMARYKEY ORDER BY 1")
        try library.shell(tables.map { "DROP TABLE \($0)" }.joined(separator: ";"))
        let isAll = tables.count == 3
        if losesNumbers, !isAll {
            let names = tables.map { "'\($0.dropFirst())'" }.joined(separator: ", ")
            try library.shell("DELETE FROM Z_PRIMARYKEY WHERE Z_NAME IN (\(names))")
        }
        let found = try errors(library)
        #expect(
            Set(found.map(\.place)).isSuperset(of: tables) && found.allSatisfy { $0.remedy.contains("Project.repair(") }
        )
        let diagnosis = diagnosis(library)
        let told = diagnosis.findings.filter { $0.code == "schema-history" }
        #expect(!diagnosis.isWell && Set(told.map(\.place)).isSuperset(of: tables))
        #expect(told.allSatisfy { $0.remedy.hasPrefix("Project.repair(") && $0.advice.namesModel })
        let rest = Self.historyTables.filter { !tables.contains($0) }
            .map { "SELECT * FROM \($0);" }.joined()
        let before = rest.isEmpty ? "" : try library.line(rest)
        let report = try repair(library)
        #expect(report.isWell && report.quarantined == 0)
        #expect(try objects(library.path) == fresh)
        // What leads to nothing ends: a change without its transaction, the reference to a text.
        if tables == ["ACHANGE"] {
            #expect(try library.line(rest) == before)
        } else if tables == ["ATRANSACTION"] {
            #expect(try library.line(rest) == "3|16003||app")
        } else if tables == ["ATRANSACTIONSTRING"] {
            #expect(try library.line("SELECT Z_PK, ZAUTHORTS FROM ATRANSACTION; SELECT Z_PK FROM ACHANGE") == "7|\n9")
        }
        #expect(try errors(library).isEmpty && self.diagnosis(library).isWell)
        // No key that another table still names is handed out again.
        let isKnown = tables != ["ACHANGE"] || !losesNumbers
        if isKnown { #expect(try library.line("SELECT * FROM Z_PRIMARYKEY ORDER BY 1") == numbers) }
    }

    @Test(arguments: [RepairRule.history, .indexes])
    func `a repair of history alone makes its indexes, and one of indexes alone leaves history`(rule: RepairRule) throws
    {
        let library = try LibraryStore(history: true)
        let fresh = try objects(library.path)
        try library.shell("DROP TABLE ACHANGE; DROP INDEX ZLOAN_ZBOOK_INDEX")
        let repair = try StoreRepair(library.path, at: library.version, rules: [rule])
        _ = try Migrator().run(try #require(repair.migration), on: library.path)
        let names = rule == .history ? "'ACHANGE', 'ACHANGE_ZTRANSACTIONID_INDEX'" : "'ZLOAN_ZBOOK_INDEX'"
        let made = "SELECT count(*) FROM sqlite_master WHERE name IN (\(names))"
        #expect(try library.line(made) == (rule == .history ? "2" : "1"))
        #expect(try objects(library.path) != fresh)
        try self.repair(library)
        #expect(try objects(library.path) == fresh)
    }

    @Test func `a store without history is not asked for its tables`() throws {
        let library = try LibraryStore()
        #expect(try errors(library).isEmpty && diagnosis(library).isWell)
        #expect(try StoreRepair(library.path, at: library.version).migration == nil)
    }

    @Test func `an index of history that is missing is made`() throws {
        let library = try LibraryStore(history: true)
        let fresh = try objects(library.path)
        try library.shell("DROP INDEX Z_TRANSACTIONSTRING_UNIQUE_NAME; DROP INDEX ACHANGE_ZTRANSACTIONID_INDEX")
        #expect(try errors(library).map(\.place) == ["Z_TRANSACTIONSTRING_UNIQUE_NAME"])
        try repair(library)
        #expect(try objects(library.path) == fresh)
    }

    // MARK: - Indexes

    private static let unique = "Z_Tag_UNIQUE_name"

    @Test(arguments: [
        "", "CREATE INDEX Z_Tag_UNIQUE_name ON ZTAG (ZNAME COLLATE BINARY ASC)",
        "CREATE UNIQUE INDEX Z_Tag_UNIQUE_name ON ZTAG (ZNAME, Z_PK)",
        "CREATE UNIQUE INDEX Z_Tag_UNIQUE_name ON ZTAG (ZNAME) WHERE Z_PK > 3",
        "CREATE UNIQUE INDEX Z_Tag_UNIQUE_name ON ZTAG (ZNAME COLLATE NOCASE)",
        "CREATE UNIQUE INDEX Z_Tag_UNIQUE_name ON ZTAG (ZNAME DESC)",
        "CREATE UNIQUE INDEX Z_Tag_UNIQUE_name ON ZTAG (lower(ZNAME))",
        "CREATE UNIQUE INDEX Z_Tag_UNIQUE_name ON ZSHELF (Z_PK)",
    ])
    func `the index of a uniqueness constraint is found missing or on something else, and made`(sql: String) throws {
        let library = try LibraryStore()
        let fresh = try objects(library.path)
        try library.shell("DROP INDEX \(Self.unique); \(sql)")
        let found = try errors(library)
        #expect(found.map(\.place) == [Self.unique])
        #expect(found.map(\.code) == [sql.isEmpty ? "index-missing" : "index-differs"])
        #expect(found.first?.remedy.contains("Project.repair(") == true)
        let diagnosis = diagnosis(library)
        let told = diagnosis.findings.filter { $0.place == Self.unique }
        #expect(!diagnosis.isWell && told.map(\.severity) == [.error])
        #expect(told.first?.remedy.hasPrefix("Project.repair(") == true)
        let report = try repair(library)
        #expect(report.isWell && report.faults.map(\.place) == [Self.unique])
        #expect(try objects(library.path) == fresh && errors(library).isEmpty)
        // An empty table needs it no less.
        try library.shell("DELETE FROM ZTAG; DELETE FROM Z_1TAGS; DROP INDEX \(Self.unique)")
        #expect(!self.diagnosis(library).isWell)
    }

    @Test func `the same index in other words is the same index`() throws {
        let library = try LibraryStore()
        try library.shell("DROP INDEX \(Self.unique); CREATE UNIQUE INDEX \"\(Self.unique)\" ON \"ZTAG\"(\"ZNAME\")")
        #expect(try errors(library).isEmpty && diagnosis(library).isWell)
        #expect(try StoreRepair(library.path, at: library.version).migration == nil)
        // And so is a unique one of another name.
        try library.shell("DROP INDEX \(Self.unique); CREATE UNIQUE INDEX mine ON ZTAG (ZNAME)")
        #expect(try errors(library).isEmpty && diagnosis(library).isWell)
        try library.shell("DROP INDEX mine; CREATE INDEX mine ON ZTAG (ZNAME)")
        #expect(try errors(library).map(\.place) == [Self.unique])
    }

    @Test func `where values occur twice the index stays as it is, and the repair says what to do`() throws {
        let library = try LibraryStore()
        let plain = "CREATE INDEX Z_Tag_UNIQUE_name ON ZTAG (ZNAME)"
        try library.shell("DROP INDEX \(Self.unique); \(plain); UPDATE ZTAG SET ZNAME = 'tag 1' WHERE Z_PK = 2")
        #expect(Set(try errors(library).map(\.code)) == ["index-differs", "not-unique"])
        let repair = try StoreRepair(library.path, at: library.version, rules: [.indexes])
        #expect(repair.migration == nil && !repair.found.isWell)
        let remark = try #require(repair.found.remarks.first)
        #expect(
            remark.message.hasSuffix("1 value occurs more than once.") && remark.remedy.contains("only: [.duplicates]"))
        #expect(try library.line("SELECT sql FROM sqlite_master WHERE name = '\(Self.unique)'") == plain)
        // The remedy helps.
        let duplicates = try StoreRepair(library.path, at: library.version, rules: [.duplicates])
        _ = try Migrator().run(try #require(duplicates.migration), on: library.path)
        #expect(try self.repair(library).isWell && errors(library).isEmpty)
    }

    @Test func `an index that only makes the store fast is a note when it is on something else`() throws {
        let library = try LibraryStore()
        let fresh = try objects(library.path)
        try library.shell("DROP INDEX ZLOAN_ZBOOK_INDEX; CREATE INDEX ZLOAN_ZBOOK_INDEX ON ZLOAN (ZREADER)")
        let audit = try StoreAudit(library.path, model: library.version.model)
        #expect(audit.isSound && audit.findings.map(\.code) == ["index-differs"])
        try repair(library)
        #expect(try objects(library.path) == fresh)
    }
}
