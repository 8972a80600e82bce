import Foundation
import MoultModel

extension PredicateExpressions.CollectionContainsCollection: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        try translation.texts(base, other, self) { .condition(StoredText.contains($0, $1)) }
    }
}

extension PredicateExpressions.SequenceStartsWith: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        try translation.texts(base, prefix, self) { .condition(StoredText.starts($0, with: $1)) }
    }
}

extension PredicateExpressions.StringLocalizedStandardContains: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        try translation.texts(root, other, self) { .condition(StoredText.containsLocalized($0, $1)) }
    }
}

extension PredicateExpressions.StringCaseInsensitiveCompare: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        try translation.texts(root, other, self) {
            .value(.function(StoredText.InSwift.caseInsensitiveOrder.rawValue, [$0, $1]))
        }
    }
}

extension PredicateExpressions.StringLocalizedCompare: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        try translation.texts(root, other, self) {
            .value(.function(StoredText.InSwift.localizedOrder.rawValue, [$0, $1]))
        }
    }
}

extension PredicateTranslation {
    /// Translates an operation on two texts. The closure makes the term of texts that are not both known now.
    fileprivate mutating func texts<Left: PredicateExpression, Right: PredicateExpression>(
        _ left: Left, _ right: Right, _ part: some PredicateExpression,
        _ body: (StoredExpression, StoredExpression) -> PredicateTerm
    ) throws -> PredicateTerm {
        let terms = (try term(left), try term(right))
        if case (.constant, .constant) = terms { return try constant(part) }
        guard StoredText.isText(Left.Output.self), StoredText.isText(Right.Output.self) else {
            throw refuse(part, "the store can search texts only")
        }
        return body(try expression(terms.0, of: left), try expression(terms.1, of: right))
    }
}
