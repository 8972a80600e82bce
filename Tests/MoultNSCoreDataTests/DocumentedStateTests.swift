import MoultNSCoreData
import TestSupport
import Testing

/// What Apple documents, by the name of the page or of the header that says it.
@Suite struct DocumentedStateTests {
    let folder: ScratchFolder
    let url: URL

    init() throws {
        folder = try ScratchFolder()
        url = URL(fileURLWithPath: folder.path).appendingPathComponent("Library.sqlite")
    }

    private func place(_ name: String) -> URL { url.deletingLastPathComponent().appendingPathComponent(name) }

    // MARK: - Objects

    /// `refresh(_:mergeChanges:)`: the object is turned into a fault, and pending changes are lost, if `flag` is false.
    /// `refreshAllObjects()`: every object is refreshed with its changes merged.
    @Test func `Refreshed objects without changes are faults`() throws {
        let context = try Library.container(at: url).viewContext
        let (ann, bob) = (Library.person("Ann", in: context), Library.person("Bob", in: context))
        try context.save()
        #expect(!ann.isFault)
        context.refresh(ann, mergeChanges: false)
        #expect(ann.isFault && ann.calls.suffix(2) == ["willTurnIntoFault", "didTurnIntoFault"])
        #expect(ann.name == "Ann" && !ann.isFault)
        bob.age = 9
        context.refreshAllObjects()
        #expect(ann.isFault && !bob.isFault && bob.age == 9 && bob.isUpdated)
        context.refresh(bob, mergeChanges: false)
        #expect(bob.isFault && !bob.hasChanges && bob.age == 0)
    }

    /// `reset()`: the objects are forgotten. `managedObjectContext`: nil once the object is not in a context.
    @Test func `After a reset an object is a fault without a context`() throws {
        let context = try Library.container(at: url).viewContext
        let (ann, bob) = (Library.person("Ann", in: context), Library.person("Bob", in: context))
        try context.save()
        context.delete(bob)
        try context.save()
        #expect(bob.managedObjectContext == nil && !bob.isDeleted)
        context.reset()
        #expect(ann.isFault && ann.managedObjectContext == nil && !ann.hasChanges)
        #expect(ann.entity.name == "Person" && ann.value(forKey: "name") == nil)
    }

    @Test func `A relationship that is set again makes the object dirty, and writes no row`() throws {
        let context = try Library.container(at: url).viewContext
        let ann = Library.person("Ann", in: context)
        let post = Post(context: context)
        post.author = ann
        try context.save()
        let sql = "SELECT Z_OPT FROM ZPERSON UNION ALL SELECT Z_OPT FROM ZPOST"
        let before = try SQLiteShell.rows(sql, of: url)
        post.author = ann
        #expect(context.updatedObjects == [post] && !post.hasPersistentChangedValues)
        try context.save()
        ann.posts = ann.posts
        #expect(context.updatedObjects == [ann] && !ann.hasPersistentChangedValues)
        try context.save()
        #expect(try !context.hasChanges && SQLiteShell.rows(sql, of: url) == before)
    }

    /// `NSManagedObjectContextObjectsDidChange`: the objects that were changed, by the end of each event.
    @Test func `Each event announces what it has changed, and nothing of the events before`() throws {
        let context = try Library.container(at: url).viewContext
        let (ann, bob) = (Library.person("Ann", in: context), Library.person("Bob", in: context))
        let post = Post(context: context)
        post.author = ann
        try context.save()
        let notes = Notes(.NSManagedObjectContextObjectsDidChange, of: context)
        func last() -> [Set<NSManagedObject>] {
            [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey].map {
                notes.list.last?.userInfo?[$0] as? Set<NSManagedObject> ?? []
            }
        }
        context.performAndWait { bob.age = 1 }
        #expect(last() == [[], [bob], []])
        let cid = context.performAndWait { Library.person("Cid", in: context) }
        #expect(last() == [[cid], [], []])
        context.performAndWait { cid.age = 2 }
        #expect(last() == [[], [cid], []])
        context.performAndWait { context.delete(ann) }
        #expect(last() == [[], [], [ann, post]])
        context.performAndWait { bob.age = 2 }
        #expect(last() == [[], [bob], []])
        context.refresh(ann, mergeChanges: false)
        context.performAndWait { context.delete(ann) }
        #expect(last()[2] == [ann])
        // A rule deletes what was never saved.
        context.performAndWait { Post(context: context).author = cid }
        context.performAndWait { context.delete(cid) }
        #expect(last() == [[], [], [cid]])
        try context.save()
        #expect(try SQLiteShell.rows("SELECT ZNAME, ZAGE FROM ZPERSON", of: url) == ["Bob|2"])
    }

    /// `NSManagedObject.h`: `hasChanges` is a simple dirty flag; a value that is the stored one is none of the persistent
    /// changed values.
    @Test func `A value that is set again makes the object dirty, and writes no row`() throws {
        let context = try Library.container(at: url).viewContext
        let ann = Library.person("Ann", in: context)
        try context.save()
        let notes = Notes(.NSManagedObjectContextObjectsDidChange, of: context)
        ann.name = "Ann"
        #expect(ann.hasChanges && ann.isUpdated && context.hasChanges && context.updatedObjects == [ann])
        #expect(!ann.hasPersistentChangedValues && ann.changedValues().isEmpty)
        context.processPendingChanges()
        #expect(notes.list.last?.userInfo?[NSUpdatedObjectsKey] as? Set<NSManagedObject> == [ann])
        try context.save()
        #expect(!context.hasChanges && ann.calls.suffix(2) == ["willSave", "didSave"] && ann.calls.count == 5)
        #expect(try SQLiteShell.rows("SELECT Z_OPT FROM ZPERSON", of: url) == ["1"])
    }

    /// `isDeleted`: it may be false at other times, particularly after the object has been deleted. `deletedObjects`: an
    /// object inserted and deleted without a save between may not be included.
    @Test func `An object deleted before its first save is deleted until its context processes that`() throws {
        let context = try Library.container(at: url).viewContext
        let ann = Library.person("Ann", in: context)
        context.processPendingChanges()
        context.delete(ann)
        #expect(ann.isDeleted && ann.managedObjectContext === context && !context.hasChanges)
        let notes = Notes(.NSManagedObjectContextObjectsDidChange, of: context)
        context.processPendingChanges()
        #expect(!ann.isDeleted && ann.managedObjectContext == nil && context.deletedObjects.isEmpty)
        #expect(notes.list.map { $0.userInfo?[NSDeletedObjectsKey] as? Set<NSManagedObject> } == [[ann]])
        #expect(notes.list.map { $0.userInfo?[NSUpdatedObjectsKey] == nil } == [true])
        let bob = context.performAndWait { () -> Person in
            let bob = Library.person("Bob", in: context)
            context.delete(bob)
            return bob
        }
        #expect(!bob.isDeleted && bob.managedObjectContext == nil)
        try context.save()
        #expect(try SQLiteShell.rows("SELECT count(*) FROM ZPERSON", of: url) == ["0"])
    }

    /// `NSDecimalNumber` has 38 digits, a column of SQLite the 15 to 17 of a REAL.
    @Test func `A decimal of more digits than a column keeps is rounded`() throws {
        let context = try Library.container(at: url).viewContext
        let numbers: [(String, NSDecimalNumber)] = [
            ("a", NSDecimalNumber(value: 3.3333333333)), ("b", NSDecimalNumber(decimal: Decimal(10.11))),
            ("c", NSDecimalNumber(decimal: Decimal(1) / Decimal(3))), ("e", NSDecimalNumber(value: 1)),
        ]
        for (name, number) in numbers { Library.person(name, in: context).balance = number }
        try context.save()
        let batch = NSBatchInsertRequest(entityName: "Person", objects: [["name": "d", "balance": numbers[2].1]])
        try context.execute(batch)
        let update = NSBatchUpdateRequest(entityName: "Person")
        update.predicate = NSPredicate(format: "name == 'e'")
        update.propertiesToUpdate = ["balance": numbers[2].1]
        try context.execute(update)
        #expect(
            try SQLiteShell.rows("SELECT printf('%s %.10f', ZNAME, ZBALANCE) FROM ZPERSON ORDER BY ZNAME", of: url)
                == [
                    "a 3.3333333333", "b 10.1100000000", "c 0.3333333333", "d 0.3333333333", "e 0.3333333333",
                ])
    }

    // MARK: - Batch requests and history

    @Test func `A batch insertion by a handler takes what the handler sets, nil included`() throws {
        let model = Library.model { person, _ in
            let size = NSCompositeAttributeDescription()
            size.name = "size"
            size.elements = [Library.attribute("width", .integer32), Library.attribute("height", .integer32)]
            person.properties += [size, Library.attribute("nickname", .string, "none")]
        }
        let context = try Library.container(model, at: url).viewContext
        var left = ["Ann", "Bob"]
        let request = NSBatchInsertRequest(entityName: "Person") { (object: NSManagedObject) in
            guard !left.isEmpty else { return true }
            object.setValue(left.removeFirst(), forKey: "name")
            object.setValue(["width": 2, "height": 3], forKey: "size")
            if left.isEmpty { object.setValue(nil, forKey: "nickname") }
            return false
        }
        try context.execute(request)
        let sql = "SELECT ZNAME, coalesce(ZNICKNAME, 'nil') FROM ZPERSON ORDER BY ZNAME"
        #expect(try SQLiteShell.rows(sql, of: url) == ["Ann|none", "Bob|nil"])
        let fetch = NSFetchRequest<NSManagedObject>(entityName: "Person")
        let sizes = try context.fetch(fetch).map { ($0.value(forKey: "size") as? [String: Any])?["width"] as? Int }
        #expect(sizes == [2, 2])
    }

    /// `transactionAuthor`: the author of the context's transactions. A child's batch requests are transactions of its
    /// own; its save reaches the store with the save of the parent.
    @Test func `Every request carries the author of its context`() throws {
        let container = try Library.container(at: url, history: true)
        let parent = container.viewContext
        parent.transactionAuthor = "parent"
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = parent
        (child.transactionAuthor, child.name) = ("child", "work")
        for context in [parent, child] {
            try context.execute(NSBatchInsertRequest(entityName: "Person", objects: [["name": "a"]]))
            let update = NSBatchUpdateRequest(entityName: "Person")
            update.propertiesToUpdate = ["name": "b"]
            try context.execute(update)
            try context.execute(NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Person")))
            Library.person("c", in: context)
            try context.save()
        }
        try parent.save()
        let history = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
        let result = try parent.execute(history) as? NSPersistentHistoryResult
        let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
        #expect(
            transactions.map(\.author)
                == ["parent", "parent", "parent", "parent", "child", "child", "child", "parent"])
        #expect(transactions.map(\.contextName).filter { $0 == "work" }.count == 3)
    }

    /// `currentPersistentHistoryToken(fromStores:)`: a token that represents all of the stores.
    @Test func `A store with history has a token before its first transaction`() throws {
        let first = try Library.container(at: url, history: true)
        let other = try Library.container(at: url, history: true)
        let coordinator = other.persistentStoreCoordinator
        let before = try #require(coordinator.currentPersistentHistoryToken(fromStores: coordinator.persistentStores))
        Library.person("Ann", in: first.viewContext)
        try first.viewContext.save()
        let after = try #require(coordinator.currentPersistentHistoryToken(fromStores: coordinator.persistentStores))
        #expect(before != after)
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: before)
        let result = try other.viewContext.execute(request) as? NSPersistentHistoryResult
        #expect((result?.result as? [NSPersistentHistoryTransaction])?.last?.token == after)
        let plain = try Library.container(at: place("Plain.sqlite")).persistentStoreCoordinator
        #expect(plain.currentPersistentHistoryToken(fromStores: nil) == nil)
    }

    /// Core Data opens such a store read-only, so that no change is missing from its history. Here none is missing.
    @Test func `A store with history keeps it without the option`() throws {
        do {
            let first = try Library.container(at: url, history: true)
            Library.person("Ann", in: first.viewContext)
            try first.viewContext.save()
            let coordinator = first.persistentStoreCoordinator
            try coordinator.remove(coordinator.persistentStores[0])
        }
        let second = try Library.container(at: url)
        Library.person("Bob", in: second.viewContext)
        try second.viewContext.save()
        let changes = "SELECT count(DISTINCT ZTRANSACTIONID), count(*) FROM ACHANGE"
        #expect(try SQLiteShell.rows(changes, of: url) == ["2|2"])
    }

    // MARK: - Stores

    /// `NSPersistentStoreCoordinator.h`: a file cannot be unlinked safely while others use it, so the store is truncated.
    @Test func `Destroying a store leaves an empty database`() throws {
        let model = Library.model { person, _ in
            person.attributesByName["photo"]?.allowsExternalBinaryDataStorage = true
        }
        let container = try Library.container(model, at: url)
        Library.person("Ann", in: container.viewContext).photo = Data(repeating: 7, count: 200_000)
        try container.viewContext.save()
        let coordinator = container.persistentStoreCoordinator
        let identifier = coordinator.persistentStores[0].identifier
        let copy = place("Copy.sqlite")
        try coordinator.replacePersistentStore(at: copy, withPersistentStoreFrom: url, type: .sqlite)
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        for _ in 0..<2 { try coordinator.destroyPersistentStore(at: url, type: .sqlite) }
        let sql = "SELECT count(*) FROM sqlite_master; PRAGMA integrity_check"
        #expect(try SQLiteShell.rows(sql, of: url) == ["0", "ok"])
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/.Library_SUPPORT"))
        // A new store, and a copy, take the place of the empty one.
        let again = try Library.container(model, at: url)
        #expect(again.persistentStoreCoordinator.persistentStores[0].identifier != identifier)
        Library.person("Bob", in: again.viewContext).photo = Data(repeating: 8, count: 200_000)
        try again.viewContext.save()
        #expect(try SQLiteShell.rows("SELECT ZNAME FROM ZPERSON; PRAGMA journal_mode", of: url) == ["Bob", "wal"])
        let second = again.persistentStoreCoordinator
        for store in second.persistentStores { try second.remove(store) }
        try second.destroyPersistentStore(at: url, type: .sqlite)
        try second.replacePersistentStore(at: url, withPersistentStoreFrom: copy, type: .sqlite)
        let last = try Library.container(model, at: url)
        #expect(last.persistentStoreCoordinator.persistentStores[0].identifier == identifier)
        let people = try last.viewContext.fetch(NSFetchRequest<Person>(entityName: "Person"))
        #expect(people.map(\.name) == ["Ann"] && people.first?.photo?.count == 200_000)
    }

    /// `NSPersistentStoreCoordinatorStoresDidChange`: posted by a coordinator whose stores have changed.
    @Test func `Each coordinator that loses a store says so`() throws {
        let containers = [try Library.container(at: url), try Library.container(at: url)]
        let coordinators = containers.map(\.persistentStoreCoordinator)
        let stores = coordinators.map { $0.persistentStores[0] }
        let changes = coordinators.map { Notes(.NSPersistentStoreCoordinatorStoresDidChange, of: $0) }
        let removals = stores.map { Notes(.NSPersistentStoreCoordinatorWillRemoveStore, of: $0) }
        let link = place("Link.sqlite")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: url)
        #expect(coordinators.compactMap { $0.persistentStore(for: link) } == stores)
        #expect(throws: NSError.self) { try coordinators[0].destroyPersistentStore(at: link, type: .binary) }
        #expect(throws: NSError.self) { try coordinators[0].remove(stores[1]) }
        #expect(removals.map(\.list.count) == [0, 0])
        try coordinators[0].destroyPersistentStore(at: link, type: .sqlite)
        #expect(removals.map(\.list.count) == [1, 1])
        for (change, store) in zip(changes, stores) {
            let lost = change.list.map { $0.userInfo?[NSRemovedPersistentStoresKey] as? [NSPersistentStore] }
            #expect(lost == [[store]])
        }
    }

    /// A session of Apple's developer conference, *Making Apps with Core Data*: stores at the same name below
    /// `/dev/null` are one store.
    @Test func `A store at a name below the null device is shared in memory`() throws {
        let name = URL(fileURLWithPath: "/dev/null").appendingPathComponent("shared-\(UUID().uuidString)")
        let (one, two) = (try Library.container(at: name), try Library.container(at: name))
        let stores = [one, two].map { $0.persistentStoreCoordinator.persistentStores[0] }
        #expect(stores.map(\.url) == [name, name] && stores[0].identifier == stores[1].identifier)
        let ann = Library.person("Ann", in: one.viewContext)
        try one.viewContext.save()
        let found = try two.viewContext.fetch(NSFetchRequest<Person>(entityName: "Person"))
        #expect(found.map(\.objectID) == [ann.objectID] && found.map(\.name) == ["Ann"])
        found[0].age = 7
        try two.viewContext.save()
        one.viewContext.refresh(ann, mergeChanges: false)
        #expect(ann.age == 7)
        let other = try Library.container(at: name.appendingPathComponent("other"))
        #expect(try other.viewContext.count(for: NSFetchRequest<Person>(entityName: "Person")) == 0)
        #expect(throws: NSError.self) {
            let other = Library.model { person, _ in person.properties.append(Library.attribute("nickname", .string)) }
            _ = try Library.container(other, at: name)
        }
        #expect(!FileManager.default.fileExists(atPath: name.path))
    }
}

// MARK: - Migrations

extension DocumentedStateTests {
    private func migrate(_ policy: NSEntityMigrationPolicy.Type, to copy: URL) throws -> NSMigrationManager {
        let container = try Library.container(at: url)
        for name in ["Ann", "Bob"] { Library.person(name, in: container.viewContext) }
        try container.viewContext.save()
        let coordinator = container.persistentStoreCoordinator
        try coordinator.remove(coordinator.persistentStores[0])
        let newer = Library.model { person, _ in
            person.properties.append(Library.attribute("nickname", .string, "none"))
        }
        let manager = NSMigrationManager(sourceModel: Library.model(), destinationModel: newer)
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: manager.sourceModel, destinationModel: newer)
        // The names are those of Core Data's own inferred mappings.
        #expect(Set(mapping.entityMappingsByName.keys) == ["IEM_Transform_Person", "IEM_Copy_Post"])
        mapping.entityMappingsByName["IEM_Transform_Person"]?.entityMigrationPolicyClassName = NSStringFromClass(policy)
        try manager.migrateStore(
            from: url, type: .sqlite, mapping: mapping, to: copy, type: .sqlite)
        return manager
    }

    /// `cancelMigrationWithError(_:)`: the migration fails with the given error.
    @Test func `A cancelled migration throws the error with which it was cancelled`() throws {
        let copy = place("Newer.sqlite")
        let error = #expect(throws: NSError.self) { _ = try migrate(CancellingPolicy.self, to: copy) }
        #expect(error?.domain == "Library" && error?.code == 42)
        #expect(!FileManager.default.fileExists(atPath: copy.path))
    }

    /// `sourceContext` and `destinationContext` of `NSMigrationManager`.
    @Test func `The objects of a migration are in the contexts of its manager`() throws {
        let copy = place("Newer.sqlite")
        let manager = try migrate(ContextPolicy.self, to: copy)
        #expect(manager.userInfo?["contexts"] as? [Bool] == [true, true, true, true])
        #expect(try SQLiteShell.rows("SELECT ZNAME FROM ZPERSON ORDER BY 1", of: copy) == ["Ann", "Bob"])
    }
}

final class CancellingPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        manager.cancelMigrationWithError(NSError(domain: "Library", code: 42))
    }
}

final class ContextPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance])
        var seen = manager.userInfo?["contexts"] as? [Bool] ?? []
        seen.append(sInstance.managedObjectContext === manager.sourceContext)
        seen += made.map { $0.managedObjectContext === manager.destinationContext }
        manager.userInfo = ["contexts": seen]
    }
}
