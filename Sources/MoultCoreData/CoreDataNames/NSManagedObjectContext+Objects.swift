import Foundation
import MoultBasics
import MoultModel
import MoultObjects

extension NSManagedObjectContext {
    /// Adds an object that was created without a context.
    public func insert(_ object: NSManagedObject) {
        guard object.storedObject == nil, let entity = object.detached?.entity else {
            if object.managedObjectContext === self { return }
            raise("NSManagedObjectContext.insert(_:)", "The object is in another context already.")
        }
        object.move(to: newHandle(entity.name ?? "", as: object.objectID))
        show(object)
    }

    /// Marks an object for deletion at the next save, along with the objects that its delete rules cascade to.
    public func delete(_ object: NSManagedObject) {
        orRaise("NSManagedObjectContext.delete(_:)") {
            let stored = try stored(object)
            note(object)
            let isNew = stored.isInserted
            try base.delete(stored, object)
            if isNew { object.isLeaving = true }
        }
    }

    /// Returns the object with the given identity without reading the store.
    public func object(with objectID: NSManagedObjectID) -> NSManagedObject {
        orRaise("NSManagedObjectContext.object(with:)") {
            try base.withLock { try base.publicObject(try $0.object(with: objectID), as: NSManagedObject.self) }
        }
    }

    /// Returns the object with the given identity, read from the store.
    ///
    /// - Throws: 133000 if there is no such object.
    public func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
        try cocoaErrors {
            let object = try base.withLock {
                try base.publicObject(try $0.existingObject(with: objectID), as: NSManagedObject.self)
            }
            try object.access {}
            return object
        }
    }

    /// Returns the object with the given identity if it is registered with the context; nil otherwise.
    public func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
        base.notingErrors(nil) { graph in
            try graph.registeredObject(for: objectID).map { try base.publicObject($0, as: NSManagedObject.self) }
        }
    }

    /// All objects registered with the context.
    public var registeredObjects: Set<NSManagedObject> { base.publicObjects(\.registeredObjects) }
    /// The objects that the next save will insert.
    public var insertedObjects: Set<NSManagedObject> { base.publicObjects(\.insertedObjects) }
    /// The saved objects that the next save will update.
    public var updatedObjects: Set<NSManagedObject> { base.publicObjects(\.updatedObjects) }
    /// The objects that the next save will delete.
    public var deletedObjects: Set<NSManagedObject> { base.publicObjects(\.deletedObjects) }

    /// Assigns a new object to the store in which it will be saved.
    public func assign(_ object: Any, to store: NSPersistentStore) {
        orRaise("NSManagedObjectContext.assign(_:to:)") {
            let stored = try stored(object as? NSManagedObject)
            try base.withLock { try $0.assign(stored, to: store.base.store) }
        }
    }

    /// Gives new objects their permanent identities before they are saved.
    public func obtainPermanentIDs(for objects: [NSManagedObject]) throws {
        try cocoaErrors {
            try base.withLock { try $0.obtainPermanentIDs(for: objects.compactMap(\.storedObject)) }
        }
    }

    /// Rereads an object from the store. Unsaved changes are kept if `mergeChanges` is true, and discarded otherwise.
    /// An object without changes turns into a fault.
    public func refresh(_ object: NSManagedObject, mergeChanges: Bool) {
        guard let stored = object.storedObject else { return }
        let becomesFault = !mergeChanges || !object.hasChanges
        if becomesFault { object.willTurnIntoFault() }
        orRaise("NSManagedObjectContext.refresh(_:mergeChanges:)") {
            try base.withLock { try $0.refreshIfThere(stored, mergingChanges: mergeChanges) }
        }
        if becomesFault { object.didTurnIntoFault() }
        announce([NSRefreshedObjectsKey: Set([object])])
    }

    /// Refreshes every object of the context, and keeps unsaved changes. Objects without changes turn into faults.
    public func refreshAllObjects() {
        let all = registeredObjects
        orRaise("NSManagedObjectContext.refreshAllObjects()") {
            try base.withLock { graph in
                for object in graph.registeredObjects { try graph.refreshIfThere(object, mergingChanges: true) }
            }
        }
        announce([NSRefreshedObjectsKey: all])
    }

    /// Marks an object as changed, so that the save detects conflicts.
    public func detectConflicts(for object: NSManagedObject) { note(object) }

    private func stored(_ object: NSManagedObject?) throws -> Object {
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
        base.performAndWait {
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
        if let stores = request.affectedStores, stores != coordinator.persistentStores {
            throw MigrationError(
                .fetchUnsupported, "A fetch asks every store of the coordinator that has the entity.",
                place: request.entityName ?? "",
                remedy: "Leave affectedStores nil, or use a coordinator for each store.")
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
                    let rows = try graph.fetchRows(fetch).map(dictionary)
                    return Result.self is [String: Any].Type ? rows : rows.map { NSDictionary($0) }
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

    private func dictionary(_ row: [String: ExpressionValue]) throws -> [String: Any] {
        try row.compactMapValues { value -> Any? in
            switch value {
            case .object(let id): id
            case .decimal(let digits): NSDecimalNumber(string: digits)
            default: try value.foundation(in: nil)
            }
        }
    }
}

extension ObjectContext {
    /// Refreshes an object. One with changes whose row is gone stays as it is: its save reports the conflict.
    fileprivate func refreshIfThere(_ object: Object, mergingChanges: Bool) throws {
        do {
            try refresh(object, mergingChanges: mergingChanges)
        } catch let error as MigrationError where error.code == .objectGone {}
    }
}

extension NSDictionary {
    fileprivate convenience init(_ row: [String: Any]) {
        self.init(objects: Array(row.values), forKeys: row.keys.map { NSString(string: $0) })
    }
}

extension NSManagedObjectContext {
    /// Executes a batch request, a persistent history request, or an asynchronous fetch.
    ///
    /// - Throws: an `NSError` of the Cocoa domain.
    @discardableResult
    public func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
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
    fileprivate func start(in context: NSManagedObjectContext) -> NSPersistentStoreResult {
        let result = NSAsynchronousFetchResult(self, in: context)
        context.perform {
            guard !result.isCancelled else { return }
            do {
                result.finalResult = try context.fetch(self.fetchRequest)
            } catch {
                result.operationError = error
            }
            self.completionBlock?(result)
        }
        return result
    }
}
