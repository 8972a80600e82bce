import Foundation
import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore
import TestSupport
import Testing

@testable import MoultObjects

@Suite("Opening stores")
struct OpeningTests {
    private func error(_ body: () throws -> Void) -> MigrationError? {
        do {
            try body()
            return nil
        } catch {
            return error as? MigrationError
        }
    }

    @Test func `a model that is not the store's is refused with the entities that differ`() throws {
        let fixture = try StoreFixture(KitchenModel.make())
        var entities = fixture.model.entities.filter { $0.name != "Kitchen" && $0.name != "Cook" }
        entities = entities.map { entity in
            var entity = entity
            entity.relationships.removeAll { ["Kitchen", "Cook"].contains($0.destinationEntityName) }
            entity.attributes.removeAll { $0.name == "cookName" }
            return entity
        }
        entities.append(EntityDescription(name: "Fork"))
        let other = try ManagedObjectModel(entities: entities)
        let refused = error { _ = try ObjectStore(fixture.path, model: other) }
        #expect(refused?.code == .storeAhead && refused?.coreData?.number == 134100)
        #expect(
            refused?.message.hasSuffix(
                "differ: Cook (not in the model), Dish, Fork (not in the store), Kitchen (not in the model), Soup.")
                == true)
    }

    @Test func `what is no store is refused`() throws {
        let folder = try ScratchFolder()
        let model = try KitchenModel.make()
        let text = folder.path + "/text"
        try Data("hello, this is no database at all, not even a short one".utf8).write(to: URL(fileURLWithPath: text))
        let empty = folder.path + "/empty"
        try Data().write(to: URL(fileURLWithPath: empty))
        let plain = folder.path + "/plain"
        _ = try SQLiteShell.run(plain, "CREATE TABLE t (a)")
        #expect(error { _ = try ObjectStore(folder.path + "/none", model: model) }?.code == .fileNotFound)
        for path in [folder.path, text, empty, plain] {
            #expect(error { _ = try ObjectStore(path, model: model) }?.code == .notAStore, "\(path)")
        }
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/none"))
    }

    @Test func `a store that was opened for reading refuses to be written`() throws {
        let fixture = try StoreFixture(KitchenModel.make())
        let id = try fixture.insert(try fixture.new("Tag", ["label": .text("a")]))[0]
        let reader = try ObjectStore(fixture.path, model: fixture.model, isReadOnly: true)
        #expect(try reader.snapshots(of: [id]).count == 1)
        var changes = ObjectChanges()
        changes.deleted = [.init(id: id, version: nil)]
        #expect(error { _ = try reader.save(changes) }?.code == .readOnly)
    }

    @Test func `a store holds the entities of its configuration`() throws {
        let model = try ManagedObjectModel(
            entities: [
                EntityDescription(name: "A", attributes: [AttributeDescription(name: "x", type: .string)]),
                EntityDescription(name: "B"),
            ], configurations: [Configuration(name: "One", entityNames: ["A"])])
        let folder = try ScratchFolder()
        let path = folder.path + "/One.sqlite"
        let part = try ModelVersion(names: ["1"], model: model).restricted(to: "One")
        try StoreCreator(part).make(at: path)
        let store = try ObjectStore(path, model: model, configuration: "One")
        #expect(store.shape(of: "A") != nil && store.shape(of: "B") == nil)
        #expect(error { _ = try ObjectStore(path, model: model) }?.code == .storeAhead)
        let memory = try ObjectStore(inMemory: model, configuration: "One")
        #expect(memory.shape(of: "A") != nil && memory.shape(of: "B") == nil)
    }

    @Test func `a migration by somebody else ends reads and writes; an index or a vacuum does not`() throws {
        let fixture = try StoreFixture(KitchenModel.make())
        let id = try fixture.insert(try fixture.new("Tag", ["label": .text("a")]))[0]
        _ = try fixture.shell("CREATE INDEX mine ON ZTAG (ZLABEL); VACUUM")
        try fixture.update(id, ["label": .text("b")])
        #expect(try fixture.value("label", of: id) == .text("b"))
        _ = try fixture.shell("ALTER TABLE ZTAG ADD COLUMN ZNEW INTEGER")
        #expect(error { try fixture.update(id, ["label": .text("c")]) }?.coreData?.number == 134100)
        #expect(error { _ = try fixture.value("label", of: id) }?.code == .storeAhead)
        #expect(try fixture.shell("SELECT ZLABEL FROM ZTAG") == "b\n")
    }

    /// Makes a store with tags, closes it, and sets its journal mode.
    private func fixture(_ mode: String, _ labels: [String]) throws -> (fixture: StoreFixture, tags: [ObjectID]) {
        let fixture = try StoreFixture(KitchenModel.make())
        let tags = try labels.flatMap { try fixture.insert(try fixture.new("Tag", ["label": .text($0)])) }
        fixture.store.close()
        #expect(try fixture.shell("PRAGMA journal_mode = \(mode)") == mode.lowercased() + "\n")
        return (fixture, tags)
    }

    private func set(_ label: String, of id: ObjectID, in store: ObjectStore) throws {
        var changes = ObjectChanges()
        changes.updated = [.init(id: id, version: nil, values: ["label": .text(label)])]
        _ = try store.save(changes)
    }

    @Test(arguments: ["DELETE", "WAL"])
    func `a migration that changes no table ends reads and writes, until it is taken back`(mode: String) throws {
        let (fixture, tags) = try fixture(mode, ["a"])
        let store = try ObjectStore(fixture.path, model: fixture.model)
        defer { store.close() }
        let schema = try fixture.shell("PRAGMA schema_version")
        let other = try Connection(fixture.path, mode: .readWrite)
        defer { other.close() }
        let before = try StoreMetadata(from: other)
        var after = before
        var hashes = try #require(before.entries[StoreMetadata.Key.hashes]?.dictionary)
        hashes["Tag"] = .data([UInt8](repeating: 7, count: 32))
        after.entries[StoreMetadata.Key.hashes] = .dictionary(hashes)
        try other.transaction { try after.write(to: other) }
        #expect(try fixture.shell("PRAGMA schema_version") == schema)
        // The second time as well.
        for label in ["b", "c"] {
            #expect(error { try set(label, of: tags[0], in: store) }?.coreData?.number == 134100)
        }
        #expect(error { _ = try store.erase() }?.code == .storeAhead)
        #expect(error { _ = try store.snapshots(of: tags) }?.code == .storeAhead)
        #expect(try fixture.shell("SELECT ZLABEL FROM ZTAG") == "a\n")
        try other.transaction { try before.write(to: other) }
        try set("d", of: tags[0], in: store)
        #expect(try fixture.shell("SELECT ZLABEL FROM ZTAG") == "d\n")
    }

    @Test func `another store of the same tables, copied over the open one, is not written`() throws {
        let (fixture, tags) = try fixture("DELETE", ["a"])
        let (other, _) = try self.fixture("DELETE", ["x", "y"])
        // SQLite notices the changes of a file by a counter in its header.
        for _ in 1...9 { _ = try other.shell("UPDATE ZTAG SET Z_OPT = Z_OPT + 1") }
        let store = try ObjectStore(fixture.path, model: fixture.model)
        defer { store.close() }
        #expect(try POSIXSystem().read(fixture.path)[24..<28] != POSIXSystem().read(other.path)[24..<28])
        #expect(try fixture.shell("PRAGMA schema_version") == other.shell("PRAGMA schema_version"))
        // The file keeps its number.
        #expect(try ChildProcess("cp", [other.path, fixture.path]).wait() == 0)
        #expect(error { try set("b", of: tags[0], in: store) }?.code == .storeAhead)
        #expect(error { _ = try store.snapshots(of: tags) }?.code == .storeAhead)
        #expect(try fixture.shell("SELECT ZLABEL FROM ZTAG ORDER BY 1") == "x\ny\n")
    }

    /// Moves a store right after it was looked at.
    private final class Moving: ForwardingSystem, @unchecked Sendable {
        var moves = false

        func status(of path: String) throws -> FileStatus? {
            let status = try real.status(of: path)
            if moves {
                moves = false
                try real.rename(path, to: path + ".moved")
            }
            return status
        }
    }

    @Test func `a store that is moved while a save waits for its lock is not written`() throws {
        let fixture = try StoreFixture(KitchenModel.make())
        let system = Moving()
        let store = try ObjectStore(fixture.path, model: fixture.model, on: system)
        defer { store.close() }
        var changes = ObjectChanges()
        changes.inserted = [try fixture.new("Tag", ["label": .text("a")])]
        system.moves = true
        #expect(error { _ = try store.save(changes) }?.code == .fileNotFound)
        // The log has nothing that would be lost.
        try POSIXSystem().rename(fixture.path + ".moved", to: fixture.path)
        #expect(try fixture.shell("SELECT count(*) FROM ZTAG") == "0\n")
    }

    @Test func `an application keeps what it likes in the metadata, but not under Core Data's names`() throws {
        let fixture = try StoreFixture(KitchenModel.make())
        let before = try fixture.store.metadata()
        try fixture.store.updateMetadata { $0["fixedTitles"] = .boolean(true) }
        try fixture.store.updateMetadata { $0["count"] = .integer(3) }
        let other = try ObjectStore(fixture.path, model: fixture.model)
        #expect(try other.metadata().applicationEntries == ["fixedTitles": .boolean(true), "count": .integer(3)])
        try other.updateMetadata { $0["fixedTitles"] = nil }
        #expect(error { try fixture.store.updateMetadata { $0["NSStoreType"] = .string("Binary") } }?.code == .usage)
        var after = try fixture.store.metadata()
        #expect(after.applicationEntries == ["count": .integer(3)])
        after.entries["count"] = nil
        #expect(after == before)
    }
}
