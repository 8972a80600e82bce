import Foundation
import MoultBasics
import MoultCoreData
import MoultModel
import MoultObjects

extension NSManagedObjectContext {
    /// Returns an object as ``existingObject(with:)`` does, but does not count as an access.
    func existing(_ objectID: NSManagedObjectID) throws -> NSManagedObject {
        try base.withLock { try base.publicObject(try $0.existingObject(with: objectID), as: NSManagedObject.self) }
    }

    func stored(_ object: NSManagedObject?) throws -> Object {
        if let stored = object?.storedObject { return stored }
        throw MigrationError(.usage, "The object is in no context.", remedy: "Insert it first.")
    }

    // MARK: - Creating objects

    /// Creates the handle of a new object.
    func newHandle(_ entityName: String, as id: NSManagedObjectID? = nil) -> NSManagedObjectHandle {
        orRaise("NSEntityDescription.insertNewObject(forEntityName: \"\(entityName)\")") {
            try base.withLock { NSManagedObjectHandle(object: try $0.insert(entityName, as: id), context: base) }
        }
    }

    /// Registers a new object as the public object of its stored object.
    func show(_ object: NSManagedObject) {
        base.turn.withLock {
            object.storedObject?.publicObject = object
            retained?.insert(object)
            note(object)
            object.awakeFromInsert()
        }
    }

    func insertNew(_ entityName: String) -> NSManagedObject {
        orRaise("NSEntityDescription.insertNewObject(forEntityName: \"\(entityName)\")") {
            if let migration { return try migration.insert(entityName) }
            return try base.withLock { graph in
                let object = try base.publicObject(try graph.insert(entityName), as: NSManagedObject.self)
                show(object)
                return object
            }
        }
    }

    /// Returns the entity of a class. Ends the program if the model has none.
    func entity(of type: NSManagedObject.Type, call: String) -> NSEntityDescription {
        guard let coordinator = persistentStoreCoordinator else {
            raise(call, "The context has neither a coordinator nor a parent.")
        }
        let name = orRaise(call) { try coordinator.base.classes.entityName(for: type) }
        return coordinator.managedObjectModel.entitiesByName[name] ?? NSEntityDescription()
    }

    /// Returns the results of a request, including unsaved changes unless the request excludes them.
    ///
    /// - Throws: an `NSError` for a predicate or key that the store cannot evaluate.
    public func fetch<Result>(_ request: NSFetchRequest<Result>) throws -> [Result] {
        try results(request).map { found in
            if let result = found as? Result { return result }
            raise(
                "NSManagedObjectContext.fetch(_:)",
                "\(found) is no \(Result.self): set resultType, or managedObjectClassName of the entity.")
        }
    }

    /// Returns the number of objects that match a request.
    public func count<Result>(for request: NSFetchRequest<Result>) throws -> Int {
        try cocoaErrors {
            try base.withLock { try $0.count(try objectFetch(request)) }
        }
    }

    private func objectFetch<Result>(_ request: NSFetchRequest<Result>) throws -> ObjectFetch {
        guard let coordinator = persistentStoreCoordinator else {
            throw MigrationError(
                .usage, "The context has neither a coordinator nor a parent.",
                remedy: "Set persistentStoreCoordinator or parent before the context is used.")
        }
        return try request.objectFetch(in: coordinator)
    }

    private func results<Result>(_ request: NSFetchRequest<Result>) throws -> [Any] {
        try cocoaErrors {
            if let migration { return try migration.fetch(try objectFetch(request), in: self) }
            return try base.withLock { graph in
                let fetch = try objectFetch(request)
                switch request.resultType {
                case .managedObjectIDResultType: return try graph.fetchIDs(fetch)
                case .countResultType: return [NSNumber(value: try graph.count(fetch))]
                case .dictionaryResultType:
                    let rows = try graph.fetchRows(fetch)
                    if Result.self is [String: Any].Type {
                        return try rows.map { try $0.compactMapValues(dictionaryValue) }
                    }
                    // All rows share their keys.
                    let keys = rows.first?.places.map { (name: NSString(string: $0), place: $1) } ?? []
                    return try rows.map { row in
                        let found = try keys.compactMap { key, place in
                            try dictionaryValue(row.values[place]).map { (key: key, value: $0) }
                        }
                        return NSDictionary(objects: found.map(\.value), forKeys: found.map(\.key))
                    }
                default:
                    let objects = try base.publicObjects(try graph.fetch(fetch), as: NSManagedObject.self)
                    if request.shouldRefreshRefetchedObjects {
                        for object in objects { refresh(object, mergeChanges: true) }
                    }
                    if !request.returnsObjectsAsFaults {
                        for object in objects { object.willAccessValue(forKey: nil) }
                    }
                    return objects
                }
            }
        }
    }

    /// Returns a value in the form of a dictionary result.
    private func dictionaryValue(_ value: ExpressionValue) throws -> Any? {
        switch value {
        case .object(let id): id
        case .decimal(let digits): NSDecimalNumber(string: digits)
        default: try value.foundation(in: nil)
        }
    }
}

extension ObjectContext {
    /// Refreshes an object. One with changes whose row is gone stays as it is: its save reports the conflict.
    func refreshIfThere(_ object: Object, mergingChanges: Bool) throws {
        do {
            try refresh(object, mergingChanges: mergingChanges)
        } catch let error as MigrationError where error.code == .objectGone {}
    }
}

extension NSManagedObjectContext {
    func executed(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
        try cocoaErrors(in: self) {
            switch request {
            case let request as NSBatchInsertRequest: return try request.run(in: self)
            case let request as NSBatchUpdateRequest: return try request.run(in: self)
            case let request as NSBatchDeleteRequest: return try request.run(in: self)
            case let request as NSPersistentHistoryChangeRequest: return try request.run(in: self)
            case let request as any AsynchronousRequest: return request.start(in: self)
            default:
                throw MigrationError(
                    .unsupported, "A \(type(of: request)) cannot be executed.", place: "\(type(of: request))",
                    remedy: "Use fetch(_:) for a fetch request.")
            }
        }
    }

    /// Returns a batch request's value in the form in which the named attribute stores it.
    func stored(_ value: Any, _ key: String, of entityName: String) throws -> Any {
        guard !(value is AttributeValue), !(value is NSNull),
            let model = persistentStoreCoordinator?.base.managedObjectModel,
            let attribute = model.entity(entityName).flatMap({ model.attribute(key, of: $0) })
        else { return value }
        if attribute.type == .transformable {
            return AttributeValue.transformable(
                [UInt8](try TransformerBridge(attribute.valueTransformerName).data(from: value)))
        }
        return try attributeValue(value, attribute.type, "\(entityName).\(key)") ?? value
    }

}

private protocol AsynchronousRequest {
    func start(in context: NSManagedObjectContext) -> NSPersistentStoreResult
}

extension NSAsynchronousFetchRequest: AsynchronousRequest {
    /// The underlying request, for the stores that both requests name.
    private var narrowedRequest: NSFetchRequest<ResultType> {
        guard let affectedStores else { return fetchRequest }
        let request = fetchRequest.copyOfRequest()
        request.affectedStores = fetchRequest.affectedStores?.filter(affectedStores.contains) ?? affectedStores
        return request
    }

    fileprivate func start(in context: NSManagedObjectContext) -> NSPersistentStoreResult {
        let result = NSAsynchronousFetchResult(self, in: context)
        context.perform {
            guard !result.isCancelled else { return }
            do {
                result.finalResult = try context.fetch(self.narrowedRequest)
            } catch {
                result.operationError = error
            }
            self.completionBlock?(result)
        }
        return result
    }
}
