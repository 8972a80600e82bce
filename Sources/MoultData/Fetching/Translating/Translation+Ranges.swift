import Foundation
import MoultModel

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
            try translation.order(
                value, .greaterThanOrEqual, try translation.expression($0, of: range), of: type, self)
        }
        let below = try upper.map {
            try translation.order(
                value, isClosed ? .lessThanOrEqual : .lessThan, try translation.expression($0, of: range), of: type,
                self)
        }
        return .condition(.all(above, below) ?? .constant(true))
    }
}

/// A range whose bounds can be had.
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
