import MoultNSCoreData
import TestSupport
import Testing

@Suite struct MigrationIdioms {
    let folder: ScratchFolder
    let url: URL

    init() throws {
        folder = try ScratchFolder()
        url = URL(fileURLWithPath: folder.path).appendingPathComponent("Library.sqlite")
        let container = try Library.container(at: url)
        Library.person("Ann", 30, in: container.viewContext)
        try container.viewContext.save()
        let coordinator = container.persistentStoreCoordinator
        try coordinator.remove(coordinator.persistentStores[0])
    }

    private func newer() -> NSManagedObjectModel {
        Library.model { person, _ in person.properties.append(Library.attribute("nickname", .string, "none")) }
    }

    @Test("an older store is migrated when a container loads it")
    func automatic() throws {
        let container = try Library.container(newer(), at: url)
        let people = try container.viewContext.fetch(NSFetchRequest<Person>(entityName: "Person"))
        #expect(people.map(\.name) == ["Ann"] && people.first?.value(forKey: "nickname") as? String == "none")
    }

    @Test("NSMigrationManager(sourceModel:destinationModel:).migrateStore")
    func manager() throws {
        let manager = NSMigrationManager(sourceModel: Library.model(), destinationModel: newer())
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: manager.sourceModel, destinationModel: manager.destinationModel)
        let copy = url.deletingLastPathComponent().appendingPathComponent("Newer.sqlite")
        try manager.migrateStore(
            from: url, sourceType: NSSQLiteStoreType, options: nil, with: mapping, toDestinationURL: copy,
            destinationType: NSSQLiteStoreType, destinationOptions: nil)
        #expect(manager.migrationProgress == 1)
        #expect(try SQLiteShell.rows("SELECT ZNAME || ZNICKNAME FROM ZPERSON", of: copy) == ["Annnone"])
        #expect(try SQLiteShell.rows("SELECT ZNAME FROM ZPERSON", of: url) == ["Ann"])
    }

    @Test("NSMappingModel(from:forSourceModel:destinationModel:)")
    func mappingInBundles() {
        #expect(NSMappingModel(from: nil, forSourceModel: Library.model(), destinationModel: newer()) == nil)
    }

    @Test("NSMappingModel.inferredMappingModel")
    func inferred() throws {
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: Library.model(), destinationModel: newer())
        #expect(Set(mapping.entityMappings.compactMap(\.destinationEntityName)) == ["Person", "Post"])
        let other = Library.model { person, _ in
            person.properties = person.properties.filter { $0.name != "age" } + [Library.attribute("age", .binaryData)]
        }
        let error = #expect(throws: NSError.self) {
            try NSMappingModel.inferredMappingModel(forSourceModel: Library.model(), destinationModel: other)
        }
        #expect(error?.code == NSInferredMappingModelError)
    }

    @Test("NSStagedMigrationManager([NSCustomMigrationStage(migratingFrom:to:)]) handlers")
    func staged() throws {
        let (old, new) = (Library.model(), newer())
        let stage = NSCustomMigrationStage(
            migratingFrom: NSManagedObjectModelReference(model: old, versionChecksum: old.versionChecksum),
            to: NSManagedObjectModelReference(model: new, versionChecksum: new.versionChecksum))
        stage.label = "nicknames"
        stage.didMigrateHandler = { manager, _ in
            guard let context = manager.container?.newBackgroundContext() else { return }
            try context.performAndWait {
                for person in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")) {
                    person.setValue("\(person.value(forKey: "name") ?? "")y", forKey: "nickname")
                }
                try context.save()
            }
        }
        let container = NSPersistentContainer(name: "Library", managedObjectModel: new)
        let description = NSPersistentStoreDescription(url: url)
        description.setOption(
            NSStagedMigrationManager([stage]), forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
        container.persistentStoreDescriptions = [description]
        container.loadPersistentStores { _, error in #expect(error == nil) }
        #expect(try SQLiteShell.rows("SELECT ZNICKNAME FROM ZPERSON", of: url) == ["Anny"])
    }

    @Test("description.setOption(manager, forKey: NSPersistentStoreStagedMigrationManagerOptionKey)")
    func stagedOption() {
        let manager = NSStagedMigrationManager([NSLightweightMigrationStage([Library.model().versionChecksum])])
        let description = NSPersistentStoreDescription(url: url)
        description.setOption(manager, forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
        #expect(description.options[NSPersistentStoreStagedMigrationManagerOptionKey] === manager)
    }
}
