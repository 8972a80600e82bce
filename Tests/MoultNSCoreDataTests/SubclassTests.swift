import MoultNSCoreData
import TestSupport
import Testing

// Each subclass is written as for Core Data: with initializers of its own, and without a required one.

final class EagerReader: NSManagedObject {
    let seen: NSMutableArray
    var isMade = false

    override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        seen = NSMutableArray(object: entity.name ?? "no entity")
        super.init(entity: entity, insertInto: context)
        seen.add(context == nil ? "no context" : "context")
    }

    init(named name: String, entity: NSEntityDescription, in context: NSManagedObjectContext) {
        seen = NSMutableArray()
        super.init(entity: entity, insertInto: context)
        setValue(name, forKey: "name")
        isMade = true
    }

    override func awakeFromInsert() { setValue("awake", forKey: "name") }
}

class EagerBook: NSManagedObject {
    convenience init(title: String, in context: NSManagedObjectContext) {
        self.init(context: context)
        setValue(title, forKey: "name")
    }
}

/// A class with the method that Xcode generates.
class DatedBook: NSManagedObject {
    class func fetchRequest() -> NSFetchRequest<DatedBook> { NSFetchRequest<DatedBook>(entityName: "Dated") }
}

final class EagerComic: EagerBook {
    /// An object that another class's initializer creates.
    private(set) var reader: EagerReader?

    override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        reader = context.map { EagerReader(context: $0) }
        super.init(entity: entity, insertInto: context)
    }
}

private final class AppContainer: NSPersistentContainer, @unchecked Sendable {
    let folder: URL

    init(_ model: NSManagedObjectModel, in folder: URL) {
        self.folder = folder
        super.init(name: "App", managedObjectModel: model)
        persistentStoreDescriptions = [NSPersistentStoreDescription(url: folder.appendingPathComponent("App.sqlite"))]
    }

    override class func defaultDirectoryURL() -> URL { URL(fileURLWithPath: "/nowhere") }
}

private final class AppCoordinator: NSPersistentStoreCoordinator, @unchecked Sendable {
    var opened: [URL] = []

    @discardableResult
    override func addPersistentStore(
        ofType type: String, configurationName configuration: String?, at url: URL?, options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        if let url { opened.append(url) }
        return try super.addPersistentStore(
            ofType: type, configurationName: configuration, at: url, options: options)
    }
}

private final class AppContext: NSManagedObjectContext, @unchecked Sendable {
    var saved = 0
    override func save() throws {
        saved += 1
        try super.save()
    }
}

private func insert<T: NSManagedObject>(_ type: T.Type, in context: NSManagedObjectContext) -> T { T(context: context) }

extension NSManagedObject {
    fileprivate static func make(_ context: NSManagedObjectContext) -> Self { Self(context: context) }
}

extension NSPersistentStoreCoordinator {
    fileprivate static func empty() -> Self { self.init(managedObjectModel: NSManagedObjectModel()) }
}

extension NSManagedObjectContext {
    fileprivate static func child(of parent: NSManagedObjectContext) -> Self {
        let made = Self(concurrencyType: .privateQueueConcurrencyType)
        made.parent = parent
        return made
    }
}

@Suite struct SubclassTests {
    let folder: ScratchFolder
    let url: URL
    let model: NSManagedObjectModel

    init() throws {
        folder = try ScratchFolder()
        url = URL(fileURLWithPath: folder.path)
        model = NSManagedObjectModel()
        let classes: [(String, NSManagedObject.Type)] = [
            ("Reader", EagerReader.self), ("Book", EagerBook.self), ("Comic", EagerComic.self),
        ]
        model.entities = classes.map { name, type in
            let entity = NSEntityDescription()
            entity.name = name
            entity.managedObjectClassName = NSStringFromClass(type)
            entity.properties = [Library.attribute("name", .string)]
            return entity
        }
    }

    private func container() throws -> AppContainer {
        let container = AppContainer(model, in: url)
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        return container
    }

    @Test func `A class that is known only at run time makes its objects`() throws {
        let context = try container().viewContext
        let reader = insert(EagerReader.self, in: context)
        #expect(reader.seen == ["Reader", "context"])
        #expect(reader.value(forKey: "name") as? String == "awake")
        let types: [NSManagedObject.Type] = [EagerReader.self, EagerBook.self, EagerComic.self]
        let made = types.map { $0.make(context) }
        #expect(made.map { NSStringFromClass(type(of: $0)) } == types.map { NSStringFromClass($0) })
        #expect(made.map { $0.entity.name } == ["Reader", "Book", "Comic"])
        #expect(insert(EagerComic.self, in: context).reader != nil)
        #expect(made.allSatisfy { $0.isInserted && $0.managedObjectContext === context })
        try context.save()
        let path = url.appendingPathComponent("App.sqlite")
        #expect(try SQLiteShell.rows("SELECT count(*) FROM ZREADER", of: path) == ["4"])
        #expect(try SQLiteShell.rows("SELECT count(*) FROM ZCOMIC", of: path) == ["2"])
    }

    @Test func `A generated fetchRequest() precedes the inherited one where no type is written`() {
        let request = DatedBook.fetchRequest()
        let typed: NSFetchRequest<DatedBook> = request
        #expect(typed.entityName == "Dated")
    }

    @Test func `A class makes objects by initializers of its own`() throws {
        let context = try container().viewContext
        let entity = try #require(NSEntityDescription.entity(forEntityName: "Reader", in: context))
        let reader = EagerReader(named: "Ann", entity: entity, in: context)
        #expect(reader.isMade && reader.value(forKey: "name") as? String == "Ann")
        #expect(EagerBook(title: "Emma", in: context).value(forKey: "name") as? String == "Emma")
        let alone = EagerReader(entity: entity, insertInto: nil)
        #expect(alone.seen == ["Reader", "no context"] && alone.managedObjectContext == nil)
        context.insert(alone)
        #expect(alone.managedObjectContext === context)
        try context.save()
        let path = url.appendingPathComponent("App.sqlite")
        #expect(try SQLiteShell.rows("SELECT count(*) FROM ZREADER", of: path) == ["2"])
    }

    @Test func `An override runs for a fetched object, and inserts nothing`() throws {
        let container = try container()
        try container.viewContext.performAndWait {
            _ = EagerBook(title: "Emma", in: container.viewContext)
            _ = insert(EagerReader.self, in: container.viewContext)
            _ = insert(EagerComic.self, in: container.viewContext)
            try container.viewContext.save()
        }
        let context = container.newBackgroundContext()
        let found = try context.fetch(NSFetchRequest<EagerReader>(entityName: "Reader"))
        #expect(found.count == 2)
        #expect(found.allSatisfy { $0.seen == ["Reader", "context"] && !$0.isInserted })
        #expect(!context.hasChanges)
        // The fetched comic's initializer makes a new reader.
        let comics = try context.fetch(NSFetchRequest<EagerComic>(entityName: "Comic"))
        #expect(comics.map { $0.reader?.isInserted } == [true])
        #expect(comics.map(\.isInserted) == [false])
    }

    @Test func `A container, a coordinator and a context are subclassed`() throws {
        let container = try container()
        #expect(container.persistentStoreCoordinator.persistentStores.count == 1)
        #expect(AppContainer.defaultDirectoryURL().path == "/nowhere")
        let coordinator = AppCoordinator(managedObjectModel: model)
        let other = url.appendingPathComponent("Other.sqlite")
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: other)
        #expect(coordinator.opened == [other])
        let context = AppContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        _ = EagerBook(title: "Emma", in: context)
        try context.save()
        #expect(context.saved == 1)
        #expect(try SQLiteShell.rows("SELECT ZNAME FROM ZBOOK", of: other) == ["Emma"])
        #expect(type(of: AppCoordinator.empty()) == AppCoordinator.self)
        let child = AppContext.child(of: context)
        #expect(type(of: child) == AppContext.self && child.parent === context)
    }
}

/// A context that notes what it is asked, as an app's logging does.
private final class SpyContext: NSManagedObjectContext, @unchecked Sendable {
    var calls: [String] = []

    override func insert(_ object: NSManagedObject) {
        calls.append("insert")
        super.insert(object)
    }
    override func delete(_ object: NSManagedObject) {
        calls.append("delete")
        super.delete(object)
    }
    @discardableResult
    override func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
        calls.append("execute")
        return try super.execute(request)
    }
    override func perform(_ block: @escaping () -> Void) {
        calls.append("perform")
        super.perform(block)
    }
    override func mergeChanges(fromContextDidSave notification: Notification) {
        calls.append("merge")
        super.mergeChanges(fromContextDidSave: notification)
    }
    override func processPendingChanges() { super.processPendingChanges() }
    override func object(with objectID: NSManagedObjectID) -> NSManagedObject { super.object(with: objectID) }
    override func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
        try super.existingObject(with: objectID)
    }
    override func refresh(_ object: NSManagedObject, mergeChanges flag: Bool) {
        super.refresh(object, mergeChanges: flag)
    }
    override func refreshAllObjects() { super.refreshAllObjects() }
    override func obtainPermanentIDs(for objects: [NSManagedObject]) throws {
        try super.obtainPermanentIDs(for: objects)
    }
    override var insertedObjects: Set<NSManagedObject> { super.insertedObjects }
}

/// A manager that notes its associations.
private final class SpyManager: NSMigrationManager, @unchecked Sendable {
    var associations = 0

    override func associate(
        sourceInstance: NSManagedObject, withDestinationInstance destinationInstance: NSManagedObject,
        for mapping: NSEntityMapping
    ) {
        associations += 1
        super.associate(sourceInstance: sourceInstance, withDestinationInstance: destinationInstance, for: mapping)
    }
}

extension SubclassTests {
    @Test func `A subclass overrides what a context is asked`() throws {
        let context = SpyContext(concurrencyType: .privateQueueConcurrencyType)
        let loaded = try container()
        context.persistentStoreCoordinator = loaded.persistentStoreCoordinator
        let entity = try #require(NSEntityDescription.entity(forEntityName: "Book", in: context))
        let book = EagerBook(entity: entity, insertInto: nil)
        context.insert(book)
        try context.save()
        context.delete(book)
        try context.save()
        try context.execute(NSBatchInsertRequest(entityName: "Book", objects: [["name": "Emma"]]))
        context.mergeChanges(fromContextDidSave: Notification(name: .NSManagedObjectContextDidSave))
        let done = DispatchSemaphore(value: 0)
        context.perform { done.signal() }
        done.wait()
        #expect(context.calls == ["insert", "delete", "execute", "merge", "perform"])
        let model = NSManagedObjectModel()
        #expect(SpyManager(sourceModel: model, destinationModel: model).associations == 0)
    }
}
