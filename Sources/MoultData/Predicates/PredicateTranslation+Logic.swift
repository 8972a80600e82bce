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
    /// Returns one term if a condition holds, and another if it does not.
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
    /// Returns a term that is nil if another one is.
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

    /// The term, known not to be nil.
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
            // `x ?? false` is x if there is one.
            if other == .constant(false) { return .condition(.both(present, condition)) }
            if other == .constant(true) { return .condition(.either(present.negated, condition)) }
            return .condition(.either(.both(present, condition), .both(present.negated, other)))
        case (.collection(let collection, let model, _), .constant(let value)):
            // A path through nil has no objects.
            if let list = value as? any Collection, list.isEmpty { return .collection(collection, model) }
            throw translation.refuse(self, "a list of objects can only stand for another where it is empty")
        default: break
        }
        return try translation.choice(present, first, second, self)
    }
}

extension PredicateExpressions.ForcedUnwrap: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        // If the value is nil, `evaluate` throws, so such an object does not match.
        switch try translation.term(inner) {
        case .constant(let value) where isNilValue(value): return .value(.constant(.null))
        case .constant: return try translation.constant(self)
        case .condition(let condition, let present): return .condition(.all(present, condition) ?? condition)
        case let term: return term.unwrapped
        }
    }
}

extension PredicateExpressions.TypeCheck: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        switch try translation.term(input) {
        case .constant: return try translation.constant(self)
        case .object(let object, _):
            let names = try translation.entities(of: Desired.self, self)
            return .condition(.isPresent(object.cast(to: names)))
        default: throw translation.refuse(self, "only models have types of their own")
        }
    }
}

extension PredicateExpressions.ConditionalCast: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        try translation.cast(input, to: Desired.self, self)
    }
}

extension PredicateExpressions.ForceCast: PredicateTranslatable {
    /// Translates the cast. An object of another type does not match, because `evaluate` throws for it.
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        try translation.cast(input, to: Desired.self, self)
    }
}

extension PredicateTranslation {
    fileprivate mutating func cast<Input: PredicateExpression>(
        _ input: Input, to type: Any.Type, _ part: some PredicateExpression
    ) throws -> PredicateTerm {
        let found = try term(input)
        switch found {
        case .constant: return try constant(part)
        case .object(let object, let model):
            guard let desired = withoutOptionals(type) as? any PersistentModel.Type else { break }
            if model.isSubclass(of: desired) { return .object(object, desired) }
            return .object(object.cast(to: try entities(of: desired, part)), desired)
        default:
            if withoutOptionals(type) == withoutOptionals(Input.Output.self) { return found }
        }
        throw refuse(part, "the store cannot convert it to \(type)")
    }

    /// Returns the entities whose objects are of a class, the class's own first.
    fileprivate func entities(of type: Any.Type, _ part: some PredicateExpression) throws -> [String] {
        guard let model = withoutOptionals(type) as? any PersistentModel.Type else {
            throw refuse(part, "\(type) is not a model")
        }
        var names = [try schema.fetchedEntity(model)]
        while true {
            let more = schema.entities.filter {
                !names.contains($0.name) && $0.superentityName.map(names.contains) == true
            }
            if more.isEmpty { return names }
            names += more.map(\.name)
        }
    }
}

extension PersistentModel {
    /// Returns whether every object of the class is also one of the other.
    fileprivate static func isSubclass(of other: any PersistentModel.Type) -> Bool {
        var type: (any PersistentModel.Type)? = self
        while let current = type {
            if current == other { return true }
            type = current.schemaMetadata.parent
        }
        return false
    }
}

extension PredicateExpressions.PredicateEvaluate: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        try bindVariables(&translation)
        return try translation.term(predicate.expression)
    }

    /// Binds the variables. As a separate function, it takes no stack space at every level of nesting.
    private func bindVariables(_ translation: inout PredicateTranslation) throws {
        repeat try translation.bind(each predicate.variable, to: each input)
    }
}

extension PredicateTranslation {
    /// Binds a variable to another part.
    mutating func bind<Input: PredicateExpression>(
        _ variable: PredicateExpressions.Variable<Input.Output>, to input: Input
    ) throws {
        let start = size
        let found = try term(input)
        if case .constant(let value) = found, let value = value as? Input.Output { bindings[variable] = value }
        bind(variable.key, to: found, since: start)
    }
}
