import MoultModel

/// A property of a type that has a column type of its own.
public struct _ValueProperty<Value: PersistentValue>: _ModelProperty {
    // Specialised where the model is: a type that is generic there costs a look-up for each value.
    @inlinable public func read(_ key: String, of backing: any BackingData) -> Value {
        let attribute = backing.attribute(key)
        if !Value.canBe(attribute) { backing._noteUnreadable(key) }
        return Value(attribute: attribute) ?? Value.valueForNull
    }

    public func canRead(_ value: AttributeValue) -> Bool { Value.canBe(value) }
    public var readsEveryValue: Bool { Value.fillsColumn }

    @inlinable public func write(_ value: Value, _ key: String, to backing: any BackingData) {
        backing.setAttribute(key, value.attributeValue)
    }

    public func shape(_ name: String) -> _PropertyShape {
        .attribute(ValueForm.plain(Value.self).attribute(name, isOptional: Value.isOptionalAttribute))
    }

    public func columnValues(of value: Value, _ key: String) -> [String: AttributeValue] {
        [key: value.attributeValue].compactMapValues(\.self)
    }
}
