/// The place where the destinations of a relationship are stored, from the side of the object that has it.
package enum RelationshipStorage: Sendable, Hashable {
    /// A to-one: `column` of the object's own row holds the destination's key, `entityColumn` its entity number.
    case foreignKey(table: String, column: String, entityColumn: String?)
    /// A to-many whose inverse is to-one: rows of `table`, the destination's, whose `column` holds the object's key;
    /// `entityColumn` next to it holds the object's entity number. Ordered by `orderColumn`.
    case inverseForeignKey(table: String, column: String, entityColumn: String?, orderColumn: String?)
    /// A many-to-many: rows whose `ownColumn` holds the object's key, the destination's in `otherColumn`. Ordered by
    /// `orderColumn`; the inverse's list by `inverseOrderColumn`. A reflexive pair is stored in both directions.
    case joinTable(
        table: String, ownColumn: String, otherColumn: String, orderColumn: String?, inverseOrderColumn: String?,
        isReflexive: Bool)
    /// A to-many without inverse: rows of `table`, the destination's, whose `column` holds the object's key.
    case inverseless(table: String, column: String, orderColumn: String?)
}
