import Foundation
import MoultModel

/// A property whose values a ``ValueTransformer`` turns into data: `@Attribute(.transformable(by:))`.
public struct _TransformedProperty<Value>: _ModelProperty {
    enum Transformer: Sendable {
        case type(ValueTransformer.Type)
        case name(String)

        var found: ValueTransformer? {
            switch self {
            case .type(let type): type.init()
            case .name(let name): ValueTransformer.registered(forName: name)?.init()
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

    public func read(_ key: String, of backing: any BackingData) -> Value {
        var data: Data?
        if case .transformable(let bytes)? = backing.attribute(key)?.fitted(to: .transformable) { data = Data(bytes) }
        if let value = transformer.found?.reverseTransformedValue(data) as? Value { return value }
        if let none = Optional<Any>.none as? Value {
            if data != nil { backing._noteUnreadable(key) }
            return none
        }
        return standIn(key, of: backing)
    }

    public func write(_ value: Value, _ key: String, to backing: any BackingData) {
        do {
            backing.setAttribute(key, try attributeValue(of: value))
        } catch {
            backing.refuse(key, error)
        }
    }

    public func canRead(_ value: AttributeValue) -> Bool {
        guard case .transformable(let bytes) = value.fitted(to: .transformable) else { return false }
        return transformer.found?.reverseTransformedValue(Data(bytes)) is Value
    }

    public var blank: Value? {
        StandIn.value(of: Value.self) ?? transformer.found?.reverseTransformedValue(Data()) as? Value
    }

    public func shape(_ name: String) -> _PropertyShape {
        .attribute(AttributeDescription(name: name, type: .transformable, isOptional: Optional<Any>.none is Value))
    }

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
        guard let transformed = found.transformedValue(value) else { return nil }
        guard let data = transformed as? Data else {
            throw MigrationError(
                .wrongType, "\(transformer.name) made a \(type(of: transformed)), not Data, of a \(Value.self).",
                place: transformer.name, remedy: "Return Data from transformedValue(_:).")
        }
        return .transformable([UInt8](data))
    }
}
