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
        public let predicate: Predicate<repeat (each Input).Output>
        public let input: (repeat each Input)

        public init(predicate: Predicate<repeat (each Input).Output>, input: repeat each Input) {
            self.predicate = predicate
            self.input = (repeat each input)
        }

        public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
            try predicate.evaluate(repeat (each input).evaluate(bindings))
        }
    }

    // The name that the macro gives it.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    public static func build_evaluate<each Input: PredicateExpression>(
        _ predicate: Predicate<repeat (each Input).Output>, _ input: repeat each Input
    ) -> PredicateEvaluate<repeat each Input> { PredicateEvaluate(predicate: predicate, input: repeat each input) }
}

extension PredicateExpressions.PredicateEvaluate: Sendable where repeat each Input: Sendable {}

// Foundation's predicates cannot be encoded on Linux.
extension PredicateExpressions.PredicateEvaluate: Codable where repeat each Input: Codable {
    public init(from decoder: any Decoder) throws {
        throw DecodingError.dataCorrupted(
            .init(codingPath: decoder.codingPath, debugDescription: "A predicate in a predicate cannot be decoded."))
    }

    public func encode(to encoder: any Encoder) throws {
        throw EncodingError.invalidValue(
            predicate,
            .init(codingPath: encoder.codingPath, debugDescription: "A predicate in a predicate cannot be encoded."))
    }
}

extension PredicateExpressions.PredicateEvaluate: StandardPredicateExpression
where repeat each Input: StandardPredicateExpression {}
