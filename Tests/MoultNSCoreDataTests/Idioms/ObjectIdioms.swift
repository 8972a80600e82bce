import MoultNSCoreData
import TestSupport
import Testing

@Suite struct ObjectIdioms {
    let container: NSPersistentContainer
    var context: NSManagedObjectContext { container.viewContext }

    init() throws { container = try Library.container() }

    @Test("object.setValue(_:forKey:) without try; object.value(forKey:) without try")
    func keyValue() throws {
        let ann = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
        ann.setValue("Ann", forKey: "name")
        ann.setValue(30, forKey: "age")
        #expect(ann.value(forKey: "name") as? String == "Ann")
        #expect(ann.value(forKey: "age") as? Int == 30 && ann.value(forKey: "age") as? Int16 == 30)
        #expect(ann.value(forKey: "isActive") as? Bool == true)
        #expect(ann.value(forKey: "born") == nil)
        ann.setValuesForKeys(["age": 31])
        #expect(ann.dictionaryWithValues(forKeys: ["age"])["age"] as? Int == 31)
    }

    @Test("an unknown key ends the program with the entity and the key")
    func unknownKey() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let container = try Library.container()
            _ = Library.person("Ann", in: container.viewContext).value(forKey: "nmae")
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("value(forKey: \"nmae\")") && text.contains("Person has no property nmae"))
        #expect(text.contains("NSInvalidArgumentException"))
    }

    @Test("a stored value of another type is nil, and ends nothing")
    func unfitting() throws {
        let folder = try ScratchFolder()
        let url = URL(fileURLWithPath: folder.path + "/a.sqlite")
        func container() throws -> NSPersistentContainer {
            let container = NSPersistentContainer(name: "a", managedObjectModel: Library.model())
            container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
            container.loadPersistentStores { #expect($1 == nil) }
            return container
        }
        let first = try container()
        _ = Library.person("Ann", in: first.viewContext)
        try first.viewContext.save()
        for store in first.persistentStoreCoordinator.persistentStores {
            try first.persistentStoreCoordinator.remove(store)
        }
        _ = try SQLiteShell.run(url.path, "UPDATE ZPERSON SET ZAGE = 'old'")
        let context = try container().viewContext
        let ann = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).first)
        #expect(ann.value(forKey: "age") == nil && ann.value(forKeyPath: "age") == nil)
        ann.setValue("Anne", forKey: "name")
        try context.save()
        #expect(try SQLiteShell.run(url.path, "SELECT ZNAME, ZAGE FROM ZPERSON") == "Anne|old\n")
    }

    @Test("primitiveValue / willAccessValue / setPrimitiveValue")
    func primitive() {
        let ann = Library.person("Ann", in: context)
        ann.willAccessValue(forKey: "name")
        #expect(ann.primitiveValue(forKey: "name") as? String == "Ann")
        ann.didAccessValue(forKey: "name")
        ann.willChangeValue(forKey: "name")
        ann.setPrimitiveValue("Eve", forKey: "name")
        ann.didChangeValue(forKey: "name")
        #expect(ann.name == "Eve")
    }

    @Test("changedValues / committedValues / isInserted / isUpdated / isDeleted / isFault / hasChanges / isTemporaryID")
    func state() throws {
        let ann = Library.person("Ann", 1, in: context)
        #expect(ann.isInserted && ann.hasChanges && ann.objectID.isTemporaryID)
        try context.save()
        #expect(!ann.isInserted && !ann.objectID.isTemporaryID && !ann.isFault)
        ann.age = 2
        #expect(ann.isUpdated && ann.changedValues()["age"] as? Int == 2)
        #expect(ann.committedValues(forKeys: ["age"])["age"] as? Int == 1)
        context.delete(ann)
        #expect(ann.isDeleted)
    }

    @Test("changedValues / committedValues of relationships are objects")
    func relationshipChanges() throws {
        let (ann, bob) = (Library.person("Ann", in: context), Library.person("Bob", in: context))
        let (first, second) = (Post(context: context), Post(context: context))
        first.author = ann
        ann.favourites = [first, second]
        try context.save()
        first.author = bob
        ann.favourites = [second]
        #expect(first.changedValues() as NSDictionary == ["author": bob, "fan": NSNull()])
        #expect(first.committedValues(forKeys: ["author"]) as NSDictionary == ["author": ann])
        #expect(
            ann.changedValues() as NSDictionary == ["posts": NSSet(), "favourites": NSOrderedSet(array: [second])])
        #expect(
            ann.committedValues(forKeys: ["posts", "favourites"]) as NSDictionary
                == ["posts": NSSet(array: [first]), "favourites": NSOrderedSet(array: [first, second])])
    }

    @Test("Person(context:) without try")
    func initContext() {
        let ann = Person(context: context)
        #expect(ann.managedObjectContext === context && ann.calls == ["awakeFromInsert"])
    }

    @Test("Person(entity:insertInto:)")
    func initEntity() throws {
        let entity = try #require(NSEntityDescription.entity(forEntityName: "Person", in: context))
        let ann = Person(entity: entity, insertInto: context)
        #expect(context.insertedObjects == [ann])
        let loose = Person(entity: entity, insertInto: nil)
        loose.name = "Loose"
        #expect(loose.managedObjectContext == nil && loose.name == "Loose")
        context.insert(loose)
        #expect(loose.managedObjectContext === context && loose.name == "Loose" && loose.isInserted)
    }

    @Test("NSEntityDescription.insertNewObject(forEntityName:into:) without try")
    func insertNew() {
        let ann = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context) as! Person
        #expect(ann.calls == ["awakeFromInsert"])
    }

    @Test("NSEntityDescription.entity(forEntityName:in:)")
    func entityInContext() {
        #expect(NSEntityDescription.entity(forEntityName: "Person", in: context)?.name == "Person")
        #expect(NSEntityDescription.entity(forEntityName: "Nobody", in: context) == nil)
        #expect(Person.entity().name == "Person")
    }

    @Test("o.entity.name / attributesByName / relationshipsByName / userInfo / superentity / subentities")
    func entity() {
        let entity = Library.person("Ann", in: context).entity
        #expect(entity.name == "Person" && entity.attributesByName["age"]?.attributeType == .integer16AttributeType)
        #expect(entity.relationshipsByName["posts"]?.destinationEntity?.name == "Post")
        #expect(entity.relationshipsByName["posts"]?.inverseRelationship?.name == "author")
        #expect(entity.superentity == nil && entity.subentities.isEmpty && entity.userInfo?.isEmpty != false)
    }

    @Test("validateForInsert override; validateName(_:)")
    func validation() throws {
        Library.person("nobody", in: context)
        let error = #expect(throws: NSError.self) { try context.save() }
        #expect(error?.localizedDescription.contains("Nobody is no name.") == true)
    }

    @Test("awakeFromInsert, willSave, didSave, prepareForDeletion, didTurnIntoFault, willTurnIntoFault")
    func callbacks() throws {
        let ann = Library.person("Ann", in: context)
        try context.save()
        context.refresh(ann, mergeChanges: false)
        #expect(ann.calls == ["awakeFromInsert", "willSave", "didSave", "willTurnIntoFault", "didTurnIntoFault"])
    }

    @Test("a changed object keeps its own stored properties until the save")
    func storedProperties() throws {
        let id = Library.person("Ann", in: context).objectID
        (context.object(with: id) as? Person)?.calls.append("seen")
        #expect((context.object(with: id) as? Person)?.calls == ["awakeFromInsert", "seen"])
    }

    @Test("NSManagedObject subclass as Hashable/Identifiable")
    func hashable() {
        let (ann, bob) = (Library.person("Ann", in: context), Library.person("Bob", in: context))
        #expect(Set([ann, bob, ann]).count == 2 && ann != bob)
        // As in Core Data, the identity is the instance's, unless the class has an attribute of that name.
        #expect(ann.id == ObjectIdentifier(ann))
    }

    @Test("mutableSetValue(forKey:) / mutableOrderedSetValue")
    func mutableSets() throws {
        let ann = Library.person("Ann", in: context)
        let (one, two) = (Post(context: context), Post(context: context))
        ann.mutableSetValue(forKey: "posts").add(one)
        let list = ann.mutableOrderedSetValue(forKey: "favourites")
        list.add(one)
        list.insert(two, at: 0)
        #expect(one.author === ann)
        #expect(ann.favourites?.array as? [Post] == [two, one])
        list.moveObject(from: 0, to: 1)
        #expect(ann.favourites?.array as? [Post] == [one, two])
        list.remove(one)
        list.add(two)
        #expect(ann.favourites?.array as? [Post] == [two])
        ann.mutableSetValue(forKey: "posts").remove(two)
        ann.mutableSetValue(forKey: "posts").remove(one)
        #expect(ann.posts?.count == 0 && one.author == nil)
    }

    @Test("generated accessors: addToPosts")
    func generatedAccessors() {
        let ann = Library.person("Ann", in: context)
        let post = Post(context: context)
        ann.addToPosts(post)
        #expect(ann.posts?.contains(post) == true && post.author === ann)
        ann.removeFromPosts(post)
        #expect(ann.posts?.count == 0 && post.author == nil)
    }

    @Test("NSOrderedSet relationship property")
    func orderedSet() throws {
        let ann = Library.person("Ann", in: context)
        let (one, two) = (Post(context: context), Post(context: context))
        ann.favourites = NSOrderedSet(array: [two, one])
        try context.save()
        context.refresh(ann, mergeChanges: false)
        #expect(ann.favourites?.array as? [Post] == [two, one])
    }

    @Test("NSSet relationship property")
    func set() {
        let ann = Library.person("Ann", in: context)
        let post = Post(context: context)
        ann.posts = NSSet(array: [post])
        #expect(post.author === ann && (ann.posts?.allObjects as? [Post]) == [post])
        #expect(ann.value(forKey: "posts") as? NSSet == NSSet(array: [post]))
    }

    @Test("Set<Person>? relationship property")
    func typedSet() {
        let ann = Library.person("Ann", in: context)
        let post = Post(context: context)
        ann.postSet = [post]
        #expect(ann.postSet == [post] && post.author === ann)
        #expect(ann.value(forKey: "posts") as? Set<Post> == [post])
    }

    @Test("NSNumber attribute property")
    func number() {
        let ann = Library.person("Ann", in: context)
        ann.active = NSNumber(value: false)
        #expect(ann.active?.boolValue == false && !ann.isActive)
    }

    @Test("Int16 / Date? / UUID? / URL? / Data? / NSDecimalNumber? attribute properties")
    func attributes() throws {
        let ann = Library.person("Ann", 12, in: context)
        let (born, identifier) = (Date(timeIntervalSinceReferenceDate: 5), UUID())
        ann.born = born
        ann.identifier = identifier
        ann.home = URL(string: "https://example.org/ann")
        ann.photo = Data([1, 2])
        ann.balance = NSDecimalNumber(string: "12.5")
        try context.save()
        context.refresh(ann, mergeChanges: false)
        #expect(ann.age == 12 && ann.born == born && ann.identifier == identifier)
        #expect(ann.home?.absoluteString == "https://example.org/ann" && ann.photo == Data([1, 2]))
        #expect(ann.balance == NSDecimalNumber(string: "12.5"))
        ann.born = nil
        #expect(ann.born == nil)
    }

    @Test("NSDecimalNumber attribute property")
    func decimal() {
        let ann = Library.person("Ann", in: context)
        ann.setValue(NSDecimalNumber(string: "0.1"), forKey: "balance")
        #expect(ann.value(forKey: "balance") as? NSDecimalNumber == NSDecimalNumber(string: "0.1"))
        #expect(ann.balance?.stringValue == "0.1")
    }

    @Test("transformable property typed, NSSecureUnarchiveFromDataTransformer")
    func transformable() throws {
        let ann = Library.person("Ann", in: context)
        ann.tags = NSArray(array: ["a", "b"])
        try context.save()
        context.refresh(ann, mergeChanges: false)
        #expect(ann.tags?.compactMap { $0 as? String } == ["a", "b"])
        #expect(ann.committedValues(forKeys: ["tags"])["tags"] as? NSArray == ["a", "b"])
    }

    @Test("one object for each identity, kept while it has changes")
    func oneObject() throws {
        var ann: Person? = Library.person("Ann", in: context)
        let id = try #require(ann).objectID
        let address = ann.map(ObjectIdentifier.init)
        ann = nil
        let saved = try #require(context.registeredObject(for: id))
        #expect(ObjectIdentifier(saved) == address)
        try context.save()
        #expect(context.object(with: saved.objectID) === saved)
        #expect(try context.existingObject(with: saved.objectID) === saved)
    }

    final class Reversing: ValueTransformer {
        override func transformedValue(_ value: Any?) -> Any? { (value as? String).map { Data($0.utf8.reversed()) } }
        override func reverseTransformedValue(_ value: Any?) -> Any? {
            (value as? Data).map { String(decoding: $0.reversed(), as: UTF8.self) }
        }
    }

    @Test("ValueTransformer subclass registered by name")
    func transformer() throws {
        ValueTransformer.setValueTransformer(Reversing(), forName: NSValueTransformerName("Reversing"))
        let model = Library.model { person, _ in
            let secret = Library.attribute("secret", .transformable)
            secret.valueTransformerName = "Reversing"
            person.properties.append(secret)
        }
        let folder = try ScratchFolder()
        let url = URL(fileURLWithPath: folder.path).appendingPathComponent("Library.sqlite")
        let container = try Library.container(model, at: url)
        let ann = Library.person("Ann", in: container.viewContext)
        ann.setValue("abc", forKey: "secret")
        try container.viewContext.save()
        container.viewContext.refresh(ann, mergeChanges: false)
        #expect(ann.value(forKey: "secret") as? String == "abc")
        #expect(try SQLiteShell.rows("SELECT hex(ZSECRET) FROM ZPERSON", of: url) == ["636261"])
    }
}

extension Person: Identifiable {}
