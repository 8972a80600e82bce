import MoultBasics
import MoultModel

/// The kind of result of a batch request, with Core Data's names (`NSBatchUpdateRequestResultType` and the related
/// types).
public enum BatchRequestResultType: UInt, Sendable {
    case statusOnly = 0
    case objectIDs, count

    /// Returns the result of a request in Core Data's form: `true`, the identities, or their number.
    package static func result(_ type: UInt, _ ids: [ManagedObjectID]) -> Any {
        switch Self(rawValue: type) {
        case .objectIDs: ids
        case .count: ids.count
        case .statusOnly, nil: true
        }
    }
}

/// The result of a batch request. Contexts do not notice its changes: merge ``objectIDs``, or refresh.
public struct BatchResult: Sendable {
    /// The requested result type. ``count`` is available for each of them.
    public let resultType: BatchRequestResultType
    /// The identities of the affected objects; empty unless the result type is `objectIDs`.
    public let objectIDs: [ManagedObjectID]
    /// The number of affected objects.
    public let count: Int

    init(_ type: BatchRequestResultType, _ ids: [ManagedObjectID]) {
        resultType = type
        objectIDs = type == .objectIDs ? ids : []
        count = ids.count
    }
}

/// A request that changes the rows of a store without creating objects. It is fast, and bypasses the context's
/// validation and delete rules.
public protocol BatchRequest: Sendable {
    var entityName: String { get }
    var resultType: BatchRequestResultType { get set }
}

/// A request to insert objects from dictionaries of attribute values: `NSBatchInsertRequest`.
public struct BatchInsertRequest: BatchRequest {
    /// The entity of the new objects.
    public let entityName: String
    /// The kind of result in the ``BatchResult``.
    public var resultType = BatchRequestResultType.statusOnly
    /// The values of each object, by property name.
    let objects: [[String: ExpressionValue]]

    /// - Throws: `usage` for a value that no attribute can store.
    public init(entityName: String, objects: [[String: Any?]]) throws {
        self.entityName = entityName
        self.objects = try objects.map { try $0.mapValues { try ExpressionValue(any: $0) } }
    }
}

/// A request to set properties of all objects that match a predicate: `NSBatchUpdateRequest`.
public struct BatchUpdateRequest: BatchRequest {
    /// The entity of the objects to change.
    public let entityName: String
    /// The kind of result in the ``BatchResult``.
    public var resultType = BatchRequestResultType.statusOnly
    /// The predicate that selects the objects to change; nil for all objects of the entity.
    public var predicate: FetchPredicate?
    /// Whether to change objects of sub-entities too.
    public var includesSubentities = true
    var changes: [String: Expression] = [:]

    /// Creates a request that changes nothing until ``setValue(_:forKey:)`` or ``setExpression(_:forKey:_:)`` is
    /// called.
    public init(entityName: String) { self.entityName = entityName }

    /// Sets the same value in every object.
    ///
    /// - Throws: `usage` for a value that no attribute can store.
    public mutating func setValue(_ value: Any?, forKey key: String) throws {
        changes[key] = .constant(try ExpressionValue(any: value))
    }

    /// Sets the result of an expression for each object, such as `price * 1.1`.
    ///
    /// - Throws: `invalidPredicate` if the expression is invalid.
    public mutating func setExpression(_ format: String, forKey key: String, _ arguments: Any?...) throws {
        changes[key] = try Expression(parsing: format, arguments: arguments.map(FormatArgument.init(any:)))
    }
}

/// A request to delete all objects that match a fetch request: `NSBatchDeleteRequest`.
public struct BatchDeleteRequest: BatchRequest {
    /// The entity of the objects to delete.
    public let entityName: String
    /// The kind of result in the ``BatchResult``.
    public var resultType = BatchRequestResultType.statusOnly
    /// The predicate that selects the objects to delete; nil for all objects of the entity. A request created with
    /// identities ignores it.
    public var predicate: FetchPredicate?
    /// Whether to delete objects of sub-entities too.
    public var includesSubentities = true
    /// The maximum number of objects to delete; 0 for no limit.
    public var fetchLimit = 0
    /// The number of matching objects to skip at the beginning of the order.
    public var fetchOffset = 0
    /// The order of the objects, which determines the ones that ``fetchLimit`` and ``fetchOffset`` exclude.
    public var sortDescriptors: [FetchSortDescriptor] = []
    let objectIDs: [ManagedObjectID]?

    /// - Throws: `usage` if the request has no entity name.
    public init<Result>(fetchRequest: FetchRequest<Result>) throws {
        guard let name = fetchRequest.entityName else {
            throw MigrationError(
                .usage, "The fetch request names no entity.", remedy: "Make it with FetchRequest(entityName:).")
        }
        entityName = name
        predicate = fetchRequest.predicate
        includesSubentities = fetchRequest.includesSubentities
        fetchLimit = fetchRequest.fetchLimit
        fetchOffset = fetchRequest.fetchOffset
        sortDescriptors = fetchRequest.sortDescriptors
        objectIDs = nil
    }

    /// Creates a request to delete these objects, which must belong to one entity and its sub-entities.
    ///
    /// - Throws: `usage` if the array is empty.
    public init(objectIDs: [ManagedObjectID]) throws {
        guard let first = objectIDs.first else {
            throw MigrationError(.usage, "There is nothing to delete.", remedy: "Give the identity of an object.")
        }
        entityName = first.entityName
        self.objectIDs = objectIDs
    }
}
