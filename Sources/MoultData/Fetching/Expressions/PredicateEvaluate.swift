import Foundation

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
