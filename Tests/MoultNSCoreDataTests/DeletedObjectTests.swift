import MoultNSCoreData
import TestSupport
import Testing

/// Objects that are deleted, or whose rows are gone, while the app still uses them. Core Data raises nothing there.
@Suite struct DeletedObjectTests {
    let rows: Rows
    let context: NSManagedObjectContext
    let hooks: Hooks

    init() throws {
        rows = try Rows()
        (context, hooks) = (rows.context, rows.hooks)
    }

    private func deleteElsewhere(_ row: Row) throws {
        let other = rows.other()
        other.delete(other.object(with: row.objectID))
        try other.save()
    }

    // MARK: - Values

    /// `delete(_:)`: the object is removed from its store by the next save, whatever is set on it before.
    @Test func `What is set on a deleted object stays in memory`() throws {
        let parent = try rows.saved("parent")
        let kid = try rows.saved("kid", in: parent)
        context.delete(kid)
        (kid.title, kid.parent, kid.n) = ("q", nil, 7)
        kid.mutableSetValue(forKey: "children").add(parent)
        #expect(kid.title == "q" && kid.parent == nil && kid.n == 7 && kid.children == [parent])
        #expect(kid.isDeleted && !kid.isUpdated && parent.parent == nil)
        context.rollback()
        #expect(kid.title == "kid" && kid.parent === parent && kid.n == 3 && kid.children == [])
        #expect(!context.hasChanges)
        context.delete(kid)
        kid.title = "q"
        try context.save()
        kid.title = "r"
        #expect(kid.title == "r" && kid.managedObjectContext == nil && !context.hasChanges)
        context.delete(kid)
        try context.save()
        #expect(try rows.sql("SELECT ZTITLE FROM ZROW") == ["parent"])
    }

    /// `willSave()` is called for deleted objects too.
    @Test func `willSave can set a value of a deleted object`() throws {
        let row = try rows.saved("a")
        hooks.saving = { [hooks] row in
            hooks.calls.append("willSave")
            if row.changedValues()["n"] == nil { row.n = 9 }
        }
        context.delete(row)
        try context.save()
        #expect(hooks.calls == ["willSave"] && !context.hasChanges)
        #expect(try rows.sql("SELECT count(*) FROM ZROW") == ["0"])
    }

    /// `didSave()` is the place to remove the files of a deleted object.
    @Test func `A deleted object can be read in its didSave`() throws {
        let row = try rows.saved("a")
        hooks.saved = { [hooks] row in
            hooks.calls.append("\(row.isDeleted) \(row.title ?? "none") \(row.managedObjectContext != nil)")
        }
        context.delete(row)
        try context.save()
        #expect(hooks.calls == ["true a true"])
        #expect(!row.isDeleted && row.title == nil && row.managedObjectContext == nil && !context.hasChanges)
    }

    @Test func `A deletion that is undone gives the object back as it was`() throws {
        let row = try rows.saved("a")
        context.undoManager = UndoManager()
        context.delete(row)
        context.processPendingChanges()
        row.title = "q"
        context.undo()
        #expect(row.title == "a" && !row.isDeleted)
        context.delete(row)
        row.title = "r"
        context.insert(row)
        #expect(row.title == "r" && !row.isDeleted)
        try context.save()
        #expect(try rows.sql("SELECT ZTITLE FROM ZROW") == ["r"])
    }

    // MARK: - Rows that are gone

    /// `shouldDeleteInaccessibleFaults`: an inaccessible fault is marked as deleted, and nothing is raised.
    @Test func `A value set on a fault whose row is gone marks the object as deleted`() throws {
        let row = try rows.saved("a")
        context.refresh(row, mergeChanges: false)
        try deleteElsewhere(row)
        (row.title, row.parent) = ("q", nil)
        #expect(row.isDeleted && row.title == "q" && row.n == 0 && !context.hasChanges)
        #expect(row.committedValues(forKeys: nil).isEmpty && row.objectIDs(forRelationshipNamed: "children").isEmpty)
        #expect(!NSPredicate(format: "n == 3").evaluate(with: row))
        try context.save()
        #expect(try rows.sql("SELECT count(*) FROM ZROW") == ["0"])
    }

    @Test func `What another context has deleted can be set, and is no destination`() throws {
        context.automaticallyMergesChangesFromParent = true
        let (row, fault, stays) = (try rows.saved("a"), try rows.saved("b"), try rows.saved("c"))
        context.refresh(fault, mergeChanges: false)
        try deleteElsewhere(row)
        try deleteElsewhere(fault)
        (row.title, fault.title) = ("q", "r")
        (stays.parent, stays.children) = (row, [fault])
        #expect(row.title == "q" && fault.title == "r" && stays.parent == nil && stays.children == [])
        try context.save()
        #expect(try rows.sql("SELECT ZTITLE, ZPARENT FROM ZROW") == ["c|"])
    }

    @Test func `A fault whose row is gone is no destination`() throws {
        let (one, two, stays) = (try rows.saved("a"), try rows.saved("b"), try rows.saved("c"))
        let kid = try rows.saved("kid", in: stays)
        for row in [one, two] {
            context.refresh(row, mergeChanges: false)
            try deleteElsewhere(row)
        }
        kid.parent = one
        #expect(kid.parent == nil)
        stays.children = [kid, two]
        #expect(stays.children == [kid])
        stays.mutableSetValue(forKey: "children").add(one)
        try context.save()
        #expect(try rows.sql("SELECT ZTITLE, ZPARENT IS NULL FROM ZROW ORDER BY 1") == ["c|1", "kid|0"])
    }

    @Test func `A row that comes back is no longer gone`() throws {
        let row = try rows.saved("a")
        context.refresh(row, mergeChanges: false)
        _ = try rows.sql("UPDATE ZROW SET Z_PK = -Z_PK")
        #expect(row.title == nil && row.isDeleted)
        _ = try rows.sql("UPDATE ZROW SET Z_PK = -Z_PK")
        #expect(!row.isDeleted && row.title == "a")
        context.refresh(row, mergeChanges: false)
        #expect(!row.isDeleted)
    }

    /// `object(with:)`: "This method always returns an object", also for a row that does not exist.
    @Test func `An identity always gives an object`() throws {
        let row = Row(context: context)
        row.title = "a"
        let temporary = row.objectID
        try context.save()
        #expect(row.objectID != temporary && context.object(with: temporary) === row)
        let (other, elsewhere) = (rows.other(), try Rows())
        for id in [Row(context: other).objectID, try elsewhere.saved("b").objectID] {
            let fault = context.object(with: id)
            #expect(fault.isFault && fault.objectID == id && !fault.isDeleted)
            #expect(fault.value(forKey: "title") == nil && fault.isDeleted)
            fault.setValue("q", forKey: "title")
        }
        try context.save()
        #expect(try rows.sql("SELECT ZTITLE FROM ZROW") == ["a"])
    }

    // MARK: - Stores that are gone

    private var coordinator: NSPersistentStoreCoordinator { rows.container.persistentStoreCoordinator }

    @Test func `A store that comes back gives its objects back`() throws {
        let (row, second) = (try rows.saved("a"), try rows.saved("b"))
        for one in [row, second] { context.refresh(one, mergeChanges: false) }
        try coordinator.remove(coordinator.persistentStores[0])
        #expect(row.title == nil && row.isDeleted)
        second.title = "q"
        #expect(second.title == "q" && second.isDeleted)
        try coordinator.addPersistentStore(type: .sqlite, at: rows.url)
        #expect(!row.isDeleted && row.title == "a")
        context.refresh(row, mergeChanges: false)
        #expect(!row.isDeleted && second.title == "b" && !second.isDeleted)
        second.n = 6
        try context.save()
        #expect(try rows.sql("SELECT ZTITLE, ZN FROM ZROW ORDER BY 1") == ["a|3", "b|6"])
    }

    /// The rules need the children.
    @Test func `A deletion whose rules cannot be read makes the save fail`() throws {
        try rows.saved("kid", in: rows.saved("parent"))
        let other = rows.other()
        let parent = try #require(try rows.fetch("parent", in: other))
        try coordinator.remove(coordinator.persistentStores[0])
        other.performAndWait { other.delete(parent) }
        other.processPendingChanges()
        let error = #expect(throws: NSError.self) { try other.save() }
        #expect(error?.code == NSManagedObjectReferentialIntegrityError && parent.isDeleted)
        other.rollback()
        #expect(!parent.isDeleted && !other.hasChanges)
        #expect(try rows.sql("SELECT count(*) FROM ZROW") == ["2"])
    }

    @Test func `A list that was not read can be set after its store was destroyed`() throws {
        try rows.saved("kid", in: rows.saved("parent"))
        try rows.saved("single")
        let other = rows.other()
        let parent = try #require(try rows.fetch("parent", in: other))
        let single = try #require(try rows.fetch("single", in: other))
        try coordinator.destroyPersistentStore(at: rows.url, type: .sqlite)
        parent.children = [single]
        #expect(parent.children == [single] && parent.title == "parent" && !parent.isDeleted)
        parent.mutableSetValue(forKey: "children").removeAllObjects()
        #expect(parent.children == [] && !other.hasChanges)
        try other.save()
    }

    @Test func `An ordered list that was not read can be added to after its store was destroyed`() throws {
        let url = rows.url.deletingLastPathComponent().appendingPathComponent("Library.sqlite")
        let container = try Library.container(at: url)
        Library.person("Ann", in: container.viewContext)
        Post(context: container.viewContext).title = "a"
        try container.viewContext.save()
        let other = container.newBackgroundContext()
        let ann = try #require(try other.fetch(NSFetchRequest<Person>(entityName: "Person")).first)
        let post = try #require(try other.fetch(NSFetchRequest<Post>(entityName: "Post")).first)
        try container.persistentStoreCoordinator.destroyPersistentStore(at: url, type: .sqlite)
        ann.mutableOrderedSetValue(forKey: "favourites").add(post)
        #expect(ann.favourites == NSOrderedSet(object: post) && ann.name == "Ann" && !other.hasChanges)
    }

    // MARK: - Deleted destinations

    @Test func `A relationship to a deleted object is not made`() throws {
        let (parent, other) = (try rows.saved("parent"), try rows.saved("other"))
        let (kid, second) = (try rows.saved("kid", in: parent), try rows.saved("second", in: parent))
        let before = parent.children
        context.delete(kid)
        parent.children = before
        parent.mutableSetValue(forKey: "children").add(kid)
        #expect(parent.children == [second])
        context.delete(parent)
        other.parent = parent
        #expect(other.parent == nil && second.parent == nil)
        try context.save()
        other.parent = parent
        try context.save()
        #expect(try rows.sql("SELECT ZTITLE, ZPARENT FROM ZROW ORDER BY 1") == ["other|", "second|"])
    }

    @Test func `A required relationship to a deleted object fails as one without a destination`() throws {
        let url = rows.url.deletingLastPathComponent().appendingPathComponent("Library.sqlite")
        let model = Library.model { _, post in post.relationshipsByName["author"]?.isOptional = false }
        let context = try Library.container(model, at: url).viewContext
        let ann = Library.person("Ann", in: context)
        try context.save()
        context.delete(ann)
        let post = Post(context: context)
        post.author = ann
        let error = #expect(throws: NSError.self) { try context.save() }
        #expect(error?.code == NSValidationMissingMandatoryPropertyError)
        #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == "author")
        context.delete(post)
        try context.save()
        let sql = "SELECT count(*) FROM ZPERSON; SELECT count(*) FROM ZPOST"
        #expect(try SQLiteShell.rows(sql, of: url) == ["0", "0"])
    }

    // MARK: - Contexts that are gone

    @Test func `An object can be read and set after its context is released`() throws {
        try rows.saved("kid", in: rows.saved("parent"))
        var other: NSManagedObjectContext? = rows.other()
        let kid = try #require(try other.map { try rows.fetch("kid", in: $0) } ?? nil)
        other = nil
        #expect(kid.managedObjectContext == nil && kid.title == "kid" && kid.children == nil)
        (kid.title, kid.parent) = ("q", nil)
        #expect(kid.title == "q" && kid.parent == nil)
    }

    /// `reset()`: the objects are forgotten, and have no context any more.
    @Test func `What is set after a reset stays in memory`() throws {
        let (row, parent) = (try rows.saved("a"), try rows.saved("parent"))
        context.reset()
        (row.title, row.parent) = ("q", parent)
        parent.mutableSetValue(forKey: "children").add(row)
        #expect(row.title == "q" && row.parent === parent && !context.hasChanges)
        try context.save()
        #expect(try rows.sql("SELECT ZTITLE, ZPARENT FROM ZROW ORDER BY 1") == ["a|", "parent|"])
    }

    @Test func `An object that has left its context is no destination`() throws {
        let reset = try rows.saved("reset")
        context.reset()
        var other: NSManagedObjectContext? = rows.other()
        let left = try #require(try other.map { try rows.fetch("reset", in: $0) } ?? nil)
        other = nil
        #expect(left.managedObjectContext == nil)
        let kid = try rows.saved("kid")
        for object in [reset, left] {
            kid.parent = object
            kid.children = [object]
            kid.mutableSetValue(forKey: "children").add(object)
            #expect(kid.parent == nil && kid.children == [])
        }
        try context.save()
        #expect(try rows.sql("SELECT ZTITLE, ZPARENT FROM ZROW ORDER BY 1") == ["kid|", "reset|"])
    }

    @Test func `An object that has left its context is neither deleted nor inserted again`() throws {
        let (row, stays) = (try rows.saved("a"), try rows.saved("b"))
        context.delete(row)
        try context.save()
        context.insert(row)
        #expect(row.managedObjectContext == nil && !context.hasChanges)
        context.reset()
        context.delete(stays)
        context.insert(stays)
        #expect(stays.managedObjectContext == nil && !context.hasChanges)
        try context.save()
        #expect(try rows.sql("SELECT ZTITLE FROM ZROW") == ["b"])
    }
}
