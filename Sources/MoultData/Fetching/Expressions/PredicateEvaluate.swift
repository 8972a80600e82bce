import Foundation

extension PredicateExpressions {
    /// `other.evaluate(model)`: a predicate in a predicate, which Foundation does not have on Linux and whose
    /// `#Predicate` does not spell there.
    ///
    ///     Predicate<Note> { note in
    ///         PredicateExpressions.build_Conjunction(
    ///             lhs: PredicateExpressions.build_evaluate(PredicateExpressions.build_Arg(isPinned), note),
    ///             rhs: PredicateExpressions.build_evaluate(PredicateExpressions.build_Arg(isRecent), note))
    ///     }
    public struct PredicateEvaluate<Condition: PredicateExpression, each Input: PredicateExpression>:
        PredicateExpression
    where Condition.Output == Predicate<repeat (each Input).Output> {
        public let predicate: Condition
        public let input: (repeat each Input)

        public init(predicate: Condition, input: repeat each Input) {
            self.predicate = predicate
            self.input = (repeat each input)
        }

        public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
            try predicate.evaluate(bindings).evaluate(repeat (each input).evaluate(bindings))
        }
    }

    // The name that the macro gives it.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    public static func build_evaluate<Condition: PredicateExpression, each Input: PredicateExpression>(
        _ predicate: Condition, _ input: repeat each Input
    ) -> PredicateEvaluate<Condition, repeat each Input>
    where Condition.Output == Predicate<repeat (each Input).Output> {
        PredicateEvaluate(predicate: predicate, input: repeat each input)
    }
}

extension PredicateExpressions.PredicateEvaluate: Sendable where Condition: Sendable, repeat each Input: Sendable {}

extension PredicateExpressions.PredicateEvaluate: Codable
where Condition: Codable, repeat each Input: Codable {
    public init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        predicate = try container.decode(Condition.self)
        input = (repeat try container.decode((each Input).self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(predicate)
        repeat try container.encode(each input)
    }
}

extension PredicateExpressions.PredicateEvaluate: StandardPredicateExpression
where Condition: StandardPredicateExpression, repeat each Input: StandardPredicateExpression {}
