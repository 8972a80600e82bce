public import MoultCoreData

/// A way to read the values of a property of some type from backing data and to write them to it. `_property(_:)`
/// chooses one by the type of the property, while the program is compiled.
public protocol _ModelProperty<Value>: Sendable {
    associatedtype Value

    func read(_ key: String, of backing: any BackingData) -> Value
    func write(_ value: Value, _ key: String, to backing: any BackingData)

    /// Returns the shape of the property in a schema.
    func shape(_ name: String) -> _PropertyShape

    /// Returns the values of an attribute's columns for a value, by their paths; empty ones are missing. Nothing for
    /// relationships.
    func columnValues(of value: Value, _ key: String) throws -> [String: AttributeValue]

    /// Whether a value of the only column is one that the property can have. A context hands out no object without.
    func canRead(_ value: AttributeValue) -> Bool

    /// The same of all columns of the property, where ``readsColumnsTogether`` says so.
    func canRead(_ key: String, of backing: any BackingData) -> Bool

    /// Whether the columns say only together whether they hold a value.
    var readsColumnsTogether: Bool { get }

    /// Whether ``canRead(_:)`` holds for every value that the column can hold.
    var readsEveryValue: Bool { get }

    /// The value that stands for one that is missing or unreadable; nil for a type that has no such value.
    var blank: Value? { get }
}

extension _ModelProperty {
    /// Zero, an empty value or the first value of the type; nil where there is no such value.
    public var blank: Value? { StandIn.value(of: Value.self) }
    /// True for every value.
    public func canRead(_ value: AttributeValue) -> Bool { true }
    /// Whether the property's only column holds a value that ``canRead(_:)`` accepts; false for an empty column.
    public func canRead(_ key: String, of backing: any BackingData) -> Bool {
        backing.attribute(key).map(canRead) ?? false
    }
    /// No columns, as for a relationship.
    public func columnValues(of value: Value, _ key: String) -> [String: AttributeValue] { [:] }
    /// False: each value is tested with ``canRead(_:)``.
    public var readsEveryValue: Bool { false }
    /// False: the property has one column at most.
    public var readsColumnsTogether: Bool { false }
}

/// The shape of a property in a schema, as far as its type says it.
public enum _PropertyShape: Sendable {
    /// As it stands in a model, before `@Attribute` has said more of it.
    case attribute(AttributeDescription)
    case toOne(any PersistentModel.Type, isOptional: Bool)
    case toMany(any PersistentModel.Type, isOptional: Bool)
}

extension _ModelProperty {
    /// Returns the value that a property that cannot be empty shows where its backing data has no value that it could
    /// have: a getter cannot throw. It is what the source gives new objects, otherwise ``blank``; the next save throws
    /// the error.
    func standIn(_ key: String, of backing: any BackingData) -> Value {
        backing._noteUnreadable(key)
        if let initial = backing._initialValue(key) as? Value { return initial }
        if let value = blank { return value }
        // A context hands out no object with such a value (ModelGraph.isShowable).
        preconditionFailure(
            "\(backing.persistentModelID.entityName).\(key) of \(backing.persistentModelID) has no value, and "
                + "\(Value.self) cannot be created without one: give the property an initial value.")
    }
}

// One function for each kind of property; the compiler takes the one that fits the property's type. SwiftData draws the
// same line: a property of any other type does not compile.

/// Chooses one column for a property of a type that has a column type of its own.
public func _property<Model, Value: PersistentValue>(_ path: KeyPath<Model, Value>) -> _ValueProperty<Value> {
    _ValueProperty()
}

/// Chooses the raw value for a property of an enum with raw values.
public func _property<Model, Value: RawRepresentable & Codable>(
    _ path: KeyPath<Model, Value>
) -> _RawValueProperty<Value> where Value.RawValue: PersistentValue { _RawValueProperty() }

/// Chooses the raw value for a property of an optional enum with raw values; nil empties the column.
public func _property<Model, Value: RawRepresentable & Codable>(
    _ path: KeyPath<Model, Value?>
) -> _OptionalRawValueProperty<Value> where Value.RawValue: PersistentValue { _OptionalRawValueProperty() }

/// Chooses a required to-one relationship for a property that is a model.
public func _property<Model, Value: PersistentModel>(_ path: KeyPath<Model, Value>) -> _ToOneProperty<Value> {
    _ToOneProperty()
}

/// Chooses a to-one relationship for a property that is an optional model.
public func _property<Model, Value: PersistentModel>(_ path: KeyPath<Model, Value?>) -> _OptionalToOneProperty<Value> {
    _OptionalToOneProperty()
}

/// Chooses a to-many relationship for a property that is a collection of models.
public func _property<Model, Value: RelationshipCollection>(_ path: KeyPath<Model, Value>) -> _ToManyProperty<Value> {
    _ToManyProperty()
}

/// Chooses the form of its type (``ValueForm``) for any other `Codable` property.
@_disfavoredOverload
public func _property<Model, Value: Codable>(_ path: KeyPath<Model, Value>) -> _CodableProperty<Value> {
    _CodableProperty()
}

/// A property with `@Attribute(.codable)`, which iOS 27 keeps in its encoded form.
public func _encodedProperty<Model, Value: Codable>(_ path: KeyPath<Model, Value>) -> _CodableProperty<Value> {
    _CodableProperty(form: .encoded)
}

/// Refuses, while the program is compiled, a property whose type cannot be kept.
@available(
    *, unavailable,
    message: "a persisted property has to be Codable, a model, or a collection of models; or mark it @Transient"
)
@_disfavoredOverload
public func _property<Model, Value>(_ path: KeyPath<Model, Value>) -> _TransformedProperty<Value> {
    _TransformedProperty(transformer: .name(""))
}

/// Chooses the data that a transformer of this class makes of the property's values.
public func _property<Model, Value>(
    _ path: KeyPath<Model, Value>, transformedBy transformer: ValueTransformer.Type
) -> _TransformedProperty<Value> { _TransformedProperty(transformer: .type(transformer)) }

/// Chooses the data that the transformer registered under this name makes of the property's values.
public func _property<Model, Value>(
    _ path: KeyPath<Model, Value>, transformedBy transformer: String
) -> _TransformedProperty<Value> { _TransformedProperty(transformer: .name(transformer)) }
