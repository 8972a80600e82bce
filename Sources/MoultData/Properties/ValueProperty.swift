import MoultModel

/// A property of a type that has a column type of its own.
public struct _ValueProperty<Value: PersistentValue>: _ModelProperty {
    // Specialised where the model is: a type that is generic there costs a look-up for each value.
    /// The column's value, or what stands for one that the type cannot have; the next save throws the error then.
    @inlinable public func read(_ key: String, of backing: any BackingData) -> Value {
        let attribute = backing.attribute(key)
        if !Value.canBe(attribute) { backing._noteUnreadable(key) }
        return Value(attribute: attribute) ?? Value.valueForNull
    }

    /// Whether the stored value is one of the type.
    public func canRead(_ value: AttributeValue) -> Bool { Value.canBe(value) }
    /// Whether the column can hold no value but those of the type.
    public var readsEveryValue: Bool { Value.fillsColumn }

    /// Sets the column to the value, or empties it for nil.
    @inlinable public func write(_ value: Value, _ key: String, to backing: any BackingData) {
        backing.setAttribute(key, value.attributeValue)
    }

    /// An attribute of the type's own column type, optional where the type is.
    public func shape(_ name: String) -> _PropertyShape {
        .attribute(ValueForm.plain(Value.self).attribute(name, isOptional: Value.isOptionalAttribute))
    }

    /// The value, under the property's name; nothing for nil.
    public func columnValues(of value: Value, _ key: String) -> [String: AttributeValue] {
        [key: value.attributeValue].compactMapValues(\.self)
    }
}
