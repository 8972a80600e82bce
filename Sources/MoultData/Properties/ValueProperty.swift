import MoultModel

/// A property of a type that has a column type of its own.
public struct _ValueProperty<Value: PersistentValue>: _ModelProperty {
    public func read(_ key: String, of backing: any BackingData) -> Value {
        Value(attribute: backing.attribute(key)) ?? Value.valueForNull
    }

    public func write(_ value: Value, _ key: String, to backing: any BackingData) {
        backing.setAttribute(key, value.attributeValue)
    }

    public var shape: _PropertyShape {
        .attribute(
            Value.attributeType, isOptional: Value.isOptionalAttribute,
            unknown: Value.attributeType == .uri ? "no public store shows how SwiftData keeps a URL" : nil)
    }

    public func attributeValue(of value: Value) -> AttributeValue? { value.attributeValue }
}
