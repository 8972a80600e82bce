import Foundation
import MoultModel

/// A comparison that is built from parts.
///
/// Foundation has an empty class of this name on Linux: a file that imports Foundation too writes
/// `CoreData.NSComparisonPredicate`.
open class NSComparisonPredicate: NSPredicate {
    /// The expression on the left.
    public let leftExpression: NSExpression
    /// The expression on the right.
    public let rightExpression: NSExpression
    /// The operator that compares the two.
    public let predicateOperatorType: Operator
    /// Whether it must hold for the value itself, for all values or for any.
    public let comparisonPredicateModifier: Modifier
    /// The options for comparing texts.
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

    /// Whether a comparison holds for the value, all or any of several.
    public enum Modifier: Int, Sendable {
        case direct = 0
        case all = 1
        case any = 2
    }

    /// The options for comparing two texts.
    public struct Options: OptionSet, Sendable {
        /// The bits, with Core Data's numbers.
        public let rawValue: Int
        /// Options of these bits.
        public init(rawValue: Int) { self.rawValue = rawValue }
        /// `[c]`
        public static let caseInsensitive = Options(rawValue: 1)
        /// `[d]`
        public static let diacriticInsensitive = Options(rawValue: 2)
        /// `[n]`
        public static let normalized = Options(rawValue: 4)
    }

    /// A comparison of two expressions.
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
                try PredicateSubject(subject).holds(predicate, (bindings ?? [:]).mapValues(expressionValue))
            }
        })
    }
}
