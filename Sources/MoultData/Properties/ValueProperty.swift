import Foundation
import MoultBasics
public import MoultCoreData
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

/// A property whose values a ``ValueTransformer`` turns into data: `@Attribute(.transformable(by:))`.
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

    /// Has the transformer turn the stored data back. Data that it cannot turn back reads as nil or as a stand-in.
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

    /// Stores the data that the transformer makes. Without a registered transformer, or where it makes something else,
    /// the next save throws the error.
    public func write(_ value: Value, _ key: String, to backing: any BackingData) {
        do {
            backing.setAttribute(key, try attributeValue(of: value))
        } catch {
            backing.refuse(key, error)
        }
    }

    /// Whether the transformer turns the stored data back into a value of the type.
    public func canRead(_ value: AttributeValue) -> Bool {
        guard case .transformable(let bytes) = value.fitted(to: .transformable) else { return false }
        return transformer.found?.value(of: Data(bytes)) is Value
    }

    /// A value of the type made of nothing, or what the transformer makes of empty data.
    public var blank: Value? { StandIn.value(of: Value.self) ?? transformer.found?.value(of: Data()) as? Value }

    /// A transformable attribute, optional where the type is.
    public func shape(_ name: String) -> _PropertyShape {
        .attribute(AttributeDescription(name: name, type: .transformable, isOptional: Optional<Any>.none is Value))
    }

    /// The transformer's data, under the property's name.
    ///
    /// - Throws: `wrongType` where no transformer of that name is registered, or it makes something other than data.
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

// A transformer makes the data with `transformedValue(_:)`; one that archives, the other way round, as in Core Data.
extension ValueTransformer {
    fileprivate func data(of value: Any?) -> Any? {
        self is NSSecureUnarchiveFromDataTransformer ? reverseTransformedValue(value) : transformedValue(value)
    }

    fileprivate func value(of data: Data?) -> Any? {
        self is NSSecureUnarchiveFromDataTransformer ? transformedValue(data) : reverseTransformedValue(data)
    }
}

/// Foundation's class for transformable attributes, which Linux does not have.
public typealias ValueTransformer = MoultCoreData.ValueTransformer
/// The name of a ``ValueTransformer``.
public typealias NSValueTransformerName = MoultCoreData.NSValueTransformerName
/// A transformer that archives values.
public typealias NSSecureUnarchiveFromDataTransformer = MoultCoreData.NSSecureUnarchiveFromDataTransformer

extension ValueTransformer {
    /// Makes a transformer known by a name, for `.transformable(by: "Name")`.
    public static func setValueTransformer(_ transformer: ValueTransformer.Type, forName name: String) {
        setValueTransformer(transformer.init(), forName: NSValueTransformerName(name))
    }
}
