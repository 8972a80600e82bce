public import MoultCoreData

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
