import Foundation
import MoultBasics
import MoultCoreData
import MoultModel
import MoultObjects

/// A probe that retrieves the parsed form of a predicate created from a format.
final class PredicateProbe {
    var found: (predicate: MoultModel.Predicate, variables: [String: ExpressionValue])?
}

// Foundation's NSPredicate does not support formats on Linux. Here such a predicate is a block that evaluates the
// format, and that passes its parsed form to a probe.

extension NSPredicate {
    /// Creates a predicate from Core Data's format language. Ends the program if the format is invalid.
    public convenience init(format: String, _ arguments: Any?...) {
        self.init(format: format, argumentArray: arguments)
    }

    /// Creates a predicate from a format and an array of arguments. Ends the program if the format is invalid.
    public convenience init(format: String, argumentArray arguments: [Any?]?) {
        let predicate = orRaise("NSPredicate(format: \"\(format)\")") {
            try MoultModel.Predicate(parsing: format, arguments: try formatArguments(arguments ?? [], for: format))
        }
        self.init(moult: predicate)
    }

    convenience init(moult predicate: MoultModel.Predicate, variables: [String: ExpressionValue] = [:]) {
        self.init(block: { subject, bindings in
            if let probe = subject as? PredicateProbe {
                probe.found = (predicate, variables)
                return false
            }
            return orRaise("NSPredicate.evaluate(with:) \(predicate.format)") {
                let bound = (bindings ?? [:]).mapValues(predicateValue)
                return try PredicateSubject(subject).holds(predicate, variables.merging(bound) { _, new in new })
            }
        })
    }

    /// Returns the predicate with values for its variables (`$name`).
    public func withSubstitutionVariables(_ variables: [String: Any]) -> NSPredicate {
        let call = "NSPredicate.withSubstitutionVariables(_:)"
        return orRaise(call) {
            let (predicate, known) = try moult(for: call)
            let values = variables.mapValues(predicateValue)
            return NSPredicate(moult: predicate, variables: known.merging(values) { _, new in new })
        }
    }

    /// Returns the predicate in the form that a store can evaluate, with the values of its variables.
    ///
    /// - Throws: `fetchUnsupported` for a block, which no store can evaluate.
    func moult(for call: String) throws -> (predicate: MoultModel.Predicate, variables: [String: ExpressionValue]) {
        if let compound = self as? NSCompoundPredicate {
            let parts = try compound.subpredicates.map { try $0.moult(for: call) }
            let variables = parts.reduce(into: [:]) { $0.merge($1.variables) { first, _ in first } }
            switch compound.compoundPredicateType {
            case .and: return (.and(parts.map(\.predicate)), variables)
            case .or: return (.or(parts.map(\.predicate)), variables)
            case .not: return (.not(parts.first?.predicate ?? .constant(false)), variables)
            }
        }
        let probe = PredicateProbe()
        _ = evaluate(with: probe)
        if let found = probe.found { return found }
        // Foundation exposes the value of NSPredicate(value:) only in its stored properties.
        let kind = Mirror(reflecting: self).superclassMirror.map { [$0] } ?? []
        for mirror in [Mirror(reflecting: self)] + kind {
            for child in mirror.children where child.label == "kind" {
                let content = Mirror(reflecting: child.value).children.first
                if content?.label == "boolean", let flag = content?.value as? Bool { return (.constant(flag), [:]) }
            }
        }
        throw MigrationError(
            .fetchUnsupported, "A store cannot answer a predicate that is a block.", place: call,
            remedy: "Write it as a format, or filter the objects after the fetch.")
    }
}

/// A carrier for the key of a sort descriptor, which on Linux has only a key path.
private final class SortKey {
    subscript(key: String) -> String { key }
}

extension NSSortDescriptor {
    /// Creates a sort descriptor for a key of the model.
    public convenience init(key: String?, ascending: Bool) {
        self.init(keyPath: \SortKey.[key ?? ""], ascending: ascending)
    }

    /// Creates a sort descriptor for an optional property of a class.
    public convenience init<Root: NSManagedObject, Value>(keyPath: KeyPath<Root, Value?>, ascending: Bool) {
        self.init(key: ManagedKey.name(of: keyPath), ascending: ascending)
    }

    /// Creates a sort descriptor for a Boolean property of a class.
    public convenience init<Root: NSManagedObject>(keyPath: KeyPath<Root, Bool>, ascending: Bool) {
        self.init(key: ManagedKey.name(of: keyPath), ascending: ascending)
    }

    /// The key; nil for a key path that reads no property of the model.
    public var key: String? {
        if let path = keyPath as? KeyPath<SortKey, String> {
            return SortKey()[keyPath: path]
        }
        return ManagedKey.nameIfAny(of: keyPath)
    }

    /// The sort term for the engine. Ends the program for a key path that reads no property of the model.
    var term: ObjectFetch.SortTerm {
        guard let key else {
            raise("NSFetchRequest.sortDescriptors", "\(keyPath) reads no property of the model; name the key instead.")
        }
        return ObjectFetch.SortTerm(key, isAscending: ascending)
    }
}

extension NSSortDescriptor {
    /// Creates a sort descriptor from a `SortDescriptor` for a property of a class.
    public convenience init<Compared: NSManagedObject>(_ descriptor: SortDescriptor<Compared>) {
        guard let path = descriptor.keyPath else {
            raise("NSSortDescriptor(_:)", "The SortDescriptor has no key path; name the key instead.")
        }
        self.init(key: ManagedKey.name(of: path), ascending: descriptor.order == .forward)
    }
}

/// A comparison composed of parts.
///
/// Foundation has an empty class with this name on Linux. A file that also imports Foundation must write
/// `CoreData.NSComparisonPredicate`.
open class NSComparisonPredicate: NSPredicate {
    /// The expression on the left.
    public let leftExpression: NSExpression
    /// The expression on the right.
    public let rightExpression: NSExpression
    /// The operator that compares the two.
    public let predicateOperatorType: Operator
    /// Whether the comparison must hold for the value itself, for all of its values, or for any of them.
    public let comparisonPredicateModifier: Modifier
    /// The options for comparing strings.
    public let options: Options

    /// The operator of a comparison of two values, with Core Data's numbers.
    public enum Operator: Int, Sendable {
        case lessThan = 0
        case lessThanOrEqualTo = 1
        case greaterThan = 2
        case greaterThanOrEqualTo = 3
        case equalTo = 4
        case notEqualTo = 5
        case matches = 6
        case like = 7
        case beginsWith = 8
        case endsWith = 9
        case `in` = 10
        case contains = 99
        case between = 100
    }

    /// Whether a comparison must hold for the value itself, or for all or any of several values.
    public enum Modifier: Int, Sendable {
        case direct = 0
        case all = 1
        case any = 2
    }

    /// The options for comparing two strings.
    public struct Options: OptionSet, Sendable {
        /// The bits, with Core Data's numbers.
        public let rawValue: Int
        /// Creates options from bits.
        public init(rawValue: Int) { self.rawValue = rawValue }
        /// `[c]`
        public static let caseInsensitive = Options(rawValue: 1)
        /// `[d]`
        public static let diacriticInsensitive = Options(rawValue: 2)
        /// `[n]`
        public static let normalized = Options(rawValue: 4)
    }

    /// Creates a comparison of two expressions.
    public init(
        leftExpression left: NSExpression, rightExpression right: NSExpression, modifier: Modifier = .direct,
        type: Operator, options: Options = []
    ) {
        leftExpression = left
        rightExpression = right
        predicateOperatorType = type
        comparisonPredicateModifier = modifier
        self.options = options
        let predicate = MoultModel.Predicate.comparison(
            .init(
                left.expression, MoultModel.Predicate.Operator(rawValue: type.rawValue) ?? .equal, right.expression,
                modifier: MoultModel.Predicate.Modifier(rawValue: modifier.rawValue) ?? .direct,
                options: MoultModel.Predicate.Options(rawValue: options.rawValue)))
        super.init(block: { subject, bindings in
            if let probe = subject as? PredicateProbe {
                probe.found = (predicate, [:])
                return false
            }
            return orRaise("NSPredicate.evaluate(with:) \(predicate.format)") {
                try PredicateSubject(subject).holds(predicate, (bindings ?? [:]).mapValues(predicateValue))
            }
        })
    }
}
