import Foundation
import MoultModel

extension PredicateExpressions.Conjunction: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        .condition(.both(try translation.predicate(lhs), try translation.predicate(rhs)))
    }
}

extension PredicateExpressions.Disjunction: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        .condition(.either(try translation.predicate(lhs), try translation.predicate(rhs)))
    }
}

extension PredicateExpressions.Negation: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        .condition(try translation.predicate(wrapped).negated)
    }
}

extension PredicateExpressions.Conditional: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        switch try translation.predicate(test) {
        case .constant(true): return try translation.term(trueBranch)
        case .constant(false): return try translation.term(falseBranch)
        case let test:
            let (first, second) = (try translation.term(trueBranch), try translation.term(falseBranch))
            return try translation.choice(test, first, second, self)
        }
    }
}

extension PredicateTranslation {
    /// One term where a condition holds, another where it does not.
    func choice(
        _ condition: StoredPredicate, _ first: PredicateTerm, _ second: PredicateTerm, _ part: some PredicateExpression
    ) throws -> PredicateTerm {
        if let model = first.model ?? second.model {
            return .object(
                .conditional(condition, try expression(first, of: part), try expression(second, of: part)), model)
        }
        return .value(.conditional(condition, try expression(first, of: part), try expression(second, of: part)))
    }
}

extension PredicateTerm {
    var model: (any PersistentModel.Type)? { if case .object(_, let model) = self { model } else { nil } }
}
