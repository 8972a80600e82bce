import Foundation
import MoultModel
import MoultObjects

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
