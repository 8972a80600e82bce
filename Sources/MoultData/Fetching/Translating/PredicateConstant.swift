import Foundation
import MoultModel

extension ExpressionValue {
    /// A value that a predicate captured, as a store has it; nil for one of a type that has no column of its own.
    init?(predicateConstant value: Any) {
        switch value {
        case let optional as any NilTest:
            guard let wrapped = optional.wrapped else {
                self = .null
                return
            }
            self.init(predicateConstant: wrapped)
        case let model as any PersistentModel: self = .object(model.persistentModelID.objectID)
        case let identifier as PersistentIdentifier: self = .object(identifier.objectID)
        case let result as ComparisonResult: self = .integer(Int64(result.rawValue))
        case let number as UInt16: self = .integer(Int64(number))
        case let number as UInt32: self = .integer(Int64(number))
        case let value as any PersistentValue: self.init(value.attributeValue)
        case let text as Substring: self = .string(String(text))
        case let character as Character: self = .string(String(character))
        case let value as any RawRepresentable: self.init(predicateConstant: value.rawValue)
        default:
            guard let name = Self.caseName(value) else { return nil }
            self = .string(name)
        }
    }
}

extension ExpressionValue {
    /// The name of an enum's case without raw value and associated values, which its column holds.
    private static func caseName(_ value: Any) -> String? {
        func name<Value>(_ value: Value) -> String? {
            EnumCases.names(of: Value.self) == nil ? nil : EnumCases.name(of: value)
        }
        return _openExistential(value, do: name)
    }
}

/// An optional whose type nobody knows.
protocol NilTest {
    var wrapped: Any? { get }
    static var wrappedType: Any.Type { get }
}

extension Optional: NilTest {
    var wrapped: Any? { self }
    static var wrappedType: Any.Type { Wrapped.self }
}

/// Whether a value is an optional that is nil.
func isNilValue(_ value: Any) -> Bool { (value as? any NilTest).map { $0.wrapped == nil } ?? false }

/// A type without its optionals.
func withoutOptionals(_ type: Any.Type) -> Any.Type {
    (type as? any NilTest.Type).map { withoutOptionals($0.wrappedType) } ?? type
}
