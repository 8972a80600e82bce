import Foundation
import MoultModel
import MoultTransform
import TestSupport
import Testing

@testable import MoultTesting

/// A test of a user's own, step by step over a store.
@Suite("Stores for tests")
struct TestStoreTests {
    private static func registry() -> MigrationRegistry { MigrationRegistry(models: { try KillableVersions.make() }) }

    @Test("a store of a version is made, counted, migrated and validated, and its folder goes with it")
    func steps() throws {
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

    @Test("a fixture is copied and stays as it is, and damage is found")
    func fixture() throws {
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

    @Test("a registry without models, and a version that is not there, are errors")
    func wrong() throws {
        #expect(throws: MigrationError.self) { try TestStore(registry: MigrationRegistry()) }
        let error = #expect(throws: MigrationError.self) { try TestStore(at: "9", registry: Self.registry()) }
        #expect(error?.code == .modelNotFound)
    }
}
