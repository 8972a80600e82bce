import MoultNSCoreData
import TestSupport
import Testing

@Suite struct ContainerIdioms {
    let folder: ScratchFolder
    let url: URL

    init() throws {
        folder = try ScratchFolder()
        url = URL(fileURLWithPath: folder.path).appendingPathComponent("Library.sqlite")
    }

    @Test("NSPersistentContainer(name:managedObjectModel:) loadPersistentStores { }")
    func loading() throws {
        let container = NSPersistentContainer(name: "Library", managedObjectModel: Library.model())
        container.persistentStoreDescriptions.first?.url = url
        var loaded: [URL?] = []
        container.loadPersistentStores { description, error in
            if let error = error as NSError? { Issue.record("Unresolved error \(error), \(error.userInfo)") }
            loaded.append(description.url)
        }
        #expect(loaded == [url])
        #expect(FileManager.default.fileExists(atPath: url.path))
    }

    @Test("a container whose store is in a folder that does not exist yet")
    func newFolder() throws {
        let new = url.deletingLastPathComponent().appendingPathComponent("Stores/2026/Library.sqlite")
        let reading = NSPersistentContainer(name: "Library", managedObjectModel: Library.model())
        reading.persistentStoreDescriptions.first?.url = new
        reading.persistentStoreDescriptions.first?.isReadOnly = true
        var codes: [Int?] = []
        reading.loadPersistentStores { _, error in codes.append((error as NSError?)?.code) }
        // A coordinator creates no folder.
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        let error = #expect(throws: NSError.self) { try coordinator.addPersistentStore(type: .sqlite, at: new) }
        #expect(codes == [260] && error?.code == 260)
        #expect(!FileManager.default.fileExists(atPath: new.deletingLastPathComponent().path))
        let container = try Library.container(at: new)
        Library.person("Ann", in: container.viewContext)
        try container.viewContext.save()
        #expect(try SQLiteShell.rows("SELECT ZNAME FROM ZPERSON", of: new) == ["Ann"])
    }

    @Test("NSPersistentContainer(name:)")
    func byName() async {
        await #expect(processExitsWith: .failure) {
            // There is no such model among the resources of the tests.
            _ = NSPersistentContainer(name: "Nowhere")
        }
    }

    @Test("container.persistentStoreDescriptions.first?.url =")
    func describedURL() {
        let container = NSPersistentContainer(name: "Library", managedObjectModel: Library.model())
        #expect(container.persistentStoreDescriptions.first?.url?.lastPathComponent == "Library.sqlite")
        container.persistentStoreDescriptions.first?.url = URL(fileURLWithPath: "/dev/null")
        #expect(container.persistentStoreDescriptions.first?.type == NSInMemoryStoreType)
    }

    @Test("description.shouldMigrateStoreAutomatically / shouldInferMappingModelAutomatically")
    func automaticMigration() {
        let description = NSPersistentStoreDescription(url: url)
        #expect(description.shouldMigrateStoreAutomatically && description.shouldInferMappingModelAutomatically)
        description.shouldMigrateStoreAutomatically = false
        description.shouldInferMappingModelAutomatically = false
        #expect(!description.shouldMigrateStoreAutomatically && !description.shouldInferMappingModelAutomatically)
    }

    @Test("description.type = NSInMemoryStoreType / shouldAddStoreAsynchronously / isReadOnly")
    func describedType() async throws {
        let container = NSPersistentContainer(name: "Library", managedObjectModel: Library.model())
        let description = NSPersistentStoreDescription()
        description.type = NSInMemoryStoreType
        description.shouldAddStoreAsynchronously = true
        description.isReadOnly = false
        container.persistentStoreDescriptions = [description]
        await withCheckedContinuation { done in container.loadPersistentStores { _, _ in done.resume() } }
        #expect(container.persistentStoreCoordinator.persistentStores.map(\.type) == [NSInMemoryStoreType])
    }

    @Test("description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)")
    func historyOption() throws {
        _ = try Library.container(at: url, history: true)
        let tables = try SQLiteShell.rows("SELECT name FROM sqlite_master", of: url)
        #expect(tables.contains("ATRANSACTION") && tables.contains("ACHANGE"))
    }

    @Test("description.setOption(.., forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)")
    func remoteChangeOption() throws {
        let container = NSPersistentContainer(name: "Library", managedObjectModel: Library.model())
        let description = NSPersistentStoreDescription(url: url)
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        description.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
        container.persistentStoreDescriptions = [description]
        container.loadPersistentStores { _, error in #expect(error == nil) }
        let notes = Notes(.NSPersistentStoreRemoteChange, of: container.persistentStoreCoordinator)
        Library.person("Ann", in: container.viewContext)
        try container.viewContext.save()
        #expect(notes.list.count == 1)
        #expect(notes.list.first?.userInfo?[NSPersistentStoreURLKey] as? URL == url)
        #expect(notes.list.first?.userInfo?[NSPersistentHistoryTokenKey] is NSPersistentHistoryToken)
        let options = container.persistentStoreCoordinator.persistentStores.first?.options
        #expect(options?[NSPersistentHistoryTrackingKey] as? NSNumber == true)
    }

    @Test("shouldAddStoreAsynchronously: each of several stores has its own options")
    func asynchronousStores() async throws {
        let container = NSPersistentContainer(name: "Library", managedObjectModel: Library.model())
        container.persistentStoreDescriptions = (1...8).map { number in
            let file = url.deletingLastPathComponent().appendingPathComponent("\(number).sqlite")
            let description = NSPersistentStoreDescription(url: file)
            description.shouldAddStoreAsynchronously = true
            description.setOption(NSNumber(value: number), forKey: NSPersistentStoreTimeoutOption)
            return description
        }
        let opened = AsyncStream<String?> { stream in
            container.loadPersistentStores { _, error in stream.yield(error.map { "\($0)" }) }
        }
        var count = 0
        for await failure in opened {
            #expect(failure == nil)
            count += 1
            if count == 8 { break }
        }
        let stores = container.persistentStoreCoordinator.persistentStores
        #expect(stores.count == 8)
        for store in stores {
            let number = store.url?.deletingPathExtension().lastPathComponent
            #expect((store.options?[NSPersistentStoreTimeoutOption] as? NSNumber)?.stringValue == number)
        }
    }

    @Test("options dictionary with the old key strings (NSMigratePersistentStoresAutomaticallyOption)")
    func optionsDictionary() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        let options: [AnyHashable: Any] = [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        ]
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
        #expect(store.url == url && coordinator.persistentStores.contains(store))
    }

    @Test("addPersistentStore(type:configuration:at:options:)")
    func addingByType() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        let store = try coordinator.addPersistentStore(type: .sqlite, configuration: nil, at: url, options: nil)
        #expect(coordinator.persistentStore(for: url) == store)
        #expect(coordinator.url(for: store) == url)
    }

    @Test("global constant NSSQLiteStoreType")
    func storeTypes() { #expect([NSSQLiteStoreType, NSInMemoryStoreType] == ["SQLite", "InMemory"]) }

    @Test("container.newBackgroundContext, viewContext.shouldDeleteInaccessibleFaults, stalenessInterval")
    func backgroundContext() throws {
        let container = try Library.container()
        let context = container.newBackgroundContext()
        #expect(context.concurrencyType == .privateQueueConcurrencyType)
        #expect(container.viewContext.concurrencyType == .mainQueueConcurrencyType)
        #expect(context.stalenessInterval < 0)
        container.viewContext.shouldDeleteInaccessibleFaults = true
        Library.person("Ann", in: container.viewContext)
        try container.viewContext.save()
        let fetch = NSFetchRequest<NSFetchRequestResult>(entityName: "Person")
        let fault = try #require(context.fetch(NSFetchRequest<Person>(entityName: "Person")).first)
        context.refresh(fault, mergeChanges: false)
        try container.viewContext.execute(NSBatchDeleteRequest(fetchRequest: fetch))
        #expect(fault.value(forKey: "name") == nil)
    }

    @Test("NSPersistentStoreCoordinator.metadataForPersistentStore(type:at:) / (ofType:at:options:)")
    func metadata() throws {
        let container = try Library.container(at: url)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSSQLiteStoreType, at: url, options: nil)
        let same = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        #expect(metadata[NSStoreUUIDKey] as? String == same[NSStoreUUIDKey] as? String)
        #expect(container.managedObjectModel.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    }

    @Test("replacePersistentStore / destroyPersistentStore / migratePersistentStore / remove(store)")
    func files() throws {
        let container = try Library.container(at: url)
        Library.person("Ann", in: container.viewContext)
        try container.viewContext.save()
        let coordinator = container.persistentStoreCoordinator
        let copy = url.deletingLastPathComponent().appendingPathComponent("Copy.sqlite")
        let moved = try coordinator.migratePersistentStore(
            coordinator.persistentStores[0], to: copy, options: nil, withType: NSSQLiteStoreType)
        #expect(moved.url == copy)
        try coordinator.remove(moved)
        try coordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType, options: nil)
        #expect(try SQLiteShell.rows("SELECT count(*) FROM sqlite_master", of: url) == ["0"])
        try coordinator.replacePersistentStore(
            at: url, destinationOptions: nil, withPersistentStoreFrom: copy, sourceOptions: nil,
            ofType: NSSQLiteStoreType)
        #expect(try SQLiteShell.rows("SELECT ZNAME FROM ZPERSON", of: url) == ["Ann"])
    }

    @Test("destroyPersistentStore(at:type:options:)")
    func destroying() throws {
        let container = try Library.container(at: url)
        let context = container.viewContext
        let (ann, bob) = (Library.person("Ann", in: context), Library.person("Bob", in: context))
        try context.save()
        ann.age = 7
        context.delete(bob)
        let coordinator = container.persistentStoreCoordinator
        try coordinator.destroyPersistentStore(at: url, type: .sqlite, options: nil)
        #expect(try SQLiteShell.rows("SELECT count(*) FROM sqlite_master", of: url) == ["0"])
        try coordinator.addPersistentStore(type: .sqlite, at: url)
        #expect(try context.count(for: NSFetchRequest<Person>(entityName: "Person")) == 0)
        let error = #expect(throws: NSError.self) { try context.save() }
        #expect(error?.code == NSManagedObjectReferentialIntegrityError)
        context.reset()
        Library.person("Cid", in: context)
        try context.save()
        #expect(try SQLiteShell.rows("SELECT ZNAME FROM ZPERSON", of: url) == ["Cid"])
    }

    @Test("replacePersistentStore over the open store, then addPersistentStore: restore a backup")
    func restoring() throws {
        let container = try Library.container(at: url)
        let coordinator = container.persistentStoreCoordinator
        let ann = Library.person("Ann", in: container.viewContext)
        try container.viewContext.save()
        let copy = url.deletingLastPathComponent().appendingPathComponent("Copy.sqlite")
        try coordinator.replacePersistentStore(at: copy, withPersistentStoreFrom: url, type: .sqlite)
        ann.name = "Bob"
        try container.viewContext.save()
        let changes = Notes(.NSPersistentStoreCoordinatorStoresDidChange, of: coordinator)
        try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: copy, type: .sqlite)
        let removed = changes.list.first?.userInfo?[NSRemovedPersistentStoresKey] as? [NSPersistentStore]
        #expect(removed?.map(\.url) == [url] && coordinator.persistentStores.isEmpty)
        try coordinator.addPersistentStore(type: .sqlite, at: url)
        #expect(ann.name == "Ann")
    }

    @Test("migratePersistentStore(_:to:options:type:)")
    func migrating() throws {
        let container = try Library.container(at: url)
        let coordinator = container.persistentStoreCoordinator
        let copy = url.deletingLastPathComponent().appendingPathComponent("Copy.sqlite")
        try coordinator.migratePersistentStore(coordinator.persistentStores[0], to: copy, options: nil, type: .sqlite)
        #expect(coordinator.persistentStores.map(\.url) == [copy])
    }

    @Test("options that Core Data does not know, such as an app's own and NSPersistentStoreFileProtectionKey")
    func ownOptions() throws {
        let container = NSPersistentContainer(name: "Library", managedObjectModel: Library.model())
        let description = NSPersistentStoreDescription(url: url)
        description.setOption("value" as NSString, forKey: "com.example.key")
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        #expect(failure == nil && description.options["com.example.key"] as? NSString == "value")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url,
            options: ["NSPersistentStoreFileProtectionKey": "NSFileProtectionComplete"])
        #expect(store.url == url)
    }
}
