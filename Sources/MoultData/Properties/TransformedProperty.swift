import Foundation
public import MoultCoreData
import MoultModel

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
    public var blank: Value? {
        StandIn.value(of: Value.self) ?? transformer.found?.value(of: Data()) as? Value
    }

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
