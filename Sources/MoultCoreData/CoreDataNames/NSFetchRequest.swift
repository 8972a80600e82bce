import Foundation
import MoultBasics
import MoultModel
import MoultObjects

/// A type that a fetch can return: ``NSManagedObject``, ``NSManagedObjectID``, `NSDictionary`, `NSNumber`.
public protocol NSFetchRequestResult {}

extension NSDictionary: NSFetchRequestResult {}
extension NSNumber: NSFetchRequestResult {}

/// A request that a context carries out.
open class NSPersistentStoreRequest: NSObject {
    /// The stores that are asked; nil for all.
    open var affectedStores: [NSPersistentStore]?
}

/// The result of a request.
open class NSPersistentStoreResult: NSObject {}

/// The kinds of results, with Core Data's numbers.
public struct NSFetchRequestResultType: OptionSet, Sendable {
    /// Core Data's number.
    public let rawValue: UInt
    /// The kind of that number.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// Objects.
    public static let managedObjectResultType = NSFetchRequestResultType([])
    /// Identities.
    public static let managedObjectIDResultType = NSFetchRequestResultType(rawValue: 1)
    /// Dictionaries.
    public static let dictionaryResultType = NSFetchRequestResultType(rawValue: 2)
    /// A count.
    public static let countResultType = NSFetchRequestResultType(rawValue: 4)
}

/// A request that says what to fetch, and as which kind of result.
open class NSFetchRequest<ResultType>: NSPersistentStoreRequest {
    private var wantedEntityName: String?
    private var wantedClass: NSManagedObject.Type?
    /// The entity whose objects are fetched.
    open var entity: NSEntityDescription?
    /// The predicate that selects the objects; nil for all.
    open var predicate: NSPredicate?
    /// The order of the results.
    open var sortDescriptors: [NSSortDescriptor]?
    /// 0 for no limit.
    open var fetchLimit = 0
    /// The number of results that are left out at the beginning.
    open var fetchOffset = 0
    /// Objects whose rows are read together; 0 reads all at once.
    open var fetchBatchSize = 0
    /// The kind of the results.
    open var resultType: NSFetchRequestResultType
    /// Whether objects of sub-entities are found too.
    open var includesSubentities = true
    /// Whether unsaved changes count; dictionaries never have them.
    open var includesPendingChanges = true
    /// Whether the values of objects are read by the fetch; false gives faults.
    open var includesPropertyValues = true
    /// Whether objects may be faults; false fills all of them.
    open var returnsObjectsAsFaults = true
    /// Whether objects that the context holds are read again.
    open var shouldRefreshRefetchedObjects = false
    /// Relationships whose destinations are read together with the objects.
    open var relationshipKeyPathsForPrefetching: [String]?
    /// The columns of dictionary results: names, properties, ``NSExpressionDescription``s.
    open var propertiesToFetch: [Any]?
    /// Whether dictionaries that are equal are given once only.
    open var returnsDistinctResults = false
    /// The columns that dictionary results are grouped by: names or properties.
    open var propertiesToGroupBy: [Any]?
    /// The predicate that selects the groups.
    open var havingPredicate: NSPredicate?

    /// A fetch of all objects of an entity.
    public init(entityName: String) {
        wantedEntityName = entityName
        resultType = Self.naturalType
    }

    /// A fetch whose ``entity`` is to be set, or is that of the class of the results.
    public override init() {
        wantedClass = ResultType.self as? NSManagedObject.Type
        resultType = Self.naturalType
    }

    init(ofClass type: NSManagedObject.Type) {
        wantedClass = type
        resultType = Self.naturalType
    }

    /// The entity's name.
    open var entityName: String? { entity?.name ?? wantedEntityName }

    /// Returns the results of the request in the context in whose `perform` block it is called. Ends the program
    /// outside one.
    ///
    /// - Throws: an `NSError` for a predicate or key that the store cannot answer.
    open func execute() throws -> [ResultType] {
        if let context = NSManagedObjectContext.current { return try context.fetch(self) }
        raise(
            "NSFetchRequest.execute()",
            "It is not called in a block of a context's perform: call it there, or use the context's fetch(_:).")
    }

    private static var naturalType: NSFetchRequestResultType {
        switch ResultType.self {
        case is NSManagedObjectID.Type: .managedObjectIDResultType
        case is NSDictionary.Type, is [String: Any].Type: .dictionaryResultType
        case is NSNumber.Type: .countResultType
        default: .managedObjectResultType
        }
    }

    func copyOfRequest() -> NSFetchRequest<ResultType> {
        let copy = NSFetchRequest<ResultType>()
        (copy.wantedEntityName, copy.wantedClass, copy.entity) = (wantedEntityName, wantedClass, entity)
        (copy.predicate, copy.sortDescriptors) = (predicate, sortDescriptors)
        (copy.fetchLimit, copy.fetchOffset, copy.fetchBatchSize) = (fetchLimit, fetchOffset, fetchBatchSize)
        (copy.resultType, copy.includesSubentities) = (resultType, includesSubentities)
        copy.includesPendingChanges = includesPendingChanges
        copy.relationshipKeyPathsForPrefetching = relationshipKeyPathsForPrefetching
        (copy.propertiesToFetch, copy.propertiesToGroupBy) = (propertiesToFetch, propertiesToGroupBy)
        (copy.havingPredicate, copy.returnsDistinctResults) = (havingPredicate, returnsDistinctResults)
        return copy
    }

    /// Returns the request as a fetch for the engine.
    func objectFetch(in coordinator: NSPersistentStoreCoordinator) throws -> ObjectFetch {
        let name = try entityName ?? coordinator.base.classes.entityName(for: wantedClass ?? NSManagedObject.self)
        if let type = wantedClass ?? (ResultType.self as? NSManagedObject.Type) {
            coordinator.base.classes.registerIfNone(type, entity: name)
        }
        let condition = try predicate?.moult(for: "NSFetchRequest.predicate")
        var fetch = ObjectFetch(
            entityName: name, predicate: condition?.predicate, sort: (sortDescriptors ?? []).map(\.term))
        let having = try havingPredicate?.moult(for: "NSFetchRequest.havingPredicate")
        fetch.variables = (condition?.variables ?? [:]).merging(having?.variables ?? [:]) { first, _ in first }
        fetch.includesSubentities = includesSubentities
        fetch.includesPendingChanges = includesPendingChanges
        (fetch.limit, fetch.offset, fetch.batchSize) = (fetchLimit, fetchOffset, fetchBatchSize)
        fetch.prefetched = relationshipKeyPathsForPrefetching ?? []
        guard resultType == .dictionaryResultType else { return fetch }
        fetch.columns = try (propertiesToFetch ?? []).map(column)
        let model = coordinator.base.managedObjectModel
        if fetch.columns.isEmpty, let entity = model.entity(name) {
            fetch.columns = model.attributes(of: entity).filter { $0.isStored && $0.type != .composite }
                .map { .init($0.name, .keyPath($0.name)) }
        }
        fetch.returnsDistinct = returnsDistinctResults
        fetch.groupBy = try (propertiesToGroupBy ?? []).map { try column($0).name }
        fetch.having = having?.predicate
        return fetch
    }

    private func column(_ value: Any) throws -> ObjectFetch.Column {
        switch value {
        case let name as String: return .init(name, .keyPath(name))
        case let computed as NSExpressionDescription:
            if let expression = computed.expression { return .init(computed.name, expression.expression) }
        case let property as NSPropertyDescription: return .init(property.name, .keyPath(property.name))
        default: break
        }
        throw MigrationError(
            .usage, "\(value) is no column of a fetch.", place: entityName ?? "",
            remedy: "Give names, properties, or NSExpressionDescriptions with an expression.")
    }
}

extension NSFetchRequest {
    convenience init(_ template: FetchRequestTemplate) where ResultType == any NSFetchRequestResult {
        self.init(entityName: template.entityName)
        predicate = template.predicate.flatMap { try? MoultModel.Predicate(parsing: $0) }.map { NSPredicate(moult: $0) }
        fetchLimit = template.options["fetchLimit"].flatMap { Int($0) } ?? 0
    }

    func template(named name: String) throws -> FetchRequestTemplate {
        FetchRequestTemplate(
            name: name, entityName: entityName ?? "",
            predicate: try predicate?.moult(for: "NSFetchRequest.predicate").predicate.format,
            options: fetchLimit > 0 ? ["fetchLimit": "\(fetchLimit)"] : [:])
    }
}

/// A fetch that is carried out later, in the context's turn.
open class NSAsynchronousFetchRequest<ResultType>: NSPersistentStoreRequest {
    /// The request that is fetched.
    public let fetchRequest: NSFetchRequest<ResultType>
    /// Called with the result, in the context's turn.
    public let completionBlock: ((NSAsynchronousFetchResult<ResultType>) -> Void)?
    /// The expected number of results, for a progress.
    open var estimatedResultCount = 0

    /// A fetch with a block that gets its result.
    public init(
        fetchRequest: NSFetchRequest<ResultType>,
        completionBlock: ((NSAsynchronousFetchResult<ResultType>) -> Void)? = nil
    ) {
        self.fetchRequest = fetchRequest
        self.completionBlock = completionBlock
    }
}

/// The result of an asynchronous fetch.
open class NSAsynchronousFetchResult<ResultType>: NSPersistentStoreResult {
    /// The request.
    public let fetchRequest: NSAsynchronousFetchRequest<ResultType>
    /// The results that were found; nil until the fetch is done, and if it failed.
    open internal(set) var finalResult: [ResultType]?
    /// The error with which the fetch failed.
    open internal(set) var operationError: (any Error)?

    init(_ request: NSAsynchronousFetchRequest<ResultType>) { fetchRequest = request }
}
