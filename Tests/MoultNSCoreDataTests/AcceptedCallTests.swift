import MoultNSCoreData
import TestSupport
import Testing

/// Calls that Core Data accepts. If one of them ended the program, the whole test run would end.
@Suite struct AcceptedCallTests {
    let folder: ScratchFolder
    let url: URL

    init() throws {
        folder = try ScratchFolder()
        url = URL(fileURLWithPath: folder.path).appendingPathComponent("Library.sqlite")
    }

    @Test func `An entity outside a model has the hash of what is known of it`() throws {
        let entity = NSEntityDescription()
        entity.name = "Card"
        entity.properties = [Library.attribute("suit", .string), Library.attribute("rank", .integer16)]
        let alone = entity.versionHash
        #expect(alone.count == 32)
        let model = NSManagedObjectModel()
        model.entities = [entity]
        #expect(model.entityVersionHashesByName == ["Card": alone])
        let leads = NSRelationshipDescription()
        leads.name = "next"
        entity.properties.append(leads)
        // The model is not complete, and a coordinator would refuse it.
        #expect(entity.versionHash.count == 32 && entity.versionHash != alone)
        #expect(model.entityVersionHashesByName == ["Card": entity.versionHash])
        #expect(!model.versionChecksum.isEmpty)
        #expect(!model.isConfiguration(withName: nil, compatibleWithStoreMetadata: [:]))
    }

    @Test func `A results controller without an order, and an expression in a format`() throws {
        let context = try Library.container(at: url).viewContext
        for (name, age) in [("Ann", 30), ("Bob", 20)] { Library.person(name, Int16(age), in: context) }
        try context.save()
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.sortDescriptors = []
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        try controller.performFetch()
        #expect(controller.fetchedObjects?.count == 2 && controller.sections?.count == 1)
        request.predicate = NSPredicate(format: "%@ > 25", MoultNSCoreData.NSExpression(forKeyPath: "age"))
        #expect(try context.fetch(request).map(\.name) == ["Ann"])
    }

    @Test func `A store of an unknown type fails when it is loaded`() throws {
        let container = NSPersistentContainer(name: "Library", managedObjectModel: Library.model())
        let unknown = NSPersistentStoreDescription(url: url)
        unknown.type = "XML"
        #expect(unknown.type == "XML")
        let known = NSPersistentStoreDescription()
        known.type = NSInMemoryStoreType
        container.persistentStoreDescriptions = [unknown, known]
        var codes: [Int?] = []
        container.loadPersistentStores { _, error in codes.append((error as NSError?)?.code) }
        #expect(codes == [NSPersistentStoreInvalidTypeError, nil])
        unknown.type = NSSQLiteStoreType
        container.persistentStoreDescriptions = [unknown]
        container.loadPersistentStores { _, error in codes.append((error as NSError?)?.code) }
        #expect(codes.last == .some(nil))
        let error = #expect(throws: NSError.self) {
            try container.persistentStoreCoordinator.addPersistentStore(
                ofType: NSBinaryStoreType, configurationName: nil, at: url)
        }
        #expect(error?.code == NSPersistentStoreInvalidTypeError)
    }

    @Test func `A closed store has its last metadata`() throws {
        let coordinator = try Library.container(at: url).persistentStoreCoordinator
        let store = try #require(coordinator.persistentStores.first)
        coordinator.setMetadata(["app": "one"], for: store)
        try coordinator.remove(store)
        #expect(store.metadata[NSStoreUUIDKey] as? String == store.identifier)
        #expect(coordinator.metadata(for: store)["app"] as? String == "one")
        coordinator.setMetadata(["app": "two"], for: store)
        #expect(store.metadata["app"] as? String == "two")
        let kept = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        #expect(kept["app"] as? String == "one")
    }

    /// Core Data checks the class of a value alone. The expected values are those of `NSNumber.int16Value`,
    /// `int32Value` and `boolValue`.
    @Test func `A number of another kind becomes one of the attribute's kind`() throws {
        let model = Library.model { person, _ in
            person.properties += [Library.attribute("large", .integer64), Library.attribute("share", .double)]
        }
        let context = try Library.container(model, at: url).viewContext
        let ann = Library.person("Ann", in: context)
        let numbers: [(NSNumber, Int16)] = [
            (NSNumber(value: 3.7), 3), (NSNumber(value: -3.7), -3), (NSNumber(value: 1 << 40), 0),
            (NSNumber(value: 40_000), -25_536), (NSNumber(value: true), 1), (NSNumber(value: Double.nan), 0),
            (NSDecimalNumber(string: "12.9"), 12),
        ]
        for (number, age) in numbers {
            ann.setValue(number, forKey: "age")
            #expect(ann.age == age, "\(number)")
        }
        for (number, flag) in [(2.0, true), (0.5, true), (0.0, false)] {
            ann.setValue(NSNumber(value: number), forKey: "isActive")
            #expect(ann.isActive == flag, "\(number)")
        }
        for flag in [true, false] {
            ann.setValue(flag, forKey: "share")
            #expect(ann.value(forKey: "share") as? Double == (flag ? 1 : 0))
        }
        // No `Double` has all of these digits.
        for whole in [9_007_199_254_740_993, -9_007_199_254_740_993] as [Int64] {
            ann.setValue(NSDecimalNumber(string: "\(whole).5"), forKey: "large")
            #expect(ann.value(forKey: "large") as? Int64 == whole)
        }
        for number in [Int64.max, Int64.max - 1, Int64.min] {
            ann.setValue(NSNumber(value: number), forKey: "large")
            #expect(ann.value(forKey: "large") as? Int64 == number)
        }
        let post = Post(context: context)
        post.setValue(NSNumber(value: (1 << 40) + 7), forKey: "pages")
        try context.save()
        let sql = "SELECT ZAGE, ZISACTIVE, ZLARGE FROM ZPERSON; SELECT ZPAGES FROM ZPOST"
        #expect(try SQLiteShell.rows(sql, of: url) == ["12|0|-9223372036854775808", "7"])
    }

    /// Foundation bridges nil to the empty value of these types; of a date, as of others, there is none.
    @Test func `A missing value is empty where Foundation has an empty value`() async throws {
        let context = try Library.container(Unset.model(), at: url).viewContext
        let object = Unset(context: context)
        (object.name, object.photo, object.balance) = ("Ann", Data([1]), 2.5)
        #expect(object.photo == Data([1]) && object.balance == 2.5 && object.tags == [:])
        try context.save()
        context.delete(object)
        try context.save()
        #expect(object.name == "" && object.photo == Data() && object.balance == 0 && object.tags == [:])
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let context = try Library.container(Unset.model()).viewContext
            _ = Unset(context: context).born
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("Unset.born: The property has no value."))
    }

    final class Refusing: ValueTransformer {
        override func transformedValue(_ value: Any?) -> Any? { nil }
        override func reverseTransformedValue(_ value: Any?) -> Any? { nil }
    }

    /// Core Data warns of a transformer that is not registered, and takes the default one.
    @Test func `A missing transformer is the default one, and one that fails makes the save fail`() throws {
        ValueTransformer.setValueTransformer(Refusing(), forName: NSValueTransformerName("Refusing"))
        let model = Library.model { person, _ in
            person.attributesByName["tags"]?.valueTransformerName = "Nowhere"
            let secret = Library.attribute("secret", .transformable)
            secret.valueTransformerName = "Refusing"
            person.properties.append(secret)
        }
        let context = try Library.container(model, at: url).viewContext
        let ann = Library.person("Ann", in: context)
        ann.tags = NSArray(array: ["a", "b"])
        try context.save()
        context.refresh(ann, mergeChanges: false)
        #expect(ann.tags?.compactMap { $0 as? String } == ["a", "b"])
        ann.setValue("abc", forKey: "secret")
        #expect(throws: NSError.self) { try context.save() }
        _ = try SQLiteShell.rows("UPDATE ZPERSON SET ZSECRET = x'00'", of: url)
        context.refresh(ann, mergeChanges: false)
        #expect(ann.value(forKey: "secret") == nil && ann.name == "Ann" && !context.hasChanges)
        #expect(ann.committedValues(forKeys: ["secret"])["secret"] is NSNull)
    }

    @Test func `A change of a key that is no property changes nothing`() throws {
        let context = try Library.container(at: url).viewContext
        let ann = Library.person("Ann", in: context)
        try context.save()
        ann.willAccessValue(forKey: "fullName")
        ann.didAccessValue(forKey: "fullName")
        ann.willChangeValue(forKey: "fullName")
        ann.didChangeValue(forKey: "fullName")
        #expect(!ann.hasChanges)
    }

    /// A cast of `NSFetchRequest<Person>` fails on Linux; this form compiles on both platforms.
    @Test func `A class's own fetch request is that of a batch deletion`() throws {
        let context = try Library.container(at: url).viewContext
        Library.person("Ann", in: context)
        try context.save()
        let request: NSFetchRequest<any NSFetchRequestResult> = Post.fetchRequest()
        #expect(try context.execute(NSBatchDeleteRequest(fetchRequest: request)) is NSBatchDeleteResult)
        let people = NSFetchRequest<any NSFetchRequestResult>(entityName: "Person")
        let batch = NSBatchDeleteRequest(fetchRequest: people)
        batch.resultType = .resultTypeCount
        #expect((try context.execute(batch) as? NSBatchDeleteResult)?.result as? Int == 1)
    }

    @Test func `Nothing to delete, and notifications that name nothing known`() throws {
        let context = try Library.container(at: url).viewContext
        Library.person("Ann", in: context)
        try context.save()
        let request = NSBatchDeleteRequest(objectIDs: [])
        request.resultType = .resultTypeCount
        #expect((try context.execute(request) as? NSBatchDeleteResult)?.result as? Int == 0)
        context.mergeChanges(fromContextDidSave: Notification(name: Notification.Name("Other")))
        let unknown = try #require(URL(string: "x-coredata://\(UUID().uuidString)/Nobody/p1"))
        let loose = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        let changes: [AnyHashable: Any] = [NSUpdatedObjectsKey: [unknown], NSDeletedObjectsKey: [unknown]]
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [context, loose])
        #expect(context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: unknown) == nil)
        #expect(try context.count(for: NSFetchRequest<Person>(entityName: "Person")) == 1)
        #expect(throws: NSError.self) { try loose.execute(NSBatchDeleteRequest(objectIDs: [])) }
    }

    @Test func `A refresh of changed objects whose rows are gone`() throws {
        let container = try Library.container(at: url)
        let context = container.viewContext
        let (ann, bob) = (Library.person("Ann", in: context), Library.person("Bob", in: context))
        try context.save()
        ann.age = 5
        try container.newBackgroundContext().execute(NSBatchDeleteRequest(objectIDs: [ann.objectID]))
        context.refresh(ann, mergeChanges: true)
        context.refreshAllObjects()
        #expect(ann.age == 5 && bob.isFault)
    }

    @Test func `The entity of an identity whose model is gone has its name`() throws {
        let id = try {
            let entity = NSEntityDescription()
            entity.name = "Solitaire"
            entity.properties = [Library.attribute("name", .string)]
            let model = NSManagedObjectModel()
            model.entities = [entity]
            let context = try Library.container(model, at: url).viewContext
            let object = NSEntityDescription.insertNewObject(forEntityName: "Solitaire", into: context)
            try context.save()
            return object.objectID
        }()
        #expect(id.entity.name == "Solitaire")
    }

    @Test func `A mapping that cannot run fails in the migration`() throws {
        let coordinator = try Library.container(at: url).persistentStoreCoordinator
        try coordinator.remove(coordinator.persistentStores[0])
        let manager = NSMigrationManager(sourceModel: Library.model(), destinationModel: Library.model())
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: manager.sourceModel, destinationModel: manager.destinationModel)
        let person = try #require(mapping.entityMappings.first { $0.sourceEntityName == "Person" })
        let usual = person.sourceExpression
        let constant = MoultNSCoreData.NSExpression(forConstantValue: 1)
        person.sourceExpression = constant
        #expect(person.sourceExpression === constant)
        let copy = url.deletingLastPathComponent().appendingPathComponent("Copy.sqlite")
        #expect(throws: NSError.self) {
            try manager.migrateStore(from: url, type: .sqlite, mapping: mapping, to: copy, type: .sqlite)
        }
        #expect(!FileManager.default.fileExists(atPath: copy.path))
        person.sourceExpression = usual
        #expect(manager.destinationInstances(forEntityMappingName: "none", sourceInstances: nil).isEmpty)
        #expect(manager.sourceContext.persistentStoreCoordinator?.persistentStores.isEmpty == true)
    }
}

/// A person whose properties are not optional, as Xcode's generator writes them for attributes that are not.
final class Unset: NSManagedObject {
    @Managed var name: String
    @Managed var photo: Data
    @Managed var balance: Decimal
    @Managed var tags: [String: Int]
    @Managed var born: Date

    static func model() -> NSManagedObjectModel {
        Library.model { person, _ in person.managedObjectClassName = NSStringFromClass(Unset.self) }
    }
}
