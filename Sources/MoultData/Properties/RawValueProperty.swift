import MoultModel

/// A property of an enum with raw values, kept as the raw value.
public struct _RawValueProperty<Value: RawRepresentable & Codable>: _ModelProperty
where Value.RawValue: PersistentValue {
    private let column = RawValueColumn<Value>()

    /// The enum's case of the stored raw value; a stand-in where there is none, and the next save throws the error.
    public func read(_ key: String, of backing: any BackingData) -> Value {
        column.value(backing.attribute(column.path(key))) ?? standIn(key, of: backing)
    }

    /// Sets the column to the case's raw value.
    public func write(_ value: Value, _ key: String, to backing: any BackingData) {
        backing.setElements(key, [(column.path(key), value.rawValue.attributeValue)])
    }

    /// Whether the stored value is the raw value of a case.
    public func canRead(_ value: AttributeValue) -> Bool { column.value(value) != nil }

    /// A required attribute of the raw value, composite for an enum as in SwiftData.
    public func shape(_ name: String) -> _PropertyShape { .attribute(column.attribute(name, isOptional: false)) }

    /// The raw value, under the path of its column.
    public func columnValues(of value: Value, _ key: String) -> [String: AttributeValue] {
        [column.path(key): value.rawValue.attributeValue].compactMapValues(\.self)
    }
}

/// A property of an optional enum with raw values. A raw value that is no case reads as nil, and the next save throws.
public struct _OptionalRawValueProperty<Value: RawRepresentable & Codable>: _ModelProperty
where Value.RawValue: PersistentValue {
    private let column = RawValueColumn<Value>()

    /// The enum's case of the stored raw value; nil for an empty column and for a raw value that is no case.
    public func read(_ key: String, of backing: any BackingData) -> Value? {
        guard let attribute = backing.attribute(column.path(key)) else { return nil }
        if let value = column.value(attribute) { return value }
        backing._noteUnreadable(key)
        return nil
    }

    /// Sets the column to the case's raw value, or empties it for nil.
    public func write(_ value: Value?, _ key: String, to backing: any BackingData) {
        backing.setElements(key, [(column.path(key), value?.rawValue.attributeValue)])
    }

    /// Whether the stored value is the raw value of a case.
    public func canRead(_ value: AttributeValue) -> Bool { column.value(value) != nil }

    /// An optional attribute of the raw value, composite for an enum as in SwiftData.
    public func shape(_ name: String) -> _PropertyShape { .attribute(column.attribute(name, isOptional: true)) }

    /// The raw value, under the path of its column; nothing for nil.
    public func columnValues(of value: Value?, _ key: String) -> [String: AttributeValue] {
        [column.path(key): value?.rawValue.attributeValue].compactMapValues(\.self)
    }
}

/// The column in which raw values of a type are kept.
private struct RawValueColumn<Value: RawRepresentable>: Sendable where Value.RawValue: PersistentValue {
    /// Only an enum is a composite attribute; how SwiftData keeps any other type with raw values is not known.
    private let isEnum = EnumCases.isEnum(Value.self)

    func path(_ key: String) -> String { isEnum ? "\(key).\(key)" : key }

    func value(_ attribute: AttributeValue?) -> Value? {
        guard let attribute, Value.RawValue.canBe(attribute) else { return nil }
        return Value.RawValue(attribute: attribute).flatMap(Value.init(rawValue:))
    }

    func attribute(_ name: String, isOptional: Bool) -> AttributeDescription {
        if isEnum { return ValueForm.ofRawValues(Value.self).attribute(name, isOptional: isOptional) }
        var attribute = ValueForm.plain(Value.RawValue.self).attribute(name, isOptional: isOptional)
        attribute.uncertainty = "no public store shows how SwiftData keeps a \(Value.self)"
        return attribute
    }
}
