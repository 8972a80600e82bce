import MoultModel

/// A property of any other `Codable` type, optional ones included: its bytes are kept (``CodableForm``).
public struct _CodableProperty<Value: Codable>: _ModelProperty {
    public func read(_ key: String, of backing: any BackingData) -> Value {
        if case .transformable(let bytes)? = backing.attribute(key)?.fitted(to: .transformable) {
            do {
                return try CodableForm.value(Value.self, from: bytes)
            } catch {
                backing.refuse(key, .notDecoded(Value.self, key, of: backing, error))
            }
        }
        if let none = Self.none { return none }
        return standIn(key, of: backing)
    }

    public func write(_ value: Value, _ key: String, to backing: any BackingData) {
        do {
            backing.setAttribute(key, try attributeValue(of: value))
        } catch {
            backing.refuse(key, .notEncoded(Value.self, key, of: backing, error))
        }
    }

    public func canRead(_ value: AttributeValue) -> Bool {
        guard case .transformable(let bytes) = value.fitted(to: .transformable) else { return false }
        return (try? CodableForm.value(Value.self, from: bytes)) != nil
    }

    public var shape: _PropertyShape {
        .attribute(
            .transformable, isOptional: Self.none != nil,
            unknown: "no public store shows how SwiftData keeps a \(Value.self)")
    }

    public func attributeValue(of value: Value) throws -> AttributeValue? {
        if let optional = value as? any OptionalValue, optional.isNone { return nil }
        return .transformable(try CodableForm.bytes(of: value))
    }

    /// Nil as a value, where the type is optional.
    private static var none: Value? { (Value.self as? any OptionalValue.Type)?.none as? Value }
}

/// What all optionals have in common.
private protocol OptionalValue {
    static var none: Self { get }
    var isNone: Bool { get }
}

extension Optional: OptionalValue {
    fileprivate var isNone: Bool { self == nil }
}

extension MigrationError {
    fileprivate static func notEncoded(
        _ type: Any.Type, _ key: String, of backing: any BackingData, _ error: any Error
    ) -> MigrationError {
        MigrationError(
            .wrongType, "A value of \(type) could not be encoded.",
            place: "\(backing.persistentModelID.entityName).\(key)",
            remedy: "Give a value that its type can encode; the property has its old value.", cause: "\(error)")
    }

    fileprivate static func notDecoded(
        _ type: Any.Type, _ key: String, of backing: any BackingData, _ error: any Error
    ) -> MigrationError {
        MigrationError(
            .wrongType, "The stored bytes are no \(type).", place: "\(backing.persistentModelID.entityName).\(key)",
            remedy: "Let the type decode what its earlier versions wrote, or convert the values in a migration.",
            cause: "\(error)")
    }
}
