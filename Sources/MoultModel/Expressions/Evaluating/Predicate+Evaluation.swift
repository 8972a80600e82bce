extension Predicate {
    /// Whether the predicate holds for an object, or for any other value that `SELF` stands for.
    ///
    /// What a predicate means, here and in SQL, which has to come to the same:
    /// - **Logic has two values.** A comparison holds or does not; `NOT` turns it round. Nil equals nil, so `x == nil`
    ///   and `x IN {nil}` hold for a missing x, and `x != 1` does too. Every other operator with nil on a side does not
    ///   hold.
    /// - **Kinds.** Numbers are integers, reals, decimals, booleans (0 and 1) and dates (seconds); texts are strings
    ///   and URIs; bytes are data and UUIDs; then objects; then collections. Values of different kinds are not equal;
    ///   to order them (`<`, `BETWEEN` and so on) is an error, and so are operators of texts with anything but texts.
    /// - **Numbers** compare by their exact value, as SQLite compares INTEGER and REAL; a decimal as its DECIMAL column
    ///   holds it, an integer where it is one that fits, otherwise the nearest real. NaN is nil.
    /// - **Texts** are equal where their Unicode scalars are, and ordered by these, which is the order of their UTF-8
    ///   bytes. With `[c]` or `[d]` both sides are folded first (``Swift/String/folded(_:)``), `[n]` takes that back,
    ///   and `[l]` changes nothing: there is no locale. Every text contains, begins and ends with the empty one.
    /// - **`LIKE` and `MATCHES`** are about the whole text: ``LikePattern``, ``RegularExpression``.
    /// - **`IN` and `CONTAINS`** look for an equal element of a collection, or for a text in a text.
    /// - **Collections.** `ANY` holds where an element fits and `ALL` if none does not, so of no elements `ALL` holds
    ///   and `ANY` does not; nil is no elements there, any other single value is one. Without them, a collection on the
    ///   left of anything but `CONTAINS` is an error, and so is one on the right of anything but `IN` and `BETWEEN`.
    ///
    /// - Parameters:
    ///   - subject: what `SELF` is and what key paths start at.
    ///   - variables: values by name, without `$`.
    /// - Throws: `MigrationError` with code `invalidPredicate` for an unknown key, function or variable and for values
    ///   that cannot be compared, with the part of the predicate as place; what `objects` throws.
    package func holds(
        for subject: ExpressionValue, variables: [String: ExpressionValue] = [:], in objects: some ObjectValues
    ) throws -> Bool {
        try Evaluation(subject: subject, variables: variables, objects: objects).holds(self)
    }
}

extension Expression {
    /// The expression's value for an object, or for any other value that `SELF` stands for.
    ///
    /// - **Key paths** go through a to-one relationship, nil if it or anything on the way is nil, and through a to-many
    ///   one to a collection with one value for each object, nil among them; several to-many relationships on the way
    ///   give one flat collection. `objectID` is the object, `entity` and `entity.name` its entity's name.
    /// - **Collection operators** (`@count`, `@sum`, …) take nil as no elements: ``Aggregate``.
    /// - **Arithmetic** is ``Arithmetic/value(_:_:)``, functions are ``ExpressionFunction``.
    /// - **`SUBQUERY`** keeps the elements for which the predicate holds; `SELF` in it is still the outer object.
    ///
    /// - Parameters:
    ///   - subject: what `SELF` is and what key paths start at.
    ///   - variables: values by name, without `$`.
    /// - Throws: as ``Predicate/holds(for:variables:in:)``.
    package func value(
        for subject: ExpressionValue, variables: [String: ExpressionValue] = [:], in objects: some ObjectValues
    ) throws -> ExpressionValue {
        try Evaluation(subject: subject, variables: variables, objects: objects).value(self)
    }
}
