import Foundation
import MoultModel
import MoultObjects

/// A request that describes the objects or values to fetch, and the form of the results: `NSFetchRequest`.
///
/// The result type determines the kind of fetch: ``ManagedObject`` or a subclass of it, ``ManagedObjectID``, `[String:
/// Any]` for a dictionary of properties and computed values, `Int` for a count.
///
///     var request = FetchRequest<ManagedObject>(entityName: "Book")
///     request.predicate = try FetchPredicate(format: "pages > %d AND title BEGINSWITH[cd] %@", 100, "the")
///     request.sortDescriptors = [FetchSortDescriptor(key: "title")]
public struct FetchRequest<Result: FetchRequestResult>: Sendable {
    /// The name of the entity; nil for the entity of the result class.
    public var entityName: String?
    /// The predicate that selects objects; nil for all.
    public var predicate: FetchPredicate?
    /// The sort order of the results. Each term applies where all terms before it are equal.
    public var sortDescriptors: [FetchSortDescriptor] = []
    /// Whether to find objects of sub-entities too.
    public var includesSubentities = true
    /// The maximum number of results; 0 for no limit.
    public var fetchLimit = 0
    /// The number of results to skip at the beginning.
    public var fetchOffset = 0
    /// The number of objects whose rows are read together as you reach them; 0 reads all at once.
    public var fetchBatchSize = 0
    /// The relationships whose destinations are read along with the objects.
    public var relationshipKeyPathsForPrefetching: [String] = []

    // Dictionary results.
    /// The names of properties, key paths and ``ExpressionDescription``s to fetch; all attributes if empty.
    public var propertiesToFetch: [ExpressionDescription] = []
    /// Whether to return equal dictionary results only once.
    public var returnsDistinctResults = false
    /// The properties by which dictionary results are grouped, with one result for each group.
    public var propertiesToGroupBy: [String] = []
    /// The predicate that selects the groups of dictionary results; nil for all.
    public var havingPredicate: FetchPredicate?

    /// Creates a fetch of all objects of an entity.
    public init(entityName: String) { self.entityName = entityName }

    /// Creates a fetch for the entity of the result class.
    public init() where Result: ManagedObject { entityName = nil }

    /// The kind of results, which follows from their type.
    public var resultType: FetchRequestResultType { Result.resultType }
}

/// The kinds of results, with Core Data's numbers (`NSFetchRequestResultType`).
public enum FetchRequestResultType: Int, Sendable {
    case managedObject = 0
    case managedObjectID = 1
    case dictionary = 2
    case count = 4
}

/// A type of result that a fetch can return.
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
    /// The key of the value in a result dictionary.
    public let name: String
    let expression: MoultModel.Expression

    /// - Parameter expression: an expression in Core Data's format language.
    /// - Throws: `invalidPredicate`, with the position in the text, if the expression is invalid.
    public init(name: String, expression: String, _ arguments: Any?...) throws {
        self.name = name
        self.expression = try Expression(parsing: expression, arguments: arguments.map(FormatArgument.init(any:)))
    }

    /// Creates a column for a property or a key path, under its own name.
    public init(_ keyPath: String) {
        name = keyPath
        expression = .keyPath(keyPath)
    }

    /// Creates a column for a property or a key path, under its own name.
    public init(stringLiteral keyPath: String) { self.init(keyPath) }
}

extension FetchRequest {
    /// Returns the fetch for the entity with the given name.
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
        fetch = fetch.readingNumbers(in: model)
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

/// A condition in Core Data's format language: `NSPredicate`. The name differs because Foundation on Linux has its own
/// `Predicate`, and an `NSPredicate` without formats.
public struct FetchPredicate: Sendable, Hashable {
    let predicate: MoultModel.Predicate
    let variables: [String: ExpressionValue]

    /// - Parameter arguments: one for each `%@` (any value, including `ManagedObject`s and collections), `%K` (a key
    ///   path), `%d` and so on.
    /// - Throws: `invalidPredicate`, with the position in the text, if the format is invalid or arguments are missing.
    public init(format: String, _ arguments: Any?...) throws {
        try self.init(format: format, argumentArray: arguments)
    }

    /// Creates a predicate from a format and an array of arguments.
    ///
    /// - Throws: `invalidPredicate`, as in ``init(format:_:)``.
    public init(format: String, argumentArray arguments: [Any?]) throws {
        predicate = try Predicate(parsing: format, arguments: try arguments.map(FormatArgument.init(any:)))
        variables = [:]
    }

    /// Creates a predicate that always holds, or never does.
    public init(value: Bool) { self.init(.constant(value)) }

    init(_ predicate: MoultModel.Predicate, variables: [String: ExpressionValue] = [:]) {
        self.predicate = predicate
        self.variables = variables
    }

    /// The predicate as text that can be parsed again.
    public var predicateFormat: String { predicate.format }

    /// Returns the predicate with values for its variables (`$name`).
    ///
    /// - Throws: `usage` for a value that a predicate cannot contain.
    public func withSubstitutionVariables(_ values: [String: Any?]) throws -> FetchPredicate {
        let values = try values.mapValues { try ExpressionValue(any: $0) }
        return FetchPredicate(predicate, variables: variables.merging(values) { _, new in new })
    }

    /// Returns whether the predicate holds for an object, including its unsaved changes.
    public func evaluate(with object: ManagedObject) throws -> Bool {
        try object.access {
            guard let context = object.managedObjectContext else { return false }
            return try context.graph().holds(predicate, variables: variables, for: object.object)
        }
    }
}

// MARK: - Compound predicates

extension FetchPredicate {
    /// Returns a predicate that holds if all of the given ones do. With an empty list it always holds.
    public static func and(_ predicates: [FetchPredicate]) -> FetchPredicate {
        FetchPredicate(.and(predicates.map(\.predicate)), variables: joined(predicates))
    }

    /// Returns a predicate that holds if at least one of the given ones does. With an empty list it never holds.
    public static func or(_ predicates: [FetchPredicate]) -> FetchPredicate {
        FetchPredicate(.or(predicates.map(\.predicate)), variables: joined(predicates))
    }

    /// Returns a predicate that holds if the given one does not.
    public static func not(_ predicate: FetchPredicate) -> FetchPredicate {
        FetchPredicate(.not(predicate.predicate), variables: predicate.variables)
    }

    /// Returns a predicate that holds if both do.
    public static func && (left: FetchPredicate, right: FetchPredicate) -> FetchPredicate { .and([left, right]) }
    /// Returns a predicate that holds if at least one of the two does.
    public static func || (left: FetchPredicate, right: FetchPredicate) -> FetchPredicate { .or([left, right]) }
    /// Returns a predicate that holds if the given one does not.
    public static prefix func ! (predicate: FetchPredicate) -> FetchPredicate { .not(predicate) }

    private static func joined(_ predicates: [FetchPredicate]) -> [String: ExpressionValue] {
        predicates.reduce(into: [:]) { $0.merge($1.variables) { first, _ in first } }
    }
}

/// One term of a sort order: `NSSortDescriptor`. The name differs because Foundation has its own `SortDescriptor`.
public struct FetchSortDescriptor: Sendable, Hashable {
    /// The sort key: a property, or a key path through to-one relationships.
    public var key: String
    /// Whether the order is ascending.
    public var ascending: Bool
    /// The options for comparing strings.
    public var options: Options

    /// Creates a sort term for a key, ascending by default.
    public init(key: String, ascending: Bool = true, options: Options = []) {
        self.key = key
        self.ascending = ascending
        self.options = options
    }

    /// The options for comparing two strings, like `[cd]` in a predicate.
    public struct Options: OptionSet, Sendable, Hashable {
        /// The bits of the options, with the numbers of `NSComparisonPredicate.Options`.
        public let rawValue: Int
        /// Creates options from bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Ignores differences between upper and lower case.
        public static let caseInsensitive = Options(rawValue: 1)
        /// Ignores diacritics, such as accents.
        public static let diacriticInsensitive = Options(rawValue: 2)

        var predicateOptions: MoultModel.Predicate.Options { .init(rawValue: rawValue) }
    }
}
