import MoultModel

/// Texts compared as Swift compares them.
enum StoredText {
    static func isText(_ type: Any.Type) -> Bool {
        let type = withoutOptionals(type)
        return type == String.self || type == Substring.self
    }

    static func equal(_ left: StoredExpression, _ right: StoredExpression) -> StoredPredicate {
        .compare(left, .equal, right)
    }

    static func compare(
        _ left: StoredExpression, _ operator: StoredPredicate.Operator, _ right: StoredExpression
    ) -> StoredPredicate {
        .compare(left, `operator`, right)
    }

    static func isMember(_ text: StoredExpression, of list: [ExpressionValue]) -> StoredPredicate {
        .compare(text, .in, .constant(.collection(list)))
    }

    static func contains(_ text: StoredExpression, _ part: StoredExpression) -> StoredPredicate {
        .compare(text, .contains, part)
    }

    static func starts(_ text: StoredExpression, with start: StoredExpression) -> StoredPredicate {
        .compare(text, .beginsWith, start)
    }

    /// The number of characters.
    static func count(_ text: StoredExpression) -> StoredExpression { .function("length:", [text]) }
}
