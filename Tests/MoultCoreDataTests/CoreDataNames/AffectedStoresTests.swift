import Foundation
import MoultCoreData
import MoultNSCoreData
import TestSupport
import Testing

/// `affectedStores`, over two stores with one card each.
@Suite struct AffectedStoresTests {
    let folder: ScratchFolder
    let coordinator: NSPersistentStoreCoordinator
    let context: NSManagedObjectContext
    let urls: [URL]
    let stores: [NSPersistentStore]

    init() throws {
        let folder = try ScratchFolder()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Cards.model())
        let urls = ["one", "two"].map { URL(fileURLWithPath: "\(folder.path)/\($0).sqlite") }
        let stores = try urls.map { url in
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: url,
                options: [NSPersistentHistoryTrackingKey: true as NSNumber])
        }
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        for (title, store) in zip(["1", "2"], stores) { context.assign(Cards.insert(title, in: context), to: store) }
        try context.save()
        (self.folder, self.coordinator, self.context) = (folder, coordinator, context)
        (self.urls, self.stores) = (urls, stores)
    }

    private var request: NSFetchRequest<NSManagedObject> { NSFetchRequest(entityName: "Card") }
    private func titles() throws -> [[String]] { try urls.map(Cards.titles) }

    @Test func `a fetch and a count ask the stores that are named`() throws {
        let request = request
        request.affectedStores = [stores[1]]
        #expect(try context.fetch(request).map { $0.value(forKey: "title") as? String } == ["2"])
        #expect(try context.count(for: request) == 1)
        let rows = NSFetchRequest<NSDictionary>(entityName: "Card")
        rows.propertiesToFetch = ["title"]
        rows.affectedStores = [stores[0]]
        #expect(try context.fetch(rows).map { $0["title"] as? String } == ["1"])
        request.affectedStores = []
        #expect(try context.fetch(request).isEmpty)
        request.affectedStores = stores
        #expect(try context.count(for: request) == 2)
    }

    @Test func `a fetch finds the unsaved objects of the stores that are named`() throws {
        context.assign(Cards.insert("3", in: context), to: stores[1])
        Cards.insert("4", in: context)
        for object in try context.fetch(request) where object.value(forKey: "title") as? String == "2" {
            object.setValue("5", forKey: "title")
        }
        let found = try stores.map { store in
            let request = request
            request.affectedStores = [store]
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            return try context.fetch(request).map { $0.value(forKey: "title") as? String }
        }
        #expect(found == [["1", "4"], ["3", "5"]])
    }

    @Test func `an asynchronous fetch asks the stores that it and its request name`() throws {
        let all: [([NSPersistentStore]?, [NSPersistentStore]?, Int)] = [
            ([stores[0]], nil, 1), (nil, [stores[0]], 1), (stores, [stores[1]], 1), ([stores[0]], [stores[1]], 0),
        ]
        for (outer, inner, count) in all {
            let fetch = NSAsynchronousFetchRequest(fetchRequest: request)
            (fetch.affectedStores, fetch.fetchRequest.affectedStores) = (outer, inner)
            let result = try context.execute(fetch) as? NSAsynchronousFetchResult<NSManagedObject>
            context.performAndWait {}
            #expect(result?.finalResult?.count == count && result?.operationError == nil)
        }
    }

    @Test func `a batch deletion deletes from the stores that are named, by it or by its fetch`() throws {
        let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Card")
        fetch.affectedStores = [stores[0]]
        let deletion = NSBatchDeleteRequest(fetchRequest: fetch)
        deletion.affectedStores = [stores[1]]
        try context.execute(deletion)
        #expect(try titles() == [["1"], ["2"]])
        deletion.affectedStores = nil
        try context.execute(deletion)
        #expect(try titles() == [[], ["2"]])
        fetch.affectedStores = nil
        deletion.affectedStores = [stores[0]]
        try context.execute(deletion)
        #expect(try titles() == [[], ["2"]])
        deletion.affectedStores = [stores[1]]
        try context.execute(deletion)
        #expect(try titles() == [[], []])
    }

    @Test func `a batch update changes the stores that are named`() throws {
        let update = NSBatchUpdateRequest(entityName: "Card")
        update.propertiesToUpdate = ["title": "3"]
        update.resultType = .updatedObjectsCountResultType
        update.affectedStores = [stores[1]]
        #expect((try context.execute(update) as? NSBatchUpdateResult)?.result as? Int == 1)
        #expect(try titles() == [["1"], ["3"]])
        update.affectedStores = []
        #expect((try context.execute(update) as? NSBatchUpdateResult)?.result as? Int == 0)
    }

    @Test func `a batch insertion inserts into the first store that is named`() throws {
        let insertion = NSBatchInsertRequest(entityName: "Card", objects: [["title": "3"]])
        try context.execute(insertion)
        insertion.affectedStores = [stores[1]]
        try context.execute(insertion)
        #expect(try titles() == [["1", "3"], ["2", "3"]])
        insertion.affectedStores = []
        #expect(throws: NSError.self) { try context.execute(insertion) }
        #expect(try titles() == [["1", "3"], ["2", "3"]])
    }

    @Test func `history is fetched and deleted in the stores that are named`() throws {
        func transactions(_ stores: [NSPersistentStore]?) throws -> Int? {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
            request.affectedStores = stores
            let result = try context.execute(request) as? NSPersistentHistoryResult
            return (result?.result as? [NSPersistentHistoryTransaction])?.count
        }
        #expect(try transactions([stores[1]]) == 1)
        let deletion = NSPersistentHistoryChangeRequest.deleteHistory(before: Date.distantFuture)
        deletion.affectedStores = [stores[0]]
        try context.execute(deletion)
        let asked: [[NSPersistentStore]?] = [[stores[0]], [stores[1]], nil]
        #expect(try asked.map(transactions) == [0, 1, 1])
        let counts = try urls.map { try SQLiteShell.run($0.path, "SELECT count(*) FROM ATRANSACTION") }
        #expect(counts == ["0\n", "1\n"])
    }

    @Test func `a store that is not open in the coordinator is refused`() throws {
        try coordinator.remove(stores[1])
        let deletion = NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Card"))
        deletion.affectedStores = [stores[1]]
        #expect(throws: NSError.self) { try context.execute(deletion) }
        #expect(try titles() == [["1"], ["2"]])
    }
}
