import Foundation
import Moult
import MoultBasics
import MoultModel
import MoultObjects
import MoultStore
import TestSupport
import Testing

@testable import MoultCare
@testable import MoultEngine

/// Persistent history that the sqlite3 shell has damaged: columns, counters, and rows that lead to nothing.
struct HistoryDamageTests {  // tier: long
    /// Two transactions of one author, with a change each.
    static let rows = """
        INSERT INTO ATRANSACTIONSTRING (Z_PK, Z_ENT, ZNAME) VALUES (3, 16003, 'app');
        INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZAUTHORTS, ZTIMESTAMP) VALUES (7, 16002, 3, 5.5), (8, 16002, 3, 6.5);
        INSERT INTO ACHANGE (Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS)
            VALUES (9, 16001, 0, 6, 3, 7, NULL), (10, 16001, 1, 6, 4, 8, x'80');
        UPDATE Z_PRIMARYKEY SET Z_MAX = iif(Z_ENT = 16001, 10, iif(Z_ENT = 16002, 8, 3)) WHERE Z_ENT > 16000
        """

    private func library() throws -> LibraryStore {
        let library = try LibraryStore(history: true)
        try library.shell(Self.rows)
        return library
    }

    private func errors(_ library: LibraryStore) throws -> [Finding] {
        try StoreAudit(library.path, model: library.version.model).findings.filter { $0.severity > .note }
    }

    private func diagnosis(_ library: LibraryStore) -> StoreDiagnosis {
        StoreDiagnosis(library.path, versions: ModelVersions(versions: [library.version]))
    }

    private func repair(_ library: LibraryStore, _ rules: Set<RepairRule> = Set(RepairRule.allCases)) throws
        -> RepairReport
    {
        let repair = try StoreRepair(library.path, at: library.version, rules: rules)
        _ = try Migrator().run(try #require(repair.migration), on: library.path)
        return repair.report
    }

    private static let numbers = "SELECT * FROM Z_PRIMARYKEY WHERE Z_ENT > 16000 ORDER BY 1"

    // MARK: - Columns

    private static let columns = """
        SELECT m.name, c.name, c.type FROM sqlite_master AS m, pragma_table_info(m.name) AS c
        WHERE m.name IN ('ACHANGE', 'ATRANSACTION', 'ATRANSACTIONSTRING') ORDER BY 1, 2
        """

    @Test(arguments: [
        "ACHANGE.ZCOLUMNS", "ACHANGE.ZTRANSACTIONID", "ACHANGE.Z_ENT", "ATRANSACTION.ZTIMESTAMP",
        "ATRANSACTION.ZPROCESSIDTS", "ATRANSACTIONSTRING.ZNAME", "ATRANSACTIONSTRING.Z_OPT",
    ])
    func `a missing column is found as a missing table is, and made`(place: String) throws {
        let library = try library()
        let (columns, numbers) = (try library.line(Self.columns), try library.line(Self.numbers))
        let (table, column) = (place.prefix { $0 != "." }, place.drop { $0 != "." }.dropFirst())
        let indexes = try library.line(
            "SELECT group_concat('DROP INDEX ' || name, ';') FROM sqlite_master WHERE type = 'index' "
                + "AND tbl_name = '\(table)' AND sql LIKE '%\(column)%'")
        try library.shell("\(indexes); ALTER TABLE \(table) DROP COLUMN \(column)")
        let found = try #require(try errors(library).first { $0.code == "column-missing" })
        #expect(found.place == place && found.severity == .error && found.remedy.contains("Project.repair("))
        let told = try #require(diagnosis(library).findings.first { $0.place == place })
        #expect(told.code == "schema-history" && told.remedy.hasPrefix("Project.repair("))
        let report = try repair(library)
        #expect(report.isWell && report.faults.contains { $0.rule == .history && $0.place == place })
        #expect(try library.line(Self.columns) == columns && library.line(Self.numbers) == numbers)
        #expect(try errors(library).isEmpty && diagnosis(library).isWell)
        #expect(try StoreRepair(library.path, at: library.version).migration == nil)
        #expect(try library.line("SELECT DISTINCT Z_ENT FROM ACHANGE") == (column == "ZTRANSACTIONID" ? "" : "16001"))
    }

    @Test func `a table of history without its key is reported by the repair, which leaves it`() throws {
        let library = try library()
        try library.shell("DROP TABLE ATRANSACTIONSTRING; CREATE TABLE ATRANSACTIONSTRING (Z_ENT, Z_OPT, ZNAME)")
        #expect(try errors(library).contains { $0.place == "ATRANSACTIONSTRING.Z_PK" })
        let found = try StoreRepair(library.path, at: library.version).found
        #expect(!found.isWell && found.remarks.map(\.place) == ["ATRANSACTIONSTRING.Z_PK"])
        #expect(diagnosis(library).findings.count { $0.place == "ATRANSACTIONSTRING.Z_PK" } == 1)
    }

    // MARK: - Counters

    @Test(arguments: [(16_001, "CHANGE"), (16_002, "TRANSACTION"), (16_003, "TRANSACTIONSTRING")], [false, true])
    func `a counter of history that is too low or missing is found and set`(
        table: (number: Int, name: String), isMissing: Bool
    ) throws {
        let library = try library()
        let numbers = try library.line(Self.numbers)
        try library.shell(
            (isMissing ? "DELETE FROM Z_PRIMARYKEY" : "UPDATE Z_PRIMARYKEY SET Z_MAX = 1")
                + " WHERE Z_ENT = \(table.number)")
        let found = try errors(library)
        #expect(found.map(\.place) == [table.name])
        #expect(found.map(\.code) == [isMissing ? "entity-number" : "key-counter"])
        #expect(found.first?.remedy.contains("Project.repair(") == true)
        let told = diagnosis(library).findings.filter { $0.place == table.name }
        #expect(told.map(\.code) == ["rows-key-counters"] && told.first?.keys == [Int64(table.number)])
        let report = try repair(library)
        #expect(report.isWell && report.faults.map(\.rule) == [.keyCounters])
        #expect(try library.line(Self.numbers) == numbers && errors(library).isEmpty)
    }

    @Test func `a store into which nothing was saved has no numbers of history, and is sound`() throws {
        let library = try LibraryStore(history: true)
        try library.shell("DELETE FROM Z_PRIMARYKEY WHERE Z_ENT > 16000")
        #expect(try errors(library).isEmpty && diagnosis(library).isWell)
        #expect(try StoreRepair(library.path, at: library.version).migration == nil)
    }

    // MARK: - Rows

    @Test func `changes without their transaction are found, and end`() throws {
        let library = try library()
        try library.shell("DELETE FROM ATRANSACTION WHERE Z_PK = 7")
        let found = try errors(library)
        #expect(found.map(\.code) == ["history-change"] && found.map(\.place) == ["ACHANGE"])
        #expect(found.first?.keys == [9] && found.first?.message.hasPrefix("1 change ") == true)
        let told = diagnosis(library).findings.filter { $0.severity == .error }
        #expect(told.map(\.code) == ["rows-history"] && told.first?.keys == [9])
        let report = try repair(library)
        #expect(report.faults.map(\.keys) == [[9]] && report.isWell)
        #expect(try library.line("SELECT Z_PK FROM ACHANGE") == "10")
        #expect(try library.line("SELECT Z_PK FROM ATRANSACTION") == "8")
        #expect(try errors(library).isEmpty)
    }

    @Test func `a change that does not say what it changed is found, and ends`() throws {
        let library = try library()
        try library.shell("UPDATE ACHANGE SET ZENTITYPK = NULL WHERE Z_PK = 10")
        #expect(try errors(library).first?.keys == [10])
        #expect(try repair(library).isWell)
        #expect(try library.line("SELECT Z_PK FROM ACHANGE") == "9" && errors(library).isEmpty)
    }

    @Test func `transactions whose text is gone lose their reference to it`() throws {
        let library = try library()
        try library.shell("DELETE FROM ATRANSACTIONSTRING")
        let found = try errors(library)
        #expect(found.map(\.place) == ["ATRANSACTION.ZAUTHORTS"] && found.first?.keys == [7, 8])
        #expect(try repair(library, [.history]).isWell)
        #expect(try library.line("SELECT Z_PK, ZAUTHORTS IS NULL, ZTIMESTAMP FROM ATRANSACTION") == "7|1|5.5\n8|1|6.5")
        #expect(try library.line("SELECT count(*) FROM ACHANGE") == "2" && errors(library).isEmpty)
    }

    // MARK: - Migrating

    /// The library's version, and one whose tags have a colour.
    private func versions(_ library: LibraryStore) throws -> ModelVersions {
        let entities = library.version.model.entities.map { entity in
            var entity = entity
            if entity.name == "Tag" { entity.attributes.append(.init(name: "colour", type: .string)) }
            return entity
        }
        return ModelVersions(versions: [
            library.version, ModelVersion(names: ["2"], model: try ManagedObjectModel(entities: entities)),
        ])
    }

    @Test(
        arguments: [
            "DROP TABLE ATRANSACTION; CREATE VIEW ATRANSACTION AS SELECT 1 AS Z_PK",
            "DROP TABLE ATRANSACTIONSTRING; CREATE TABLE ATRANSACTIONSTRING (x)",
        ])
    func `a plan refuses what no migration can make of history`(damage: String) throws {
        let library = try library()
        try library.shell(damage)
        let error = #expect(throws: MigrationError.self) {
            try PreparedMigration(library.path, versions: versions(library))
        }
        #expect(error?.code == .storeCorrupted && error?.place.hasPrefix("ATRANSACTION") == true)
    }

    private enum Way: CaseIterable { case copy, deferred }

    @Test(
        arguments: [
            ("DROP TABLE ACHANGE", "ACHANGE"), ("DROP TABLE ATRANSACTION", "ATRANSACTION"),
            ("DROP TABLE ATRANSACTIONSTRING", "ATRANSACTIONSTRING"),
            ("ALTER TABLE ACHANGE DROP COLUMN ZCOLUMNS", "ACHANGE.ZCOLUMNS"),
            ("UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_ENT = 16002", "TRANSACTION"),
        ], Way.allCases)
    private func `a migration says what is missing of history, makes it, and history goes on`(
        damage: (sql: String, place: String), way: Way
    ) throws {
        let library = try library()
        try library.shell(damage.sql)
        let versions = try versions(library)
        var options = PreparedMigration.Options(losses: .asTheVersionsSay())
        options.defersWork = way == .deferred
        let prepared = try PreparedMigration(library.path, versions: versions, options: options)
        let isCounter = damage.place == "TRANSACTION"
        let note = try #require(prepared.bound?.rowFindings.first { $0.place == damage.place })
        #expect(note.code == (isCounter ? "key-counter" : "history-missing"))
        #expect(note.severity == (isCounter ? .note : .warning))
        _ = try Migrator().run(try #require(try prepared.migration()), on: library.path)
        let model = versions.versions[1].model
        let left = try StoreAudit(library.path, model: model).findings.filter { $0.severity == .error }
        // Nothing records any more which transaction a change belongs to, and who wrote it.
        #expect(left.filter { !["history-change", "history-text"].contains($0.code) } == [])
        let before = try library.line("SELECT count(*) FROM ACHANGE")
        let store = try ObjectStore(library.path, model: model)
        var changes = ObjectChanges()
        changes.author = "new"
        changes.deleted = [.init(id: ObjectID(store: store.identifier, entityName: "Tag", key: 10), version: nil)]
        _ = try store.save(changes)
        store.close()
        #expect(
            try library.line(
                """
                SELECT count(*) - \(before), max(ZTRANSACTIONID) > 8, max(Z_PK) = (SELECT Z_MAX FROM Z_PRIMARYKEY
                WHERE Z_NAME = 'CHANGE'), (SELECT s.ZNAME FROM ATRANSACTION AS t JOIN ATRANSACTIONSTRING AS s
                ON s.Z_PK = t.ZAUTHORTS WHERE t.Z_PK = (SELECT max(ZTRANSACTIONID) FROM ACHANGE)) FROM ACHANGE
                """
            ).hasSuffix("|1|1|new"))
    }
}
