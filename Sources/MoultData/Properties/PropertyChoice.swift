// One function for each kind of property; the compiler takes the one that fits the property's type. SwiftData draws the
// same line: a property of any other type does not compile.

public func _property<Model, Value: PersistentValue>(_ path: KeyPath<Model, Value>) -> _ValueProperty<Value> {
    _ValueProperty()
}

public func _property<Model, Value: RawRepresentable & Codable>(
    _ path: KeyPath<Model, Value>
) -> _RawValueProperty<Value> where Value.RawValue: PersistentValue { _RawValueProperty() }

public func _property<Model, Value: RawRepresentable & Codable>(
    _ path: KeyPath<Model, Value?>
) -> _OptionalRawValueProperty<Value> where Value.RawValue: PersistentValue { _OptionalRawValueProperty() }

public func _property<Model, Value: PersistentModel>(_ path: KeyPath<Model, Value>) -> _ToOneProperty<Value> {
    _ToOneProperty()
}

public func _property<Model, Value: PersistentModel>(_ path: KeyPath<Model, Value?>) -> _OptionalToOneProperty<Value> {
    _OptionalToOneProperty()
}

public func _property<Model, Value: RelationshipCollection>(_ path: KeyPath<Model, Value>) -> _ToManyProperty<Value> {
    _ToManyProperty()
}

@_disfavoredOverload
public func _property<Model, Value: Codable>(_ path: KeyPath<Model, Value>) -> _CodableProperty<Value> {
    _CodableProperty()
}

/// A property with `@Attribute(.codable)`, which iOS 27 keeps in its encoded form.
public func _encodedProperty<Model, Value: Codable>(_ path: KeyPath<Model, Value>) -> _CodableProperty<Value> {
    _CodableProperty(form: .encoded)
}

@available(
    *, unavailable,
    message: "a persisted property has to be Codable, a model, or a collection of models; or mark it @Transient"
)
@_disfavoredOverload
public func _property<Model, Value>(_ path: KeyPath<Model, Value>) -> _TransformedProperty<Value> {
    _TransformedProperty(transformer: .name(""))
}

public func _property<Model, Value>(
    _ path: KeyPath<Model, Value>, transformedBy transformer: ValueTransformer.Type
) -> _TransformedProperty<Value> { _TransformedProperty(transformer: .type(transformer)) }

public func _property<Model, Value>(
    _ path: KeyPath<Model, Value>, transformedBy transformer: String
) -> _TransformedProperty<Value> { _TransformedProperty(transformer: .name(transformer)) }
