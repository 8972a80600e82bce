import Foundation
import Moult
import MoultBasics
import MoultCare
import MoultEngine
import MoultModel
import MoultObjects
import MoultPlan
import MoultStore
import TestSupport
import Testing

/// Mappings of which not every row can be followed alone, and values that lie in files.
struct MirrorKindsTests {  // tier: long
    @Test func `where code may change any object, every row is compared and the reason is said`() throws {
        let fixture = try MirrorFixture(history: false)
        var registry = MigrationRegistry()
        registry.steps["shout"] = StepCode { context in
            for book in try context.fetch(ObjectFetch(entityName: "Book")) {
                let authors = try book.toMany("authors").count
                try book.setAttribute("title", .string("\(authors) by whom"))
            }
        }
        registry.stages = [
            RegisteredStage(
                from: "1", to: "on", name: "shout", sentence: "Books are named after their authors.",
                after: [CodeStep(name: "shout", sentence: "Books are named.")])
        ]
        let options = PreparedMigration.Options(registry: registry)
        var mirror = try MirroredStore.start(
            .init(fixture.store, .migrateInto(fixture.second)), .init(fixture.versions, registry: registry))
        for round in 0..<2 {
            try fixture.write(seed: UInt64(60 + round))
            #expect(try mirror.status().reason != nil)
            let outcome = try mirror.synchronise()
            #expect(outcome.means == .comparison && outcome.reason != nil && outcome.changes.all > 0)
            try fixture.expectEqual("after round \(round)", options: options)
        }
        #expect(try SQLiteShell.run(fixture.second, "SELECT count(*) FROM ZBOOK WHERE ZTITLE LIKE '%by whom'") != "0\n")
        #expect(try mirror.verify().isEqual)
        // The program without that code has another plan.
        #expect(throws: MigrationError.self) { _ = try fixture.mirror() }
        #expect(throws: MigrationError.self) { _ = try mirror.cutOver() }
    }

    @Test func `a value in a file of its own is beside the second store before the row is in it`() throws {
        let fixture = try MirrorFixture(to: "back")
        var mirror = try fixture.start()
        let picture = (0..<(ExternalStorage.threshold + 5)).map { UInt8($0 % 241) }
        let coordinator = ObjectCoordinator(model: fixture.first)
        let store = try ObjectStore(fixture.store, model: fixture.first)
        try coordinator.add(store)
        let context = ObjectContext(coordinator: coordinator)
        let person = try context.insert("Person")
        try person.setAttribute("photo", .binary(picture))
        try context.save()
        let key = person.id.key
        store.close()
        _ = try mirror.synchronise()
        let cell = try SQLiteShell.run(fixture.second, "SELECT hex(ZPHOTO) FROM ZHUMAN WHERE Z_PK = \(key)")
        #expect(cell.hasPrefix("02"))
        let name = try SQLiteShell.run(
            fixture.second, "SELECT CAST(substr(ZPHOTO, 2, 36) AS TEXT) FROM ZHUMAN WHERE Z_PK = \(key)"
        ).dropLast()
        let file = fixture.folder.path + "/.Library_SUPPORT/_EXTERNAL_DATA/\(name)"
        #expect(FileManager.default.contents(atPath: file) == Data(picture))
        #expect(try mirror.verify().isEqual)
    }

    @Test func `unique values may change places, and two of one are refused`() throws {
        let fixture = try MirrorFixture(history: false)
        let unique = try fixture.withUniqueWords()
        _ = try SQLiteShell.run(
            fixture.store,
            """
            INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT) SELECT Z_MAX + value, Z_ENT, 1 FROM Z_PRIMARYKEY,
                generate_series(1, 3) WHERE Z_NAME = 'Tag';
            UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 3 WHERE Z_NAME = 'Tag';
            UPDATE ZTAG SET ZWORD = 'w' || Z_PK
            """)
        var mirror = try MirroredStore.start(
            .init(fixture.store, .migrateInto(fixture.second)), .init(unique, losses: .asTheVersionsSay()))
        _ = try SQLiteShell.run(
            fixture.store,
            "UPDATE ZTAG SET ZWORD = 'w' || ((SELECT min(Z_PK) + max(Z_PK) FROM ZTAG) - Z_PK), Z_OPT = Z_OPT + 1")
        _ = try mirror.synchronise()
        let words = "SELECT Z_PK, ZWORD FROM ZTAG ORDER BY 1"
        let placed = try SQLiteShell.run(fixture.second, words)
        #expect(try placed == SQLiteShell.run(fixture.store, words))
        #expect(try mirror.verify().isEqual)
        _ = try SQLiteShell.run(fixture.store, "UPDATE ZTAG SET ZWORD = 'same', Z_OPT = Z_OPT + 1")
        let error = #expect(throws: MigrationError.self) { _ = try mirror.synchronise() }
        #expect(error?.code == .dataConflict, "\(String(describing: error))")
        #expect(try SQLiteShell.run(fixture.second, words) == placed)
    }

    @Test func `a store with a rollback journal is followed as well`() throws {
        let fixture = try MirrorFixture()
        _ = try SQLiteShell.run(fixture.store, "PRAGMA journal_mode = DELETE")
        var mirror = try fixture.start()
        try fixture.write(seed: 70)
        _ = try mirror.synchronise()
        try fixture.expectEqual()
        #expect(try mirror.verify().isEqual)
    }

    @Test func `a relationship that loses its order is followed, and the stores are equal`() throws {
        let folder = try ScratchFolder()
        func version(_ name: String, isOrdered: Bool) throws -> ModelVersion {
            let order = isOrdered ? " ordered" : ""
            return ModelVersion(
                names: [name],
                model: try ManagedObjectModel(
                    """
                    Book = title String, tags >> Tag.books\(order)
                    Tag = word String, books >> Book.tags
                    """))
        }
        let versions = ModelVersions(versions: [
            try version("1", isOrdered: true), try version("2", isOrdered: false),
        ])
        let (store, second) = (folder.path + "/Books.sqlite", folder.path + "/Second.sqlite")
        let model = versions.versions[0].model
        try StoreCreator(versions.versions[0]).make(at: store)
        func write() throws {
            let coordinator = ObjectCoordinator(model: model)
            let opened = try ObjectStore(store, model: model)
            defer { opened.close() }
            try coordinator.add(opened)
            let context = ObjectContext(coordinator: coordinator)
            let book = try context.insert("Book")
            for place in 0..<3 { try book.insert(try context.insert("Tag"), in: "tags", at: place) }
            try context.save()
        }
        try write()
        var mirror = try MirroredStore.start(
            .init(store, .migrateInto(second)), .init(versions, losses: .asTheVersionsSay()))
        try write()
        _ = try mirror.synchronise()
        let join = try SQLiteShell.run(
            second, "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*'"
        )
        .trimmingCharacters(in: .newlines)
        #expect(try SQLiteShell.run(second, "SELECT count(*) FROM \(join)") == "6\n")
        let verified = try mirror.verify()
        #expect(verified.isEqual, "\(verified.lines)")
        // A pair that only one of the two has is still found.
        _ = try SQLiteShell.run(second, "DELETE FROM \(join) WHERE rowid = 1")
        #expect(try !mirror.verify().isEqual)
    }

    @Test func `what an app keeps in the metadata goes over`() throws {
        let fixture = try MirrorFixture()
        var mirror = try fixture.start()
        let store = try ObjectStore(fixture.store, model: fixture.first)
        try store.updateMetadata { $0["Team"] = .string("blue") }
        store.close()
        _ = try mirror.synchronise()
        let metadata = try ReadOnlyStore.read(fixture.second) { try StoreMetadata(from: $0.connection) }
        #expect(metadata.entries["Team"]?.string == "blue")
        #expect(try mirror.verify().isEqual)
    }

    @Test func `versions of equal hashes that differ by a configuration are mirrored`() throws {
        let folder = try ScratchFolder()
        let (store, second) = (folder.path + "/a.sqlite", folder.path + "/b.sqlite")
        let entities = ["Item", "Other"].map {
            EntityDescription(name: $0, attributes: [.init(name: "name", type: .string)])
        }
        let versions = ModelVersions(
            versions: try [["Item", "Other"], ["Item"]].enumerated().map {
                ModelVersion(
                    names: ["\($0 + 1)"],
                    model: try ManagedObjectModel(
                        entities: entities, configurations: [Configuration(name: "main", entityNames: $1)]))
            })
        try StoreCreator(versions.versions[0]).make(at: store)
        _ = try SQLiteShell.run(store, "INSERT INTO ZITEM VALUES (1, 1, 1, 'a'); UPDATE Z_PRIMARYKEY SET Z_MAX = 1")
        var options = RunOptions()
        options.configuration = "main"
        _ = try MirroredStore.start(.init(store, to: "2", .migrateInto(second), options), .init(versions))
        _ = try SQLiteShell.run(store, "INSERT INTO ZITEM VALUES (2, 1, 1, 'b'); UPDATE Z_PRIMARYKEY SET Z_MAX = 2")
        var mirror = try MirroredStore(of: store, .init(versions))
        _ = try mirror.synchronise()
        #expect(try SQLiteShell.run(second, "SELECT ZNAME FROM ZITEM ORDER BY 1") == "a\nb\n")
        #expect(try SQLiteShell.run(second, "SELECT Z_NAME FROM Z_PRIMARYKEY WHERE Z_ENT < 16000") == "Item\n")
    }
}
