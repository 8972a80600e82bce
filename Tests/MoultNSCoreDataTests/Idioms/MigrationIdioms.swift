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
        // The source stays, so that no backup of its copy is needed.
        let sidecar = copy.path + ".moult/backups"
        #expect(
            try !FileManager.default.fileExists(atPath: sidecar)
                || FileManager.default.contentsOfDirectory(atPath: sidecar).isEmpty)
    }

    @Test("migrateStore leaves a store at its destination alone")
    func occupiedDestination() throws {
        let other = url.deletingLastPathComponent().appendingPathComponent("Other.sqlite")
        let container = try Library.container(at: other)
        Library.person("Bob", in: container.viewContext)
        try container.viewContext.save()
        try container.persistentStoreCoordinator.remove(container.persistentStoreCoordinator.persistentStores[0])
        let manager = NSMigrationManager(sourceModel: Library.model(), destinationModel: newer())
        for place in [other, url] {
            #expect(throws: NSError.self) {
                try manager.migrateStore(
                    from: url, sourceType: NSSQLiteStoreType, options: nil, with: nil, toDestinationURL: place,
                    destinationType: NSSQLiteStoreType, destinationOptions: nil)
            }
        }
        #expect(try SQLiteShell.rows("SELECT ZNAME FROM ZPERSON", of: other) == ["Bob"])
        #expect(try SQLiteShell.rows("SELECT ZNAME FROM ZPERSON", of: url) == ["Ann"])
    }

    @Test("NSMappingModel(from:forSourceModel:destinationModel:)")
    func mappingInBundles() {
        #expect(NSMappingModel(from: nil, forSourceModel: Library.model(), destinationModel: newer()) == nil)
    }

    @Test("NSEntityMapping.userInfo in a policy, and mappings changed in place")
    func changedMapping() throws {
        func migrate(_ change: (NSEntityMapping) throws -> Void) throws -> [String] {
            let manager = NSMigrationManager(sourceModel: Library.model(), destinationModel: newer())
            let mapping = try NSMappingModel.inferredMappingModel(
                forSourceModel: manager.sourceModel, destinationModel: manager.destinationModel)
            let person = mapping.entityMappings.first { $0.destinationEntityName == "Person" }
            try change(try #require(person))
            let copy = url.deletingLastPathComponent().appendingPathComponent("\(UUID()).sqlite")
            try manager.migrateStore(
                from: url, sourceType: NSSQLiteStoreType, options: nil, with: mapping, toDestinationURL: copy,
                destinationType: NSSQLiteStoreType, destinationOptions: nil)
            return try SQLiteShell.rows("SELECT ZNAME || ZNICKNAME FROM ZPERSON", of: copy)
        }
        let ofPolicy = try migrate { person in
            person.userInfo = ["nickname": "Annie"]
            person.entityMigrationPolicyClassName = NSStringFromClass(Noting.self)
        }
        #expect(ofPolicy == ["AnnAnnie"])
        let ofExpression = try migrate { person in
            let nickname = try #require(person.attributeMappings?.first { $0.name == "nickname" })
            nickname.valueExpression = MoultNSCoreData.NSExpression(forConstantValue: "Nan")
        }
        #expect(ofExpression == ["AnnNan"])
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

    @Test("NSEntityMigrationPolicy that inserts and associates, and leaves relationships to the mapping")
    func insertedLinks() throws {
        do {
            let container = try Library.container(at: url)
            let post = Post(context: container.viewContext)
            post.title = "One"
            post.author = Library.person("Bob", in: container.viewContext)
            try container.viewContext.save()
            let coordinator = container.persistentStoreCoordinator
            try coordinator.remove(coordinator.persistentStores[0])
        }
        let manager = NSMigrationManager(sourceModel: Library.model(), destinationModel: newer())
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: manager.sourceModel, destinationModel: manager.destinationModel)
        for entity in mapping.entityMappings where entity.sourceEntityName == "Post" {
            entity.entityMigrationPolicyClassName = NSStringFromClass(PostPolicy.self)
        }
        let copy = url.deletingLastPathComponent().appendingPathComponent("Inserted.sqlite")
        try manager.migrateStore(
            from: url, sourceType: NSSQLiteStoreType, options: nil, with: mapping, toDestinationURL: copy,
            destinationType: NSSQLiteStoreType, destinationOptions: nil)
        #expect(
            try SQLiteShell.rows("SELECT ZTITLE, ZNAME FROM ZPOST JOIN ZPERSON ON ZAUTHOR = ZPERSON.Z_PK", of: copy)
                == ["ONE|Bob"])
    }

    @Test("NSEntityMigrationPolicy with insertNewObject, associate and destinationContext")
    func policy() throws {
        do {
            let container = try Library.container(at: url)
            let bob = Library.person("Bob", 20, in: container.viewContext)
            let post = Post(context: container.viewContext)
            post.title = "One"
            post.author = bob
            Library.person("Bob", 21, in: container.viewContext)
            Library.person("", 1, in: container.viewContext)
            try container.viewContext.save()
            let coordinator = container.persistentStoreCoordinator
            try coordinator.remove(coordinator.persistentStores[0])
        }
        let manager = NSMigrationManager(sourceModel: Library.model(), destinationModel: newer())
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: manager.sourceModel, destinationModel: manager.destinationModel)
        for entity in mapping.entityMappings where entity.sourceEntityName == "Person" {
            entity.entityMigrationPolicyClassName = NSStringFromClass(NamePolicy.self)
            entity.mappingType = .customEntityMappingType
        }
        let copy = url.deletingLastPathComponent().appendingPathComponent("Split.sqlite")
        try manager.migrateStore(
            from: url, sourceType: NSSQLiteStoreType, options: nil, with: mapping, toDestinationURL: copy,
            destinationType: NSSQLiteStoreType, destinationOptions: nil)
        #expect(
            try SQLiteShell.rows("SELECT ZNAME, ZAGE, ZNICKNAME FROM ZPERSON ORDER BY ZNAME", of: copy)
                == ["ANN|30|of 0", "BOB|20|of 1"])
        #expect(
            try SQLiteShell.rows("SELECT ZTITLE, ZNAME FROM ZPOST JOIN ZPERSON ON ZAUTHOR = ZPERSON.Z_PK", of: copy)
                == ["One|BOB"])
        #expect(manager.userInfo?["people"] as? [String] == ["ANN", "BOB"])
        #expect(manager.userInfo?["sources"] as? Int ?? 0 >= 2)
    }
}

final class PostPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        let post = NSEntityDescription.insertNewObject(forEntityName: "Post", into: manager.destinationContext)
        post.setValue((sInstance.value(forKey: "title") as? String)?.uppercased(), forKey: "title")
        post.setValue(sInstance.value(forKey: "pages"), forKey: "pages")
        manager.associate(sourceInstance: sInstance, withDestinationInstance: post, for: mapping)
    }
}

/// Splits a name, as in Core Data's guide to migrations.
final class NamePolicy: NSEntityMigrationPolicy {
    private var seen: [String: NSManagedObject] = [:]

    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        guard mapping.sourceEntityName == "Person", let name = sInstance.value(forKey: "name") as? String else {
            return try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        }
        if name.isEmpty { return }
        if let known = seen[name] {
            manager.associate(sourceInstance: sInstance, withDestinationInstance: known, for: mapping)
            return
        }
        let context = manager.destinationContext
        let new = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
        new.setValue(name.uppercased(), forKey: "name")
        for key in ["age", "isActive"] { new.setValue(sInstance.value(forKey: key), forKey: key) }
        new.setValue("of \((sInstance.value(forKey: "posts") as? NSSet)?.count ?? 0)", forKey: "nickname")
        manager.associate(sourceInstance: sInstance, withDestinationInstance: new, for: mapping)
        seen[name] = new
    }

    override func createRelationships(
        forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
        let sources = manager.sourceInstances(
            forEntityMappingName: mapping.name, destinationInstances: [dInstance])
        manager.userInfo = ["sources": (manager.userInfo?["sources"] as? Int ?? 0) + sources.count]
    }

    override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        let people = try manager.destinationContext.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))
        manager.userInfo?["people"] = people.compactMap { $0.value(forKey: "name") as? String }.sorted()
    }
}

/// Takes a value from the notes of its mapping.
final class Noting: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        let made = NSEntityDescription.insertNewObject(
            forEntityName: mapping.destinationEntityName ?? "", into: manager.destinationContext)
        for key in sInstance.entity.attributesByName.keys {
            made.setValue(sInstance.value(forKey: key), forKey: key)
        }
        made.setValue(mapping.userInfo?["nickname"], forKey: "nickname")
        manager.associate(sourceInstance: sInstance, withDestinationInstance: made, for: mapping)
    }
}
