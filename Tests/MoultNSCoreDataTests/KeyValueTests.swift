import MoultNSCoreData
import TestSupport
import Testing

/// Keys and key paths, as in Apple's Key-Value Coding Programming Guide.
@Suite struct KeyValueTests {
    let rows: Rows
    let context: NSManagedObjectContext

    init() throws {
        rows = try Rows()
        context = rows.context
    }

    private func computed(_ names: [String]) -> [Computed] {
        names.map { name in
            let object = Computed(context: context)
            object.setValue(name, forKey: "name")
            return object
        }
    }

    @Test(arguments: ["section", "initial"])
    func `Sections are divided by a computed key`(key: String) throws {
        let objects = computed(["ab", "ac", "bc"])
        try context.save()
        let request = NSFetchRequest<Computed>(entityName: "Computed")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: key, cacheName: nil)
        try controller.performFetch()
        #expect(controller.sections?.map(\.name) == ["a", "b"])
        #expect(controller.sections?.map(\.numberOfObjects) == [2, 1])
        #expect(controller.indexPath(forObject: objects[2]) == IndexPath(indexes: [1, 0]))
    }

    @Test func `Undefined keys have methods of their own`() throws {
        let object = try #require(computed(["ab"]).first)
        #expect(object.value(forKey: "colour") as? String == "no colour")
        object.setValue("red", forKey: "colour")
        #expect(
            object.value(forKeyPath: "colour") as? String == "red" && object.changedValues().keys.sorted() == ["name"])
        #expect(object.value(forKey: "objectID") as? NSManagedObjectID == object.objectID)
        let alone = Computed(entity: object.entity, insertInto: nil)
        alone.setValue("red", forKey: "colour")
        alone.setValue("xy", forKey: "name")
        #expect(alone.value(forKey: "colour") as? String == "red" && alone.value(forKey: "initial") as? String == "x")
    }

    @Test func `A key path over a set has a set, without nil`() throws {
        let parent = try rows.saved("parent")
        for title in ["b", "a", "a"] { try rows.saved(title, in: parent) }
        let nameless = Row(context: context)
        (nameless.parent, nameless.n) = (parent, 9)
        #expect(parent.value(forKeyPath: "children.title") as? NSSet == NSSet(array: ["a", "b"]))
        #expect(parent.value(forKeyPath: "children.title") as? Set<String> == ["a", "b"])
        #expect((parent.value(forKeyPath: "children") as? NSSet)?.count == 4)
        #expect(parent.value(forKeyPath: "children.parent.title") as? Set<String> == ["parent"])
        #expect(nameless.value(forKeyPath: "parent.children.n") as? Set<Int> == [3, 9])
        #expect(parent.value(forKeyPath: "parent.title") == nil)
        // The operators of the guide.
        #expect(parent.value(forKeyPath: "children.@count") as? Int == 4)
        #expect(parent.value(forKeyPath: "children.@sum.n") as? Int == 18)
        #expect(parent.value(forKeyPath: "children.@avg.n") as? Double == 4.5)
        #expect(parent.value(forKeyPath: "children.@max.title") as? String == "b")
        let titles = parent.value(forKeyPath: "children.@unionOfObjects.title") as? [String]
        #expect(titles?.sorted() == ["a", "a", "b"])
        let distinct = parent.value(forKeyPath: "children.@distinctUnionOfObjects.title") as? [String]
        #expect(distinct?.sorted() == ["a", "b"])
        #expect(parent.value(forKeyPath: "title.length") as? Int == 6)
        #expect(parent.value(forKeyPath: "entity.name") as? String == "Row")
    }

    @Test func `A key path over an ordered set keeps the order`() throws {
        let context = try Library.context()
        let ann = Library.person("Ann", in: context)
        for title in ["b", "a", "c"] {
            let post = Post(context: context)
            post.title = title
            ann.mutableOrderedSetValue(forKey: "favourites").add(post)
        }
        let titles = ann.value(forKeyPath: "favourites.title") as? NSOrderedSet
        #expect(titles?.array as? [String] == ["b", "a", "c"])
        let names = ann.value(forKeyPath: "favourites.fan.name") as? NSOrderedSet
        #expect(names?.array as? [String] == ["Ann"])
    }

    @Test func `A key path sets elements of composites and values of related objects`() throws {
        let parent = try rows.saved("parent")
        let (one, two) = (try rows.saved("one", in: parent), try rows.saved("two", in: parent))
        one.setValue(["width": 5, "label": "x"] as [String: Any], forKey: "box")
        one.setValue("y", forKeyPath: "box.label")
        #expect(one.value(forKeyPath: "box.label") as? String == "y" && one.value(forKeyPath: "box.width") as? Int == 5)
        two.setValue(7, forKeyPath: "box.width")
        one.setValue(nil, forKeyPath: "box.width")
        one.setValue("father", forKeyPath: "parent.title")
        one.setValue("z", forKeyPath: "parent.box.label")
        parent.setValue(8, forKeyPath: "children.n")
        // Nil receives the message, as in Objective-C.
        parent.setValue("none", forKeyPath: "parent.title")
        try context.save()
        let sql = "SELECT ZTITLE, ZN, coalesce(ZWIDTH, 'nil'), coalesce(ZLABEL, 'nil') FROM ZROW ORDER BY Z_PK"
        #expect(try rows.sql(sql) == ["father|3|nil|z", "one|8|nil|y", "two|8|7|nil"])
        let alone = Row(entity: parent.entity, insertInto: nil)
        alone.setValue("x", forKeyPath: "box.label")
        #expect(alone.value(forKeyPath: "box.label") as? String == "x")
    }

    @Test func `A key path sets one element of a composite that cannot be read`() throws {
        let row = try rows.saved("a")
        row.setValue(["width": 5, "label": "x"] as [String: Any], forKey: "box")
        try context.save()
        _ = try rows.sql("UPDATE ZROW SET ZWIDTH = 'wide'")
        let other = rows.other()
        let same = try #require(try rows.fetch("a", in: other))
        #expect(same.value(forKey: "box") == nil)
        same.setValue("y", forKeyPath: "box.label")
        try other.save()
        #expect(try rows.sql("SELECT ZWIDTH, ZLABEL FROM ZROW") == ["wide|y"])
    }

    @Test func `A file that cannot be read is nil, is not replaced, and the save says so`() throws {
        let rows = try Rows { row in
            let photo = Library.attribute("photo", .binaryData)
            photo.allowsExternalBinaryDataStorage = true
            row.properties.append(photo)
        }
        let row = try rows.saved("a")
        row.setValue(Data(repeating: 7, count: 300_000), forKey: "photo")
        try rows.context.save()
        let files = rows.folder.path + "/.Rows_SUPPORT/_EXTERNAL_DATA"
        let file = try files + "/" + #require(FileManager.default.contentsOfDirectory(atPath: files).first)
        // A folder in the place of the file cannot be read as one.
        try FileManager.default.moveItem(atPath: file, toPath: rows.folder.path + "/kept")
        try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
        let other = rows.other()
        let same = try #require(try rows.fetch("a", in: other))
        same.n = 8
        try other.save()
        #expect(same.value(forKey: "photo") == nil)
        same.setValue(Data([1]), forKey: "photo")
        #expect(other.hasChanges)
        for _ in 0..<2 { #expect(throws: (any Error).self) { try other.save() } }
        try FileManager.default.removeItem(atPath: file)
        try FileManager.default.moveItem(atPath: rows.folder.path + "/kept", toPath: file)
        #expect((same.value(forKey: "photo") as? Data)?.count == 300_000)
        try other.save()
        #expect(try rows.sql("SELECT ZN, length(ZPHOTO) FROM ZROW") == ["8|38"])
    }

    @Test func `A key path that cannot be set ends the program`() async {
        await #expect(processExitsWith: .failure) {
            let rows = try Rows()
            let row = Row(context: rows.context)
            row.title = "a"
            row.setValue("red", forKeyPath: "title.colour")
        }
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let rows = try Rows()
            Row(context: rows.context).setValue("red", forKeyPath: "box.colour")
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("NSInvalidArgumentException") && text.contains("box.colour"))
    }

    // MARK: - Objects without a context

    @Test func `Objects without a context have identities of their own, and defaults`() throws {
        let entity = try #require(NSEntityDescription.entity(forEntityName: "Row", in: context))
        let (one, two) = (Row(entity: entity, insertInto: nil), Row(entity: entity, insertInto: nil))
        let id = one.objectID
        #expect(id != two.objectID && id == one.objectID && id.isTemporaryID && id.entityName == "Row")
        #expect(one.n == 3 && one.value(forKey: "n") as? Int == 3 && one.title == nil)
        one.setValue(nil, forKey: "n")
        two.n = 4
        #expect(one.value(forKey: "n") == nil && two.n == 4)
        context.insert(one)
        context.insert(two)
        #expect(one.objectID == id && one.value(forKey: "n") == nil && context.registeredObject(for: id) === one)
        try context.save()
        #expect(!one.objectID.isTemporaryID)
        #expect(try rows.sql("SELECT coalesce(ZN, 'nil') FROM ZROW ORDER BY 1") == ["4", "nil"])
    }

    /// `changedValues()`: the keys are the names of properties.
    @Test func `A composite attribute is one changed value`() throws {
        let row = try rows.saved("a")
        row.setValue(["width": 1, "label": "x"], forKey: "box")
        try context.save()
        row.setValue("y", forKeyPath: "box.label")
        let values = [
            row.changedValues(), row.changedValuesForCurrentEvent(), row.committedValues(forKeys: ["box"]),
        ]
        #expect(values.map { $0.keys.sorted() } == [["box"], ["box"], ["box"]])
        let boxes = values.map { $0["box"] as? [String: Any] }
        #expect(boxes.map { $0?["width"] as? Int } == [1, 1, 1])
        #expect(boxes.map { $0?["label"] as? String } == ["y", "x", "x"])
        #expect(row.hasPersistentChangedValues)
    }

    // MARK: - Deletions that are taken back

    @Test func `Inserting a deleted object takes its deletion back`() throws {
        let parent = try rows.saved("parent")
        let (one, two) = (try rows.saved("one", in: parent), try rows.saved("two", in: parent))
        context.delete(one)
        context.insert(one)
        #expect(!one.isDeleted && !context.hasChanges)
        context.delete(two)
        context.delete(parent)
        context.processPendingChanges()
        #expect(one.parent == nil && two.isDeleted)
        context.insert(parent)
        #expect(!parent.isDeleted && one.parent === parent && parent.children == [one])
        context.insert(two)
        try context.save()
        #expect(try rows.sql("SELECT ZTITLE, ZPARENT FROM ZROW ORDER BY Z_PK") == ["parent|", "one|1", "two|1"])
        let new = Row(context: context)
        (new.title, new.parent) = ("new", parent)
        context.delete(new)
        context.processPendingChanges()
        #expect(parent.children == [one, two] && new.managedObjectContext == nil)
        context.insert(new)
        #expect(new.isInserted && parent.children == [one, two, new] && new.managedObjectContext === context)
        try context.save()
        #expect(try rows.sql("SELECT ZTITLE, ZPARENT FROM ZROW WHERE ZTITLE = 'new'") == ["new|1"])
    }
}
