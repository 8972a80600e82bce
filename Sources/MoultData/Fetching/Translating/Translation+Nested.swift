import Foundation
import MoultModel

extension PredicateExpressions.PredicateEvaluate: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        try bindVariables(&translation)
        return try translation.term(predicate.expression)
    }

    /// A function of its own, because what it needs would take room on the stack at every level.
    private func bindVariables(_ translation: inout PredicateTranslation) throws {
        repeat try translation.bind(each predicate.variable, to: each input)
    }
}

extension PredicateTranslation {
    /// Has a variable stand for another part.
    mutating func bind<Input: PredicateExpression>(
        _ variable: PredicateExpressions.Variable<Input.Output>, to input: Input
    ) throws {
        let start = size
        let found = try term(input)
        if case .constant(let value) = found, let value = value as? Input.Output { bindings[variable] = value }
        bind(variable.key, to: found, since: start)
    }
}
