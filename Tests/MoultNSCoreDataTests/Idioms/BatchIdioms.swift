import MoultNSCoreData
import TestSupport
import Testing

@Suite struct BatchIdioms {
    let folder: ScratchFolder
    let url: URL
    let context: NSManagedObjectContext

    init() throws {
        folder = try ScratchFolder()
        url = URL(fileURLWithPath: folder.path).appendingPathComponent("Library.sqlite")
        context = try Library.container(at: url, history: true).viewContext
    }

    private func rows(_ sql: String) throws -> [String] { try SQLiteShell.rows(sql, of: url) }

    @Test("NSBatchInsertRequest(entityName:objects:)")
    func objects() throws {
        let request = NSBatchInsertRequest(
            entityName: "Person", objects: [["name": "Ann", "age": 3], ["name": "Bob"]])
        request.resultType = .objectIDs
        let result = try context.execute(request) as? NSBatchInsertResult
        #expect((result?.result as? [NSManagedObjectID])?.count == 2)
        #expect(try rows("SELECT ZNAME || ZAGE FROM ZPERSON ORDER BY ZNAME") == ["Ann3", "Bob0"])
    }

    @Test("NSBatchInsertRequest(entityName:dictionaryHandler:)")
    func dictionaryHandler() throws {
        var number = 0
        let request = NSBatchInsertRequest(entityName: "Person") { (values: NSMutableDictionary) in
            number += 1
            values["name"] = "P\(number)"
            return number == 4
        }
        request.resultType = .count
        #expect((try context.execute(request) as? NSBatchInsertResult)?.result as? Int == 3)
        #expect(try rows("SELECT ZNAME FROM ZPERSON ORDER BY ZNAME") == ["P1", "P2", "P3"])
    }

    @Test("NSBatchInsertRequest(entityName:managedObjectHandler:)")
    func managedObjectHandler() throws {
        var number: Int16 = 0
        let request = NSBatchInsertRequest(entityName: "Person") { (object: NSManagedObject) in
            number += 1
            guard number < 3, let person = object as? Person else { return true }
            person.name = "P\(number)"
            person.age = number
            return false
        }
        try context.execute(request)
        #expect(try rows("SELECT ZNAME || ZAGE FROM ZPERSON ORDER BY ZNAME") == ["P11", "P22"])
    }

    @Test("NSBatchInsertRequest(entityName:managedObjectHandler:) of an entity with transient properties")
    func managedObjectHandlerWithTransients() throws {
        let model = Library.model { person, _ in
            let speed = Library.attribute("speed", .integer32, 3)
            speed.isTransient = true
            person.properties.append(speed)
        }
        let place = url.deletingLastPathComponent().appendingPathComponent("Transient.sqlite")
        let context = try Library.container(model, at: place).viewContext
        var number = 0
        let request = NSBatchInsertRequest(entityName: "Person") { (object: NSManagedObject) in
            number += 1
            object.setValue("P\(number)", forKey: "name")
            return number == 3
        }
        try context.execute(request)
        #expect(try SQLiteShell.rows("SELECT ZNAME FROM ZPERSON ORDER BY 1", of: place) == ["P1", "P2"])
        let person = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).first)
        person.setValue(5, forKey: "speed")
        #expect(person.hasChanges && !person.hasPersistentChangedValues)
        person.setValue("Q", forKey: "name")
        #expect(person.hasPersistentChangedValues)
    }

    @Test("NSBatchUpdateRequest propertiesToUpdate")
    func update() throws {
        try context.execute(
            NSBatchInsertRequest(entityName: "Person", objects: [["name": "Ann", "age": 3], ["name": "Bob"]]))
        let request = NSBatchUpdateRequest(entityName: "Person")
        request.predicate = NSPredicate(format: "age == 0")
        request.propertiesToUpdate = ["age": 7]
        request.resultType = .updatedObjectsCountResultType
        #expect((try context.execute(request) as? NSBatchUpdateResult)?.result as? Int == 1)
        #expect(try rows("SELECT ZNAME || ZAGE FROM ZPERSON ORDER BY ZNAME") == ["Ann3", "Bob7"])
    }

    @Test("NSBatchUpdateRequest with NSExpression")
    func updateByExpression() throws {
        try context.execute(NSBatchInsertRequest(entityName: "Person", objects: [["name": "Ann", "age": 3]]))
        let request = NSBatchUpdateRequest(entityName: "Person")
        request.propertiesToUpdate = ["age": NSExpression(format: "age + 1")]
        try context.execute(request)
        #expect(try rows("SELECT ZAGE FROM ZPERSON") == ["4"])
    }

    @Test("NSBatchDeleteRequest(fetchRequest: NSFetchRequest<NSFetchRequestResult>)")
    func delete() throws {
        try context.execute(NSBatchInsertRequest(entityName: "Person", objects: [["name": "Ann"], ["name": "Bob"]]))
        let fetch: NSFetchRequest<NSFetchRequestResult> = NSFetchRequest(entityName: "Person")
        fetch.predicate = NSPredicate(format: "name == %@", "Ann")
        let request = NSBatchDeleteRequest(fetchRequest: fetch)
        request.resultType = .resultTypeCount
        #expect((try context.execute(request) as? NSBatchDeleteResult)?.result as? Int == 1)
        #expect(try rows("SELECT ZNAME FROM ZPERSON") == ["Bob"])
    }

    @Test("NSBatchDeleteRequest(objectIDs:), result as? NSBatchDeleteResult, mergeChanges(fromRemoteContextSave:into:)")
    func deleteByIdentity() throws {
        let ann = Library.person("Ann", in: context)
        let bob = Library.person("Bob", in: context)
        try context.save()
        let request = NSBatchDeleteRequest(objectIDs: [ann.objectID])
        request.resultType = .resultTypeObjectIDs
        let result = try context.execute(request) as? NSBatchDeleteResult
        let ids = result?.result as? [NSManagedObjectID] ?? []
        #expect(ids == [ann.objectID])
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: ids], into: [context])
        #expect(try context.fetch(Person.fetchRequest() as NSFetchRequest<Person>) == [bob])
    }

    @Test("NSPersistentHistoryChangeRequest.fetchHistory(after:)")
    func history() throws {
        let coordinator = try #require(context.persistentStoreCoordinator)
        let start = coordinator.currentPersistentHistoryToken(fromStores: nil)
        context.transactionAuthor = "test"
        let ann = Library.person("Ann", in: context)
        try context.save()
        ann.age = 5
        try context.save()
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: start)
        let result = try context.execute(request) as? NSPersistentHistoryResult
        let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
        #expect(transactions.map(\.author) == ["test", "test"])
        #expect(transactions.flatMap { $0.changes ?? [] }.map(\.changeType) == [.insert, .update])
        #expect(transactions.last?.changes?.first?.updatedPropertyNames == ["age"])
        #expect(transactions.last?.changes?.first?.changedObjectID == ann.objectID)
        #expect(transactions.last?.changes?.first?.changedObjectID.entity.name == "Person")
        try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: transactions.last?.token))
        #expect(try rows("SELECT count(*) FROM ATRANSACTION") == ["1"])
        let archived = try NSKeyedArchiver.archivedData(
            withRootObject: try #require(transactions.last?.token), requiringSecureCoding: true)
        let token = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: archived)
        #expect(token == transactions.last?.token)
    }

    @Test("a token that was archived when its class was in the module MoultNSCoreData")
    func tokenOfFormerModule() throws {
        _ = Library.person("Ann", in: context)
        try context.save()
        let token = try #require(context.persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil))
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        archiver.setClassName("MoultNSCoreData.NSPersistentHistoryToken", for: NSPersistentHistoryToken.self)
        archiver.encode(token, forKey: NSKeyedArchiveRootObjectKey)
        let read = try NSKeyedUnarchiver.unarchivedObject(
            ofClass: NSPersistentHistoryToken.self, from: archiver.encodedData)
        #expect(read == token)
    }

    /// Three saves: an insertion by nobody, an update and a deletion by "sync".
    private func threeSaves() throws -> (ann: NSManagedObjectID, bob: NSManagedObjectID) {
        let (ann, bob) = (Library.person("Ann", in: context), Library.person("Bob", in: context))
        try context.save()
        context.transactionAuthor = "sync"
        (ann.age, bob.age) = (5, 6)
        try context.save()
        context.delete(ann)
        try context.save()
        return (ann.objectID, bob.objectID)
    }

    @Test("fetchHistory(after:) with a token that has expired")
    func expiredToken() throws {
        _ = try threeSaves()
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
        let result = try context.execute(request) as? NSPersistentHistoryResult
        let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
        try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: transactions.last?.token))
        let error = #expect(throws: (any Error).self) {
            try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: transactions.first?.token))
        }
        #expect((error as? NSError)?.code == 134301)
        try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: transactions.last?.token))
    }

    @Test("NSPersistentHistoryTransaction.fetchRequest with a predicate over author")
    func historyOfOthers() throws {
        _ = try threeSaves()
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
        let fetch = try #require(NSPersistentHistoryTransaction.fetchRequest)
        request.fetchRequest = fetch
        func numbers() throws -> [Int64] {
            let result = try context.execute(request) as? NSPersistentHistoryResult
            return (result?.result as? [NSPersistentHistoryTransaction] ?? []).map(\.transactionNumber)
        }
        #expect(try numbers() == [1, 2, 3])
        fetch.predicate = NSPredicate(format: "%K != %@", "author", "sync")
        #expect(try numbers() == [1])
        fetch.predicate = NSPredicate(format: "author == %@", "sync")
        #expect(try numbers() == [2, 3])
        fetch.fetchLimit = 1
        #expect(try numbers() == [2])
        fetch.predicate = NSCompoundPredicate(
            type: .and,
            subpredicates: [NSPredicate(format: "transactionNumber > 1"), NSPredicate(format: "author != nil")])
        #expect(try numbers() == [2])
        for format in ["writer == 'sync'", "author.name == 'sync'", "author > 5"] {
            fetch.predicate = NSPredicate(format: format)
            #expect(throws: (any Error).self, "\(format)") { try numbers() }
        }
        fetch.predicate = nil
        fetch.sortDescriptors = [NSSortDescriptor(key: "timestamp", ascending: false)]
        #expect(throws: (any Error).self) { try numbers() }
    }

    @Test("NSPersistentHistoryChange.fetchRequest, fetchHistory(withFetch:), updatedProperties, transaction")
    func historyOfOneObject() throws {
        let (ann, _) = try threeSaves()
        let fetch = NSFetchRequest<any NSFetchRequestResult>()
        fetch.entity = NSPersistentHistoryChange.entityDescription(with: context)
        fetch.predicate = NSPredicate(format: "changedObjectID == %@ AND transaction.author == 'sync'", ann)
        let request = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: fetch)
        request.resultType = .changesOnly
        let result = try context.execute(request) as? NSPersistentHistoryResult
        let changes = result?.result as? [NSPersistentHistoryChange] ?? []
        #expect(changes.map(\.changedObjectID) == [ann, ann])
        #expect(changes.map(\.changeType) == [.update, .delete])
        #expect(changes.map { $0.updatedProperties?.map(\.name) } == [["age"], nil])
        #expect(changes.map { $0.transaction?.transactionNumber } == [2, 3])
        #expect(changes.allSatisfy { $0.transaction?.changes == nil })
        fetch.predicate = NSPredicate(format: "changeType == %d", NSPersistentHistoryChangeType.update.rawValue)
        request.resultType = .count
        #expect((try context.execute(request) as? NSPersistentHistoryResult)?.result as? Int == 2)
        fetch.predicate = NSPredicate(format: "transaction.place == 1")
        #expect(throws: (any Error).self) { try context.execute(request) }
        request.fetchRequest = NSFetchRequest<any NSFetchRequestResult>(entityName: "Person")
        #expect(throws: (any Error).self) { try context.execute(request) }
        let deletion = NSPersistentHistoryChangeRequest.deleteHistory(before: Date())
        deletion.fetchRequest = NSPersistentHistoryTransaction.fetchRequest
        #expect(throws: (any Error).self) { try context.execute(deletion) }
        #expect(try rows("SELECT count(*) FROM ATRANSACTION") == ["3"])
    }

    @Test("psc.currentPersistentHistoryToken(fromStores:)")
    func token() throws {
        let coordinator = try #require(context.persistentStoreCoordinator)
        let first = try #require(coordinator.currentPersistentHistoryToken(fromStores: nil))
        #expect(coordinator.currentPersistentHistoryToken(fromStores: []) == first)
        Library.person("Ann", in: context)
        try context.save()
        let sinceFirst = NSPersistentHistoryChangeRequest.fetchHistory(after: first)
        #expect(((try context.execute(sinceFirst) as? NSPersistentHistoryResult)?.result as? [Any])?.count == 1)
        let token = try #require(coordinator.currentPersistentHistoryToken(fromStores: nil))
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
        #expect(((try context.execute(request) as? NSPersistentHistoryResult)?.result as? [Any])?.isEmpty == true)
    }
}
