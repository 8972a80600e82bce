import MoultModel

/// An object of a store: its entity, which may be a sub-entity of the one asked for, and its `Z_PK`.
package struct ObjectReference: Sendable, Hashable {
    package let entity: String
    package let key: Int64

    package init(_ entity: String, _ key: Int64) {
        self.entity = entity
        self.key = key
    }
}

/// What a property of a new object is set to.
package enum PropertyValue: Sendable, Hashable {
    case none
    case attribute(AttributeValue)
    case object(ObjectReference)

    package init(_ value: AttributeValue?) {
        self = value.map(PropertyValue.attribute) ?? .none
    }
}
