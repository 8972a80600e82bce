import Foundation
import MoultCoreData
import TestSupport
import Testing

/// What a Core Data programmer writes first about a new version of a model.
@Suite struct MigrationRecipeTests {
    // MARK: - Helpers of such a test

    private func createV1TestContainer(_ store: TestStore) throws -> PersistentContainer {
        try store.container(Library.first())
    }

    private func performMigration(
        from store: TestStore, to model: ManagedObjectModel, versions: ModelVersions? = nil
    ) throws -> PersistentContainer {
        try store.container(model, versions: versions)
    }

    // MARK: - The recipe

    @Test func `an old store with data migrates when it is opened with the new model`() throws {
        // 1. A store of version 1.
        let store = try TestStore()
        let old = PersistentStoreCoordinator(managedObjectModel: try Library.first())
        let oldStore = try old.addPersistentStore(type: .sqlite, configuration: nil, at: store.url, options: nil)
        let oldContext = ManagedObjectContext(concurrencyType: .privateQueue)
        oldContext.persistentStoreCoordinator = old

        // 2. With data.
        let book = try EntityDescription.insertNewObject(forEntityName: "Book", into: oldContext)
        try book.setValue("Emma", forKey: "title")
        try book.setValue(474, forKey: "pages")
        try oldContext.save()

        // 3. Closed.
        try old.remove(oldStore)

        // 4. Migrated by opening it with version 2.
        let new = PersistentStoreCoordinator(managedObjectModel: try Library.second())
        try new.addPersistentStore(
            type: .sqlite, configuration: nil, at: store.url,
            options: [
                PersistentStoreOption.migratePersistentStoresAutomatically: true,
                PersistentStoreOption.inferMappingModelAutomatically: true,
            ])
        let context = ManagedObjectContext(concurrencyType: .privateQueue)
        context.persistentStoreCoordinator = new

        // 5. Count and values.
        let books = try context.fetch(FetchRequest<ManagedObject>(entityName: "Book"))
        #expect(books.count == 1)
        #expect(try books.first?.value(forKey: "title") as? String == "Emma")
        #expect(try books.first?.value(forKey: "pages") as? Int == 474)
        #expect(try books.first?.value(forKey: "rating") as? Int == 3)
        #expect(try store.sql("SELECT ZTITLE, ZPAGES, ZRATING, ZISBN FROM ZBOOK") == "Emma|474|3|")
    }

    @Test func `a new property has its default in every old object`() throws {
        let store = try TestStore()
        try store.populate()
        let context = try performMigration(from: store, to: Library.second()).viewContext
        let books = try context.all("Book", by: "title")
        #expect(books.count == 10)
        for book in books {
            #expect(try book.value(forKey: "rating") as? Int == 3)
            #expect(try book.value(forKey: "isbn") == nil)
        }
    }

    @Test func `all values are preserved`() throws {
        let store = try TestStore()
        try store.populate()
        let before = try store.sql("SELECT Z_PK, ZTITLE, ZPAGES, ZPRICE, ZPUBLISHED, ZISREAD FROM ZBOOK ORDER BY Z_PK")
        _ = try performMigration(from: store, to: Library.second())
        let after = try store.sql("SELECT Z_PK, ZTITLE, ZPAGES, ZPRICE, ZPUBLISHED, ZISREAD FROM ZBOOK ORDER BY Z_PK")
        #expect(before.split(separator: "\n").count == 10)
        #expect(after == before)
    }

    @Test func `relationships are preserved, in their order`() throws {
        let store = try TestStore()
        try store.populate()
        let context = try performMigration(from: store, to: Library.second()).viewContext
        let shelf = try #require(try context.all("Shelf", by: "place").first)
        let titles = try shelf.mutableOrderedSetValue(forKey: "books").map { try $0.value(forKey: "title") as? String }
        #expect(titles == (0..<10).reversed().map { "Book \($0)" })
        for author in try context.all("Author", by: "fullName") {
            let books = try #require(try author.value(forKey: "books") as? Set<ManagedObject>)
            #expect(books.count == 5)
            for book in books { #expect(try book.value(forKey: "author") as? ManagedObject === author) }
        }
    }

    @Test func `a renamed property keeps its values`() throws {
        let store = try TestStore()
        try store.populate()
        let context = try performMigration(from: store, to: Library.second()).viewContext
        let names = try context.all("Author", by: "fullName").map { try $0.value(forKey: "fullName") as? String }
        #expect(names == ["Austen", "Borges"])
    }

    @Test func `a store two versions behind goes through both`() throws {
        let store = try TestStore()
        try store.populate()
        let versions = try Library.versions()
        let container = try performMigration(from: store, to: Library.third(), versions: versions)
        #expect(try container.viewContext.count(for: FetchRequest<ManagedObject>(entityName: "Book")) == 10)
        #expect(try container.viewContext.count(for: FetchRequest<ManagedObject>(entityName: "Loan")) == 0)
        #expect(try store.sql("SELECT count(*) FROM pragma_table_info('ZBOOK') WHERE name = 'ZPAGES'") == "0")
    }

    @Test func `identities survive a migration`() throws {
        let store = try TestStore()
        try store.populate()
        let old = try createV1TestContainer(store)
        let uri = try #require(try old.viewContext.all("Book", by: "title").last).objectID.uriRepresentation()
        try old.close()
        let new = try performMigration(from: store, to: Library.second())
        let id = try #require(new.persistentStoreCoordinator.managedObjectID(forURIRepresentation: uri))
        #expect(try new.viewContext.existingObject(with: id).value(forKey: "title") as? String == "Book 9")
    }

    @Test func `a migrated store takes new objects`() throws {
        let store = try TestStore()
        try store.populate()
        let context = try performMigration(from: store, to: Library.second()).viewContext
        let book = try context.insertNewObject(forEntityName: "Book")
        try book.setValue("New", forKey: "title")
        try book.setValue("978-3", forKey: "isbn")
        try context.save()
        #expect(try store.sql("SELECT ZTITLE, ZRATING, ZISBN FROM ZBOOK WHERE Z_PK = 11") == "New|3|978-3")
    }

    @Test func `a migration leaves a backup of the old store`() throws {
        let store = try TestStore()
        try store.populate()
        _ = try performMigration(from: store, to: Library.second())
        let backups = try store.files().keys.filter { $0.contains("backups") && $0.hasSuffix("Library.sqlite") }
        let backup = try #require(backups.first)
        #expect(
            try SQLiteShell.run(store.folder.path + "/" + backup, "SELECT count(*) FROM ZBOOK", immutable: true)
                == "10\n")
    }

    @Test func `a store of the current version is opened as it is`() throws {
        let store = try TestStore()
        try store.populate()
        let before = try Data(contentsOf: store.url)
        let container = try createV1TestContainer(store)
        #expect(try container.viewContext.count(for: FetchRequest<ManagedObject>(entityName: "Book")) == 10)
        try container.close()
        #expect(try Data(contentsOf: store.url) == before)
        #expect(!FileManager.default.fileExists(atPath: store.url.path + ".moult"))
    }

    @Test func `a large store migrates with progress from 0 to 1`() throws {
        let store = try TestStore()
        try store.populate(2_000)
        let steps = Progresses()
        let container = try store.container(Library.second()) { $0.migrationProgress = { steps.note($0) } }
        #expect(try container.viewContext.count(for: FetchRequest<ManagedObject>(entityName: "Book")) == 2_000)
        let fractions = steps.all.map(\.fractionCompleted)
        #expect(fractions == fractions.sorted())
        #expect(fractions.last == 1)
        #expect(Set(steps.all.map(\.phase)).isSuperset(of: ["backup", "change", "verify", "commit", "done"]))
    }
}

final class Progresses: @unchecked Sendable {
    private let lock = NSLock()
    private var list: [MigrationProgress] = []

    func note(_ progress: MigrationProgress) { lock.withLock { list.append(progress) } }
    var all: [MigrationProgress] { lock.withLock { list } }
}
