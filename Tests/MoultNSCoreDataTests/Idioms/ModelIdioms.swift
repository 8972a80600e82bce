import MoultNSCoreData
import TestSupport
import Testing

@Suite struct ModelIdioms {
    let folder: ScratchFolder
    let url: URL

    init() throws {
        folder = try ScratchFolder()
        url = URL(fileURLWithPath: folder.path).appendingPathComponent("Library.sqlite")
    }

    @Test("model in code: NSEntityDescription(); e.name=; e.properties =")
    func inCode() {
        let model = Library.model()
        #expect(Set(model.entitiesByName.keys) == ["Person", "Post"])
        #expect(model.entityVersionHashesByName["Person"]?.count == 32)
    }

    @Test("a model in use cannot be changed")
    func frozen() async {
        await #expect(processExitsWith: .failure) {
            let model = Library.model()
            _ = NSPersistentStoreCoordinator(managedObjectModel: model)
            model.entities[0].name = "Other"
        }
    }

    @Test("NSAttributeDescription.type = .string / .defaultValue / isOptional / allowsExternalBinaryDataStorage / …")
    func attribute() throws {
        let model = Library.model { person, _ in
            person.attributesByName["photo"]?.allowsExternalBinaryDataStorage = true
            person.attributesByName["age"]?.defaultValue = 18
        }
        let context = try Library.container(model).viewContext
        #expect(Library.person("Ann", 18, in: context).value(forKey: "age") as? Int == 18)
        #expect(Person(context: context).age == 18)
    }

    @Test("NSDerivedAttributeDescription()")
    func derived() throws {
        let model = Library.model { person, _ in
            let folded = NSDerivedAttributeDescription()
            folded.name = "searchName"
            folded.type = .string
            folded.derivationExpression = NSExpression(format: "canonical:(name)")
            person.properties.append(folded)
        }
        let container = try Library.container(model, at: url)
        let ann = Library.person("ANN", in: container.viewContext)
        try container.viewContext.save()
        #expect(ann.value(forKey: "searchName") as? String == "ann")
    }

    @Test("lowercase:(name), uppercase:(author.name) are kept by saves and batch requests")
    func derivedCase() throws {
        let model = Library.model { person, post in
            for (owner, name, format) in [
                (person, "lower", "lowercase:(name)"), (person, "upper", "uppercase:(name)"),
                (post, "authorName", "uppercase:(author.name)"),
            ] {
                let derived = NSDerivedAttributeDescription()
                (derived.name, derived.type) = (name, .string)
                derived.derivationExpression = NSExpression(format: format)
                owner.properties.append(derived)
            }
        }
        let context = try Library.container(model, at: url).viewContext
        let ann = Library.person("Änn B", in: context)
        let post = Post(context: context)
        post.author = ann
        try context.save()
        #expect(ann.value(forKey: "lower") as? String == "änn b" && ann.value(forKey: "upper") as? String == "ÄNN B")
        #expect(post.value(forKey: "authorName") as? String == "ÄNN B")
        ann.name = "Eve"
        try context.save()
        #expect(ann.value(forKey: "lower") as? String == "eve")
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.predicate = NSPredicate(format: "upper == 'EVE'")
        #expect(try context.count(for: request) == 1)
        try context.execute(NSBatchInsertRequest(entityName: "Person", objects: [["name": "Bob"]]))
        let update = NSBatchUpdateRequest(entityName: "Person")
        update.predicate = NSPredicate(format: "lower == 'bob'")
        update.propertiesToUpdate = ["name": "Cid"]
        try context.execute(update)
        let stored = try SQLiteShell.rows("SELECT ZLOWER || ' ' || ZUPPER FROM ZPERSON ORDER BY ZNAME", of: url)
        #expect(stored == ["cid CID", "eve EVE"])
        #expect(try SQLiteShell.rows("SELECT ZAUTHORNAME FROM ZPOST", of: url) == ["EVE"])
    }

    @Test("NSCompositeAttributeDescription().elements")
    func composite() throws {
        let model = Library.model { person, _ in
            let address = NSCompositeAttributeDescription()
            address.name = "address"
            address.isOptional = true
            address.elements = ["street", "city"].map { name in
                let element = NSAttributeDescription()
                (element.name, element.type, element.isOptional) = (name, .string, true)
                return element
            }
            person.properties.append(address)
        }
        let container = try Library.container(model, at: url)
        let ann = Library.person("Ann", in: container.viewContext)
        ann.setValue(["street": "Main", "city": "Oslo"], forKey: "address")
        try container.viewContext.save()
        let columns = try ChildProcess.run(
            "sqlite3", [url.path, "SELECT name FROM pragma_table_info('ZPERSON') WHERE name LIKE '%CITY%'"])
        #expect(columns.output.contains("CITY"))
        let stored = container.managedObjectModel.entitiesByName["Person"]?.attributesByName["address"]
        #expect((stored as? NSCompositeAttributeDescription)?.elements.map(\.name) == ["street", "city"])
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.predicate = NSPredicate(format: "address.city == %@", "Oslo")
        #expect(try container.viewContext.count(for: request) == 1)
    }

    @Test("derived attribute that counts a relationship")
    func derivedCount() throws {
        let model = Library.model { person, _ in
            let count = NSDerivedAttributeDescription()
            count.name = "postCount"
            count.type = .integer32
            count.derivationExpression = NSExpression(format: "posts.@count")
            person.properties.append(count)
        }
        let container = try Library.container(model, at: url)
        let ann = Library.person("Ann", in: container.viewContext)
        ann.addToPosts(Post(context: container.viewContext))
        try container.viewContext.save()
        #expect(ann.value(forKey: "postCount") as? Int == 1)
    }

    @Test("NSFetchIndexDescription / uniquenessConstraints / NSFetchIndexElementDescription")
    func indexes() throws {
        let model = Library.model { person, _ in
            let age = person.attributesByName["age"]!
            person.indexes = [
                NSFetchIndexDescription(
                    name: "byAge", elements: [NSFetchIndexElementDescription(property: age, collationType: .binary)])
            ]
            person.uniquenessConstraints = [["name"]]
        }
        _ = try Library.container(model, at: url)
        let indexes = try SQLiteShell.rows(
            "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'ZPERSON'", of: url)
        #expect(indexes.contains { $0.contains("byAge") } && indexes.contains { $0.contains("UNIQUE") })
    }

    @Test("NSManagedObjectModel.mergedModel(from:) / init(contentsOf:) / (byMerging:)")
    func merged() {
        #expect(NSManagedObjectModel.mergedModel(from: nil) == nil)
        let one = NSManagedObjectModel()
        let note = NSEntityDescription()
        note.name = "Note"
        note.properties = [Library.attribute("text", .string)]
        one.entities = [note]
        let both = NSManagedObjectModel(byMerging: [one, Library.model()])
        #expect(Set(both?.entities.compactMap(\.name) ?? []) == ["Note", "Person", "Post"])
    }

    @Test("NSManagedObjectModel.mergedModel(from:forStoreMetadata:) / (byMerging:forStoreMetadata:)")
    func modelOfStore() throws {
        let newer = Library.model { _, post in post.properties.append(Library.attribute("rating", .double)) }
        let coordinator = try Library.container(Library.model(), at: url).persistentStoreCoordinator
        let metadata = coordinator.metadata(for: coordinator.persistentStores[0])
        let found = NSManagedObjectModel(byMerging: [newer, Library.model()], forStoreMetadata: metadata)
        #expect(found?.entityVersionHashesByName == Library.model().entityVersionHashesByName)
        #expect(NSManagedObjectModel(byMerging: [newer], forStoreMetadata: metadata) == nil)
        #expect(NSManagedObjectModel(byMerging: [Library.model()], forStoreMetadata: [:]) == nil)

        // A store of two models, each of which has two versions in the bundle.
        let folder = url.deletingLastPathComponent().appendingPathComponent("Resources")
        for model in ["Note", "Task"] {
            for version in ["1", "2"] {
                let contents = folder.appendingPathComponent(
                    "\(model).xcdatamodeld/\(model) \(version).xcdatamodel/contents")
                try FileManager.default.createDirectory(
                    at: contents.deletingLastPathComponent(), withIntermediateDirectories: true)
                let second = version == "2" ? "<attribute name=\"more\" attributeType=\"String\"/>" : ""
                let text = """
                    <?xml version="1.0" encoding="UTF-8"?>
                    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
                      <entity name="\(model)"><attribute name="text" attributeType="String"/>\(second)</entity>
                    </model>
                    """
                try text.write(to: contents, atomically: true, encoding: .utf8)
            }
        }
        func version(_ model: String, _ number: Int) throws -> NSManagedObjectModel {
            try #require(
                NSManagedObjectModel(
                    contentsOf: folder.appendingPathComponent(
                        "\(model).xcdatamodeld/\(model) \(number).xcdatamodel")))
        }
        let parts = try #require(NSManagedObjectModel(byMerging: [try version("Note", 1), try version("Task", 2)]))
        let bundle = try #require(Bundle(url: folder))
        let stored = [NSStoreModelVersionHashesKey: parts.entityVersionHashesByName]
        let merged = NSManagedObjectModel.mergedModel(from: [bundle], forStoreMetadata: stored)
        #expect(merged?.entitiesByName["Note"]?.attributesByName["more"] == nil)
        #expect(merged?.entitiesByName["Task"]?.attributesByName["more"] != nil)
        #expect(NSManagedObjectModel.mergedModel(from: [bundle], forStoreMetadata: metadata) == nil)
        let note = try version("Note", 2)
        let reference = NSManagedObjectModelReference(
            entityVersionHashes: note.entityVersionHashesByName, in: bundle, versionChecksum: note.versionChecksum)
        #expect(reference.resolvedModel.entitiesByName["Note"]?.attributesByName["more"] != nil)
    }

    @Test("NSManagedObjectModel(contentsOf:) optional")
    func contents() throws {
        #expect(NSManagedObjectModel(contentsOf: URL(fileURLWithPath: "/nowhere.momd")) == nil)
        let source = url.deletingLastPathComponent().appendingPathComponent("Small.xcdatamodel")
        try FileManager.default.createDirectory(at: source, withIntermediateDirectories: true)
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
              <entity name="Note"><attribute name="text" attributeType="String" optional="YES"/></entity>
            </model>
            """
        try text.write(to: source.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
        let model = try #require(NSManagedObjectModel(contentsOf: source))
        #expect(model.entitiesByName["Note"]?.attributesByName["text"]?.type == .string)
    }

    @Test("entityVersionHashesByName / versionIdentifiers / isConfiguration(withName:compatibleWithStoreMetadata:)")
    func versions() throws {
        let model = Library.model()
        model.versionIdentifiers = ["7"]
        let container = try Library.container(model, at: url)
        let metadata = container.persistentStoreCoordinator.metadata(
            for: container.persistentStoreCoordinator.persistentStores[0])
        #expect(metadata[NSStoreModelVersionIdentifiersKey] as? [String] == ["7"])
        #expect(metadata[NSStoreModelVersionHashesKey] as? [String: Data] == model.entityVersionHashesByName)
        #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        let other = Library.model { _, post in post.properties.append(Library.attribute("rating", .double)) }
        #expect(!other.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    }

    @Test("m.versionChecksum")
    func checksum() {
        #expect(Library.model().versionChecksum == Library.model().versionChecksum)
        #expect(Data(base64Encoded: Library.model().versionChecksum)?.count == 32)
    }
}
