import Foundation
import MoultCoreData
import Synchronization
import TestSupport
import Testing

@Suite struct ContainerTests {
    @Test func `each store's completion is called exactly once, whatever becomes of it`() throws {
        let folder = try ScratchFolder()
        let container = PersistentContainer(name: "Library", managedObjectModel: try Library.first())
        let good = PersistentStoreDescription(url: URL(fileURLWithPath: folder.path + "/a.sqlite"))
        let bad = PersistentStoreDescription(url: URL(fileURLWithPath: folder.path + "/no/b.sqlite"))
        let late = PersistentStoreDescription(url: URL(fileURLWithPath: folder.path + "/c.sqlite"))
        late.shouldAddStoreAsynchronously = true
        container.persistentStoreDescriptions = [good, bad, late]
        let done = DispatchSemaphore(value: 0)
        let told = Failures()
        container.loadPersistentStores { description, error in
            told.note(error)
            done.signal()
        }
        for _ in 0..<3 { #expect(done.wait(timeout: .now() + 10) == .success) }
        #expect(done.wait(timeout: .now() + 0.1) == .timedOut)
        #expect(told.errors.count == 3)
        #expect(told.errors.compactMap(\.self).count == 1)
        #expect(container.persistentStoreCoordinator.persistentStores.count == 2)
    }

    @Test func `a description names the folder of the backups, and how many are kept`() throws {
        for isOption in [false, true] {
            let store = try TestStore()
            try store.populate(2)
            let folder = store.url.deletingLastPathComponent().appendingPathComponent("kept")
            let container = try store.container(Library.second()) { description in
                if isOption {
                    description.setOption(folder.path, forKey: PersistentStoreOption.backupFolder)
                } else {
                    description.migrationBackupFolder = folder
                    description.migrationBackupRetention = RetentionPolicy(minimumCount: 1)
                }
            }
            try container.close()
            #expect(try !FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
            #expect(!FileManager.default.fileExists(atPath: store.url.path + ".moult/backups"))
        }
    }

    @Test func `a migration prints Core Data's messages where they are asked for`() throws {
        let store = try TestStore()
        try store.populate(2)
        let lines = Mutex<[String]>([])
        var loader = try StoreLoader(
            PersistentStoreDescription(url: store.url), model: Library.second(), versions: nil)
        #expect(loader.debug == nil)
        loader.debug = { line in lines.withLock { $0.append(line) } }
        try loader.open().close()
        let printed = lines.withLock { $0 }
        #expect(printed.first?.hasPrefix("Migrating from version ") == true)
        #expect(printed.count > 2 && printed.last == "Completed successfully")
    }

    @Test func `loading can be awaited, and throws`() async throws {
        let store = try TestStore()
        let container = PersistentContainer(name: "Library", managedObjectModel: try Library.first())
        container.persistentStoreDescriptions = [PersistentStoreDescription(url: store.url)]
        try await container.loadPersistentStores()
        #expect(container.persistentStoreCoordinator.persistentStores.count == 1)
        let other = PersistentContainer(name: "Library", managedObjectModel: try Library.first())
        let missing = store.url.deletingLastPathComponent().appendingPathComponent("no/store.sqlite")
        other.persistentStoreDescriptions = [PersistentStoreDescription(url: missing)]
        await #expect(throws: MigrationError.self) { try await other.loadPersistentStores() }
    }

    @Test func `a store in memory leaves no file`() async throws {
        let container = try libraryInMemory()
        try Book(context: container.viewContext).title = "Emma"
        try container.viewContext.save()
        let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
        #expect(store.type == .inMemory)
        #expect(container.persistentStoreCoordinator.url(for: store).path == "/dev/null")
        let count = try await container.performBackgroundTask {
            try $0.count(for: FetchRequest<ManagedObject>(entityName: "Book"))
        }
        #expect(count == 1)
    }

    @Test func `what a description says by default`() {
        let description = PersistentStoreDescription(url: URL(fileURLWithPath: "/tmp/x.sqlite"))
        #expect(description.type == .sqlite)
        #expect(description.shouldMigrateStoreAutomatically)
        #expect(description.shouldInferMappingModelAutomatically)
        #expect(!description.isReadOnly)
        #expect(!description.shouldAddStoreAsynchronously)
        #expect(description.validatesAfterMigration)
        #expect(PersistentStoreDescription().type == .inMemory)
        description.setValue("DELETE", forPragmaNamed: "journal_mode")
        #expect(description.sqlitePragmas == ["journal_mode": "DELETE"])
        description.timeout = 3
        #expect(description.options[PersistentStoreOption.timeout] as? Double == 3)
    }

    @Test func `pragmas and history are as the description says`() throws {
        let store = try TestStore()
        let container = try store.container(Library.first()) { description in
            description.setValue("DELETE", forPragmaNamed: "journal_mode")
            description.setOption(true, forKey: PersistentStoreOption.historyTracking)
        }
        try container.viewContext.insertNewObject(forEntityName: "Author")
        container.viewContext.transactionAuthor = "tests"
        try container.viewContext.save()
        #expect(try store.sql("PRAGMA journal_mode") == "delete")
        #expect(try store.sql("SELECT count(*) FROM ACHANGE") == "1")
        #expect(try store.sql("SELECT count(*) FROM ATRANSACTIONSTRING WHERE ZNAME = 'tests'") == "1")
    }

    @Test func `a read-only store is read, and not written`() throws {
        let store = try TestStore()
        try store.populate(3)
        let container = try store.container(Library.first()) { $0.isReadOnly = true }
        let context = container.viewContext
        let book = try #require(try context.all("Book", by: "title").first)
        try book.setValue("Other", forKey: "title")
        let error = try #require(throws: MigrationError.self) { try context.save() }
        #expect(error.code == .readOnly)
    }

    @Test func `two stores of two configurations hold each their own`() throws {
        var model = try Library.first()
        let log = EntityDescription(name: "Log", properties: [AttributeDescription(name: "line", type: .string)])
        let books = model.entities
        try model.setEntities([log], forConfigurationName: "Local")
        try model.setEntities(books, forConfigurationName: "Books")
        let folder = try ScratchFolder()
        let container = PersistentContainer(name: "Both", managedObjectModel: model)
        container.persistentStoreDescriptions = ["Local", "Books"].map { name in
            let description = PersistentStoreDescription(url: URL(fileURLWithPath: "\(folder.path)/\(name).sqlite"))
            description.configuration = name
            return description
        }
        let failures = Failures()
        container.loadPersistentStores { failures.note($1) }
        #expect(failures.errors.compactMap(\.self).isEmpty)
        let context = container.viewContext
        try context.insertNewObject(forEntityName: "Log").setValue("hello", forKey: "line")
        try context.insertNewObject(forEntityName: "Author").setValue("Austen", forKey: "name")
        try context.save()
        #expect(try SQLiteShell.run(folder.path + "/Local.sqlite", "SELECT ZLINE FROM ZLOG") == "hello\n")
        #expect(try SQLiteShell.run(folder.path + "/Books.sqlite", "SELECT ZNAME FROM ZAUTHOR") == "Austen\n")
    }

    @Test func `a container finds its model by name in a folder of resources`() throws {
        let error = try #require(throws: MigrationError.self) { try PersistentContainer(name: "NoSuchModel") }
        #expect(error.code == .modelNotFound)
        #expect(error.message.contains("NoSuchModel"))
    }
}
