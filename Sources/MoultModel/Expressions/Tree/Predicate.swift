import MoultBasics

/// A predicate of Core Data's format language, as used in partial indexes, fetched properties and fetch requests.
public indirect enum Predicate: Sendable, Hashable {
    /// `TRUEPREDICATE`, `FALSEPREDICATE`
    case constant(Bool)
    case comparison(Comparison)
    case and([Predicate])
    case or([Predicate])
    case not(Predicate)

    /// A comparison of two expressions, as `NSComparisonPredicate`.
    public struct Comparison: Sendable, Hashable {
        /// The expression on the left of the operator, to which ``modifier`` applies.
        public var left: Expression
        /// The operator that compares the two.
        public var `operator`: Operator
        /// The expression on the right of the operator.
        public var right: Expression
        /// Whether the comparison must hold for the value itself, for all of several values, or for any of them.
        public var modifier: Modifier
        /// The options for comparing texts.
        public var options: Options

        /// Creates a comparison, by default of the values themselves and with exact comparison of texts.
        public init(
            _ left: Expression, _ operator: Operator, _ right: Expression, modifier: Modifier = .direct,
            options: Options = []
        ) {
            self.left = left
            self.operator = `operator`
            (self.right, self.modifier, self.options) = (right, modifier, options)
        }
    }

    /// The operators, with the numbers of `NSPredicateOperatorType`.
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

        /// The operator's spelling in `predicateFormat`.
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

    /// The scope of a comparison: the value, or all or any of a to-many left side (`NSComparisonPredicate.Modifier`).
    public enum Modifier: Int, Sendable, Hashable {
        case direct = 0
        case all = 1
        case any = 2
    }

    /// The options after an operator, such as `[cd]` (`NSComparisonPredicate.Options`).
    public struct Options: OptionSet, Sendable, Hashable {
        /// The bits, with the numbers of `NSComparisonPredicate.Options`.
        public let rawValue: Int
        /// Creates options from these bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// `[c]`: ignores case.
        public static let caseInsensitive = Options(rawValue: 1)
        /// `[d]`: ignores marks on letters, such as accents.
        public static let diacriticInsensitive = Options(rawValue: 2)
        /// `[n]`: the texts are already folded and compare as they are; `[c]` and `[d]` then have no effect.
        public static let normalized = Options(rawValue: 4)
        /// `[l]`: compares texts by the rules of a language. Moult keeps the option, but it has no effect.
        public static let localeSensitive = Options(rawValue: 8)
    }
}

extension Predicate.Operator {
    /// Whether the operator holds between two values (see ``Predicate/holds(for:variables:in:)``).
    ///
    /// - Throws: `MigrationError` with code `invalidPredicate` for values that the operator cannot compare.
    package func holds(
        _ left: ExpressionValue, _ right: ExpressionValue, _ options: Predicate.Options = []
    ) throws(MigrationError) -> Bool {
        switch self {
        case .equal: return try isComparable(left, right) && left.equals(right, options)
        case .notEqual: return try isComparable(left, right) && !left.equals(right, options)
        case .lessThan: return try ordered(left, right, options) { $0 < 0 }
        case .lessThanOrEqual: return try ordered(left, right, options) { $0 <= 0 }
        case .greaterThan: return try ordered(left, right, options) { $0 > 0 }
        case .greaterThanOrEqual: return try ordered(left, right, options) { $0 >= 0 }
        case .in: return try contains(right, left, options)
        case .contains: return try contains(left, right, options)
        case .between: return try isBetween(left, right, options)
        case .matches, .like, .beginsWith, .endsWith:
            if left.isNull || right.isNull { return false }
            guard let left = left.text, let right = right.text else { throw mismatch(left, right) }
            return try holds(text: left, right, options)
        }
    }

    /// Evaluates the operators between two texts. As in Core Data, no text contains, begins with or ends with the empty
    /// one.
    private func holds(text: String, _ pattern: String, _ options: Predicate.Options) throws(MigrationError) -> Bool {
        switch self {
        case .matches: return try RegularExpression.cached(pattern, options).matches(text)
        case .like: return LikePattern(pattern, options).matches(text)
        default: break
        }
        let (text, part) = (text.folded(options).utf8, pattern.folded(options).utf8)
        if part.isEmpty { return false }
        switch self {
        case .beginsWith: return text.starts(with: part)
        case .endsWith: return text.reversed().starts(with: part.reversed())
        default: return text.contains(part)
        }
    }

    /// A comparison with a collection is an error, usually a forgotten `ANY` or `ALL`, which apply to its elements.
    private func isComparable(_ left: ExpressionValue, _ right: ExpressionValue) throws(MigrationError) -> Bool {
        guard left.kind != .collection, right.kind != .collection else { throw mismatch(left, right) }
        return true
    }

    private func ordered(
        _ left: ExpressionValue, _ right: ExpressionValue, _ options: Predicate.Options, _ test: (Int) -> Bool
    ) throws(MigrationError) -> Bool {
        if left.kind == .collection || right.kind == .collection { throw mismatch(left, right) }
        if left.isNull || right.isNull { return false }
        guard left.kind == right.kind, left.kind != .object else { throw mismatch(left, right) }
        return test(ExpressionValue.ordering(left, right, options).rawValue)
    }

    private func contains(
        _ whole: ExpressionValue, _ part: ExpressionValue, _ options: Predicate.Options
    ) throws(MigrationError) -> Bool {
        switch whole {
        case .collection(let elements):
            guard part.kind != .collection else { throw mismatch(whole, part) }
            return elements.contains { $0.equals(part, options) }
        default:
            if whole.isNull || part.isNull { return false }
            guard let whole = whole.text, let part = part.text else { throw mismatch(whole, part) }
            return try Self.contains.holds(text: whole, part, options)
        }
    }

    private func isBetween(
        _ value: ExpressionValue, _ range: ExpressionValue, _ options: Predicate.Options
    ) throws(MigrationError) -> Bool {
        guard case .collection(let bounds) = range, bounds.count == 2 else {
            throw .predicate(
                "BETWEEN needs a lower and an upper bound.", remedy: "Write them as a list, such as {1, 10}.")
        }
        let isAbove = try Self.greaterThanOrEqual.holds(value, bounds[0], options)
        let isBelow = try Self.lessThanOrEqual.holds(value, bounds[1], options)
        return isAbove && isBelow
    }

    private func mismatch(_ left: ExpressionValue, _ right: ExpressionValue) -> MigrationError {
        let hasCollection = [left.kind, right.kind].contains(.collection)
        return .predicate(
            "\(symbol) cannot compare \(left.kind.name) with \(right.kind.name).",
            remedy: hasCollection
                ? "Put ANY or ALL before a to-many key path, or compare its @count."
                : "Compare values of one kind, or convert one with CAST.")
    }
}

extension String.UTF8View {
    /// Whether the bytes of `part` occur in these.
    fileprivate func contains(_ part: String.UTF8View) -> Bool {
        guard let first = part.first else { return false }
        var rest = self[...]
        while let start = rest.firstIndex(of: first) {
            if rest[start...].starts(with: part) { return true }
            rest = rest[start...].dropFirst()
        }
        return false
    }
}
