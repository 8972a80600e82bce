import MoultModel

extension ObjectContext {
    /// The value of an expression for an object of the context, unsaved changes included.
    package func value(
        of expression: Expression, for object: Object, variables: [String: ExpressionValue] = [:]
    ) throws -> ExpressionValue {
        try lock.withLock {
            try expression.value(for: .object(object.identity), variables: variables, in: ContextValues(self))
        }
    }

    /// Whether a predicate holds for an object of the context, unsaved changes included.
    package func holds(
        _ predicate: Predicate, variables: [String: ExpressionValue] = [:], for object: Object
    ) throws -> Bool {
        try lock.withLock {
            try predicate.holds(for: .object(object.identity), variables: variables, in: ContextValues(self))
        }
    }
}
