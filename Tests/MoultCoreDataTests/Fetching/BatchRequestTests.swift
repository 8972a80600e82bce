import Foundation
import MoultCoreData
import TestSupport
import Testing

@Suite struct BatchRequestTests {
    private func books() throws -> (TestStore, ManagedObjectContext) {
        let store = try TestStore()
        try store.populate(10)
        return (store, try store.container(Library.first()).viewContext)
    }

    @Test func `rows are inserted without objects`() throws {
        let (store, context) = try books()
        let rows = (0..<50).map { (number: Int) -> [String: Any?] in ["title": "Batch \(number)", "pages": number] }
        var request = try BatchInsertRequest(entityName: "Book", objects: rows)
        request.resultType = .objectIDs
        let result = try context.execute(request)
        #expect(result.count == 50)
        #expect(result.objectIDs.count == 50)
        #expect(context.registeredObjects.isEmpty)
        #expect(try store.sql("SELECT count(*), sum(ZPAGES) FROM ZBOOK WHERE ZTITLE GLOB 'Batch*'") == "50|1225")
        #expect(try store.sql("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Book'") == "60")
        #expect(try context.existingObject(with: result.objectIDs[7]).value(forKey: "title") as? String == "Batch 7")
    }

    @Test func `rows are updated by values and by expressions`() throws {
        let (store, context) = try books()
        var request = BatchUpdateRequest(entityName: "Book")
        request.predicate = try FetchPredicate(format: "pages >= %d", 105)
        try request.setValue(true, forKey: "isRead")
        try request.setExpression("pages * 2", forKey: "pages")
        request.resultType = .objectIDs
        let held = try #require(try context.all("Book", by: "pages").last)
        let result = try context.execute(request)
        #expect(result.count == 5)
        #expect(try store.sql("SELECT sum(ZISREAD), max(ZPAGES), min(ZPAGES) FROM ZBOOK") == "5|218|100")
        #expect(try held.value(forKey: "pages") as? Int == 109)
        try ManagedObjectContext.mergeChanges(
            fromRemoteContextSave: ["updated_objectIDs": result.objectIDs], into: [context])
        #expect(try held.value(forKey: "pages") as? Int == 218)
    }

    @Test func `rows are deleted by a fetch and by identities`() throws {
        let (store, context) = try books()
        var fetch = FetchRequest<ManagedObject>(entityName: "Book")
        fetch.predicate = try FetchPredicate(format: "author.name == 'Austen'")
        var request = try BatchDeleteRequest(fetchRequest: fetch)
        request.resultType = .count
        let result = try context.execute(request)
        #expect(result.count == 5)
        #expect(result.objectIDs.isEmpty)
        #expect(try store.sql("SELECT count(*) FROM ZBOOK") == "5")
        let ids = try context.fetch(FetchRequest<ManagedObjectID>(entityName: "Book"))
        try context.execute(try BatchDeleteRequest(objectIDs: Array(ids.prefix(2))))
        #expect(try store.sql("SELECT count(*) FROM ZBOOK") == "3")
    }

    @Test func `a batch that cannot be done changes nothing`() throws {
        let (store, context) = try books()
        let before = try store.sql("SELECT * FROM ZBOOK")
        #expect(throws: MigrationError.self) {
            try context.execute(BatchInsertRequest(entityName: "Book", objects: [["title": "a"], ["colour": "red"]]))
        }
        #expect(throws: MigrationError.self) {
            try context.execute(BatchInsertRequest(entityName: "Magazine", objects: [["title": "a"]]))
        }
        var update = BatchUpdateRequest(entityName: "Book")
        try update.setValue("many", forKey: "pages")
        #expect(throws: MigrationError.self) { try context.execute(update) }
        #expect(throws: MigrationError.self) { try BatchDeleteRequest(objectIDs: []) }
        #expect(try store.sql("SELECT * FROM ZBOOK") == before)
    }
}
