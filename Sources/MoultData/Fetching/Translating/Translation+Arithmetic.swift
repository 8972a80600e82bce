import Foundation
import MoultModel

extension PredicateExpressions.Arithmetic: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        let selector: StoredExpression.Arithmetic =
            switch op {
            case .add: .add
            case .subtract: .subtract
            case .multiply: .multiply
            @unknown default: throw translation.refuse(self, "the operator is not known")
            }
        return try translation.reckoned(selector.rawValue, lhs, rhs, self)
    }
}

extension PredicateExpressions.IntDivision: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        try translation.reckoned(StoredExpression.Arithmetic.divide.rawValue, lhs, rhs, self)
    }
}

extension PredicateExpressions.IntRemainder: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        try translation.reckoned("modulus:by:", lhs, rhs, self)
    }
}

extension PredicateExpressions.FloatDivision: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        // SQLite's own operator gives nil if the divisor is 0, Swift's an infinity.
        try translation.reckoned(ExpressionFunction.InSwift.quotient.rawValue, lhs, rhs, self)
    }
}

extension PredicateExpressions.UnaryMinus: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        let inner = try translation.term(wrapped)
        if case .constant = inner { return try translation.constant(self) }
        let number = try translation.expression(inner, of: wrapped)
        return .value(
            .function(StoredExpression.Arithmetic.subtract.rawValue, [.constant(.integer(0)), number]))
    }
}

extension PredicateTranslation {
    fileprivate mutating func reckoned<Left: PredicateExpression, Right: PredicateExpression>(
        _ selector: String, _ left: Left, _ right: Right, _ part: some PredicateExpression
    ) throws -> PredicateTerm {
        let terms = (try term(left), try term(right))
        if case (.constant, .constant) = terms { return try constant(part) }
        if StoredNumber.isFolded(Left.Output.self) {
            throw refuse(
                part, "numbers of \(Left.Output.self) are kept as signed ones, which cannot be calculated with")
        }
        let result = StoredExpression.function(
            selector, [try expression(terms.0, of: left), try expression(terms.1, of: right)])
        // A sum of two floats, made of doubles and then rounded, is the very sum of floats.
        return .value(
            Left.Output.self == Float.self
                ? .function(ExpressionFunction.InSwift.singlePrecision.rawValue, [result]) : result)
    }
}
