import Foundation
import Moult
import MoultModel
import MoultPlan
import MoultStore
import TestSupport
import Testing

@testable import MoultCare
@testable import MoultEngine

/// A join table without a primary key that holds pairs more than once, as stores of real apps have them. The sqlite3 shell
/// makes it, and says afterwards what is there.
struct RepeatedPairTests {
    private let folder: ScratchFolder
    private let path: String
    private let versions: ModelVersions

    /// Five notes and two tags; of eight rows, four pairs.
    init() throws {
        folder = try ScratchFolder()
        path = folder.path + "/Notes.sqlite"
        versions = try ModelVersions(
            "Note = title String, tags >> Tag.notes\nTag = name String, notes >> Note.tags",
            "Note = title String, more String, tags >> Tag.notes\nTag = name String, notes >> Note.tags")
        try StoreCreator(versions.versions[0]).make(at: path)
        _ = try shell(
            """
            INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTITLE) SELECT value, 1, 1, 'n' || value FROM generate_series(1, 5);
            INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 2, 1, 'a'), (2, 2, 1, 'b');
            UPDATE Z_PRIMARYKEY SET Z_MAX = 5 WHERE Z_ENT = 1; UPDATE Z_PRIMARYKEY SET Z_MAX = 2 WHERE Z_ENT = 2;
            DROP TABLE Z_1TAGS; CREATE TABLE Z_1TAGS (Z_1NOTES INTEGER, Z_2TAGS INTEGER);
            CREATE INDEX Z_1TAGS_Z_2TAGS_INDEX ON Z_1TAGS (Z_2TAGS, Z_1NOTES);
            INSERT INTO Z_1TAGS VALUES (1, 1), (2, 1), (2, 1), (3, 2), (2, 1), (3, 2), (4, 1), (4, 1)
            """)
    }

    private func shell(_ sql: String) throws -> String { try SQLiteShell.run(path, sql) }

    private static let rows = "SELECT * FROM Z_1TAGS ORDER BY 1, 2"
    private static let once = "1|1\n2|1\n3|2\n4|1\n"
    private static let sentence =
        "4 links of Note.tags are deleted: the store holds them more than once, and one of each stays."

    @Test func `a migration keeps one of each, and says so in the plan, the result and the log`() throws {
        let prepared = try PreparedMigration(path, versions: versions)
        #expect(prepared.bound?.findings.filter { $0.code == "links-repeated" }.map(\.message) == [Self.sentence])
        let outcome = try Migrator().run(#require(try prepared.migration()), on: path)
        #expect(outcome.losses.map(\.sentence) == [Self.sentence])
        #expect(try shell(Self.rows) == Self.once)
        let log = try String(contentsOfFile: path + ".moult/log.txt", encoding: .utf8)
        #expect(log.contains(Self.sentence))
        // Nothing is lost the second time.
        #expect(try StoreAudit(path, model: versions.versions[1].model).isSound)
    }

    @Test func `a downgrade is no less possible for them`() throws {
        let older = ModelVersion(names: ["0"], model: versions.versions[1].model)
        let downgrade = try StoreDowngrade(
            path, versions: ModelVersions(versions: [older, versions.versions[0]]), to: "0")
        guard case .mapping = downgrade.way else {
            Issue.record("\(downgrade.losses)")
            return
        }
    }

    @Test func `links of objects that go are not counted twice`() throws {
        let tag = EntityDescription(name: "Tag", attributes: [.init(name: "name", type: .string)])
        let tagless = ModelVersion(names: ["2"], model: try ManagedObjectModel(entities: [tag]))
        let prepared = try PreparedMigration(
            path, versions: ModelVersions(versions: [versions.versions[0], tagless]))
        let losses = prepared.bound?.losses ?? []
        #expect(!losses.contains { $0.reason == .repeated }, "\(losses)")
    }

    @Test func `work that waits keeps one of each when it is done`() throws {
        var options = PreparedMigration.Options(losses: .asTheVersionsSay())
        options.defersWork = true
        let prepared = try PreparedMigration(path, versions: versions, options: options)
        _ = try Migrator().run(#require(try prepared.migration()), on: path)
        #expect(try shell("SELECT count(*) FROM Z_1TAGS") == "8\n")
        let outcome = try Migrator().finishDeferred(path, versions: versions)
        #expect(outcome.isFinished)
        #expect(outcome.losses.map(\.sentence) == [Self.sentence])
        #expect(try shell(Self.rows) == Self.once)
    }

    @Test func `an audit counts what is there once more, and a repair takes it away`() throws {
        let audit = try StoreAudit(path, model: versions.versions[0].model)
        let found = audit.findings.filter { $0.code == "pair-repeated" }
        #expect(found.map(\.message) == ["4 pairs of Note.tags are stored more often than once."])
        #expect(found.first?.keys == [2, 2, 3, 4] && !audit.isSound)
        let repair = try StoreRepair(path, at: versions.versions[0])
        #expect(repair.found.faults.map { "\($0.rule) \($0.place) \($0.count)" } == ["duplicates Note.tags 4"])
        let outcome = try Migrator().run(#require(repair.migration), on: path)
        #expect(outcome.quarantined == 0)
        #expect(try shell(Self.rows) == Self.once)
        #expect(try StoreAudit(path, model: versions.versions[0].model).isSound)
    }
}
