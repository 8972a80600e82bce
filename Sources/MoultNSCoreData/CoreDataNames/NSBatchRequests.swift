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
    /// Returns a function that returns the values of one object after another, and nil at the end.
    private let rows: () -> Next
    private typealias Next = (NSManagedObjectContext) throws -> [String: Any]?

    /// Creates a request that inserts an object for each dictionary.
    public init(entityName: String, objects: [[String: Any]]) {
        self.entityName = entityName
        rows = {
            var rest = objects[...]
            return { _ in rest.popFirst() }
        }
    }

    /// Creates a request that inserts an object for each dictionary.
    public convenience init(entity: NSEntityDescription, objects: [[String: Any]]) {
        self.init(entityName: entity.name ?? "", objects: objects)
    }

    /// Creates a request that inserts the dictionaries that a handler fills, until it returns true.
    public init(entityName: String, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool) {
        self.entityName = entityName
        let next: Next = { _ in
            let values = NSMutableDictionary()
            if handler(values) { return nil }
            return values.reduce(into: [:]) { all, entry in (entry.key as? String).map { all[$0] = entry.value } }
        }
        rows = { next }
    }

    /// Creates a request that inserts the dictionaries that a handler fills, until it returns true.
    public convenience init(
        entity: NSEntityDescription, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool
    ) {
        self.init(entityName: entity.name ?? "", dictionaryHandler: handler)
    }

    /// Creates a request that inserts the objects that a handler fills, until it returns true.
    public init(entityName: String, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool) {
        self.entityName = entityName
        let next: Next = { context in
            let scratch = NSManagedObjectContext(.privateQueue)
            scratch.persistentStoreCoordinator = context.persistentStoreCoordinator
            let object = NSEntityDescription.insertNewObject(forEntityName: entityName, into: scratch)
            if handler(object) { return nil }
            guard let stored = object.storedObject else { return [:] }
            return try stored.shape.properties.reduce(into: [:]) { all, property in
                guard case .attribute(let name, let attribute) = property, attribute.isStored,
                    attribute.derivation == nil
                else { return }
                if let value = try stored.attribute(name) {
                    all[name] = value
                } else if attribute.defaultValue != nil {
                    all[name] = NSNull()
                }
            }
        }
        rows = { next }
    }

    private init(_ original: NSBatchInsertRequest) { (entityName, rows) = (original.entityName, original.rows) }

    /// Returns an independent request with the same properties and objects or handler.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSBatchInsertRequest(self).affecting(storesOf: self)
        copy.resultType = resultType
        return copy
    }

    /// Creates a request that inserts the objects that a handler fills, until it returns true.
    public convenience init(
        entity: NSEntityDescription, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool
    ) {
        self.init(entityName: entity.name ?? "", managedObjectHandler: handler)
    }

    func run(in context: NSManagedObjectContext) throws -> NSBatchInsertResult {
        var objects: [[String: Any?]] = []
        let next = rows()
        while let row = try next(context) {
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
    public convenience init(entity: NSEntityDescription) { self.init(entityName: entity.name ?? "") }

    /// Returns an independent request with the same properties.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSBatchUpdateRequest(entityName: entityName).affecting(storesOf: self)
        (copy.predicate, copy.propertiesToUpdate) = (predicate, propertiesToUpdate)
        (copy.includesSubentities, copy.resultType) = (includesSubentities, resultType)
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
