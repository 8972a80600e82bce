public import MoultCoreData

/// An accessor for properties of some type, which reads their values from backing data and writes them to it.
/// `_property(_:)` selects one by the type of the property at compile time.
public protocol _ModelProperty<Value>: Sendable {
    associatedtype Value

    func read(_ key: String, of backing: any BackingData) -> Value
    func write(_ value: Value, _ key: String, to backing: any BackingData)

    /// Returns the shape of the property in a schema.
    func shape(_ name: String) -> _PropertyShape

    /// Returns the column values for an attribute's value, by path, without those that are NULL. Returns nothing for a
    /// relationship.
    func columnValues(of value: Value, _ key: String) throws -> [String: AttributeValue]

    /// Returns whether the property can have a value of its only column. A context returns only objects that pass.
    func canRead(_ value: AttributeValue) -> Bool

    /// Returns whether the property can have the values of all its columns; used if ``readsColumnsTogether`` is true.
    func canRead(_ key: String, of backing: any BackingData) -> Bool

    /// Whether only all columns together show whether there is a value.
    var readsColumnsTogether: Bool { get }

    /// Whether ``canRead(_:)`` is true for every value that the column can hold.
    var readsEveryValue: Bool { get }

    /// The stand-in for a missing or unreadable value; nil for a type without one.
    var blank: Value? { get }
}

extension _ModelProperty {
    /// Zero, an empty value or the first value of the type; nil if there is no such value.
    public var blank: Value? { Placeholder.value(of: Value.self) }
    /// Always true.
    public func canRead(_ value: AttributeValue) -> Bool { true }
    /// Returns whether ``canRead(_:)`` accepts the value of the property's only column; false if the column is NULL.
    public func canRead(_ key: String, of backing: any BackingData) -> Bool {
        backing.attribute(key).map(canRead) ?? false
    }
    /// Returns no columns, as for a relationship.
    public func columnValues(of value: Value, _ key: String) -> [String: AttributeValue] { [:] }
    /// False: each value must be tested with ``canRead(_:)``.
    public var readsEveryValue: Bool { false }
    /// False: the property has at most one column.
    public var readsColumnsTogether: Bool { false }
}

/// The shape of a property in a schema, as determined by its type.
public enum _PropertyShape: Sendable {
    /// An attribute, before the options of `@Attribute` are applied.
    case attribute(AttributeDescription)
    case toOne(any PersistentModel.Type, isOptional: Bool)
    case toMany(any PersistentModel.Type, isOptional: Bool)
}

extension _ModelProperty {
    /// Returns the value that a required property shows if its backing data has no valid value, because a getter cannot
    /// throw. It is the initial value in the source, or else ``blank``; the next save throws the error.
    func standIn(_ key: String, of backing: any BackingData) -> Value {
        backing._noteUnreadable(key)
        if let initial = backing._initialValue(key) as? Value { return initial }
        if let value = blank { return value }
        // A context does not return objects with such a value (ContextStorage.isShowable).
        preconditionFailure(
            "\(backing.persistentModelID.entityName).\(key) of \(backing.persistentModelID) has no value, and "
                + "\(Value.self) cannot be created without one: give the property an initial value.")
    }
}

// There is one function for each kind of property, and the compiler selects the one that fits the property's type. As
// in SwiftData, a property of any other type does not compile.

/// Selects one column for a property of a type with a column type of its own.
public func _property<Model, Value: PersistentValue>(_ path: KeyPath<Model, Value>) -> _ValueProperty<Value> {
    _ValueProperty()
}

/// Selects the raw value for a property of an enum with raw values.
public func _property<Model, Value: RawRepresentable & Codable>(
    _ path: KeyPath<Model, Value>
) -> _RawValueProperty<Value> where Value.RawValue: PersistentValue { _RawValueProperty() }

/// Selects the raw value for a property of an optional enum with raw values; nil sets the column to NULL.
public func _property<Model, Value: RawRepresentable & Codable>(
    _ path: KeyPath<Model, Value?>
) -> _OptionalRawValueProperty<Value> where Value.RawValue: PersistentValue { _OptionalRawValueProperty() }

/// Selects a required to-one relationship for a property of a model type.
public func _property<Model, Value: PersistentModel>(_ path: KeyPath<Model, Value>) -> _ToOneProperty<Value> {
    _ToOneProperty()
}

/// Selects a to-one relationship for a property of an optional model type.
public func _property<Model, Value: PersistentModel>(_ path: KeyPath<Model, Value?>) -> _OptionalToOneProperty<Value> {
    _OptionalToOneProperty()
}

/// Selects a to-many relationship for a property that is a collection of models.
public func _property<Model, Value: RelationshipCollection>(_ path: KeyPath<Model, Value>) -> _ToManyProperty<Value> {
    _ToManyProperty()
}

/// Selects the form of the type (``ValueForm``) for any other `Codable` property.
@_disfavoredOverload
public func _property<Model, Value: Codable>(_ path: KeyPath<Model, Value>) -> _CodableProperty<Value> {
    _CodableProperty()
}

/// Selects the encoded form (iOS 27) for a property with `@Attribute(.codable)`.
public func _encodedProperty<Model, Value: Codable>(_ path: KeyPath<Model, Value>) -> _CodableProperty<Value> {
    _CodableProperty(form: .encoded)
}

/// Rejects, at compile time, a property whose type cannot be stored.
@available(
    *, unavailable,
    message: "a persisted property has to be Codable, a model, or a collection of models; or mark it @Transient"
)
@_disfavoredOverload
public func _property<Model, Value>(_ path: KeyPath<Model, Value>) -> _TransformedProperty<Value> {
    _TransformedProperty(transformer: .name(""))
}

/// Selects the data that a transformer of this class makes from the property's values.
public func _property<Model, Value>(
    _ path: KeyPath<Model, Value>, transformedBy transformer: ValueTransformer.Type
) -> _TransformedProperty<Value> { _TransformedProperty(transformer: .type(transformer)) }

/// Selects the data that the transformer registered under this name makes from the property's values.
public func _property<Model, Value>(
    _ path: KeyPath<Model, Value>, transformedBy transformer: String
) -> _TransformedProperty<Value> { _TransformedProperty(transformer: .name(transformer)) }
