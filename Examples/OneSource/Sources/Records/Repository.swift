import CoreData

/// The records of one class in a context.
public struct Repository<Record: NSManagedObject> {
    /// The context that the records are of.
    public let context: NSManagedObjectContext
    private let entityName: String

    public init(_ context: NSManagedObjectContext) {
        self.context = context
        entityName = Record.entity().name ?? "\(Record.self)"
    }

    // MARK: - One by one

    @discardableResult
    public func insert(_ configure: (Record) -> Void = { _ in }) -> Record {
        let record = Record(context: context)
        configure(record)
        return record
    }

    public func records(
        where predicate: NSPredicate? = nil, sortedBy order: [NSSortDescriptor] = [], limit: Int = 0
    ) throws -> [Record] {
        let request = NSFetchRequest<Record>(entityName: entityName)
        request.predicate = predicate
        request.sortDescriptors = order
        request.fetchLimit = limit
        return try context.fetch(request)
    }

    public func count(where predicate: NSPredicate? = nil) throws -> Int {
        let request = NSFetchRequest<Record>(entityName: entityName)
        request.predicate = predicate
        return try context.count(for: request)
    }

    /// Returns the record with the identity in this context, or nil if it was deleted.
    public func record(with id: NSManagedObjectID) -> Record? {
        (try? context.existingObject(with: id)) as? Record
    }

    // MARK: - All at once

    /// Inserts a record for each row, without creating objects.
    @discardableResult
    public func insertAll(_ rows: [[String: Any]]) throws -> Int {
        let request = NSBatchInsertRequest(entityName: entityName, objects: rows)
        request.resultType = .objectIDs
        let result = try context.execute(request) as? NSBatchInsertResult
        return merge(result?.result, NSInsertedObjectsKey)
    }

    /// Sets values of every record that matches.
    @discardableResult
    public func updateAll(where predicate: NSPredicate? = nil, set values: [String: Any]) throws -> Int {
        let request = NSBatchUpdateRequest(entityName: entityName)
        request.predicate = predicate
        request.propertiesToUpdate = values
        request.resultType = .updatedObjectIDsResultType
        let result = try context.execute(request) as? NSBatchUpdateResult
        return merge(result?.result, NSUpdatedObjectsKey)
    }

    /// Deletes every record that matches.
    @discardableResult
    public func deleteAll(where predicate: NSPredicate? = nil) throws -> Int {
        let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: entityName)
        fetch.predicate = predicate
        let request = NSBatchDeleteRequest(fetchRequest: fetch)
        request.resultType = .resultTypeObjectIDs
        let result = try context.execute(request) as? NSBatchDeleteResult
        return merge(result?.result, NSDeletedObjectsKey)
    }

    /// Tells the context what a batch request has changed in the store.
    private func merge(_ result: Any?, _ key: String) -> Int {
        guard let ids = result as? [NSManagedObjectID], !ids.isEmpty else { return 0 }
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [key: ids], into: [context])
        return ids.count
    }
}
