import Foundation
import MoultCoreData
import MoultModel
import MoultObjects

/// The kind of result of a batch insertion.
public typealias NSBatchInsertRequestResultType = BatchRequestResultType
/// The kind of result of a batch update.
public enum NSBatchUpdateRequestResultType: UInt, Sendable {
    case statusOnlyResultType = 0
    case updatedObjectIDsResultType
    case updatedObjectsCountResultType
}
/// The kind of result of a batch deletion.
public enum NSBatchDeleteRequestResultType: UInt, Sendable {
    case resultTypeStatusOnly = 0
    case resultTypeObjectIDs
    case resultTypeCount
}

/// A request to insert rows without creating objects for them.
open class NSBatchInsertRequest: NSPersistentStoreRequest {
    /// The entity of the new objects.
    public let entityName: String
    /// The kind of ``NSBatchInsertResult/result``.
    open var resultType = NSBatchInsertRequestResultType.statusOnly
    /// The values of the new objects, if the request was created with them.
    open var objectsToInsert: [[String: Any]]?
    /// The handler that fills a dictionary for each new object, until it returns true.
    open var dictionaryHandler: ((NSMutableDictionary) -> Bool)?
    /// The handler that fills each new object, until it returns true.
    open var managedObjectHandler: ((NSManagedObject) -> Bool)?
    /// The entity of the new objects: the one that the request was created with, or the one with its name in the newest
    /// open model.
    open var entity: NSEntityDescription { given ?? NSPersistentStoreCoordinator.openEntity(named: entityName) }
    private var given: NSEntityDescription?

    /// Creates a request that inserts an object for each dictionary.
    public init(entityName: String, objects: [[String: Any]]) {
        (self.entityName, objectsToInsert) = (entityName, objects)
    }

    /// Creates a request that inserts an object for each dictionary.
    public convenience init(entity: NSEntityDescription, objects: [[String: Any]]) {
        self.init(entityName: entity.name ?? "", objects: objects)
        given = entity
    }

    /// Creates a request that inserts the dictionaries that a handler fills, until it returns true.
    public init(entityName: String, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool) {
        (self.entityName, dictionaryHandler) = (entityName, handler)
    }

    /// Creates a request that inserts the dictionaries that a handler fills, until it returns true.
    public convenience init(
        entity: NSEntityDescription, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool
    ) {
        self.init(entityName: entity.name ?? "", dictionaryHandler: handler)
        given = entity
    }

    /// Creates a request that inserts the objects that a handler fills, until it returns true.
    public init(entityName: String, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool) {
        (self.entityName, managedObjectHandler) = (entityName, handler)
    }

    /// Creates a request that inserts the objects that a handler fills, until it returns true.
    public convenience init(
        entity: NSEntityDescription, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool
    ) {
        self.init(entityName: entity.name ?? "", managedObjectHandler: handler)
        given = entity
    }

    private init(_ original: NSBatchInsertRequest) {
        (entityName, given, objectsToInsert) = (original.entityName, original.given, original.objectsToInsert)
        (dictionaryHandler, managedObjectHandler) = (original.dictionaryHandler, original.managedObjectHandler)
    }

    /// Returns an independent request with the same properties and objects or handler.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSBatchInsertRequest(self).affecting(storesOf: self)
        copy.resultType = resultType
        return copy
    }

    /// Calls `body` with the values of one object after another.
    private func forEachRow(in context: NSManagedObjectContext, _ body: ([String: Any]) throws -> Void) throws {
        try objectsToInsert?.forEach(body)
        while let handler = dictionaryHandler {
            let values = NSMutableDictionary()
            if handler(values) { break }
            try body(values.reduce(into: [:]) { all, entry in (entry.key as? String).map { all[$0] = entry.value } })
        }
        while let handler = managedObjectHandler {
            let scratch = NSManagedObjectContext(.privateQueue)
            scratch.persistentStoreCoordinator = context.persistentStoreCoordinator
            let object = NSEntityDescription.insertNewObject(forEntityName: entityName, into: scratch)
            if handler(object) { break }
            try body(object.storedObject.map(Self.values) ?? [:])
        }
    }

    private static func values(of stored: Object) throws -> [String: Any] {
        try stored.shape.properties.reduce(into: [:]) { all, property in
            guard case .attribute(let name, let attribute) = property, attribute.isStored, attribute.derivation == nil
            else { return }
            if let value = try stored.attribute(name) {
                all[name] = value
            } else if attribute.defaultValue != nil {
                all[name] = NSNull()
            }
        }
    }

    func run(in context: NSManagedObjectContext) throws -> NSBatchInsertResult {
        var objects: [[String: Any?]] = []
        try forEachRow(in: context) { row in
            objects.append(
                try row.reduce(into: [:]) { $0[$1.key] = try context.stored($1.value, $1.key, of: entityName) })
        }
        let request = try BatchInsertRequest(entityName: entityName, objects: objects)
        let stores = try storeIdentifiers(in: context.persistentStoreCoordinator)
        return NSBatchInsertResult(resultType, try context.base.insert(request, among: stores))
    }
}

/// The result of a batch insertion.
open class NSBatchInsertResult: NSPersistentStoreResult {
    /// The requested kind of result.
    public let resultType: NSBatchInsertRequestResultType
    /// `true`, the identities, or a count.
    public let result: Any?

    init(_ type: NSBatchInsertRequestResultType, _ ids: [NSManagedObjectID]) {
        (resultType, result) = (type, BatchRequestResultType.result(type.rawValue, ids))
    }
}

/// A request to set properties of rows without creating objects for them.
open class NSBatchUpdateRequest: NSPersistentStoreRequest {
    /// The entity of the objects to change.
    public let entityName: String
    /// The entity of the objects to change: the one that the request was created with, or the one with its name in the
    /// newest open model.
    open var entity: NSEntityDescription { given ?? NSPersistentStoreCoordinator.openEntity(named: entityName) }
    private var given: NSEntityDescription?
    /// The predicate that selects the objects to change; nil for all objects of the entity.
    open var predicate: NSPredicate?
    /// The values to set, or ``NSExpression``s for them, keyed by property or property name.
    open var propertiesToUpdate: [AnyHashable: Any]?
    /// Whether to change objects of sub-entities too.
    open var includesSubentities = true
    /// The kind of ``NSBatchUpdateResult/result``.
    open var resultType = NSBatchUpdateRequestResultType.statusOnlyResultType

    /// Creates a request that changes nothing until ``propertiesToUpdate`` is set.
    public init(entityName: String) { self.entityName = entityName }

    /// Creates a request that changes nothing until ``propertiesToUpdate`` is set.
    public convenience init(entity: NSEntityDescription) {
        self.init(entityName: entity.name ?? "")
        given = entity
    }

    /// Returns an independent request with the same properties.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSBatchUpdateRequest(entityName: entityName).affecting(storesOf: self)
        (copy.predicate, copy.propertiesToUpdate) = (predicate, propertiesToUpdate)
        (copy.includesSubentities, copy.resultType, copy.given) = (includesSubentities, resultType, given)
        return copy
    }

    func run(in context: NSManagedObjectContext) throws -> NSBatchUpdateResult {
        let condition = try predicate?.moult(for: "NSBatchUpdateRequest.predicate")
        var fetch = ObjectFetch(entityName: entityName, predicate: condition?.predicate)
        fetch.variables = condition?.variables ?? [:]
        fetch.includesSubentities = includesSubentities
        fetch.stores = try storeIdentifiers(in: context.persistentStoreCoordinator)
        var changes: [String: MoultModel.Expression] = [:]
        for (key, value) in propertiesToUpdate ?? [:] {
            let name = (key.base as? NSPropertyDescription)?.name ?? "\(key.base)"
            let expression = (value as? NSExpression)?.expression
            changes[name] =
                try expression
                ?? .constant(try expressionValue(try context.stored(value, name, of: entityName)))
        }
        return NSBatchUpdateResult(resultType, try context.base.update(fetch, changes))
    }
}

/// The result of a batch update.
open class NSBatchUpdateResult: NSPersistentStoreResult {
    /// The requested kind of result.
    public let resultType: NSBatchUpdateRequestResultType
    /// `true`, the identities, or a count.
    public let result: Any?

    init(_ type: NSBatchUpdateRequestResultType, _ ids: [NSManagedObjectID]) {
        (resultType, result) = (type, BatchRequestResultType.result(type.rawValue, ids))
    }
}

/// A request to delete rows without creating objects for them.
open class NSBatchDeleteRequest: NSPersistentStoreRequest {
    /// The request that finds the objects to delete.
    public let fetchRequest: NSFetchRequest<any NSFetchRequestResult>
    /// The kind of ``NSBatchDeleteResult/result``.
    open var resultType = NSBatchDeleteRequestResultType.resultTypeStatusOnly

    /// Creates a request that deletes the objects matching a fetch request.
    public init(fetchRequest: NSFetchRequest<any NSFetchRequestResult>) { self.fetchRequest = fetchRequest }

    /// Creates a request that deletes objects of one entity and its sub-entities by their identities.
    public convenience init(objectIDs: [NSManagedObjectID]) {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: objectIDs.first?.entityName ?? "")
        request.predicate = NSPredicate(format: "SELF IN %@", objectIDs)
        self.init(fetchRequest: request)
        isEmpty = objectIDs.isEmpty
    }

    /// Whether there is nothing to delete.
    private var isEmpty = false

    /// Returns an independent request with the same properties.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSBatchDeleteRequest(fetchRequest: fetchRequest.copyOfRequest()).affecting(storesOf: self)
        (copy.resultType, copy.isEmpty) = (resultType, isEmpty)
        return copy
    }

    func run(in context: NSManagedObjectContext) throws -> NSBatchDeleteResult {
        guard let coordinator = context.persistentStoreCoordinator else {
            throw MigrationError(
                .usage, "The context has no coordinator.", remedy: "Set persistentStoreCoordinator or parent first.")
        }
        guard !isEmpty else { return NSBatchDeleteResult(resultType, []) }
        var fetch = try fetchRequest.objectFetch(in: coordinator)
        fetch.stores = try storeIdentifiers(in: coordinator, within: fetch.stores)
        return NSBatchDeleteResult(resultType, try context.base.delete(fetch))
    }
}

/// The result of a batch deletion.
open class NSBatchDeleteResult: NSPersistentStoreResult {
    /// The requested kind of result.
    public let resultType: NSBatchDeleteRequestResultType
    /// `true`, the identities, or a count.
    public let result: Any?

    init(_ type: NSBatchDeleteRequestResultType, _ ids: [NSManagedObjectID]) {
        (resultType, result) = (type, BatchRequestResultType.result(type.rawValue, ids))
    }
}
