import MoultBasics
import MoultModel
import MoultObjects
import MoultSQLite
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// What a script's statements would take, counted before they run, against the pages that the sqlite3 shell counts.
struct StoreGrowthTests {
    struct Change: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// The attributes and the relationship of the entity in the new version.
        let item: String
        var entity = "Box = name String, items >> Item.box"
    }

    private static let item = "name String, rate Double, number Integer32, note String, box > Box.items"

    private static let changes = [
        Change(
            testDescription: "an index of texts",
            item: item.replacing("note String", with: "note2 String indexed was=note, mark Integer16")),
        Change(testDescription: "an index of numbers", item: item.replacing("32", with: "32 modifier=x indexed")),
        Change(testDescription: "a number for every row", item: item + ", mark Integer32 required =1"),
        Change(testDescription: "a text for every row", item: item + ", mark String required =as.long.as.a.short.line"),
        Change(testDescription: "a removed attribute", item: item.replacing(", note String", with: "")),
        Change(testDescription: "a relationship of pairs", item: item.replacing("box >", with: "box >>")),
        Change(
            testDescription: "an entity before the others", item: item,
            entity: """
                Aardvark = word String
                Box = name String, items >> Item.box
                """),
    ]

    private static func versions(_ changes: Change...) throws -> ModelVersions {
        let models = [Change(testDescription: "", item: item)] + changes
        return ModelVersions(
            versions: try models.enumerated().map { number, change in
                ModelVersion(
                    names: ["\(number + 1)"],
                    model: try ManagedObjectModel("\(change.entity)\nItem = \(change.item)"))
            })
    }

    private static func make(_ store: String, _ versions: ModelVersions, count: Int = 3_000) throws {
        let maker = try StoreCreator(versions.versions[0])
        try maker.make(at: store)
        let writer = try ObjectWriter(store: store, layout: maker.layout, speed: .reckless)
        try SampleData(seed: 1, count: count, counts: ["Box": 40], isHostile: false).fill(writer)
        try writer.finish()
        _ = try SQLiteShell.run(store, "PRAGMA journal_mode = WAL")
    }

    private static func pass(_ store: String, _ versions: ModelVersions, to target: String) throws -> Pass {
        let prepared = try PreparedMigration(
            store, versions: versions, to: target, options: .init(losses: .asTheVersionsSay()))
        return try #require(try prepared.migration())
    }

    private static func counted(_ pass: Pass, _ store: String) throws -> ScriptSpace {
        let space = try ReadOnlyStore.read(store) { probe in
            try pass.growth?.space(
                of: pass.script, over: probe.connection, StoreState(probe.connection), memory: 2 << 20)
        }
        return try #require(space)
    }

    private static func number(_ store: String, _ sql: String) throws -> Int64 {
        let text = try SQLiteShell.run(store, sql).split(separator: "\n").first ?? ""
        return try #require(Int64(text), "\(text)")
    }

    /// The bytes in use, without the free pages.
    private static func bytes(_ store: String) throws -> Int64 {
        try number(store, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
    }

    @Test(arguments: changes)
    func `a store grows by no more than is counted, and not by much less`(change: Change) throws {
        let folder = try ScratchFolder()
        let (store, versions) = (folder.path + "/a.sqlite", try Self.versions(change))
        try Self.make(store, versions)
        let before = try Self.bytes(store)
        let pass = try Self.pass(store, versions, to: "2")
        let counted = try Self.counted(pass, store)
        _ = try Migrator().run(pass, on: store)
        let grown = try Self.bytes(store) - before
        #expect(counted.growth >= grown, "\(counted), and \(grown) bytes of \(before)")
        // Rows that grow in place may take a sixth more, or nothing; the catalogue takes a few pages.
        #expect(counted.growth <= grown * 6 / 5 + before / 6 + 60_000, "\(counted), and \(grown) bytes of \(before)")
    }

    @Test func `rows from before a column was added become longer when they are written`() throws {
        let folder = try ScratchFolder()
        let added = Self.item + (1...24).map { ", later\($0) String" }.joined()
        let versions = try Self.versions(
            Change(testDescription: "", item: added),
            Change(testDescription: "", item: added + ", mark Integer16 required =1"))
        let store = folder.path + "/a.sqlite"
        try Self.make(store, versions)
        _ = try Migrator().run(Self.pass(store, versions, to: "2"), on: store)
        let before = try Self.bytes(store)
        let pass = try Self.pass(store, versions, to: "3")
        let counted = try Self.counted(pass, store)
        _ = try Migrator().run(pass, on: store)
        let grown = try Self.bytes(store) - before
        #expect(grown > 3_000 * 20 / 2 && counted.growth >= grown, "\(counted), and \(grown) bytes of \(before)")
    }

    @Test func `values that keep their bytes are not counted as written, and a dropped column's pages are kept`() throws
    {
        let folder = try ScratchFolder()
        let retyped = Change(testDescription: "", item: Self.item.replacing("Integer32", with: "Double"))
        let dropped = Change(testDescription: "", item: Self.item.replacing(", number Integer32", with: ""))
        var versions = try Self.versions(retyped)
        let store = folder.path + "/a.sqlite"
        try Self.make(store, versions)
        let size = try Self.number(store, "SELECT sum(pgsize) FROM dbstat WHERE name = 'ZITEM'")
        let stays = try Self.counted(Self.pass(store, versions, to: "2"), store)
        #expect(stays.kept == 0 && stays.changed * 4_096 < size / 2, "\(stays), of \(size)")
        versions = try Self.versions(dropped)
        let goes = try Self.counted(Self.pass(store, versions, to: "2"), store)
        #expect(goes.kept >= size && goes.kept < size + 400_000, "\(goes), of \(size)")
        #expect(goes.changed * 4_096 >= size)
        // A rollback journal has the old pages already.
        _ = try SQLiteShell.run(store, "PRAGMA journal_mode = DELETE")
        #expect(try Self.counted(Self.pass(store, versions, to: "2"), store).kept == 0)
    }
}
