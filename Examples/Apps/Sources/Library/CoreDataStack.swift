import CoreData
import Foundation

public final class CoreDataStack {
    public let container: NSPersistentContainer
    public var viewContext: NSManagedObjectContext { container.viewContext }

    public init(model: NSManagedObjectModel, url: URL? = nil) throws {
        container = NSPersistentContainer(name: "Library", managedObjectModel: model)
        let description = url.map { NSPersistentStoreDescription(url: $0) } ?? NSPersistentStoreDescription()
        if url == nil { description.type = NSInMemoryStoreType }
        description.shouldMigrateStoreAutomatically = true
        description.shouldInferMappingModelAutomatically = true
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        container.viewContext.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
        container.viewContext.automaticallyMergesChangesFromParent = true
        container.viewContext.name = "view"
    }

    public func save() throws {
        guard viewContext.hasChanges else { return }
        do {
            try viewContext.save()
        } catch {
            viewContext.rollback()
            throw error
        }
    }

    public func importBooks(_ rows: [[String: Any]]) throws {
        let context = container.newBackgroundContext()
        context.transactionAuthor = "import"
        try context.performAndWait {
            let request = NSBatchInsertRequest(entityName: "Book", objects: rows)
            request.resultType = .objectIDs
            let result = try context.execute(request) as? NSBatchInsertResult
            let ids = result?.result as? [NSManagedObjectID] ?? []
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSInsertedObjectsKey: ids], into: [viewContext])
        }
    }

    public func raisePages(by number: Int, where predicate: NSPredicate) throws -> Int {
        let request = NSBatchUpdateRequest(entityName: "Book")
        request.predicate = predicate
        request.propertiesToUpdate = ["pages": NSExpression(format: "pages + %d", number)]
        request.resultType = .updatedObjectsCountResultType
        let result = try viewContext.execute(request) as? NSBatchUpdateResult
        viewContext.refreshAllObjects()
        return result?.result as? Int ?? 0
    }

    public func deleteAll(_ entityName: String) throws {
        let request = NSBatchDeleteRequest(fetchRequest: NSFetchRequest<NSFetchRequestResult>(entityName: entityName))
        request.resultType = .resultTypeObjectIDs
        let result = try viewContext.execute(request) as? NSBatchDeleteResult
        let ids = result?.result as? [NSManagedObjectID] ?? []
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: ids], into: [viewContext])
    }
}
