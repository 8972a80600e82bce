import Foundation
import MoultCoreData
import TestSupport
import Testing

/// Stores that do not open: the error says why, with Core Data's number, and nothing is changed.
@Suite struct RefusedOpeningTests {
    private func refusal(
        _ store: TestStore, _ model: ManagedObjectModel, versions: ModelVersions? = nil,
        _ change: (PersistentStoreDescription) -> Void = { _ in }
    ) throws -> MigrationError {
        let before = try store.files()
        let error = try #require(throws: MigrationError.self) {
            try store.container(model, versions: versions, change)
        }
        let after = try store.files().filter { !$0.key.contains(".moult") }
        #expect(after == before, "nothing may change")
        return error
    }

    @Test func `a coordinator does not migrate unless it is told to`() throws {
        let store = try TestStore()
        try store.populate()
        let coordinator = PersistentStoreCoordinator(managedObjectModel: try Library.second())
        let before = try store.files()
        let error = try #require(throws: MigrationError.self) { try coordinator.addPersistentStore(at: store.url) }
        #expect(error.coreData?.number == 134100)
        #expect(error.coreData?.constant == "NSPersistentStoreIncompatibleVersionHashError")
        #expect(error.message.contains("1 behind"))
        #expect(try store.files() == before)
        #expect(coordinator.persistentStores.isEmpty)
    }

    @Test func `a description that forbids migration gives 134100`() throws {
        let store = try TestStore()
        try store.populate()
        let error = try refusal(store, Library.second()) { $0.shouldMigrateStoreAutomatically = false }
        #expect(error.code == .migrationRequired)
        #expect(error.coreData?.number == 134100)
    }

    @Test func `a question that the models leave open is answered in the description, as the error says`() throws {
        let store = try TestStore()
        try store.populate()
        var model = try Library.first()
        try model.updateEntity("Book") { book in
            book.properties = book.properties.map { property in
                property.name == "pages" ? AttributeDescription(name: "pages", type: .string) : property
            }
        }
        let versions = try ModelVersions([(name: "1", model: Library.first()), (name: "2", model: model)])
        let error = try refusal(store, model, versions: versions)
        #expect(error.code == .question && error.remedy.contains("migrationAnswers"), "\(error)")
        #expect(!error.remedy.contains("moult answer"), "an app has no command line: \(error)")
        let answer = try #require(error.message.split(separator: "\n").last { $0.contains("\"is\"") })
        let titles = try store.sql("SELECT ZTITLE FROM ZBOOK ORDER BY Z_PK")
        let container = try store.container(model, versions: versions) {
            $0.migrationAnswers = Data("{\"format\": 1, \"answers\": [\(answer)]}".utf8)
        }
        try container.close()
        #expect(try store.sql("SELECT ZTITLE FROM ZBOOK ORDER BY Z_PK") == titles)
        #expect(try store.sql("SELECT type FROM pragma_table_info('ZBOOK') WHERE name = 'ZPAGES'") == "VARCHAR")
    }

    @Test func `a description that forbids inference gives 134140`() throws {
        let store = try TestStore()
        try store.populate()
        let error = try refusal(store, Library.second()) { $0.shouldInferMappingModelAutomatically = false }
        #expect(error.coreData?.number == 134140)
        #expect(error.coreData?.constant == "NSMigrationMissingMappingModelError")
    }

    @Test func `with inference off a registered mapping is used, and none is inferred beside it`() throws {
        let store = try TestStore()
        try store.populate()
        var author = EntityMapping(from: "Author", to: "Author")
        author.attributeMappings = [try PropertyMapping("fullName", "uppercase:($source.name)")]
        var registry = MigrationRegistry()
        let others = ["Book", "Shelf"].map { EntityMapping(from: $0, to: $0) }
        registry.register(mapping: MappingModel([author] + others), from: "Library", to: "Library 2")
        let names = try store.sql("SELECT upper(ZNAME) FROM ZAUTHOR ORDER BY Z_PK")
        let change: (PersistentStoreDescription) -> Void = {
            $0.shouldInferMappingModelAutomatically = false
            $0.migrationRegistry = registry
        }
        // The second step of this way has none.
        let error = try refusal(store, Library.third(), versions: Library.versions(), change)
        #expect(error.coreData?.number == 134140)
        #expect(error.message.contains("from Library 2 to Library 3"))
        // An unanswerable change is no other matter, where nothing may be inferred.
        let versions = ModelVersions([("Library", try Library.first()), ("Library 2", try Library.impossible())])
        let other = try refusal(store, Library.impossible(), versions: versions) {
            $0.shouldInferMappingModelAutomatically = false
        }
        #expect(other.coreData?.number == 134140)
        let container = try store.container(Library.second(), versions: Library.versions(), change)
        try container.close()
        #expect(try store.sql("SELECT ZFULLNAME FROM ZAUTHOR ORDER BY Z_PK") == names)
    }

    @Test func `a change that cannot be inferred gives 134190 with the reason`() throws {
        let store = try TestStore()
        try store.populate()
        let error = try refusal(store, Library.impossible())
        #expect(error.coreData?.number == 134190)
        #expect(error.message.contains("shelfMark"))
    }

    @Test func `a store newer than the model gives 134100 and says so`() throws {
        let store = try TestStore()
        let newer = try store.container(Library.third())
        try newer.close()
        let error = try refusal(store, Library.second(), versions: Library.versions())
        #expect(error.coreData?.number == 134100)
        #expect(error.message.contains("later version"))
    }

    @Test func `a store of no known version gives 134130`() throws {
        let store = try TestStore()
        try store.populate()
        _ = try store.sql("UPDATE Z_MODELCACHE SET Z_CONTENT = NULL")
        let error = try refusal(store, Library.second())
        #expect(error.coreData?.number == 134130)
        #expect(error.coreData?.constant == "NSMigrationMissingSourceModelError")
    }

    @Test func `a read-only store that is behind is not migrated`() throws {
        let store = try TestStore()
        try store.populate()
        let error = try refusal(store, Library.second()) { $0.isReadOnly = true }
        #expect(error.coreData?.number == 134100)
        #expect(error.message.contains("reading only"))
    }

    @Test func `a file that is no store is left alone`() throws {
        let store = try TestStore()
        try Data("not a database, whatever its name says".utf8).write(to: store.url)
        #expect(try refusal(store, Library.first()).code == .notAStore)
    }

    @Test func `a store that another process holds is an error, not a wait for ever`() throws {
        let store = try TestStore()
        try store.populate()
        let other = try SQLiteProcess(store.url.path)
        defer { other.end() }
        try other.run("BEGIN IMMEDIATE; UPDATE ZBOOK SET ZPAGES = 1")
        let error = try #require(throws: MigrationError.self) {
            try store.container(Library.second()) { $0.timeout = 0.2 }
        }
        #expect(error.code == .locked)
        #expect(error.coreData?.number == 134090)
    }

    @Test func `a store that this process has open is migrated when nothing unsaved would be lost`() throws {
        let store = try TestStore()
        try store.populate()
        let first = try store.container(Library.first())
        // A second container of the same version disturbs nobody.
        let second = try store.container(Library.first())
        let (books, context) = (FetchRequest<ManagedObject>(entityName: "Book"), second.viewContext)
        #expect(try context.count(for: books) == 10)
        _ = try context.insertNewObject(forEntityName: "Book")
        let unsaved = try #require(throws: MigrationError.self) { try store.container(Library.second()) }
        #expect(unsaved.code == .locked && unsaved.message.contains("unsaved changes"))
        #expect(try first.viewContext.count(for: books) == 10)
        context.rollback()
        let third = try store.container(Library.second())
        #expect(try third.viewContext.count(for: books) == 10)
        for container in [first, second] {
            let closed = try #require(throws: MigrationError.self) { try container.viewContext.count(for: books) }
            #expect(closed.code == .storeAhead && closed.remedy.contains("made last"))
            try container.close()
        }
        try third.close()
    }

    @Test func `an unknown option is an error that names the known ones`() throws {
        let store = try TestStore()
        try store.populate()
        let error = try refusal(store, Library.first()) { $0.setOption(true, forKey: "com.app.migration.validation") }
        #expect(error.code == .usage)
        #expect(error.message.contains("com.app.migration.validation"))
        for option in PersistentStoreOption.all { #expect(error.remedy.contains(option)) }
    }

    @Test func `an option of the wrong type is an error`() throws {
        let store = try TestStore()
        let error = try refusal(store, Library.first()) {
            $0.setOption("perhaps", forKey: PersistentStoreOption.readOnly)
        }
        #expect(error.code == .usage)
        #expect(error.place == PersistentStoreOption.readOnly)
    }

    @Test(arguments: ["foreign_keys", "journal_mode; DROP TABLE ZBOOK"])
    func `a pragma that is not for a store is an error`(name: String) throws {
        let store = try TestStore()
        let error = try refusal(store, Library.first()) { $0.setValue("1", forPragmaNamed: name) }
        #expect(error.code == .usage)
    }

    @Test func `a folder that is not there is an error, not made`() throws {
        let store = try TestStore()
        let container = PersistentContainer(name: "Library", managedObjectModel: try Library.first())
        let url = store.url.deletingLastPathComponent().appendingPathComponent("typo/Library.sqlite")
        container.persistentStoreDescriptions = [PersistentStoreDescription(url: url)]
        let failures = Failures()
        container.loadPersistentStores { failures.note($1) }
        #expect((failures.errors.first as? MigrationError)?.code == .fileNotFound)
        #expect(!FileManager.default.fileExists(atPath: url.deletingLastPathComponent().path))
    }
}
