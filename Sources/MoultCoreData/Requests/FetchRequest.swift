import Foundation
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
    let expression: MoultModel.Expression

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

/// A condition in Core Data's format language: `NSPredicate`. Foundation has a `Predicate` and an `NSPredicate` of its
/// own on Linux, the latter without a format, hence the name.
public struct FetchPredicate: Sendable, Hashable {
    let predicate: MoultModel.Predicate
    let variables: [String: ExpressionValue]

    /// - Parameter arguments: one for each `%@` (any value, `ManagedObject`s and collections too), `%K` (a key path), `%d`
    ///   and so on.
    /// - Throws: `invalidPredicate`, with the place in the text, where it does not parse or arguments are missing.
    public init(format: String, _ arguments: Any?...) throws {
        try self.init(format: format, argumentArray: arguments)
    }

    /// A predicate whose arguments are in an array.
    ///
    /// - Throws: `invalidPredicate`, as ``init(format:_:)``.
    public init(format: String, argumentArray arguments: [Any?]) throws {
        predicate = try Predicate(parsing: format, arguments: try arguments.map(FormatArgument.init(any:)))
        variables = [:]
    }

    /// One that always holds, or never.
    public init(value: Bool) { self.init(.constant(value)) }

    init(_ predicate: MoultModel.Predicate, variables: [String: ExpressionValue] = [:]) {
        self.predicate = predicate
        self.variables = variables
    }

    /// As text, which parses back.
    public var predicateFormat: String { predicate.format }

    /// The predicate with values for its variables (`$name`).
    ///
    /// - Throws: `usage` for a value that no predicate can hold.
    public func withSubstitutionVariables(_ values: [String: Any?]) throws -> FetchPredicate {
        let values = try values.mapValues { try ExpressionValue(any: $0) }
        return FetchPredicate(predicate, variables: variables.merging(values) { _, new in new })
    }

    /// Whether it holds for an object, unsaved changes included.
    public func evaluate(with object: ManagedObject) throws -> Bool {
        try object.access {
            guard let context = object.managedObjectContext else { return false }
            return try context.graph().holds(predicate, variables: variables, for: object.object)
        }
    }
}

// MARK: - Compound predicates

extension FetchPredicate {
    /// A predicate that holds where all of these do; an empty list always holds.
    public static func and(_ predicates: [FetchPredicate]) -> FetchPredicate {
        FetchPredicate(.and(predicates.map(\.predicate)), variables: joined(predicates))
    }

    /// A predicate that holds where one of these does at least; an empty list never holds.
    public static func or(_ predicates: [FetchPredicate]) -> FetchPredicate {
        FetchPredicate(.or(predicates.map(\.predicate)), variables: joined(predicates))
    }

    /// A predicate that holds where the other does not.
    public static func not(_ predicate: FetchPredicate) -> FetchPredicate {
        FetchPredicate(.not(predicate.predicate), variables: predicate.variables)
    }

    /// A predicate that holds where both do.
    public static func && (left: FetchPredicate, right: FetchPredicate) -> FetchPredicate { .and([left, right]) }
    /// A predicate that holds where one of the two does at least.
    public static func || (left: FetchPredicate, right: FetchPredicate) -> FetchPredicate { .or([left, right]) }
    /// A predicate that holds where the other does not.
    public static prefix func ! (predicate: FetchPredicate) -> FetchPredicate { .not(predicate) }

    private static func joined(_ predicates: [FetchPredicate]) -> [String: ExpressionValue] {
        predicates.reduce(into: [:]) { $0.merge($1.variables) { first, _ in first } }
    }
}

/// One term of an order: `NSSortDescriptor`. Foundation has a `SortDescriptor` of its own, hence the name.
public struct FetchSortDescriptor: Sendable, Hashable {
    /// A property, or a key path through to-one relationships.
    public var key: String
    /// Whether the least value comes first.
    public var ascending: Bool
    /// The options of the comparison of texts.
    public var options: Options

    /// A term of an order by a key, ascending unless told otherwise.
    public init(key: String, ascending: Bool = true, options: Options = []) {
        self.key = key
        self.ascending = ascending
        self.options = options
    }

    /// The options of the comparison of two texts, as `[cd]` gives them in a predicate.
    public struct Options: OptionSet, Sendable, Hashable {
        /// The bits of the options, with the numbers of `NSComparisonPredicate.Options`.
        public let rawValue: Int
        /// Options of these bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Upper and lower case count as the same.
        public static let caseInsensitive = Options(rawValue: 1)
        /// Letters with and without marks, such as accents, count as the same.
        public static let diacriticInsensitive = Options(rawValue: 2)

        var predicateOptions: MoultModel.Predicate.Options { .init(rawValue: rawValue) }
    }
}
