import Foundation
import MoultModel

extension PredicateExpressions.SequenceContains: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        let terms = (try translation.term(sequence), try translation.term(element))
        switch terms {
        case (.constant, .constant): return try translation.constant(self)
        case (.constant(let list), let one):
            let values = try translation.elements(list, of: sequence)
            let value = try translation.expression(one, of: element)
            return .condition(
                StoredText.isText(RHS.Output.self)
                    ? StoredText.isMember(value, of: values)
                    : .compare(value, .in, .constant(.collection(values))))
        case (.collection(let collection, _, _), let one):
            return .condition(.compare(collection, .contains, try translation.expression(one, of: element)))
        case (.value(let text), let one) where LHS.Output.self == String.self:
            return .condition(StoredText.contains(text, try translation.expression(one, of: element)))
        default:
            throw translation.refuse(self, "the store knows the bytes of \(source(of: sequence)), not its elements")
        }
    }
}

extension PredicateExpressions.SequenceContainsWhere: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        let term = try translation.term(sequence)
        if case .constant(let list) = term {
            return .condition(try translation.tests(list, variable, test).reduce(.constant(false)) { .either($0, $1) })
        }
        let (name, model, collection) = try translation.collection(term, of: sequence)
        translation.terms[variable.key] = .object(.variable(name), model)
        let condition = try translation.predicate(test)
        return .condition(.hasElement(.subquery(collection, variable: name, condition)))
    }
}

extension PredicateExpressions.SequenceAllSatisfy: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        let term = try translation.term(sequence)
        if case .constant(let list) = term {
            return .condition(try translation.tests(list, variable, test).reduce(.constant(true)) { .both($0, $1) })
        }
        let (name, model, collection) = try translation.collection(term, of: sequence)
        translation.terms[variable.key] = .object(.variable(name), model)
        let condition = try translation.predicate(test)
        return .condition(StoredPredicate.hasElement(.subquery(collection, variable: name, condition.negated)).negated)
    }
}

extension PredicateExpressions.Filter: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        let term = try translation.term(sequence)
        let (name, model, collection) = try translation.collection(term, of: sequence)
        translation.terms[variable.key] = .object(.variable(name), model)
        return .collection(.subquery(collection, variable: name, try translation.predicate(filter)), model)
    }
}

extension PredicateExpressions.SequenceMinimum: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        if case .constant = try translation.term(elements) { return try translation.constant(self) }
        throw translation.refuse(self, "the store knows the bytes of \(source(of: elements)), not its elements")
    }
}

extension PredicateExpressions.SequenceMaximum: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        if case .constant = try translation.term(elements) { return try translation.constant(self) }
        throw translation.refuse(self, "the store knows the bytes of \(source(of: elements)), not its elements")
    }
}

extension PredicateTranslation {
    /// Returns a to-many relationship and a name for its elements.
    fileprivate mutating func collection(
        _ term: PredicateTerm, of part: some PredicateExpression
    ) throws -> (name: String, model: any PersistentModel.Type, StoredExpression) {
        guard case .collection(let collection, let model, _) = term else {
            throw refuse(part, "only the objects of a to-many relationship can be tested one by one")
        }
        return (newVariable(), model, collection)
    }

    /// Returns the elements of a list that is already known.
    fileprivate func elements(_ list: Any, of part: some PredicateExpression) throws -> [ExpressionValue] {
        guard let sequence = list as? any Sequence else { throw refuse(part, "it is not a list") }
        return try sequence.map { element in
            guard let value = ExpressionValue(predicateConstant: element) else {
                throw refuse(part, "the store has no form for a value of \(type(of: element))")
            }
            return value
        }
    }

    /// Returns a test for each element of a list that is already known.
    fileprivate mutating func tests<Element, Test: PredicateExpression>(
        _ list: Any, _ variable: PredicateExpressions.Variable<Element>, _ test: Test
    ) throws -> [StoredPredicate] {
        var tests: [StoredPredicate] = []
        guard let list = list as? any Sequence<Element> else { return tests }
        for element in Array(list) {
            bindings[variable] = element
            terms[variable.key] = .constant(element)
            tests.append(try predicate(test))
        }
        return tests
    }
}

extension PredicateExpressions.Range: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        let terms = (try translation.term(lower), try translation.term(upper))
        if case (.constant, .constant) = terms { return try translation.constant(self) }
        return .range(lower: terms.0, upper: terms.1, isClosed: false)
    }
}

extension PredicateExpressions.ClosedRange: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        let terms = (try translation.term(lower), try translation.term(upper))
        if case (.constant, .constant) = terms { return try translation.constant(self) }
        return .range(lower: terms.0, upper: terms.1, isClosed: true)
    }
}

extension PredicateExpressions.RangeExpressionContains: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        let terms = (try translation.term(range), try translation.term(element))
        if case (.constant, .constant) = terms { return try translation.constant(self) }
        var bounds = terms.0
        if case .constant(let value) = bounds, let known = value as? any BoundedRange { bounds = known.term }
        guard case .range(let lower, let upper, let isClosed) = bounds else {
            throw translation.refuse(self, "its bounds are not known")
        }
        let value = try translation.expression(terms.1, of: element)
        let type: Any.Type = Element.Output.self
        let above = try lower.map {
            try translation.order(value, .greaterThanOrEqual, try translation.expression($0, of: range), of: type, self)
        }
        let below = try upper.map {
            try translation.order(
                value, isClosed ? .lessThanOrEqual : .lessThan, try translation.expression($0, of: range), of: type,
                self)
        }
        return .condition(.all(above, below) ?? .constant(true))
    }
}

/// A range whose bounds are accessible.
private protocol BoundedRange {
    var term: PredicateTerm { get }
}

extension Range: BoundedRange {
    fileprivate var term: PredicateTerm {
        .range(lower: .constant(lowerBound), upper: .constant(upperBound), isClosed: false)
    }
}

extension ClosedRange: BoundedRange {
    fileprivate var term: PredicateTerm {
        .range(lower: .constant(lowerBound), upper: .constant(upperBound), isClosed: true)
    }
}

extension PartialRangeFrom: BoundedRange {
    fileprivate var term: PredicateTerm { .range(lower: .constant(lowerBound), upper: nil, isClosed: false) }
}

extension PartialRangeUpTo: BoundedRange {
    fileprivate var term: PredicateTerm { .range(lower: nil, upper: .constant(upperBound), isClosed: false) }
}

extension PartialRangeThrough: BoundedRange {
    fileprivate var term: PredicateTerm { .range(lower: nil, upper: .constant(upperBound), isClosed: true) }
}
