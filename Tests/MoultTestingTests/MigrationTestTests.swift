import Foundation
import MoultBasics
import MoultModel
import MoultObjects
import Synchronization
import TestSupport
import Testing

@testable import MoultTesting

/// The test kit as a user's own tests call it.
struct MigrationTestTests {  // tier: long
    /// The app's models, two versions of them, and the code of its migration.
    private static func registry() -> MigrationRegistry { MigrationRegistry(models: { try KillableVersions.make() }) }

    private static func makeStore(in folder: ScratchFolder) throws -> String {
        let store = folder.path + "/Shop.sqlite"
        try SampleStore.make(at: store, of: try KillableVersions.make(), seed: 3, count: 12)
        return store
    }

    @Test func `a migration is tried with faults on copies, and the store stays as it is`() throws {
        let folder = try ScratchFolder()
        let store = try Self.makeStore(in: folder)
        let before = try Data(contentsOf: URL(fileURLWithPath: store))
        let test = try MigrationTest(ofStoreAt: store, registry: Self.registry())
        try test.migrate { copy in
            let items = try SQLiteShell.run(copy, "SELECT count(*), total(ZSCORE) FROM ZITEM")
            #expect(items == "12|12.0\n")
        }
        let report = try test.withFaults(seconds: 0.5)
        #expect(report.broken == [])
        #expect(report.tried >= 8)
        #expect(!report.isComplete)
        #expect(report.description.contains("| power cut |"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["Shop.sqlite"])
    }

    private func report(_ policy: @escaping @Sendable () -> EntityMigrationPolicy, seconds: Double) throws
        -> FaultReport
    {
        let folder = try ScratchFolder()
        let store = try Self.makeStore(in: folder)
        var registry = Self.registry()
        registry.register(policy: policy, named: "Policy")
        registry.register(
            mapping: MappingModel([
                EntityMapping(from: "Item", to: "Item", entityMigrationPolicyClassName: "Policy"),
                EntityMapping(from: "Link", to: "Link"), EntityMapping(from: "Author", to: "Author"),
            ]), from: "1", to: "2")
        return try MigrationTest(ofStoreAt: store, registry: registry).withFaults(seconds: seconds)
    }

    /// Leaves out each seventh object, and no run begins the count anew.
    private final class Counting: EntityMigrationPolicy {
        private static let number = Atomic<Int>(0)

        override func createDestinationInstances(
            forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            let number = Self.number.add(1, ordering: .relaxed).newValue
            guard number.isMultiple(of: 7) else {
                _ = try manager.makeDestinationInstance(forSource: source)
                return
            }
            source.outcome = .dropped(reason: "a seventh")
        }
    }

    @Test func `a migration that does not make the same store again is reported`() throws {
        let report = try report({ Counting() }, seconds: 0.2)
        #expect(report.broken.contains { $0.contains("new store") }, "\(report)")
    }

    /// What apps write.
    private final class Stamping: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            let made = try manager.makeDestinationInstance(forSource: source)
            made["name"] = .string(UUID().uuidString)
            // Whole seconds, which two quick runs share.
            made["rate"] = .double(Date().timeIntervalSinceReferenceDate.rounded())
        }
    }

    @Test func `code may ask the clock and make identifiers`() throws {
        let report = try report({ Stamping() }, seconds: 0.5)
        #expect(report.broken == [], "\(report)")
        #expect(report.tried >= 8)
        #expect(report.changingColumns == ["ZITEM.ZNAME", "ZITEM.ZRATE"])
        #expect(report.description.contains("ZITEM.ZRATE"))
    }

    /// Of a column that changes from run to run it still counts whether there is a value.
    @Test func `a value that is missing is seen in a column that changes`() throws {
        let folder = try ScratchFolder()
        let store = try Self.makeStore(in: folder)
        let changing: Set = [ChangingColumn(table: "ZITEM", name: "ZNAME")]
        func rows() throws -> [String] {
            try LogicalState(of: store, scratch: folder.path + "/look", changing: changing).rows
        }
        let before = try rows()
        _ = try SQLiteShell.run(store, "UPDATE ZITEM SET ZNAME = 'another' || Z_PK WHERE ZNAME NOT NULL")
        #expect(try rows() == before)
        _ = try SQLiteShell.run(
            store, "UPDATE ZITEM SET ZNAME = NULL WHERE Z_PK = (SELECT max(Z_PK) FROM ZITEM WHERE ZNAME NOT NULL)")
        #expect(try rows() != before)
    }

    @Test func `contents tell two stores apart by what they hold, not by their pages`() throws {
        let folder = try ScratchFolder()
        let (store, copy) = (try Self.makeStore(in: folder), folder.path + "/copy.sqlite")
        _ = try SQLiteShell.run(store, "VACUUM INTO '\(copy)'")
        let old = try StoreContents(ofStoreAt: store)
        #expect(try Data(contentsOf: URL(fileURLWithPath: copy)) != Data(contentsOf: URL(fileURLWithPath: store)))
        #expect(try StoreContents(ofStoreAt: copy) == old)
        #expect(try StoreContents(ofStoreAt: copy).hash == old.hash)
        _ = try SQLiteShell.run(
            copy, "UPDATE ZITEM SET ZNAME = 'changed' WHERE Z_PK = 2; DELETE FROM ZAUTHOR WHERE Z_PK = 1")
        let new = try StoreContents(ofStoreAt: copy)
        #expect(new.hash != old.hash)
        let words = try #require(new.difference(from: old))
        #expect(words.hasPrefix("2 lines removed, 1 added:\n- row ZAUTHOR 1 |"))
        #expect(words.contains("+ row ZITEM 2 |") && words.contains("'changed'"))
        #expect(old.difference(from: old) == nil)
        #expect(try StoreContents(ofStoreAt: copy, exceptTables: ["ZITEM", "ZAUTHOR"]).lines.count < new.lines.count)
        #expect(throws: MigrationError.self) { try StoreContents(ofStoreAt: copy + "x") }
    }

    @Test func `a sample store is the same for the same seed`() throws {
        let folder = try ScratchFolder()
        let models = try KillableVersions.make()
        let contents = try [5, 5, 6].enumerated().map { number, seed in
            let path = "\(folder.path)/\(number).sqlite"
            try SampleStore.make(at: path, of: models, version: "2", seed: UInt64(seed), count: 9)
            return try StoreContents(ofStoreAt: path, exceptTables: ["Z_METADATA"])
        }
        #expect(contents[0] == contents[1] && contents[0] != contents[2])
        #expect(try SQLiteShell.run(folder.path + "/0.sqlite", "SELECT count(*) FROM ZAARDVARK") == "9\n")
        #expect(throws: MigrationError.self) {
            try SampleStore.make(at: folder.path + "/x", of: models, version: "none")
        }
    }
}
