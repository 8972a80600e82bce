import Foundation
import MoultCoreData
import Synchronization
import TestSupport
import Testing

/// What a container deletes when it opens a store, and what it refuses to delete.
@Suite struct UndeclaredLossTests {
    /// Version 1 without shelves, and books without a price.
    private func shorter() throws -> ManagedObjectModel {
        try ManagedObjectModel(
            entities: Library.first().entities.filter { $0.name != "Shelf" }.map { entity in
                var entity = entity
                entity.properties.removeAll { ["price", "shelves"].contains($0.name) }
                return entity
            })
    }

    /// Ten books, two authors, one shelf; counted by the sqlite3 shell.
    private func store() throws -> TestStore {
        let store = try TestStore()
        try store.populate()
        #expect(try store.sql("SELECT count(ZPRICE) FROM ZBOOK; SELECT count(*) FROM ZSHELF") == "10\n1")
        return store
    }

    @Test func `a store whose version only the store knows is not stripped of entities and values`() throws {
        let store = try store()
        let before = try store.sql(".sha3sum --schema")
        let error = try #require(throws: MigrationError.self) { try store.container(shorter()) }
        #expect(error.code == .lossNotAccepted, "\(error)")
        #expect(error.message.contains("1 object of Shelf is deleted"), "\(error)")
        #expect(error.message.contains("10 values of Book.price are deleted"), "\(error)")
        #expect(error.remedy.contains(#"acceptedLosses = ["Book.shelves", "Shelf", "Book.price"]"#), "\(error)")
        #expect(error.remedy.contains("MoultAcceptedLossesOption"), "\(error)")
        #expect(!"\(error)".contains("--"), "an app has no command line: \(error)")
        #expect(try store.sql(".sha3sum --schema") == before)
    }

    @Test(arguments: ["code", "key", "version"])
    func `each way out that the refusal names works, and what goes is counted, logged and told`(way: String) throws {
        let store = try store()
        let told = Mutex<[MigrationLoss]>([])
        let model = try shorter()
        let versions = try way == "version" ? ModelVersions([("1", Library.first()), ("2", model)]) : nil
        let container = try store.container(model, versions: versions) { description in
            if way == "code" { description.acceptedLosses = ["Book.shelves", "Shelf", "Book.price"] }
            if way == "key" {
                description.setOption(
                    ["Shelf", "Book.price", "Book.shelves"], forKey: PersistentStoreOption.acceptedLosses)
            }
            description.migrationLosses = { losses in told.withLock { $0 += losses } }
        }
        #expect(try container.viewContext.all("Book", by: "title").count == 10)
        #expect(told.withLock { $0.filter { $0.kind != .history }.map(\.place) }.sorted().contains("Shelf"))
        #expect(told.withLock { $0.first { $0.place == "Book.price" }?.count } == 10)
        let log = try String(contentsOfFile: store.url.path + ".moult/log.txt", encoding: .utf8)
        #expect(log.contains("1 object of Shelf is deleted"), "\(log)")
    }

    @Test func `a refused opening leaves the store open in another container of the process`() throws {
        let store = try store()
        let first = try store.container(Library.first())
        let error = #expect(throws: MigrationError.self) { try store.container(shorter()) }
        #expect(error?.code == .lossNotAccepted)
        #expect(try first.viewContext.all("Shelf", by: "place").count == 1)
        try first.viewContext.insertNewObject(forEntityName: "Shelf")
        try first.viewContext.save()
        #expect(try store.sql("SELECT count(*) FROM ZSHELF") == "2")
    }

    @Test func `a budget does not lose what opening refuses to lose`() throws {
        let store = try store()
        let container = PersistentContainer(name: "Library", managedObjectModel: try shorter())
        container.persistentStoreDescriptions = [PersistentStoreDescription(url: store.url)]
        let error = #expect(throws: MigrationError.self) { try container.migrate(budget: 60) }
        #expect(error?.code == .lossNotAccepted)
        #expect(try store.sql("SELECT count(*) FROM ZSHELF") == "1")
    }

    @Test func `a mirrored store is migrated where its option says so, and the refusal names the option`() throws {
        let store = try store()
        _ = try store.sql("CREATE TABLE ANSCKRECORDMETADATA (Z_PK INTEGER PRIMARY KEY, ZENTITYID INTEGER)")
        let error = #expect(throws: MigrationError.self) {
            try store.container(Library.second(), versions: Library.versions())
        }
        #expect(error?.code == .cloudKit)
        #expect(error?.remedy.contains(PersistentStoreOption.allowsCloudKitMigration) == true, "\(error as Any)")
        #expect(error?.remedy.contains("--") == false, "\(error as Any)")
        let container = try store.container(Library.second(), versions: Library.versions()) {
            $0.setOption(true, forKey: PersistentStoreOption.allowsCloudKitMigration)
        }
        #expect(try container.viewContext.all("Book", by: "title").count == 10)
    }
}
