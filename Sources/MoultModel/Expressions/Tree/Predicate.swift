/// A predicate of Core Data's format language: partial indexes, fetched properties and fetch requests have one.
public indirect enum Predicate: Sendable, Hashable {
    /// `TRUEPREDICATE`, `FALSEPREDICATE`
    case constant(Bool)
    case comparison(Comparison)
    case and([Predicate])
    case or([Predicate])
    case not(Predicate)

    /// A comparison of two expressions: `NSComparisonPredicate`.
    public struct Comparison: Sendable, Hashable {
        /// The expression on the left of the operator; the one that ``modifier`` is about.
        public var left: Expression
        /// The operator that compares the two.
        public var `operator`: Operator
        /// The expression on the right of the operator.
        public var right: Expression
        /// Whether the comparison must hold for the value itself, or for all or any of several values.
        public var modifier: Modifier
        /// The options of the comparison of texts.
        public var options: Options

        /// A comparison of the values themselves, with every difference of texts counting, unless told otherwise.
        public init(
            _ left: Expression, _ operator: Operator, _ right: Expression, modifier: Modifier = .direct,
            options: Options = []
        ) {
            self.left = left
            self.operator = `operator`
            self.right = right
            self.modifier = modifier
            self.options = options
        }
    }

    /// With the numbers of `NSPredicateOperatorType`.
    public enum Operator: Int, Sendable, Hashable, CaseIterable {
        case lessThan = 0
        case lessThanOrEqual = 1
        case greaterThan = 2
        case greaterThanOrEqual = 3
        case equal = 4
        case notEqual = 5
        case matches = 6
        case like = 7
        case beginsWith = 8
        case endsWith = 9
        case `in` = 10
        case contains = 99
        case between = 100

        /// As `predicateFormat` spells it.
        public var symbol: String {
            switch self {
            case .lessThan: "<"
            case .lessThanOrEqual: "<="
            case .greaterThan: ">"
            case .greaterThanOrEqual: ">="
            case .equal: "=="
            case .notEqual: "!="
            case .matches: "MATCHES"
            case .like: "LIKE"
            case .beginsWith: "BEGINSWITH"
            case .endsWith: "ENDSWITH"
            case .in: "IN"
            case .contains: "CONTAINS"
            case .between: "BETWEEN"
            }
        }
    }

    /// Whether a comparison holds for the value, all or any of a to-many left side (`NSComparisonPredicate.Modifier`).
    public enum Modifier: Int, Sendable, Hashable {
        case direct = 0
        case all = 1
        case any = 2
    }

    /// `[cd]` behind an operator (`NSComparisonPredicate.Options`).
    public struct Options: OptionSet, Sendable, Hashable {
        /// The bits, with the numbers of `NSComparisonPredicate.Options`.
        public let rawValue: Int
        /// Options of these bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// `[c]`: upper and lower case count as the same.
        public static let caseInsensitive = Options(rawValue: 1)
        /// `[d]`: letters with and without marks, such as accents, count as the same.
        public static let diacriticInsensitive = Options(rawValue: 2)
        /// `[n]`: the texts are folded already and are compared as they are; `[c]` and `[d]` have no effect then.
        public static let normalized = Options(rawValue: 4)
        /// `[l]`: texts are compared by the rules of a language. Moult keeps the option and compares as without it.
        public static let localeSensitive = Options(rawValue: 8)
    }
}
