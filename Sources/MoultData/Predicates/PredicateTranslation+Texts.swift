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
    /// Translates an operation on two strings. The closure makes the term if the strings are not both known yet.
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

/// Strings compared as Swift compares them: by characters, with canonical equivalence.
///
/// For a constant with a single form (``Swift/String/hasOneForm``), SQL's own operators give the same result, or
/// exclude only rows that cannot match.
enum StoredText {
    typealias InSwift = ExpressionFunction.InSwift

    static func isText(_ type: Any.Type) -> Bool {
        let type = withoutOptionals(type)
        return type == String.self || type == Substring.self || type == Character.self
    }

    static func equal(_ left: StoredExpression, _ right: StoredExpression) -> StoredPredicate {
        if left.hasOneForm || right.hasOneForm { return .compare(left, .equal, right) }
        return .compare(left.composed, .equal, right.composed)
    }

    static func compare(
        _ left: StoredExpression, _ operator: StoredPredicate.Operator, _ right: StoredExpression
    ) -> StoredPredicate {
        .compare(left.composed, `operator`, right.composed)
    }

    static func isMember(_ text: StoredExpression, of list: [ExpressionValue]) -> StoredPredicate {
        let hasOneForm = list.allSatisfy { $0.text?.hasOneForm ?? true }
        let composed = list.map { value in value.text.map { .string($0.composed) } ?? value }
        return .compare(hasOneForm ? text : text.composed, .in, .constant(.collection(composed)))
    }

    static func contains(_ text: StoredExpression, _ part: StoredExpression) -> StoredPredicate {
        search(.contains, text, part, narrowedBy: .contains)
    }

    static func starts(_ text: StoredExpression, with start: StoredExpression) -> StoredPredicate {
        search(.starts, text, start, narrowedBy: .beginsWith)
    }

    /// Returns whether a string contains another, ignoring case and diacritics. No string contains the empty one.
    static func containsLocalized(_ text: StoredExpression, _ part: StoredExpression) -> StoredPredicate {
        .compare(text, .contains, part, options: [.caseInsensitive, .diacriticInsensitive])
    }

    /// Returns the number of characters.
    static func count(_ text: StoredExpression) -> StoredExpression {
        .function(InSwift.characterCount.rawValue, [text])
    }

    private static func search(
        _ function: InSwift, _ text: StoredExpression, _ part: StoredExpression,
        narrowedBy operator: StoredPredicate.Operator
    ) -> StoredPredicate {
        let exact = StoredPredicate.compare(
            .function(function.rawValue, [text, part]), .equal, .constant(.boolean(true)))
        // In Swift, unlike a predicate's format, every string contains the empty one.
        return part.hasOneForm && part != .constant(.string(""))
            ? .both(.compare(text, `operator`, part), exact) : exact
    }
}

extension StoredExpression {
    fileprivate var hasOneForm: Bool {
        if case .constant(let value) = self { value.text?.hasOneForm ?? true } else { false }
    }

    fileprivate var composed: StoredExpression {
        switch self {
        case .constant(let value): .constant(value.text.map { .string($0.composed) } ?? value)
        default: .function(StoredText.InSwift.composed.rawValue, [self])
        }
    }
}
