import Foundation
import MoultBasics
import MoultStore
import TestSupport
import Testing

@testable import MoultCoreData

@Suite struct CoordinatorTests {
    @Test func `metadata is read without changing a byte`() throws {
        let store = try TestStore()
        try store.populate(1)
        let before = try store.files()
        let metadata = try PersistentStoreCoordinator.metadataForPersistentStore(at: store.url)
        #expect(try store.files() == before)
        #expect(metadata[StoreMetadataKey.storeType] as? String == "SQLite")
        #expect(UUID(uuidString: metadata[StoreMetadataKey.storeUUID] as? String ?? "") != nil)
        #expect(try Library.first().isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        let second = try Library.second()
        #expect(!second.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    }

    @Test func `an application's metadata is kept, Core Data's cannot be set`() throws {
        let store = try TestStore()
        try store.populate(1)
        var metadata = try PersistentStoreCoordinator.metadataForPersistentStore(at: store.url)
        metadata["com.example.flag"] = true
        metadata["com.example.list"] = [1, "two", Date(timeIntervalSinceReferenceDate: 3)] as [Any]
        try PersistentStoreCoordinator.setMetadata(metadata, at: store.url)
        let container = try store.container(Library.second())
        let coordinator = container.persistentStoreCoordinator
        let open = try #require(coordinator.persistentStores.first)
        #expect(try coordinator.metadata(for: open)["com.example.flag"] as? Bool == true)
        #expect((try coordinator.metadata(for: open)["com.example.list"] as? [Any])?.count == 3)
        try coordinator.setMetadata(["com.example.other": 5], for: open)
        #expect(try coordinator.metadata(for: open)["com.example.flag"] == nil)
        #expect(
            try Library.second().isConfiguration(
                withName: nil, compatibleWithStoreMetadata: coordinator.metadata(for: open)))
        let error = try #require(throws: MigrationError.self) {
            try coordinator.setMetadata([StoreMetadataKey.modelVersionHashes: [:] as [String: Data]], for: open)
        }
        #expect(error.place == StoreMetadataKey.modelVersionHashes)
        #expect(throws: MigrationError.self) {
            try coordinator.setMetadata(["x": URL(fileURLWithPath: "/")], for: open)
        }
    }

    @Test func `a store moves to another place with its objects`() throws {
        let store = try TestStore()
        try store.populate(5)
        let container = try store.container(Library.first())
        let coordinator = container.persistentStoreCoordinator
        let book = try #require(try container.viewContext.all("Book", by: "title").first)
        let url = store.url.deletingLastPathComponent().appendingPathComponent("Moved.sqlite")
        let moved = try coordinator.migratePersistentStore(try #require(coordinator.persistentStores.first), to: url)
        #expect(coordinator.persistentStores.map(\.url) == [url])
        #expect(moved.url == url)
        try book.setValue("Moved", forKey: "title")
        try container.viewContext.save()
        #expect(try SQLiteShell.run(url.path, "SELECT count(*) FROM ZBOOK WHERE ZTITLE = 'Moved'") == "1\n")
        #expect(try store.sql("SELECT count(*) FROM ZBOOK WHERE ZTITLE = 'Moved'") == "0")
    }

    @Test func `a store in memory is written to a file`() throws {
        let container = try libraryInMemory()
        try Book(context: container.viewContext).title = "Emma"
        try container.viewContext.save()
        let folder = try ScratchFolder()
        let url = URL(fileURLWithPath: folder.path + "/Kept.sqlite")
        let coordinator = container.persistentStoreCoordinator
        try coordinator.migratePersistentStore(coordinator.persistentStores[0], to: url)
        #expect(try SQLiteShell.run(url.path, "SELECT ZTITLE FROM ZBOOK") == "Emma\n")
    }

    @Test func `destroying removes a store and what is beside it, also from the coordinators that have it open`() throws
    {
        let store = try TestStore()
        try store.populate(2)
        let containers = [try store.container(Library.first()), try store.container(Library.first())]
        let open = try #require(containers[0].persistentStoreCoordinator.persistentStores.first)
        try PersistentStoreCoordinator.destroyPersistentStore(at: store.url)
        #expect(containers.allSatisfy { $0.persistentStoreCoordinator.persistentStores.isEmpty })
        // Nothing to do.
        try containers[0].persistentStoreCoordinator.remove(open)
        #expect(try store.files().keys.filter { !$0.contains(".moult") }.isEmpty)
        // Nothing to do.
        try PersistentStoreCoordinator.destroyPersistentStore(at: store.url)
    }

    @Test func `an empty database is filled, replaced and destroyed, and other files are not`() throws {
        let (store, other) = (try TestStore(), try TestStore())
        try other.populate(2)
        func empty() throws {
            try? FileManager.default.removeItem(at: store.url)
            _ = try store.sql("VACUUM")
            #expect(try Data(contentsOf: store.url).count == 4_096)
        }
        try empty()
        #expect(throws: MigrationError.self) {
            try PersistentStoreCoordinator(managedObjectModel: Library.first()).addPersistentStore(
                at: store.url, options: [PersistentStoreOption.readOnly: true])
        }
        #expect(try store.sql("SELECT count(*) FROM sqlite_master") == "0")
        let container = try store.container(Library.first())
        try container.viewContext.insertNewObject(forEntityName: "Book").setValue("Emma", forKey: "title")
        try container.viewContext.save()
        try container.close()
        #expect(try store.sql("SELECT ZTITLE FROM ZBOOK; PRAGMA auto_vacuum; PRAGMA journal_mode") == "Emma\n2\nwal")
        try PersistentStoreCoordinator.destroyPersistentStore(at: store.url)
        try empty()
        try PersistentStoreCoordinator.replacePersistentStore(at: store.url, withPersistentStoreFrom: other.url)
        #expect(try store.sql("SELECT count(*) FROM ZBOOK") == "2")
        try PersistentStoreCoordinator.destroyPersistentStore(at: store.url)
        try empty()
        try PersistentStoreCoordinator.destroyPersistentStore(at: store.url)
        #expect(!FileManager.default.fileExists(atPath: store.url.path))
        // A database of another app.
        _ = try store.sql("CREATE TABLE a (b)")
        #expect(throws: MigrationError.self) { try store.container(Library.first()) }
        #expect(try store.sql("SELECT name FROM sqlite_master") == "a")
    }

    @Test func `a file of no bytes is filled, unless something of a store is kept next to it`() throws {
        let store = try TestStore()
        let backups = URL(fileURLWithPath: store.url.path + ".moult/backups")
        let external = store.folder.path + "/.Library_SUPPORT/_EXTERNAL_DATA"
        for kept in [backups, URL(fileURLWithPath: external)] {
            try Data().write(to: store.url)
            try FileManager.default.createDirectory(at: kept, withIntermediateDirectories: true)
            try Data([1]).write(to: kept.appendingPathComponent("one"))
            let error = #expect(throws: MigrationError.self) { try store.container(Library.first()) }
            #expect(error?.code == .notAStore && error?.coreData?.number == 259)
            #expect(try Data(contentsOf: store.url).isEmpty)
            #expect(throws: MigrationError.self) {
                try PersistentStoreCoordinator.isEmptyDatabase(store.url.path, UnlistedFolders())
            }
            try FileManager.default.removeItem(at: kept)
        }
        let container = try store.container(Library.first())
        try container.viewContext.insertNewObject(forEntityName: "Book").setValue("Emma", forKey: "title")
        try container.viewContext.save()
        try container.close()
        #expect(try store.sql("SELECT ZTITLE FROM ZBOOK") == "Emma")
    }

    @Test func `a file that is no store is destroyed only by force`() throws {
        let store = try TestStore()
        try Data("something else".utf8).write(to: store.url)
        #expect(throws: MigrationError.self) { try PersistentStoreCoordinator.destroyPersistentStore(at: store.url) }
        #expect(try store.files().count == 1)
        try PersistentStoreCoordinator.destroyPersistentStore(
            at: store.url, options: [PersistentStoreOption.forceDestroy: true])
        #expect(try store.files().isEmpty)
    }

    @Test func `a store that another process has open is not destroyed`() throws {
        let store = try TestStore()
        try store.populate(2)
        let other = try SQLiteProcess(store.url.path)
        defer { other.end() }
        try other.run("BEGIN; SELECT count(*) FROM ZBOOK")
        let error = try #require(throws: MigrationError.self) {
            try PersistentStoreCoordinator.destroyPersistentStore(
                at: store.url, options: [PersistentStoreOption.timeout: 0.2])
        }
        #expect(error.code == .locked)
        #expect(try store.sql("SELECT count(*) FROM ZBOOK") == "2")
    }

    @Test func `a store that is open here too goes on if another process keeps it from being destroyed`() throws {
        let store = try TestStore()
        try store.populate(2)
        let container = try store.container(Library.first())
        let coordinator = container.persistentStoreCoordinator
        let open = try #require(coordinator.persistentStores.first)
        let book = try #require(try container.viewContext.all("Book", by: "title").first)
        try book.setValue("Changed", forKey: "title")
        let other = try SQLiteProcess(store.url.path)
        defer { other.end() }
        try other.run("BEGIN; SELECT count(*) FROM ZBOOK")
        let error = try #require(throws: MigrationError.self) {
            try PersistentStoreCoordinator.destroyPersistentStore(
                at: store.url, options: [PersistentStoreOption.timeout: 0.2])
        }
        #expect(error.code == .locked)
        try other.run("COMMIT")
        #expect(coordinator.persistentStores.count == 1 && coordinator.persistentStores.first === open)
        try container.viewContext.save()
        #expect(try store.sql("SELECT count(*) FROM ZBOOK WHERE ZTITLE = 'Changed'") == "1")
    }

    @Test func `unsaved changes of a destroyed store are not saved into the one that takes its place`() throws {
        let store = try TestStore()
        try store.populate(2)
        let container = try store.container(Library.first())
        let (context, coordinator) = (container.viewContext, container.persistentStoreCoordinator)
        let books = try context.all("Book", by: "title")
        try books[0].setValue("Changed", forKey: "title")
        try context.delete(books[1])
        try PersistentStoreCoordinator.destroyPersistentStore(at: store.url)
        try coordinator.addPersistentStore(at: store.url)
        let error = try #require(throws: MigrationError.self) { try context.save() }
        #expect(error.code == .objectGone)
        context.rollback()
        #expect(try context.all("Book", by: "title").isEmpty)
        try context.insertNewObject(forEntityName: "Book").setValue("New", forKey: "title")
        try context.save()
        #expect(try store.sql("SELECT ZTITLE FROM ZBOOK") == "New")
    }

    /// The copy has the same identifier, so the identities of the objects are those of its rows.
    @Test func `a backup that replaces an open store is read anew, and unsaved changes are not saved into it`() throws {
        let store = try TestStore()
        try store.populate(3)
        let copy = store.url.deletingLastPathComponent().appendingPathComponent("Copy.sqlite")
        try PersistentStoreCoordinator.replacePersistentStore(at: copy, withPersistentStoreFrom: store.url)
        let titles = "SELECT group_concat(ZTITLE) FROM (SELECT ZTITLE FROM ZBOOK ORDER BY ZTITLE)"
        let container = try store.container(Library.first())
        let (context, coordinator) = (container.viewContext, container.persistentStoreCoordinator)
        let books = try context.all("Book", by: "title")
        try books[0].setValue("Late", forKey: "title")
        try context.save()
        try books[1].setValue("Unsaved", forKey: "title")
        let child = ManagedObjectContext()
        child.parent = context
        try child.all("Book", by: "title")[0].setValue("Unsaved too", forKey: "title")
        try PersistentStoreCoordinator.replacePersistentStore(at: store.url, withPersistentStoreFrom: copy)
        #expect(coordinator.persistentStores.isEmpty)
        try coordinator.addPersistentStore(at: store.url)
        #expect(try books[0].value(forKey: "title") as? String == "Book 0")
        for (each, policy) in [(context, MergePolicy.overwrite), (child, MergePolicy.error)] {
            each.mergePolicy = policy
            let error = try #require(throws: MigrationError.self) { try each.save() }
            #expect(error.code == .objectGone)
            each.rollback()
        }
        #expect(try store.sql(titles) == "Book 0,Book 1,Book 2")
        #expect(try books[1].value(forKey: "title") as? String == "Book 1")
        try books[1].setValue("Anew", forKey: "title")
        try context.save()
        #expect(try store.sql(titles) == "Anew,Book 0,Book 2")
    }

    @Test func `replacing puts a copy in a store's place`() throws {
        let (one, other) = (try TestStore(), try TestStore())
        try one.populate(3)
        try other.populate(7)
        try PersistentStoreCoordinator.replacePersistentStore(at: one.url, withPersistentStoreFrom: other.url)
        #expect(try one.sql("SELECT count(*) FROM ZBOOK; PRAGMA integrity_check") == "7\nok")
        let new = one.url.deletingLastPathComponent().appendingPathComponent("New.sqlite")
        try PersistentStoreCoordinator.replacePersistentStore(at: new, withPersistentStoreFrom: other.url)
        #expect(try SQLiteShell.run(new.path, "SELECT count(*) FROM ZBOOK") == "7\n")
        #expect(try other.sql("SELECT count(*) FROM ZBOOK") == "7")
    }

    @Test func `an older copy that replaces a store gives none of its numbers again`() throws {
        let store = try TestStore()
        try store.populate(3)
        let copy = store.url.deletingLastPathComponent().appendingPathComponent("Copy.sqlite")
        try PersistentStoreCoordinator.replacePersistentStore(at: copy, withPersistentStoreFrom: store.url)
        func add() throws {
            let container = try store.container(Library.first())
            try container.viewContext.insertNewObject(forEntityName: "Book").setValue("late", forKey: "title")
            try container.viewContext.save()
            try container.close()
        }
        try add()
        let key = try store.sql("SELECT max(Z_PK) FROM ZBOOK")
        let highest = try store.sql("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Book'")
        #expect(key == highest)
        try PersistentStoreCoordinator.replacePersistentStore(at: store.url, withPersistentStoreFrom: copy)
        #expect(try store.sql("SELECT count(*) FROM ZBOOK; PRAGMA integrity_check") == "3\nok")
        #expect(try store.sql("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Book'") == highest)
        try add()
        #expect(try store.sql("SELECT max(Z_PK) > \(key) FROM ZBOOK") == "1")
        #expect(try store.files().keys.filter { $0.contains(".part") }.isEmpty)
    }

    @Test func `an entity that an older copy lacks comes back with its counter`() throws {
        let store = try TestStore()
        let first = try ManagedObjectModel("Item = name String")
        let second = try ManagedObjectModel("Item = name String\nTag = name String")
        try store.container(first).close()
        let copy = store.url.deletingLastPathComponent().appendingPathComponent("Copy.sqlite")
        try PersistentStoreCoordinator.replacePersistentStore(at: copy, withPersistentStoreFrom: store.url)
        let container = try store.container(second)
        _ = try container.viewContext.insertNewObject(forEntityName: "Tag")
        try container.viewContext.save()
        try container.close()
        try PersistentStoreCoordinator.replacePersistentStore(at: store.url, withPersistentStoreFrom: copy)
        #expect(try store.sql("SELECT Z_NAME FROM Z_PRIMARYKEY WHERE Z_ENT < 16000") == "Item")
        try store.container(second).close()
        #expect(try store.sql("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Tag'") == "1")
    }

    @Test func `large values go with their store`() throws {
        let model = try ManagedObjectModel("Picture = bytes Binary external")
        let store = try TestStore()
        let container = try store.container(model)
        let bytes = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
        try container.viewContext.insertNewObject(forEntityName: "Picture").setValue(bytes, forKey: "bytes")
        try container.viewContext.save()
        try container.close()
        let copy = store.url.deletingLastPathComponent().appendingPathComponent("Copy.sqlite")
        try PersistentStoreCoordinator.replacePersistentStore(at: copy, withPersistentStoreFrom: store.url)
        try PersistentStoreCoordinator.destroyPersistentStore(at: store.url)
        #expect(try store.files().keys.filter { $0.contains("Library_SUPPORT") }.isEmpty)
        let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(at: copy)
        let context = ManagedObjectContext(persistentStoreCoordinator: coordinator)
        let picture = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Picture")).first)
        #expect(try picture.value(forKey: "bytes") as? Data == bytes)
    }

    /// Changes a byte of each file that it copies.
    /// A disk that fails where a folder is listed.
    private struct UnlistedFolders: ForwardingSystem {
        func list(_ folder: String) throws -> [String] { throw MigrationError.system("list", folder, error: EIO) }
    }

    private struct FaultyCopies: ForwardingSystem {
        func copy(_ path: String, to copy: String, _ rights: FileRights) throws {
            var bytes = try real.read(path)
            bytes[0] ^= 1
            try real.write(bytes, to: copy, rights)
        }
    }

    @Test func `a large value that does not arrive whole stops the copy, and a file that is there stays`() throws {
        let store = try TestStore()
        try store.populate(3)
        let copy = store.url.deletingLastPathComponent().appendingPathComponent("Copy.sqlite").path
        let external = ExternalStorage(store: store.url.path)
        try external.makeFolder(on: POSIXSystem())
        try POSIXSystem().write([1, 2, 3], to: external.folder + "/AAAAAAAA")
        let changed = #expect(throws: MigrationError.self) {
            try StoreCopy(from: store.url.path, to: copy, exists: false, on: FaultyCopies()).run()
        }
        #expect(changed?.code == .inputOutput && !FileManager.default.fileExists(atPath: copy))
        // Another process has made a file since the path was found to be free.
        try POSIXSystem().write([4], to: copy)
        #expect(throws: MigrationError.self) { try StoreCopy(from: store.url.path, to: copy, exists: false).run() }
        #expect(try POSIXSystem().read(copy) == [4])
        #expect(try store.files().keys.filter { $0.hasSuffix(".part") }.isEmpty)
    }

    /// `s.sqlite` and `s.store` have one folder of external data.
    @Test func `destroying or replacing a store leaves the files of its neighbour`() throws {
        let bytes = AttributeDescription(name: "bytes", type: .binary, allowsExternalBinaryDataStorage: true)
        let model = try ManagedObjectModel(entities: [EntityDescription(name: "Picture", properties: [bytes])])
        let folder = try ScratchFolder()
        func url(_ name: String) -> URL { URL(fileURLWithPath: "\(folder.path)/\(name)") }
        for (number, name) in ["s.sqlite", "s.store", "other.sqlite"].enumerated() {
            let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addPersistentStore(at: url(name))
            let context = ManagedObjectContext(persistentStoreCoordinator: coordinator)
            let data = Data(repeating: UInt8(number), count: 200_000)
            try context.insertNewObject(forEntityName: "Picture").setValue(data, forKey: "bytes")
            try context.save()
            try coordinator.remove(coordinator.persistentStores[0])
        }
        func files() throws -> Set<String> {
            Set(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/.s_SUPPORT/_EXTERNAL_DATA"))
        }
        func named(_ name: String) throws -> String {
            try SQLiteShell.run(url(name).path, "SELECT CAST(substr(ZBYTES, 2, 36) AS TEXT) FROM ZPICTURE")
                .trimmingCharacters(in: .newlines)
        }
        let kept = try named("s.store")
        #expect(try files() == [kept, named("s.sqlite")])
        try PersistentStoreCoordinator.replacePersistentStore(
            at: url("s.sqlite"), withPersistentStoreFrom: url("other.sqlite"))
        #expect(try files() == [kept, named("other.sqlite")])
        try PersistentStoreCoordinator.destroyPersistentStore(at: url("s.sqlite"))
        #expect(try files() == [kept])
        try PersistentStoreCoordinator.destroyPersistentStore(at: url("s.store"))
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/.s_SUPPORT"))
    }

    /// As an app and its extension do at the first launch.
    @Test func `who makes a store at the same moment opens the same store`() async throws {
        let folder = try ScratchFolder()
        let url = URL(fileURLWithPath: folder.path + "/first.sqlite")
        let model = try ManagedObjectModel("Note = n String")
        let identifiers = try await withThrowingTaskGroup(of: UUID.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
                    let store = try coordinator.addPersistentStore(at: url)
                    let context = ManagedObjectContext(persistentStoreCoordinator: coordinator)
                    try context.performAndWait {
                        _ = try context.insertNewObject(forEntityName: "Note")
                        try context.save()
                    }
                    return store.identifier
                }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(identifiers.count == 1)
        #expect(try SQLiteShell.run(url.path, "SELECT count(*) FROM ZNOTE") == "8\n")
    }
}
