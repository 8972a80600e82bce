import MoultBasics
import MoultModel

/// The kind of result that a batch request gives back, with Core Data's names (`NSBatchUpdateRequestResultType` and its
/// like).
public enum BatchRequestResultType: UInt, Sendable {
    case statusOnly = 0
    case objectIDs, count

    /// The result of a request in Core Data's form: `true`, the identities, or their number.
    static func result(_ type: UInt, _ ids: [ManagedObjectID]) -> Any {
        switch Self(rawValue: type) {
        case .objectIDs: ids
        case .count: ids.count
        case .statusOnly, nil: true
        }
    }
}

/// The result of a batch request. Contexts do not see its changes by themselves: merge ``objectIDs``, or refresh.
public struct BatchResult: Sendable {
    /// The result type that the request asked for; ``count`` is there for each of them.
    public let resultType: BatchRequestResultType
    /// The objects it was done to; empty unless the result type is `objectIDs`.
    public let objectIDs: [ManagedObjectID]
    /// The number of objects that it was done to.
    public let count: Int

    init(_ type: BatchRequestResultType, _ ids: [ManagedObjectID]) {
        resultType = type
        objectIDs = type == .objectIDs ? ids : []
        count = ids.count
    }
}

/// A request that works on the rows of a store, without objects: fast, and past validation and delete rules of the
/// context.
public protocol BatchRequest: Sendable {
    var entityName: String { get }
    var resultType: BatchRequestResultType { get set }
}

/// Inserts objects from dictionaries of attribute values: `NSBatchInsertRequest`.
public struct BatchInsertRequest: BatchRequest {
    /// The entity that every new object is of.
    public let entityName: String
    /// The kind of result that ``BatchResult`` is to hold.
    public var resultType = BatchRequestResultType.statusOnly
    /// By property name.
    let objects: [[String: ExpressionValue]]

    /// - Throws: `usage` for a value that no attribute can hold.
    public init(entityName: String, objects: [[String: Any?]]) throws {
        self.entityName = entityName
        self.objects = try objects.map { try $0.mapValues { try ExpressionValue(any: $0) } }
    }
}

/// Sets properties of all objects that a predicate finds: `NSBatchUpdateRequest`.
public struct BatchUpdateRequest: BatchRequest {
    /// The entity of the objects that are changed.
    public let entityName: String
    /// The kind of result that ``BatchResult`` is to hold.
    public var resultType = BatchRequestResultType.statusOnly
    /// The predicate that selects the objects to change; nil for all of the entity.
    public var predicate: FetchPredicate?
    /// Whether objects of sub-entities are changed too.
    public var includesSubentities = true
    var changes: [String: Expression] = [:]

    /// A request that changes nothing until ``setValue(_:forKey:)`` or ``setExpression(_:forKey:_:)`` is called.
    public init(entityName: String) { self.entityName = entityName }

    /// Sets the same value in every object.
    ///
    /// - Throws: `usage` for a value that no attribute can hold.
    public mutating func setValue(_ value: Any?, forKey key: String) throws {
        changes[key] = .constant(try ExpressionValue(any: value))
    }

    /// Sets what an expression gives for each object, such as `price * 1.1`.
    ///
    /// - Throws: `invalidPredicate` if it does not parse.
    public mutating func setExpression(_ format: String, forKey key: String, _ arguments: Any?...) throws {
        changes[key] = try Expression(parsing: format, arguments: arguments.map(FormatArgument.init(any:)))
    }
}

/// Deletes all objects that a request finds: `NSBatchDeleteRequest`.
public struct BatchDeleteRequest: BatchRequest {
    /// The entity of the objects that are deleted.
    public let entityName: String
    /// The kind of result that ``BatchResult`` is to hold.
    public var resultType = BatchRequestResultType.statusOnly
    /// The predicate that selects the objects to delete; nil for all of the entity. A request for identities ignores
    /// it.
    public var predicate: FetchPredicate?
    /// Whether objects of sub-entities are deleted too.
    public var includesSubentities = true
    /// The maximum number of objects to delete; 0 for no limit.
    public var fetchLimit = 0
    /// The number of objects found that are spared at the beginning of the order.
    public var fetchOffset = 0
    /// The order in which objects are found, which decides what ``fetchLimit`` and ``fetchOffset`` leave out.
    public var sortDescriptors: [FetchSortDescriptor] = []
    let objectIDs: [ManagedObjectID]?

    /// - Throws: `usage` if the request names no entity.
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

    /// Deletes these objects, which must be of one entity's tree.
    ///
    /// - Throws: `usage` if there are none.
    public init(objectIDs: [ManagedObjectID]) throws {
        guard let first = objectIDs.first else {
            throw MigrationError(.usage, "There is nothing to delete.", remedy: "Give the identity of an object.")
        }
        entityName = first.entityName
        self.objectIDs = objectIDs
    }
}
