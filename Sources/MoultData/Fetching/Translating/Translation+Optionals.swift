import Foundation
import MoultModel

extension PredicateExpressions.OptionalFlatMap: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        let start = translation.size
        let whole = try translation.term(wrapped)
        if case .constant(let value) = whole {
            guard let known = (value as? Wrapped?) ?? nil else { return .constant(Result?.none as Any) }
            translation.bindings[variable] = known
            translation.terms[variable.key] = .constant(known)
            return try translation.term(transform)
        }
        translation.bind(variable.key, to: whole.unwrapped, since: start)
        translation.repeatParts(since: start)
        let result = try translation.term(transform)
        return try translation.given(whole, result, self)
    }
}

extension PredicateTranslation {
    /// A term that is nil if another one is.
    fileprivate func given(
        _ whole: PredicateTerm, _ result: PredicateTerm, _ part: some PredicateExpression
    ) throws -> PredicateTerm {
        guard let present = presence(whole) else { return result }
        switch result {
        case .condition(let condition, let own):
            return .condition(condition, present: .all(present, own))
        case .collection(let collection, let model, let own):
            return .collection(collection, model, present: .all(present, own))
        case .value(let value), .object(let value, _):
            if let base = whole.expression, value.isNull(with: base) { return result }
            return try choice(present, result, .constant(Any?.none as Any), part)
        case .composite: return result
        case .constant: return try choice(present, result, .constant(Any?.none as Any), part)
        case .range: throw refuse(part, "a range cannot be missing")
        }
    }
}

extension PredicateTerm {
    fileprivate var expression: StoredExpression? {
        switch self {
        case .value(let expression), .object(let expression, _), .composite(let expression, _): expression
        case .constant, .condition, .collection, .range: nil
        }
    }

    /// The term where it is known that it is not nil.
    fileprivate var unwrapped: PredicateTerm {
        switch self {
        case .condition(let condition, _): .condition(condition)
        case .collection(let collection, let model, _): .collection(collection, model)
        default: self
        }
    }
}

extension PredicateExpressions.NilCoalesce: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        let start = translation.size
        let first = try translation.term(lhs)
        translation.repeatParts(since: start)
        if case .constant(let value) = first {
            return isNilValue(value) ? try translation.term(rhs) : .constant((value as? any NilTest)?.wrapped ?? value)
        }
        let second = try translation.term(rhs)
        guard let present = translation.presence(first) else { return first }
        switch (first, second) {
        case (.condition(let condition, _), _):
            guard let other = try translation.condition(second) else { break }
            // `x ?? false` is x where there is one.
            if other == .constant(false) { return .condition(.both(present, condition)) }
            if other == .constant(true) { return .condition(.either(present.negated, condition)) }
            return .condition(.either(.both(present, condition), .both(present.negated, other)))
        case (.collection(let collection, let model, _), .constant(let value)):
            // A path through nil leads to no objects.
            if let list = value as? any Collection, list.isEmpty { return .collection(collection, model) }
            throw translation.refuse(self, "a list of objects can only stand for another where it is empty")
        default: break
        }
        return try translation.choice(present, first, second, self)
    }
}

extension PredicateExpressions.ForcedUnwrap: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        // Where it is nil, `evaluate` throws: such an object is not found.
        switch try translation.term(inner) {
        case .constant(let value) where isNilValue(value): return .value(.constant(.null))
        case .constant: return try translation.constant(self)
        case .condition(let condition, let present): return .condition(.all(present, condition) ?? condition)
        case let term: return term.unwrapped
        }
    }
}
