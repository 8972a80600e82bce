import Foundation
import MoultBasics
import MoultCoreData
import MoultModel

/// The value of an attribute as Core Data gives it.
func foundationValue(_ value: AttributeValue) -> Any? {
    if case .decimal(let digits) = value { return NSDecimalNumber(string: digits) }
    return try? AttributeConversion(type: .undefined, place: "").foundation(value)
}

/// - Throws: `wrongType`.
func attributeValue(_ value: Any, _ type: AttributeType, _ place: String) throws -> AttributeValue? {
    try AttributeConversion(type: type, place: place).attributeValue(plainValue(value))
}

/// Foundation's own classes as the Swift types that a store knows.
func plainValue(_ value: Any?) -> Any? {
    switch value {
    case let number as NSDecimalNumber: number.decimalValue
    case let text as NSString: text.substring(from: 0)
    case let date as NSDate: Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate)
    case let data as NSData: Data(referencing: data)
    case let url as NSURL: URL(string: url.absoluteString)
    case let id as NSUUID: UUID(uuidString: id.uuidString)
    default: value
    }
}

/// The value of a property as its declared type.
enum TypedValue {
    /// Nil where the value cannot be the type.
    static func cast<Value>(_ value: Any?, to type: Value.Type) -> Value? {
        guard let value else { return empty(type) }
        if let direct = value as? Value { return direct }
        switch value {
        case let set as NSSet:
            if let objects = Set(set.allObjects.compactMap { $0 as? NSManagedObject }) as? Value { return objects }
            if let wanted = wrapped(type) as? any ObjectSet.Type {
                return wanted.make(set.allObjects) as? Value
            }
        case let list as NSOrderedSet:
            if let wanted = wrapped(type) as? any ObjectSet.Type { return wanted.make(list.array) as? Value }
        case let number as NSDecimalNumber: return number.decimalValue as? Value
        case let text as String: return NSString(string: text) as? Value
        case let date as Date:
            return NSDate(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate) as? Value
        case let data as Data: return NSData(data: data) as? Value
        default: break
        }
        return nil
    }

    /// Returns the value that stands for a missing one.
    private static func empty<Value>(_ type: Value.Type) -> Value? {
        if let optional = type as? any OptionalValue.Type { return optional.none as? Value }
        switch type {
        case is any FixedWidthInteger.Type: return NSNumber(value: 0) as? Value
        case is Double.Type: return 0.0 as? Value
        case is Float.Type: return Float(0) as? Value
        case is Bool.Type: return false as? Value
        case is String.Type: return "" as? Value
        default:
            return (type as? any ObjectSet.Type)?.make([]) as? Value ?? NSSet() as? Value ?? NSOrderedSet() as? Value
        }
    }

    private static func wrapped(_ type: any Any.Type) -> any Any.Type {
        (type as? any OptionalValue.Type)?.wrappedType ?? type
    }
}

private protocol OptionalValue {
    static var none: Self { get }
    static var wrappedType: any Any.Type { get }
}

extension Optional: OptionalValue {
    fileprivate static var wrappedType: any Any.Type { Wrapped.self }
}

private protocol ObjectSet {
    static func make(_ objects: [Any]) -> Any
}

extension Set: ObjectSet {
    fileprivate static func make(_ objects: [Any]) -> Any { Set(objects.compactMap { $0 as? Element }) }
}

extension Array: ObjectSet {
    fileprivate static func make(_ objects: [Any]) -> Any { objects.compactMap { $0 as? Element } }
}
