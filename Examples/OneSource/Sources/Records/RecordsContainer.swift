import CoreData

/// A container whose stores are open when it is made, and whose background contexts have an author.
open class RecordsContainer: NSPersistentContainer, @unchecked Sendable {
    /// Opens a store, and migrates an older one.
    ///
    /// - Throws: the error of Core Data for the store.
    public convenience init(_ name: String, model: NSManagedObjectModel, at url: URL) throws {
        self.init(name: name, managedObjectModel: model)
        let description = NSPersistentStoreDescription(url: url)
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        persistentStoreDescriptions = [description]
        var failure: (any Error)?
        loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        viewContext.automaticallyMergesChangesFromParent = true
    }

    open override func newBackgroundContext() -> NSManagedObjectContext {
        let context = super.newBackgroundContext()
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        context.transactionAuthor = "\(name) in the background"
        return context
    }
}

extension NSManagedObjectContext {
    /// Runs changes in a child context, and saves them into this one unless an error is thrown.
    public func edit<Result>(_ body: (NSManagedObjectContext) throws -> Result) throws -> Result {
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = self
        return try child.performAndWait {
            let result = try body(child)
            if child.hasChanges { try child.save() }
            return result
        }
    }
}
