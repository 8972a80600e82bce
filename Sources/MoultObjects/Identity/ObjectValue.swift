import MoultModel

/// The value of a property of an object, temporary objects among its destinations.
package enum ObjectValue: Sendable, Hashable {
    /// Nil for no value.
    case attribute(AttributeValue?)
    case toOne(ObjectID?)
    /// In the order of an ordered relationship, otherwise by key.
    case toMany([ObjectID])

    var isAttribute: Bool { if case .attribute = self { true } else { false } }

    /// A phrase for the kind of value; messages never say the value itself.
    var kindPhrase: String {
        switch self {
        case .attribute(let value): value?.kindPhrase ?? "no value"
        case .toOne: "an object"
        case .toMany: "a list of objects"
        }
    }
}
