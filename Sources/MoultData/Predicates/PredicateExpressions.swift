import Foundation
import MoultModel

extension PredicateExpressions {
    /// `other.evaluate(model)`: a predicate in a predicate, which Foundation does not have on Linux and whose
    /// `#Predicate` does not spell there. It cannot be encoded.
    ///
    ///     Predicate<Note> { note in
    ///         PredicateExpressions.build_Conjunction(
    ///             lhs: PredicateExpressions.build_evaluate(isPinned, note),
    ///             rhs: PredicateExpressions.build_evaluate(isRecent, note))
    ///     }
    public struct PredicateEvaluate<each Input: PredicateExpression>: PredicateExpression {
        /// The predicate that is evaluated inside the other.
        public let predicate: Foundation.Predicate<repeat (each Input).Output>
        /// The expressions whose values the predicate is evaluated with.
        public let input: (repeat each Input)

        /// An expression that is true where the predicate holds for the values of `input`.
        public init(predicate: Foundation.Predicate<repeat (each Input).Output>, input: repeat each Input) {
            self.predicate = predicate
            self.input = (repeat each input)
        }

        /// Evaluates the inputs, then the predicate with their values.
        ///
        /// - Throws: what any of them throws.
        public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
            try predicate.evaluate(repeat (each input).evaluate(bindings))
        }
    }

    // The name that the macro gives it.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Builds `predicate.evaluate(input)` for a predicate that is written by hand.
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
    /// `text.caseInsensitiveCompare(other)`, which Foundation's predicates on Linux do not have.
    public struct StringCaseInsensitiveCompare<Root: PredicateExpression, Other: PredicateExpression>:
        PredicateExpression
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
        /// The text on the left of the comparison.
        public let root: Root
        /// The text that ``root`` is compared with.
        public let other: Other

        /// A comparison of two texts that does not tell upper from lower case.
        public init(root: Root, other: Other) {
            self.root = root
            self.other = other
        }

        /// The order of the two texts without regard to case.
        ///
        /// - Throws: what either expression throws.
        public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
            try ExpressionFunction.InSwift.caseInsensitiveOrder.order(
                try root.evaluate(bindings), try other.evaluate(bindings))
        }
    }

    // The name that the macro gives it.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Builds `root.caseInsensitiveCompare(other)`, as the code that `#Predicate` writes does.
    public static func build_caseInsensitiveCompare<Root: PredicateExpression, Other: PredicateExpression>(
        _ root: Root, _ other: Other
    ) -> StringCaseInsensitiveCompare<Root, Other> { StringCaseInsensitiveCompare(root: root, other: other) }
}

extension PredicateExpressions.StringCaseInsensitiveCompare: StandardPredicateExpression, Codable, Sendable
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}

extension ExpressionFunction.InSwift {
    /// Returns the order that a function gives two texts.
    func order(_ left: some StringProtocol, _ right: some StringProtocol) throws -> ComparisonResult {
        guard case .integer(let order) = try value([.string(String(left)), .string(String(right))]) else {
            return .orderedSame
        }
        return order < 0 ? .orderedAscending : order > 0 ? .orderedDescending : .orderedSame
    }
}

extension PredicateExpressions {
    /// `text.localizedCompare(other)`, which Foundation's predicates on Linux do not have. The order is that of no
    /// language in particular, so that it is the same on every machine.
    public struct StringLocalizedCompare<Root: PredicateExpression, Other: PredicateExpression>: PredicateExpression
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
        /// The text on the left of the comparison.
        public let root: Root
        /// The text that ``root`` is compared with.
        public let other: Other

        /// A comparison of two texts in the order of people, the same on every machine.
        public init(root: Root, other: Other) {
            self.root = root
            self.other = other
        }

        /// The order of the two texts.
        ///
        /// - Throws: what either expression throws.
        public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
            try ExpressionFunction.InSwift.localizedOrder.order(
                try root.evaluate(bindings), try other.evaluate(bindings))
        }
    }

    // The name that the macro gives it.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Builds `root.localizedCompare(other)`, as the code that `#Predicate` writes does.
    public static func build_localizedCompare<Root: PredicateExpression, Other: PredicateExpression>(
        _ root: Root, _ other: Other
    ) -> StringLocalizedCompare<Root, Other> { StringLocalizedCompare(root: root, other: other) }
}

extension PredicateExpressions.StringLocalizedCompare: StandardPredicateExpression, Codable, Sendable
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}

extension PredicateExpressions {
    /// `text.localizedStandardContains(other)`, which Foundation's predicates on Linux do not have: case and marks do
    /// not count.
    public struct StringLocalizedStandardContains<Root: PredicateExpression, Other: PredicateExpression>:
        PredicateExpression
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
        /// The text that is searched.
        public let root: Root
        /// The text that is searched for.
        public let other: Other

        /// A search for one text in another without regard to case and marks.
        public init(root: Root, other: Other) {
            self.root = root
            self.other = other
        }

        /// Whether the one text contains the other; false for an empty one.
        ///
        /// - Throws: what either expression throws.
        public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
            let (text, part) = (String(try root.evaluate(bindings)), String(try other.evaluate(bindings)))
            let options: MoultModel.Predicate.Options = [.caseInsensitive, .diacriticInsensitive]
            return try !part.isEmpty
                && MoultModel.Predicate.Operator.contains.holds(.string(text), .string(part), options)
        }
    }

    // The name that the macro gives it.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Builds `root.localizedStandardContains(other)`, as the code that `#Predicate` writes does.
    public static func build_localizedStandardContains<Root: PredicateExpression, Other: PredicateExpression>(
        _ root: Root, _ other: Other
    ) -> StringLocalizedStandardContains<Root, Other> { StringLocalizedStandardContains(root: root, other: other) }
}

extension PredicateExpressions.StringLocalizedStandardContains: StandardPredicateExpression, Codable, Sendable
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}
