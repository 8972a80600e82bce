import Foundation
import MoultModel

/// A type whose values an attribute can keep. Make an enum of your own one by saying how it is written:
///
///     enum Rating: String, AttributeValueConvertible { case good, bad; static var missing: Rating { .good } }
public protocol AttributeValueConvertible: AttributeConvertible, ManagedProperty, ManagedPropertyElement {}

extension AttributeValueConvertible {
    public static func readElement(_ key: String, of object: ManagedObject) throws -> Self? {
        guard let value = try object.access({ try object.object.attribute(key) }) else { return nil }
        if let converted = Self(value) { return converted }
        throw MigrationError(
            .wrongType,
            "\(object.object.entityName).\(key) holds \(value.kindPhrase), which is not of type \(Self.self).",
            place: "\(object.object.entityName).\(key)", remedy: "Read it as the type that it has in the model.")
    }

    public static func writeElement(_ value: Self?, _ key: String, of object: ManagedObject) throws {
        object.keepWhileChanged()
        try object.access {
            var value = value?.attributeValue
            if case .attribute(_, let attribute)? = object.object.shape[key] {
                value = value?.fitted(to: attribute.type)
            }
            try object.object.setAttribute(key, value)
        }
    }

    public static func read(_ key: String, of object: ManagedObject) throws -> Self {
        try readElement(key, of: object) ?? missing
    }

    public static func write(_ value: Self, _ key: String, of object: ManagedObject) throws {
        try writeElement(value, key, of: object)
    }
}

extension AttributeValueConvertible where Self: FixedWidthInteger { public static var missing: Self { 0 } }

extension Int: AttributeValueConvertible {}
extension Int16: AttributeValueConvertible {}
extension Int32: AttributeValueConvertible {}
extension Int64: AttributeValueConvertible {}

extension AttributeValueConvertible where Self: BinaryFloatingPoint { public static var missing: Self { 0 } }

extension Double: AttributeValueConvertible {}
extension Float: AttributeValueConvertible {}

extension Bool: AttributeValueConvertible { public static var missing: Bool { false } }

extension String: AttributeValueConvertible { public static var missing: String { "" } }

extension Data: AttributeValueConvertible {
    public init?(_ value: AttributeValue) {
        switch value {
        case .binary(let bytes), .transformable(let bytes): self = Data(bytes)
        default: return nil
        }
    }
    public var attributeValue: AttributeValue { .binary([UInt8](self)) }
    public static var missing: Data { Data() }
}

extension Date: AttributeValueConvertible {
    public init?(_ value: AttributeValue) {
        guard case .date(let seconds) = value else { return nil }
        self.init(timeIntervalSinceReferenceDate: seconds)
    }
    public var attributeValue: AttributeValue { .date(timeIntervalSinceReferenceDate) }
    /// 2001-01-01, the date that is stored as 0.
    public static var missing: Date { Date(timeIntervalSinceReferenceDate: 0) }
}

extension UUID: AttributeValueConvertible {
    public init?(_ value: AttributeValue) {
        guard case .uuid(let bytes) = value else { return nil }
        self.init(bytes: bytes)
    }
    public var attributeValue: AttributeValue { .uuid(bytes) }
    /// All zeros.
    public static var missing: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
}

extension URL: AttributeValueConvertible {
    public init?(_ value: AttributeValue) {
        guard case .uri(let text) = value else { return nil }
        self.init(string: text)
    }
    public var attributeValue: AttributeValue { .uri(absoluteString) }
    public static var missing: URL { URL(fileURLWithPath: "/") }
}

extension Decimal: AttributeValueConvertible {
    public init?(_ value: AttributeValue) {
        guard case .decimal(let digits) = value else { return nil }
        self.init(string: digits)
    }
    public var attributeValue: AttributeValue { .decimal("\(self)") }
    public static var missing: Decimal { 0 }
}
