import MoultNSCoreData
import TestSupport
import Testing

final class CachedPost: NSManagedObject {
    @Managed var title: String
    var events: [NSSnapshotEventType] = []
    override func awake(fromSnapshotEvents flags: NSSnapshotEventType) { events.append(flags) }
}

@Suite struct UndoIdioms {
    let container: NSPersistentContainer
    let manager = UndoManager()
    var context: NSManagedObjectContext { container.viewContext }

    init() throws {
        container = try Library.container()
        container.viewContext.undoManager = manager
        manager.groupsByEvent = false
    }

    private func grouped(_ body: () -> Void) {
        manager.beginUndoGrouping()
        body()
        manager.endUndoGrouping()
    }

    @Test("context.undo() of a relationship to an object that was deleted elsewhere")
    func destinationGone() throws {
        let (ann, post) = (Library.person("Ann", in: context), Post(context: context))
        post.author = ann
        try context.save()
        context.automaticallyMergesChangesFromParent = true
        grouped { post.author = nil }
        try context.save()
        let other = container.newBackgroundContext()
        other.delete(other.object(with: ann.objectID))
        try other.save()
        context.undo()
        #expect(post.author == nil)
        try context.save()
        #expect(!context.hasChanges)
    }

    private func names() throws -> [String] {
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return try context.fetch(request).map(\.name)
    }

    @Test("context.undoManager = UndoManager()")
    func managerOfContext() throws {
        #expect(context.undoManager === manager)
        context.undoManager = nil
        Library.person("Ann", in: context)
        context.processPendingChanges()
        #expect(!manager.canUndo)
    }

    @Test("context.undo(), context.redo()")
    func undo() throws {
        grouped { Library.person("Ann", 30, in: context) }
        try context.save()
        let ann = try #require(try context.fetch(NSFetchRequest<Person>(entityName: "Person")).first)
        grouped { ann.age = 31 }
        grouped { ann.name = "Anna" }
        context.undo()
        #expect(ann.name == "Ann" && ann.age == 31)
        context.undo()
        #expect(ann.age == 30 && !context.hasChanges)
        context.redo()
        #expect(ann.age == 31 && context.updatedObjects == [ann])
        try context.save()
        #expect(
            try container.newBackgroundContext().fetch(NSFetchRequest<Person>(entityName: "Person")).map(\.age) == [31])
    }

    @Test("undo of a deletion with what its rules deleted, after the save too")
    func deletion() throws {
        let ann = Library.person("Ann", in: context)
        for title in ["One", "Two"] {
            let post = Post(context: context)
            post.title = title
            post.author = ann
        }
        try context.save()
        manager.removeAllActions()
        let id = ann.objectID
        grouped { context.delete(ann) }
        try context.save()
        #expect(try context.count(for: NSFetchRequest<Post>(entityName: "Post")) == 0)
        manager.undo()
        #expect(context.insertedObjects.count == 3)
        try context.save()
        let other = container.newBackgroundContext()
        let found = try other.fetch(NSFetchRequest<Person>(entityName: "Person"))
        #expect(found.map(\.objectID) == [id])
        #expect(Set((found.first?.postSet ?? []).map(\.title)) == ["One", "Two"])
        manager.redo()
        try context.save()
        #expect(try names().isEmpty)
    }

    @Test("undo of an insertion")
    func insertion() throws {
        grouped { Library.person("Ann", in: context) }
        grouped { Library.person("Bea", in: context) }
        context.undo()
        #expect(try names() == ["Ann"])
        try context.save()
        context.undo()
        #expect(try names().isEmpty && context.deletedObjects.count == 1)
        context.redo()
        context.redo()
        #expect(try names() == ["Ann", "Bea"])
        try context.save()
        #expect(try names() == ["Ann", "Bea"])
    }

    @Test("groupsByEvent: what one perform changes is one group")
    func events() throws {
        manager.groupsByEvent = true
        context.performAndWait { _ = Library.person("Ann", in: context) }
        context.performAndWait {
            Library.person("Bea", in: context)
            context.performAndWait { _ = Library.person("Cleo", in: context) }
        }
        manager.undo()
        #expect(try names() == ["Ann"])
        manager.undo()
        #expect(try names().isEmpty)
    }

    @Test("rollback() forgets what could be undone")
    func rollback() throws {
        grouped { Library.person("Ann", in: context) }
        context.rollback()
        #expect(!manager.canUndo)
        grouped { Library.person("Bea", in: context) }
        context.reset()
        #expect(!manager.canUndo)
    }

    @Test("disableUndoRegistration() for a change that is not to be undone")
    func disabled() throws {
        let ann = Library.person("Ann", in: context)
        context.processPendingChanges()
        manager.removeAllActions()
        manager.disableUndoRegistration()
        ann.age = 5
        manager.enableUndoRegistration()
        #expect(!manager.canUndo)
        grouped { ann.name = "Bea" }
        manager.undo()
        #expect(ann.name == "Ann" && ann.age == 5)
    }

    @Test("changes of other contexts are not undone")
    func merged() throws {
        let ann = Library.person("Ann", 1, in: context)
        try context.save()
        manager.removeAllActions()
        context.automaticallyMergesChangesFromParent = true
        let other = container.newBackgroundContext()
        try other.performAndWait {
            try #require(try other.existingObject(with: ann.objectID) as? Person).age = 2
            try other.save()
        }
        #expect(ann.age == 2 && !manager.canUndo)
        grouped { ann.name = "Bea" }
        manager.undo()
        #expect(ann.name == "Ann" && ann.age == 2)
    }

    @Test("an object that others have deleted is left out of an undo")
    func deletedElsewhere() throws {
        let (ann, bea) = (Library.person("Ann", 1, in: context), Library.person("Bea", 1, in: context))
        try context.save()
        manager.removeAllActions()
        context.automaticallyMergesChangesFromParent = true
        grouped {
            ann.age = 2
            bea.age = 2
        }
        try context.save()
        let other = container.newBackgroundContext()
        try other.performAndWait {
            other.delete(try other.existingObject(with: ann.objectID))
            try other.save()
        }
        manager.undo()
        try context.save()
        #expect(try names() == ["Bea"] && bea.age == 1)
    }

    @Test("what a child context saves into its parent is undone there")
    func child() throws {
        let ann = Library.person("Ann", 1, in: context)
        try context.save()
        manager.removeAllActions()
        let child = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        child.parent = context
        child.undoManager = UndoManager()
        let own = try #require(try child.existingObject(with: ann.objectID) as? Person)
        own.age = 2
        Library.person("Bea", in: child)
        child.undo()
        #expect(own.age == 1 && child.insertedObjects.isEmpty)
        child.redo()
        manager.beginUndoGrouping()
        try child.save()
        manager.endUndoGrouping()
        #expect(try ann.age == 2 && names() == ["Ann", "Bea"])
        context.undo()
        #expect(try ann.age == 1 && names() == ["Ann"])
    }

    @Test("override func awake(fromSnapshotEvents:)")
    func awakening() throws {
        let model = Library.model { $1.managedObjectClassName = NSStringFromClass(CachedPost.self) }
        let container = try Library.container(model)
        let context = container.viewContext
        context.undoManager = manager
        let post = try #require(
            NSEntityDescription.insertNewObject(forEntityName: "Post", into: context) as? CachedPost)
        try context.save()
        manager.removeAllActions()
        grouped { post.title = "New" }
        grouped { context.delete(post) }
        manager.undo()
        manager.undo()
        #expect(post.events == [.undoDeletion, .undoUpdate])
        post.title = "Other"
        context.rollback()
        #expect(post.events == [.undoDeletion, .undoUpdate, .rollback])
    }

    @Test("the redo of an insertion is announced as an insertion")
    func announcedInsertion() throws {
        let notes = Notes(.NSManagedObjectContextObjectsDidChange, of: context)
        grouped { Library.person("Ann", in: context) }
        context.processPendingChanges()
        let ann = try #require(context.insertedObjects.first)
        context.undo()
        context.processPendingChanges()
        context.redo()
        context.processPendingChanges()
        let inserted = notes.list.compactMap { $0.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> }
        #expect(inserted == [[ann], [ann]])
    }

    @Test("undo is announced as a change of objects")
    func announced() throws {
        let ann = Library.person("Ann", in: context)
        try context.save()
        grouped { ann.age = 7 }
        nonisolated(unsafe) var updated: Set<NSManagedObject> = []
        let observer = NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.didChangeObjectsNotification, object: context, queue: nil
        ) { updated.formUnion($0.userInfo?[NSUpdatedObjectsKey] as? Set<NSManagedObject> ?? []) }
        defer { NotificationCenter.default.removeObserver(observer) }
        context.undo()
        context.processPendingChanges()
        #expect(updated == [ann])
    }
}
