import MoultNSCoreData
import TestSupport
import Testing

/// Symbols of Core Data that few programs use.
@Suite struct FurtherSymbolTests {
    let folder: ScratchFolder
    let url: URL

    init() throws {
        folder = try ScratchFolder()
        url = URL(fileURLWithPath: folder.path).appendingPathComponent("Library.sqlite")
    }

    @Test func `A store has the model that made it`() throws {
        let model = Library.model()
        let container = try Library.container(model, at: url)
        let open = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url)
        #expect(open.versionChecksum == model.versionChecksum)
        let coordinator = container.persistentStoreCoordinator
        try coordinator.remove(coordinator.persistentStores[0])
        let closed = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url)
        #expect(closed.entityVersionHashesByName == model.entityVersionHashesByName)
        #expect(throws: NSError.self) {
            try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url.appendingPathExtension("none"))
        }
    }

    @Test func `A coordinator executes requests in a context`() throws {
        let context = try Library.container(at: url).viewContext
        let coordinator = try #require(context.persistentStoreCoordinator)
        let insert = NSBatchInsertRequest(entityName: "Person", objects: [["name": "Ann"]])
        #expect(insert.requestType == .batchInsertRequestType)
        #expect(try coordinator.execute(insert, with: context) is NSBatchInsertResult)
        let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Person")
        #expect(fetch.requestType == .fetchRequestType)
        #expect((try coordinator.execute(fetch, with: context) as? [Any])?.count == 1)
    }

    @Test func `A cancelled fetch has no result`() throws {
        let context = try Library.container(at: url).viewContext
        var results: [Int?] = []
        for isCancelled in [true, false] {
            let request = NSAsynchronousFetchRequest(fetchRequest: NSFetchRequest<Person>(entityName: "Person"))
            let result = try context.performAndWait {
                let result = try context.execute(request) as? NSAsynchronousFetchResult<Person>
                #expect(result?.managedObjectContext === context)
                if isCancelled { result?.cancel() }
                return result
            }
            // The queue runs what was put into it before.
            let done = DispatchSemaphore(value: 0)
            context.perform { done.signal() }
            done.wait()
            results.append(result?.finalResult?.count)
        }
        #expect(results == [nil, 0])
    }

    @Test func `An index knows its entity, and a column its index`() {
        let model = Library.model { person, _ in
            let column = NSFetchIndexElementDescription(property: person.properties[0], collationType: .binary)
            person.indexes = [NSFetchIndexDescription(name: "byName", elements: [column])]
        }
        let person = model.entitiesByName["Person"]
        #expect(person?.indexes.first?.entity === person)
        #expect(person?.indexes.first?.elements.first?.indexDescription === person?.indexes.first)
    }

    @Test func `A context decides about an object whose row is gone`() throws {
        final class Noting: NSManagedObjectContext, @unchecked Sendable {
            var gone: [NSManagedObjectID] = []
            override func shouldHandleInaccessibleFault(
                _ fault: NSManagedObject, for oid: NSManagedObjectID,
                triggeredByProperty property: NSPropertyDescription?
            ) -> Bool {
                gone.append(oid)
                return true
            }
        }
        let container = try Library.container(at: url)
        let context = Noting(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = container.persistentStoreCoordinator
        let ann = Library.person("Ann", in: context)
        try context.save()
        context.refresh(ann, mergeChanges: false)
        #expect(ann.faultingState != 0)
        try container.viewContext.execute(NSBatchDeleteRequest(objectIDs: [ann.objectID]))
        #expect(ann.value(forKey: "name") == nil && context.gone == [ann.objectID])
    }

    @Test func `Errors have Foundation's two forms`() {
        let error = CocoaError(.persistentStoreSaveConflicts)
        #expect(error.code == CocoaError.persistentStoreSaveConflicts && error.errorCode == 134050)
        #expect(CocoaError.Code.sqlite.rawValue == NSSQLiteError)
        #expect(CocoaError.Code.validationRelationshipDeniedDelete.rawValue == 1600)
    }

    /// `NSMutableOrderedSet`: `sort(using:)` sorts by the descriptors, the first one first.
    @Test func `An ordered relationship is sorted by sort descriptors`() throws {
        let context = try Library.container(at: url).viewContext
        let ann = Library.person("Ann", in: context)
        let list = ann.mutableOrderedSetValue(forKey: "favourites")
        for (title, pages) in [("b", 2), ("a", 1), ("c", 2), ("d", 1)] as [(String, Int32)] {
            let post = Post(context: context)
            (post.title, post.pages) = (title, pages)
            list.add(post)
        }
        list.sort(using: [
            NSSortDescriptor(key: "pages", ascending: false), NSSortDescriptor(key: "title", ascending: true),
        ])
        #expect(list.map { ($0 as? Post)?.title } == ["b", "c", "a", "d"])
        try context.save()
        let order = "SELECT ZTITLE FROM ZPOST ORDER BY Z_FOK_FAN"
        #expect(try SQLiteShell.rows(order, of: url) == ["b", "c", "a", "d"])
    }

    /// `setNilValueForKey(_:)`: a class may override it; the key-value coding of the model's own keys stores nil.
    @Test func `A class decides about nil for a scalar`() throws {
        let entity = NSEntityDescription()
        (entity.name, entity.managedObjectClassName) = ("Counted", NSStringFromClass(Counted.self))
        entity.properties = [Library.attribute("n", .integer32, 3)]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let container = try Library.container(model, at: url)
        let counted = Counted(entity: entity, insertInto: container.viewContext)
        counted.setNilValueForKey("m")
        counted.setValue(nil, forKey: "n")
        #expect(counted.nilKeys == ["m"] && counted.value(forKey: "n") == nil)
    }

    @Test func `Requests give back what they were made of`() throws {
        let container = try Library.container(at: url)
        let person = try #require(container.managedObjectModel.entitiesByName["Person"])
        let rows = NSBatchInsertRequest(entity: person, objects: [["name": "Ann"]])
        #expect(rows.objectsToInsert?.count == 1 && rows.dictionaryHandler == nil && rows.entity === person)
        rows.objectsToInsert?.append(["name": "Bob"])
        rows.resultType = .count
        #expect((try container.viewContext.execute(rows) as? NSBatchInsertResult)?.result as? Int == 2)
        let handler = NSBatchInsertRequest(entityName: "Person", managedObjectHandler: { _ in true })
        #expect(handler.managedObjectHandler != nil && handler.objectsToInsert == nil)
        #expect(NSBatchUpdateRequest(entity: person).entity === person && handler.entity.name == "Person")
    }

    @Test func `Settings without an effect have Core Data's values`() throws {
        let context = try Library.container(at: url).viewContext
        #expect(context.propagatesDeletesAtEndOfEvent)
        let manager = NSMigrationManager(sourceModel: Library.model(), destinationModel: Library.model())
        manager.reset()
        #expect(manager.usesStoreSpecificMigrationManager)
        #expect(NSSnapshotEventType.refresh.rawValue == 32 && NSSnapshotEventType.mergePolicy.rawValue == 64)
    }
}

final class Counted: NSManagedObject {
    var nilKeys: [String] = []
    override func setNilValueForKey(_ key: String) { nilKeys.append(key) }
}
