import MoultModel

private let unknownEnum = "no public store shows how SwiftData keeps an enum with raw values"

/// A property of an enum with raw values, kept as the raw value.
public struct _RawValueProperty<Value: RawRepresentable & Codable>: _ModelProperty
where Value.RawValue: PersistentValue {
    public func read(_ key: String, of backing: any BackingData) -> Value {
        if let value = _OptionalRawValueProperty<Value>().read(key, of: backing) { return value }
        return standIn(key, of: backing)
    }

    public func write(_ value: Value, _ key: String, to backing: any BackingData) {
        backing.setAttribute(key, value.rawValue.attributeValue)
    }

    public func canRead(_ value: AttributeValue) -> Bool {
        Value.RawValue(attribute: value).flatMap(Value.init(rawValue:)) != nil
    }

    public var shape: _PropertyShape {
        .attribute(Value.RawValue.attributeType, isOptional: false, unknown: unknownEnum)
    }

    public func attributeValue(of value: Value) -> AttributeValue? { value.rawValue.attributeValue }
}

/// A property of an optional enum with raw values. A raw value that is no case reads as nil.
public struct _OptionalRawValueProperty<Value: RawRepresentable & Codable>: _ModelProperty
where Value.RawValue: PersistentValue {
    public func read(_ key: String, of backing: any BackingData) -> Value? {
        Value.RawValue(attribute: backing.attribute(key)).flatMap(Value.init(rawValue:))
    }

    public func write(_ value: Value?, _ key: String, to backing: any BackingData) {
        backing.setAttribute(key, value?.rawValue.attributeValue)
    }

    public var shape: _PropertyShape {
        .attribute(Value.RawValue.attributeType, isOptional: true, unknown: unknownEnum)
    }

    public func attributeValue(of value: Value?) -> AttributeValue? { value?.rawValue.attributeValue }
}
