import MoultModel

/// How the values of a property of some type are read from backing data and written to it. `_property(_:)` chooses one
/// by the type of the property, while the program is compiled.
public protocol _ModelProperty<Value>: Sendable {
    associatedtype Value

    func read(_ key: String, of backing: any BackingData) -> Value
    func write(_ value: Value, _ key: String, to backing: any BackingData)

    /// What the property is in a schema.
    var shape: _PropertyShape { get }

    /// The value of an attribute as a store has it, for a default or a constant of a predicate; nil for nil, and for
    /// relationships.
    func attributeValue(of value: Value) throws -> AttributeValue?

    /// Whether a stored value is one that the property can have; nil where every value is that the attribute can hold.
    /// A context hands out no object without.
    var canRead: ((AttributeValue) -> Bool)? { get }
}

extension _ModelProperty {
    public var canRead: ((AttributeValue) -> Bool)? { nil }
}

/// What a property is in a schema, as far as its type says it.
public enum _PropertyShape: Sendable {
    /// `unknown` says why the hash that SwiftData would compute is not known; nil where it is.
    case attribute(AttributeType, isOptional: Bool, unknown: String? = nil)
    case toOne(any PersistentModel.Type, isOptional: Bool)
    case toMany(any PersistentModel.Type, isOptional: Bool)
}

extension _ModelProperty {
    /// What happens where a property that cannot be empty is empty: there is no value that could stand for it.
    ///
    /// A context never hands out a row in which such a property is NULL or unreadable, and an object that its own
    /// initialiser made has every value; what is left is the use of an object that was deleted.
    func absent(_ key: String, of backing: any BackingData) -> Never {
        preconditionFailure(
            "\(backing.persistentModelID.entityName).\(key) of \(backing.persistentModelID) has no value: "
                + "the object was deleted, or is used after its context is gone.")
    }
}
