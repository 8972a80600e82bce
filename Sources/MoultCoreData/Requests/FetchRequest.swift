import MoultModel
import MoultObjects

/// A request that says which objects or values to fetch, and in which form: `NSFetchRequest`.
///
/// The type of the results says which kind of fetch it is: ``ManagedObject`` or a subclass of it, ``ManagedObjectID``,
/// `[String: Any]` for a dictionary of properties and computed values, `Int` for a count.
///
///     var request = FetchRequest<ManagedObject>(entityName: "Book")
///     request.predicate = try FetchPredicate(format: "pages > %d AND title BEGINSWITH[cd] %@", 100, "the")
///     request.sortDescriptors = [FetchSortDescriptor(key: "title")]
public struct FetchRequest<Result: FetchRequestResult>: Sendable {
    /// Nil for the entity of the class of the results.
    public var entityName: String?
    /// The predicate that selects objects; nil for all.
    public var predicate: FetchPredicate?
    /// The order of the results: the first term decides, each further one where those before it are equal.
    public var sortDescriptors: [FetchSortDescriptor] = []
    /// Whether objects of sub-entities are found too.
    public var includesSubentities = true
    /// 0 for no limit.
    public var fetchLimit = 0
    /// The number of results that are left out at the beginning.
    public var fetchOffset = 0
    /// Objects whose rows are read together, as they are reached; 0 reads all at once.
    public var fetchBatchSize = 0
    /// Relationships whose destinations are read together with the objects.
    public var relationshipKeyPathsForPrefetching: [String] = []

    // Dictionary results.
    /// Properties by name, key paths and ``ExpressionDescription``s; all attributes where it is empty.
    public var propertiesToFetch: [ExpressionDescription] = []
    /// Whether dictionary results that are equal are given once only.
    public var returnsDistinctResults = false
    /// The properties by which dictionary results are grouped; one result for each group.
    public var propertiesToGroupBy: [String] = []
    /// The predicate that selects groups of dictionary results; nil for all.
    public var havingPredicate: FetchPredicate?

    /// A fetch of all objects of an entity.
    public init(entityName: String) { self.entityName = entityName }

    /// Fetches the entity of the class of the results.
    public init() where Result: ManagedObject { entityName = nil }

    /// The kind of results, which their type says.
    public var resultType: FetchRequestResultType { Result.resultType }
}

/// The kinds of results, with Core Data's numbers (`NSFetchRequestResultType`).
public enum FetchRequestResultType: Int, Sendable {
    case managedObject = 0
    case managedObjectID = 1
    case dictionary = 2
    case count = 4
}

/// A type of result that a fetch can give.
public protocol FetchRequestResult {
    static var resultType: FetchRequestResultType { get }
}

extension ManagedObject: FetchRequestResult {
    /// Objects: ``FetchRequestResultType/managedObject``.
    public static var resultType: FetchRequestResultType { .managedObject }
}

extension ManagedObjectID: FetchRequestResult {
    /// Identities: ``FetchRequestResultType/managedObjectID``.
    public static var resultType: FetchRequestResultType { .managedObjectID }
}

extension Dictionary: FetchRequestResult where Key == String, Value == Any {
    /// Dictionaries of properties and computed values: ``FetchRequestResultType/dictionary``.
    public static var resultType: FetchRequestResultType { .dictionary }
}

extension Int: FetchRequestResult {
    /// A count: ``FetchRequestResultType/count``.
    public static var resultType: FetchRequestResultType { .count }
}

/// A column of dictionary results: a property, a key path or a computed value, under a name.
///
///     request.propertiesToFetch = ["author.name", try ExpressionDescription(name: "all", expression: "sum:(pages)")]
public struct ExpressionDescription: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The key that the value has in a dictionary of the results.
    public let name: String
    let expression: Expression

    /// - Parameter expression: in Core Data's format language.
    /// - Throws: `invalidPredicate`, with the place in the text, where it does not parse.
    public init(name: String, expression: String, _ arguments: Any?...) throws {
        self.name = name
        self.expression = try Expression(parsing: expression, arguments: arguments.map(FormatArgument.init(any:)))
    }

    /// A property or a key path, under its own name.
    public init(_ keyPath: String) {
        name = keyPath
        expression = .keyPath(keyPath)
    }

    /// A property or a key path, under its own name.
    public init(stringLiteral keyPath: String) { self.init(keyPath) }
}

extension FetchRequest {
    /// The fetch over an entity of that name.
    func fetch(of entityName: String, model: ManagedObjectModel) -> ObjectFetch {
        var fetch = ObjectFetch(
            entityName: entityName, predicate: predicate?.predicate,
            sort: sortDescriptors.map { .init($0.key, isAscending: $0.ascending, options: $0.options.predicateOptions) }
        )
        fetch.variables = (predicate?.variables ?? [:]).merging(havingPredicate?.variables ?? [:]) { first, _ in first }
        fetch.includesSubentities = includesSubentities
        fetch.limit = fetchLimit
        fetch.offset = fetchOffset
        fetch.batchSize = fetchBatchSize
        fetch.prefetched = relationshipKeyPathsForPrefetching
        guard resultType == .dictionary else { return fetch }
        fetch.columns = propertiesToFetch.map { .init($0.name, $0.expression) }
        if fetch.columns.isEmpty, let entity = model.entity(entityName) {
            fetch.columns = model.attributes(of: entity).filter { $0.isStored && $0.type != .composite }
                .map { .init($0.name, .keyPath($0.name)) }
        }
        fetch.returnsDistinct = returnsDistinctResults
        fetch.groupBy = propertiesToGroupBy
        fetch.having = havingPredicate?.predicate
        return fetch
    }
}
