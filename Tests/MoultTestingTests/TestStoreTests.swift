import Foundation
import MoultBasics
import MoultModel
import MoultObjects
import TestSupport
import Testing

@testable import MoultTesting

/// A test of a user's own, step by step over a store.
@Suite("Stores for tests")
struct TestStoreTests {
    private static func registry() -> MigrationRegistry { MigrationRegistry(models: { try KillableVersions.make() }) }

    @Test func `a store of a version is made, counted, migrated and validated, and its folder goes with it`() throws {
        var path = ""
        do {
            let store = try TestStore(registry: Self.registry(), seed: 3, count: 12)
            path = store.path
            #expect(try store.version == "1" && store.validate() == [])
            let items = try SQLiteShell.run(path, "SELECT count(*) FROM ZITEM")
            #expect(try items == "\(store.count(of: "Item"))\n" && store.count(of: "Item") == 12)
            try store.migrate()
            #expect(try store.version == "2" && store.validate() == [])
            #expect(try store.count(of: "Item") == 12)
            let error = #expect(throws: MigrationError.self) { try store.count(of: "Nothing") }
            #expect(error?.code == .unknownKey)
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `a fixture is copied and stays as it is, and damage is found`() throws {
        let folder = try ScratchFolder()
        let fixture = folder.path + "/Shop.sqlite"
        try SampleStore.make(at: fixture, of: try KillableVersions.make(), seed: 3, count: 5)
        let before = try Data(contentsOf: URL(fileURLWithPath: fixture))
        let store = try TestStore(copyOf: fixture, registry: Self.registry())
        try store.migrate(to: "2")
        #expect(try Data(contentsOf: URL(fileURLWithPath: fixture)) == before)
        _ = try SQLiteShell.run(store.path, "DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'Item'")
        #expect(throws: (any Error).self) {
            let faults = try store.validate()
            if !faults.isEmpty { throw MigrationError(.storeCorrupted, faults[0], remedy: "") }
        }
    }

    @Test func `a registry without models, and a version that is not there, are errors`() throws {
        #expect(throws: MigrationError.self) { try TestStore(registry: MigrationRegistry()) }
        let error = #expect(throws: MigrationError.self) { try TestStore(at: "9", registry: Self.registry()) }
        #expect(error?.code == .modelNotFound)
    }

    private static let pair = MigrationPair(
        "1", to: "2", keeps: ["Item", "Item.name", "Item.rate", "Item.data", "Item.links", "Link", "Link.item"])

    @Test func `what a pair keeps is compared object by object, also where a link becomes one of many`() throws {
        let store = try TestStore(registry: Self.registry(), seed: 3, count: 12)
        #expect(try store.migrate(Self.pair) == [])
    }

    @Test(arguments: [
        ("DELETE FROM ZITEM WHERE Z_PK = 2", "Item", "Item: 1 of 12 objects is lost, such as Item 2."),
        (
            "UPDATE ZITEM SET ZNAME = 'other' WHERE Z_PK IN (3, 5)", "Item.name",
            "Item.name: 2 of 12 objects are changed, such as Item 3."
        ),
        ("UPDATE ZITEM SET ZNAME = NULL", "Item.rate", nil),
        ("UPDATE ZLINK SET ZITEM = NULL", "Link.item", "Link.item: "), ("UPDATE ZITEM SET ZRATE = 7", "Item", nil),
    ])
    func `an object that is lost, a value that is changed and a link that is gone are each named`(
        sql: String, keeps: String, says: String?
    ) throws {
        let versions = try KillableVersions.make()
        let store = try TestStore(registry: Self.registry(), seed: 3, count: 12)
        _ = try SQLiteShell.run(store.path, "UPDATE ZITEM SET ZNAME = 'name ' || Z_PK; UPDATE ZLINK SET ZITEM = 1")
        let before = try StoreObjects(ofStoreAt: store.path, in: versions)
        _ = try SQLiteShell.run(store.path, sql)
        let after = try StoreObjects(ofStoreAt: store.path, in: versions)
        let model = versions.versions[0].model
        let loss = before.loss(of: try KeptPlace(keeps, from: model, to: model), in: after)
        #expect(says.map { loss?.hasPrefix($0) == true } ?? (loss == nil), "\(loss ?? "kept")")
        #expect(before.loss(of: try KeptPlace(keeps, from: model, to: model), in: before) == nil)
    }

    @Test
    func `a pair with a wrong name, or for a store of another version, is an error before anything changes`() throws {
        let store = try TestStore(registry: Self.registry())
        for keeps in ["Nothing", "Item.nothing", "Item.score", "Item as Item.name", "Item.name as Nothing.name"] {
            let error = #expect(throws: MigrationError.self) {
                try store.migrate(MigrationPair("1", to: "2", keeps: [keeps]))
            }
            #expect(error?.code == .unknownKey && error?.place == keeps)
        }
        let other = #expect(throws: MigrationError.self) { try store.migrate(MigrationPair("2", to: "2", keeps: [])) }
        #expect(other?.code == .usage)
        #expect(try store.version == "1")
    }
}
