import Foundation
import MoultBasics
public import MoultCoreData
import MoultModel

/// A property of a type with a column type of its own.
public struct _ValueProperty<Value: PersistentValue>: _ModelProperty {
    // Inlinable, so that it is specialised in the model's module: generic code there would look up the type for each
    // value.
    /// Returns the column's value, or a stand-in if the type has no such value; the next save then throws the error.
    @inlinable public func read(_ key: String, of backing: any BackingData) -> Value {
        let attribute = backing.attribute(key)
        if !Value.canBe(attribute) { backing._noteUnreadable(key) }
        return Value(attribute: attribute) ?? Value.valueForNull
    }

    /// Returns whether the type has a value for the stored one.
    public func canRead(_ value: AttributeValue) -> Bool { Value.canBe(value) }
    /// Whether the type has a value for every value of the column.
    public var readsEveryValue: Bool { Value.fillsColumn }

    /// Sets the column to the value, or to NULL for nil.
    @inlinable public func write(_ value: Value, _ key: String, to backing: any BackingData) {
        backing.setAttribute(key, value.attributeValue)
    }

    /// Returns an attribute with the type's own column type, optional if the type is.
    public func shape(_ name: String) -> _PropertyShape {
        .attribute(ValueForm.plain(Value.self).attribute(name, isOptional: Value.isOptionalAttribute))
    }

    /// Returns the value under the property's name; nothing for nil.
    public func columnValues(of value: Value, _ key: String) -> [String: AttributeValue] {
        [key: value.attributeValue].compactMapValues(\.self)
    }
}

/// A property of an enum with raw values, stored as the raw value.
public struct _RawValueProperty<Value: RawRepresentable & Codable>: _ModelProperty
where Value.RawValue: PersistentValue {
    private let column = RawValueColumn<Value>()

    /// Returns the case of the stored raw value; if there is none, a stand-in, and the next save throws the error.
    public func read(_ key: String, of backing: any BackingData) -> Value {
        column.value(backing.attribute(column.path(key))) ?? standIn(key, of: backing)
    }

    /// Sets the column to the case's raw value.
    public func write(_ value: Value, _ key: String, to backing: any BackingData) {
        backing.setElements(key, [(column.path(key), value.rawValue.attributeValue)])
    }

    /// Returns whether the stored value is the raw value of a case.
    public func canRead(_ value: AttributeValue) -> Bool { column.value(value) != nil }

    /// Returns a required attribute for the raw value, composite for an enum as in SwiftData.
    public func shape(_ name: String) -> _PropertyShape { .attribute(column.attribute(name, isOptional: false)) }

    /// Returns the raw value under the path of its column.
    public func columnValues(of value: Value, _ key: String) -> [String: AttributeValue] {
        [column.path(key): value.rawValue.attributeValue].compactMapValues(\.self)
    }
}

/// A property of an optional enum with raw values. A raw value without a case reads as nil, and the next save throws.
public struct _OptionalRawValueProperty<Value: RawRepresentable & Codable>: _ModelProperty
where Value.RawValue: PersistentValue {
    private let column = RawValueColumn<Value>()

    /// Returns the case of the stored raw value; nil for NULL and for a raw value without a case.
    public func read(_ key: String, of backing: any BackingData) -> Value? {
        guard let attribute = backing.attribute(column.path(key)) else { return nil }
        if let value = column.value(attribute) { return value }
        backing._noteUnreadable(key)
        return nil
    }

    /// Sets the column to the case's raw value, or to NULL for nil.
    public func write(_ value: Value?, _ key: String, to backing: any BackingData) {
        backing.setElements(key, [(column.path(key), value?.rawValue.attributeValue)])
    }

    /// Returns whether the stored value is the raw value of a case.
    public func canRead(_ value: AttributeValue) -> Bool { column.value(value) != nil }

    /// Returns an optional attribute for the raw value, composite for an enum as in SwiftData.
    public func shape(_ name: String) -> _PropertyShape { .attribute(column.attribute(name, isOptional: true)) }

    /// Returns the raw value under the path of its column; nothing for nil.
    public func columnValues(of value: Value?, _ key: String) -> [String: AttributeValue] {
        [column.path(key): value?.rawValue.attributeValue].compactMapValues(\.self)
    }
}

/// The column for the raw values of a type.
private struct RawValueColumn<Value: RawRepresentable>: Sendable where Value.RawValue: PersistentValue {
    /// Whether the type is an enum, which is a composite attribute. SwiftData's form of other types with raw values is
    /// unknown.
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

/// A property whose values a ``ValueTransformer`` converts to data: `@Attribute(.transformable(by:))`.
public struct _TransformedProperty<Value>: _ModelProperty {
    enum Transformer: Sendable {
        case type(ValueTransformer.Type)
        case name(String)

        var found: ValueTransformer? {
            switch self {
            case .type(let type): type.init()
            case .name(let name): ValueTransformer.registered(name)
            }
        }

        var name: String {
            switch self {
            case .type(let type): "\(type)"
            case .name(let name): name
            }
        }
    }

    let transformer: Transformer

    /// Converts the stored data back with the transformer. Data that it cannot convert reads as nil or as a stand-in.
    public func read(_ key: String, of backing: any BackingData) -> Value {
        var data: Data?
        if case .transformable(let bytes)? = backing.attribute(key)?.fitted(to: .transformable) { data = Data(bytes) }
        if let value = transformer.found?.value(of: data) as? Value { return value }
        if let none = Optional<Any>.none as? Value {
            if data != nil { backing._noteUnreadable(key) }
            return none
        }
        return standIn(key, of: backing)
    }

    /// Stores the data that the transformer makes. If no transformer is registered, or its result is not data, the next
    /// save throws the error.
    public func write(_ value: Value, _ key: String, to backing: any BackingData) {
        do {
            backing.setAttribute(key, try attributeValue(of: value))
        } catch {
            backing.refuse(key, error)
        }
    }

    /// Returns whether the transformer converts the stored data back to a value of the type.
    public func canRead(_ value: AttributeValue) -> Bool {
        guard case .transformable(let bytes) = value.fitted(to: .transformable) else { return false }
        return transformer.found?.value(of: Data(bytes)) is Value
    }

    /// A stand-in for the type, or the transformer's result for empty data.
    public var blank: Value? { Placeholder.value(of: Value.self) ?? transformer.found?.value(of: Data()) as? Value }

    /// Returns a transformable attribute, optional if the type is.
    public func shape(_ name: String) -> _PropertyShape {
        .attribute(AttributeDescription(name: name, type: .transformable, isOptional: Optional<Any>.none is Value))
    }

    /// Returns the transformer's data under the property's name.
    ///
    /// - Throws: `wrongType` if no transformer with that name is registered, or its result is not data.
    public func columnValues(of value: Value, _ key: String) throws -> [String: AttributeValue] {
        [key: try attributeValue(of: value)].compactMapValues(\.self)
    }

    private func attributeValue(of value: Value) throws(MigrationError) -> AttributeValue? {
        guard let found = transformer.found else {
            throw MigrationError(
                .wrongType, "No value transformer is registered as \(transformer.name).", place: transformer.name,
                remedy: "Register it with ValueTransformer.setValueTransformer(_:forName:) before models are made.")
        }
        if Optional<Any>.none is Value, case Optional<Any>.none = value as Any? { return nil }
        guard let transformed = found.data(of: value) else { return nil }
        guard let data = transformed as? Data else {
            throw MigrationError(
                .wrongType, "\(transformer.name) made a \(type(of: transformed)), not Data, of a \(Value.self).",
                place: transformer.name, remedy: "Return Data from transformedValue(_:).")
        }
        return .transformable([UInt8](data))
    }
}

// As in Core Data, a transformer makes the data with `transformedValue(_:)`, and an archiving one with the reverse
// method.
extension ValueTransformer {
    fileprivate func data(of value: Any?) -> Any? {
        self is NSSecureUnarchiveFromDataTransformer ? reverseTransformedValue(value) : transformedValue(value)
    }

    fileprivate func value(of data: Data?) -> Any? {
        self is NSSecureUnarchiveFromDataTransformer ? transformedValue(data) : reverseTransformedValue(data)
    }
}

#if !canImport(Darwin)
    /// Foundation's class for transformable attributes, which Linux does not have.
    public typealias ValueTransformer = MoultCoreData.ValueTransformer
    /// The name of a ``ValueTransformer``.
    public typealias NSValueTransformerName = MoultCoreData.NSValueTransformerName
    /// A transformer that archives values.
    public typealias NSSecureUnarchiveFromDataTransformer = MoultCoreData.NSSecureUnarchiveFromDataTransformer
#endif

extension ValueTransformer {
    /// Registers a transformer under a name, for `.transformable(by: "Name")`.
    public static func setValueTransformer(_ transformer: ValueTransformer.Type, forName name: String) {
        setValueTransformer(transformer.init(), forName: NSValueTransformerName(name))
    }
}
