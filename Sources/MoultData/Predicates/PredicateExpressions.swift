import Foundation
import MoultModel

extension PredicateExpressions {
    /// The expression `other.evaluate(model)`, a predicate within a predicate. On Linux, Foundation does not have it
    /// and `#Predicate` does not support it. It cannot be encoded.
    ///
    ///     Predicate<Note> { note in
    ///         PredicateExpressions.build_Conjunction(
    ///             lhs: PredicateExpressions.build_evaluate(isPinned, note),
    ///             rhs: PredicateExpressions.build_evaluate(isRecent, note))
    ///     }
    public struct PredicateEvaluate<each Input: PredicateExpression>: PredicateExpression {
        /// The inner predicate.
        public let predicate: Foundation.Predicate<repeat (each Input).Output>
        /// The expressions whose values are the input of the predicate.
        public let input: (repeat each Input)

        /// Creates an expression that is true if the predicate holds for the values of `input`.
        public init(predicate: Foundation.Predicate<repeat (each Input).Output>, input: repeat each Input) {
            self.predicate = predicate
            self.input = (repeat each input)
        }

        /// Evaluates the inputs, then the predicate with their values.
        ///
        /// - Throws: what the inputs or the predicate throw.
        public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
            try predicate.evaluate(repeat (each input).evaluate(bindings))
        }
    }

    // The name that the macro uses.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Builds `predicate.evaluate(input)` for a handwritten predicate.
    public static func build_evaluate<each Input: PredicateExpression>(
        _ predicate: Foundation.Predicate<repeat (each Input).Output>, _ input: repeat each Input
    ) -> PredicateEvaluate<repeat each Input> { PredicateEvaluate(predicate: predicate, input: repeat each input) }
}

extension PredicateExpressions.PredicateEvaluate: Sendable where repeat each Input: Sendable {}

// Foundation's predicates cannot be encoded on Linux.
extension PredicateExpressions.PredicateEvaluate: Codable where repeat each Input: Codable {
    /// Always throws `DecodingError`: a predicate in a predicate cannot be decoded on Linux.
    public init(from decoder: any Decoder) throws {
        throw DecodingError.dataCorrupted(
            .init(codingPath: decoder.codingPath, debugDescription: "A predicate in a predicate cannot be decoded."))
    }

    /// Always throws `EncodingError`: a predicate in a predicate cannot be encoded on Linux.
    public func encode(to encoder: any Encoder) throws {
        throw EncodingError.invalidValue(
            predicate,
            .init(codingPath: encoder.codingPath, debugDescription: "A predicate in a predicate cannot be encoded."))
    }
}

extension PredicateExpressions.PredicateEvaluate: StandardPredicateExpression
where repeat each Input: StandardPredicateExpression {}

extension PredicateExpressions {
    /// The expression `text.caseInsensitiveCompare(other)`, which Foundation's predicates on Linux do not have.
    public struct StringCaseInsensitiveCompare<Root: PredicateExpression, Other: PredicateExpression>:
        PredicateExpression
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
        /// The left string.
        public let root: Root
        /// The right string.
        public let other: Other

        /// Creates a case-insensitive comparison of two strings.
        public init(root: Root, other: Other) {
            self.root = root
            self.other = other
        }

        /// Returns the order of the two strings, ignoring case.
        ///
        /// - Throws: what either expression throws.
        public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
            try ExpressionFunction.InSwift.caseInsensitiveOrder.order(
                try root.evaluate(bindings), try other.evaluate(bindings))
        }
    }

    // The name that the macro uses.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Builds `root.caseInsensitiveCompare(other)`, as the code that `#Predicate` generates does.
    public static func build_caseInsensitiveCompare<Root: PredicateExpression, Other: PredicateExpression>(
        _ root: Root, _ other: Other
    ) -> StringCaseInsensitiveCompare<Root, Other> { StringCaseInsensitiveCompare(root: root, other: other) }
}

extension PredicateExpressions.StringCaseInsensitiveCompare: StandardPredicateExpression, Codable, Sendable
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}

extension ExpressionFunction.InSwift {
    /// Returns the order of two strings according to a function.
    func order(_ left: some StringProtocol, _ right: some StringProtocol) throws -> ComparisonResult {
        guard case .integer(let order) = try value([.string(String(left)), .string(String(right))]) else {
            return .orderedSame
        }
        return order < 0 ? .orderedAscending : order > 0 ? .orderedDescending : .orderedSame
    }
}

extension PredicateExpressions {
    /// The expression `text.localizedCompare(other)`, which Foundation's predicates on Linux do not have. The order is
    /// independent of any language, so that it is the same on every machine.
    public struct StringLocalizedCompare<Root: PredicateExpression, Other: PredicateExpression>: PredicateExpression
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
        /// The left string.
        public let root: Root
        /// The right string.
        public let other: Other

        /// Creates a comparison of two strings in a natural order that is the same on every machine.
        public init(root: Root, other: Other) {
            self.root = root
            self.other = other
        }

        /// Returns the order of the two strings.
        ///
        /// - Throws: what either expression throws.
        public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
            try ExpressionFunction.InSwift.localizedOrder.order(
                try root.evaluate(bindings), try other.evaluate(bindings))
        }
    }

    // The name that the macro uses.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Builds `root.localizedCompare(other)`, as the code that `#Predicate` generates does.
    public static func build_localizedCompare<Root: PredicateExpression, Other: PredicateExpression>(
        _ root: Root, _ other: Other
    ) -> StringLocalizedCompare<Root, Other> { StringLocalizedCompare(root: root, other: other) }
}

extension PredicateExpressions.StringLocalizedCompare: StandardPredicateExpression, Codable, Sendable
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}

extension PredicateExpressions {
    /// The expression `text.localizedStandardContains(other)`, which Foundation's predicates on Linux do not have. It
    /// ignores case and diacritics.
    public struct StringLocalizedStandardContains<Root: PredicateExpression, Other: PredicateExpression>:
        PredicateExpression
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
        /// The string to search in.
        public let root: Root
        /// The string to search for.
        public let other: Other

        /// Creates a search for one string in another, ignoring case and diacritics.
        public init(root: Root, other: Other) {
            self.root = root
            self.other = other
        }

        /// Returns whether the one string contains the other; false if the latter is empty.
        ///
        /// - Throws: what either expression throws.
        public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
            let (text, part) = (String(try root.evaluate(bindings)), String(try other.evaluate(bindings)))
            let options: MoultModel.Predicate.Options = [.caseInsensitive, .diacriticInsensitive]
            return try !part.isEmpty
                && MoultModel.Predicate.Operator.contains.holds(.string(text), .string(part), options)
        }
    }

    // The name that the macro uses.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Builds `root.localizedStandardContains(other)`, as the code that `#Predicate` generates does.
    public static func build_localizedStandardContains<Root: PredicateExpression, Other: PredicateExpression>(
        _ root: Root, _ other: Other
    ) -> StringLocalizedStandardContains<Root, Other> { StringLocalizedStandardContains(root: root, other: other) }
}

extension PredicateExpressions.StringLocalizedStandardContains: StandardPredicateExpression, Codable, Sendable
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}
