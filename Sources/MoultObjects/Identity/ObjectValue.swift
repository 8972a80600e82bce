import MoultModel

/// What a property of an object holds, temporary objects among its destinations.
package enum ObjectValue: Sendable, Hashable {
    /// Nil for no value.
    case attribute(AttributeValue?)
    case toOne(ObjectID?)
    /// In the order of an ordered relationship, else by key.
    case toMany([ObjectID])
}
