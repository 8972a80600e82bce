import Foundation
import MoultBasics
import MoultCoreData
import MoultModel
import MoultObjects

/// A type that a fetch can return: ``NSManagedObject``, ``NSManagedObjectID``, `NSDictionary`, `NSNumber`.
public protocol NSFetchRequestResult {}

extension NSDictionary: NSFetchRequestResult {}
extension NSNumber: NSFetchRequestResult {}

/// The kinds of requests, with Core Data's numbers.
public enum NSPersistentStoreRequestType: UInt, Sendable {
    case fetchRequestType = 1
    case saveRequestType = 2
    case batchInsertRequestType = 5
    case batchUpdateRequestType = 6
    case batchDeleteRequestType = 7
}

/// A request that a context executes. A subclass with properties of its own overrides ``copy(with:)``.
open class NSPersistentStoreRequest: NSObject, NSCopying {
    /// The kind of request.
    open var requestType: NSPersistentStoreRequestType {
        switch self {
        case is NSBatchInsertRequest: .batchInsertRequestType
        case is NSBatchUpdateRequest: .batchUpdateRequestType
        case is NSBatchDeleteRequest: .batchDeleteRequestType
        default: .fetchRequestType
        }
    }
    /// The stores to use; nil for all.
    open var affectedStores: [NSPersistentStore]?

    /// Returns an independent request with the same properties.
    open func copy(with zone: NSZone? = nil) -> Any { NSPersistentStoreRequest().affecting(storesOf: self) }

    func affecting(storesOf original: NSPersistentStoreRequest) -> Self {
        affectedStores = original.affectedStores
        return self
    }

    /// Returns the identifiers of the stores to use; nil for all.
    ///
    /// - Parameter other: those of the request inside this one.
    /// - Throws: `usage` for a store that is not open in the coordinator.
    func storeIdentifiers(
        in coordinator: NSPersistentStoreCoordinator?, within other: Set<UUID>? = nil
    ) throws -> Set<UUID>? {
        guard let affectedStores else { return other }
        let open = coordinator?.persistentStores ?? []
        if let strange = affectedStores.first(where: { !open.contains($0) }) {
            throw MigrationError(
                .usage, "The store \(strange.identifier ?? "") is not open in the context's coordinator.",
                place: "affectedStores", remedy: "Name stores of the coordinator.")
        }
        let own = Set(affectedStores.map(\.base.identifier))
        return other?.intersection(own) ?? own
    }
}

/// The result of a request.
open class NSPersistentStoreResult: NSObject {}

/// The kinds of results, with Core Data's numbers.
public struct NSFetchRequestResultType: OptionSet, Sendable {
    /// Core Data's number.
    public let rawValue: UInt
    /// Creates a kind from Core Data's number.
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

/// A request that describes the objects to fetch and the kind of result.
open class NSFetchRequest<ResultType>: NSPersistentStoreRequest {
    private var wantedEntityName: String?
    private var wantedClass: NSManagedObject.Type?
    private var wantedEntity: NSEntityDescription?
    /// The entity whose objects are fetched: the one set here or, for a request of a class, the one that the newest open
    /// model has for the class.
    open var entity: NSEntityDescription? {
        get { wantedEntity ?? wantedClass.flatMap(NSPersistentStoreCoordinator.openEntityIfAny) }
        set { wantedEntity = newValue }
    }
    /// The predicate that selects the objects; nil for all.
    open var predicate: NSPredicate?
    /// The sort order of the results.
    open var sortDescriptors: [NSSortDescriptor]?
    /// The maximum number of results; 0 for no limit.
    open var fetchLimit = 0
    /// The number of results to skip at the beginning.
    open var fetchOffset = 0
    /// The number of objects whose rows are read together; 0 reads all at once.
    open var fetchBatchSize = 0
    /// The kind of the results.
    open var resultType: NSFetchRequestResultType
    /// Whether to find objects of sub-entities too.
    open var includesSubentities = true
    /// Whether to include unsaved changes. Dictionary results never include them.
    open var includesPendingChanges = true
    /// Whether the fetch reads the values of the objects. If false, it returns faults.
    open var includesPropertyValues = true
    /// Whether objects may be faults. If false, the fetch fills all of them.
    open var returnsObjectsAsFaults = true
    /// Whether to refresh objects that the context already has.
    open var shouldRefreshRefetchedObjects = false
    /// The relationships whose destinations are read along with the objects.
    open var relationshipKeyPathsForPrefetching: [String]?
    /// The columns of dictionary results: names, properties, ``NSExpressionDescription``s.
    open var propertiesToFetch: [Any]?
    /// Whether to return equal dictionaries only once.
    open var returnsDistinctResults = false
    /// The columns that dictionary results are grouped by: names or properties.
    open var propertiesToGroupBy: [Any]?
    /// The predicate that selects the groups of dictionary results.
    open var havingPredicate: NSPredicate?

    /// Creates a fetch of all objects of an entity.
    public init(entityName: String) {
        wantedEntityName = entityName
        resultType = Self.naturalType
    }

    /// Creates a fetch for the entity of the result class. If there is none, set ``entity``.
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

    /// Executes the request in the context whose `perform` block is running, and returns the results. Ends the program
    /// outside such a block.
    ///
    /// - Throws: an `NSError` for a predicate or key that the store cannot evaluate.
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

    /// Returns an independent request with the same properties.
    open override func copy(with zone: NSZone? = nil) -> Any { copyOfRequest() }

    func copyOfRequest() -> NSFetchRequest<ResultType> { copyOfRequest(for: ResultType.self) }

    func copyOfRequest<Other>(for type: Other.Type) -> NSFetchRequest<Other> {
        let copy = NSFetchRequest<Other>().affecting(storesOf: self)
        (copy.wantedEntityName, copy.wantedClass) = (wantedEntityName, wantedClass)
        copy.wantedEntity = wantedEntity
        (copy.predicate, copy.sortDescriptors) = (predicate, sortDescriptors)
        (copy.fetchLimit, copy.fetchOffset, copy.fetchBatchSize) = (fetchLimit, fetchOffset, fetchBatchSize)
        (copy.resultType, copy.includesSubentities) = (resultType, includesSubentities)
        copy.includesPendingChanges = includesPendingChanges
        copy.includesPropertyValues = includesPropertyValues
        copy.returnsObjectsAsFaults = returnsObjectsAsFaults
        copy.shouldRefreshRefetchedObjects = shouldRefreshRefetchedObjects
        copy.relationshipKeyPathsForPrefetching = relationshipKeyPathsForPrefetching
        (copy.propertiesToFetch, copy.propertiesToGroupBy) = (propertiesToFetch, propertiesToGroupBy)
        (copy.havingPredicate, copy.returnsDistinctResults) = (havingPredicate, returnsDistinctResults)
        return copy
    }

    /// Converts the request to a fetch for the engine.
    func objectFetch(in coordinator: NSPersistentStoreCoordinator) throws -> ObjectFetch {
        // Each coordinator has its own entity for a class.
        let name =
            try wantedEntity?.name ?? wantedEntityName
            ?? coordinator.base.classes.entityName(for: wantedClass ?? NSManagedObject.self)
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
        fetch.stores = try storeIdentifiers(in: coordinator)
        (fetch.limit, fetch.offset, fetch.batchSize) = (fetchLimit, fetchOffset, fetchBatchSize)
        fetch.prefetched = relationshipKeyPathsForPrefetching ?? []
        let model = coordinator.base.managedObjectModel
        fetch = fetch.readingNumbers(in: model)
        guard resultType == .dictionaryResultType else { return fetch }
        fetch.columns = try (propertiesToFetch ?? []).map(column)
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

/// A fetch that runs asynchronously, with exclusive access to the context.
open class NSAsynchronousFetchRequest<ResultType>: NSPersistentStoreRequest {
    /// The underlying fetch request.
    public let fetchRequest: NSFetchRequest<ResultType>
    /// A block called with the result, with exclusive access to the context.
    public let completionBlock: ((NSAsynchronousFetchResult<ResultType>) -> Void)?
    /// The expected number of results, for progress reporting.
    open var estimatedResultCount = 0

    /// Creates an asynchronous fetch with a block that receives its result.
    public init(
        fetchRequest: NSFetchRequest<ResultType>,
        completionBlock: ((NSAsynchronousFetchResult<ResultType>) -> Void)? = nil
    ) {
        self.fetchRequest = fetchRequest
        self.completionBlock = completionBlock
    }

    /// Returns an independent request with the same properties and block.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSAsynchronousFetchRequest(
            fetchRequest: fetchRequest.copyOfRequest(), completionBlock: completionBlock
        ).affecting(storesOf: self)
        copy.estimatedResultCount = estimatedResultCount
        return copy
    }
}

/// The result of a request that a context executes asynchronously.
open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult {
    /// The context that executes the request.
    public let managedObjectContext: NSManagedObjectContext
    /// The error if the request failed.
    open internal(set) var operationError: (any Error)?
    /// The progress of the request: always nil, because a fetch reports none.
    open var progress: Progress? { nil }
    /// Whether the request was cancelled.
    private(set) var isCancelled = false

    init(in context: NSManagedObjectContext) { managedObjectContext = context }

    /// Cancels the request unless it has begun. Its result is then nil.
    open func cancel() { managedObjectContext.base.turn.withLock { isCancelled = true } }
}

/// The result of an asynchronous fetch.
open class NSAsynchronousFetchResult<ResultType>: NSPersistentStoreAsynchronousResult {
    /// The request.
    public let fetchRequest: NSAsynchronousFetchRequest<ResultType>
    /// The results; nil until the fetch is done, and if it fails.
    open internal(set) var finalResult: [ResultType]?

    init(_ request: NSAsynchronousFetchRequest<ResultType>, in context: NSManagedObjectContext) {
        fetchRequest = request
        super.init(in: context)
    }
}
