import MoultBasics

/// A value of an attribute, for example a model's default or a value in a store's row. Swift's nil stands for no value.
public enum AttributeValue: Sendable, Hashable {
    /// The value of an Integer 16, 32 or 64.
    case integer(Int64)
    case boolean(Bool)
    /// The value of a Double or Float.
    case double(Double)
    /// The exact digits, as `Decimal` prints them.
    case decimal(String)
    case string(String)
    /// The seconds since 2001-01-01 00:00:00 UTC.
    case date(Double)
    case binary([UInt8])
    /// The sixteen bytes of a UUID.
    case uuid([UInt8])
    case uri(String)
    /// The output of the transformer, not decoded.
    case transformable([UInt8])
}

// Default values are Swift literals: `defaultValue: 3`, `defaultValue: "untitled"`.

extension AttributeValue: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByStringLiteral
{
    /// Creates an integer, for attributes of every integer type.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// Creates a double, for Double and Float attributes.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// Creates a Boolean.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    /// Creates a string.
    public init(stringLiteral value: String) { self = .string(value) }
}

extension AttributeValue {
    /// Returns the value converted to a type's own case, if it is another kind of number or the same bytes or text
    /// under another case; otherwise the value unchanged.
    package func fitted(to type: AttributeType) -> AttributeValue {
        switch (self, type) {
        case (.integer(let number), .double), (.integer(let number), .float): .double(Double(number))
        case (.integer(let number), .decimal): .decimal("\(number)")
        case (.double(let number), .decimal): .decimal("\(number)")
        case (.integer(0), .boolean): .boolean(false)
        case (.integer(1), .boolean): .boolean(true)
        case (.boolean(let flag), .integer16), (.boolean(let flag), .integer32), (.boolean(let flag), .integer64):
            .integer(flag ? 1 : 0)
        case (.boolean(let flag), .double), (.boolean(let flag), .float): .double(flag ? 1 : 0)
        case (.boolean(let flag), .decimal): .decimal(flag ? "1" : "0")
        case (.double(let number), .integer16), (.double(let number), .integer32), (.double(let number), .integer64):
            Int64(exactly: number).map(AttributeValue.integer) ?? self
        case (.binary(let bytes), .transformable): .transformable(bytes)
        case (.string(let text), .uri): .uri(text)
        default: self
        }
    }

    /// The kind of value, such as `a String`. Messages name the kind and never the value, which is user data.
    package var kindPhrase: String {
        switch self {
        case .integer: "an Integer"
        case .boolean: "a Boolean"
        case .double: "a Double"
        case .decimal: "a Decimal"
        case .string: "a String"
        case .date: "a Date"
        case .binary: "a Binary"
        case .uuid: "a UUID"
        case .uri: "a URI"
        case .transformable: "a Transformable"
        }
    }

    /// The value as exact JSON, identical on every machine.
    ///
    /// Dates are ISO 8601 in UTC with nine decimals, decimals are strings, doubles are the shortest text that reads
    /// back exactly (strings for NaN and the infinities), UUIDs are upper case, and bytes are base64.
    package var document: JSONValue {
        switch self {
        case .integer(let number): .integer(number)
        case .boolean(let truth): .bool(truth)
        case .double(let number): .double(number)
        case .decimal(let digits): .string(digits)
        case .string(let text), .uri(let text): .string(text)
        case .date(let seconds): Self.document(ofDate: seconds)
        case .binary(let bytes), .transformable(let bytes): .string(bytes.base64)
        case .uuid(let bytes): Self.document(ofUUID: bytes)
        }
    }

    private static func document(ofDate seconds: Double) -> JSONValue {
        if let text = DateText.text(sinceReferenceDate: seconds) { return .string(text) }
        return ["error": "a date outside the calendar", "base64": .string(Array(seconds.description.utf8).base64)]
    }

    private static func document(ofUUID bytes: [UInt8]) -> JSONValue {
        guard bytes.count == 16 else {
            return ["error": "a UUID that does not have sixteen bytes", "base64": .string(bytes.base64)]
        }
        let digits = Array(bytes.hexadecimal.uppercased())
        let groups = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }
        return .string(groups.joined(separator: "-"))
    }
}

/// A Swift type that an attribute's values convert to and from, so that code need not name ``AttributeValue``'s cases.
public protocol AttributeConvertible: SendableMetatype {
    /// Creates the value; nil if `value` has another type, or is not representable in this type.
    init?(_ value: AttributeValue)
    var attributeValue: AttributeValue { get }
}

extension AttributeConvertible where Self: FixedWidthInteger {
    /// The integer; nil for a value of another kind, and for a number that the type cannot hold.
    @inlinable public init?(_ value: AttributeValue) {
        guard case .integer(let number) = value, let exact = Self(exactly: number) else { return nil }
        self = exact
    }
    /// The number as an integer, clamped to the range of a signed 64-bit integer.
    @inlinable public var attributeValue: AttributeValue { .integer(Int64(clamping: self)) }
}

extension Int: AttributeConvertible {}
extension Int16: AttributeConvertible {}
extension Int32: AttributeConvertible {}
extension Int64: AttributeConvertible {}

extension AttributeConvertible where Self: BinaryFloatingPoint {
    /// The number of a double or an integer; nil for a value of another kind.
    @inlinable public init?(_ value: AttributeValue) {
        switch value {
        case .double(let number): self = Self(number)
        case .integer(let number): self = Self(number)
        default: return nil
        }
    }
    /// The number as a double.
    @inlinable public var attributeValue: AttributeValue { .double(Double(self)) }
}

extension Double: AttributeConvertible {}
extension Float: AttributeConvertible {}

extension Bool: AttributeConvertible {
    /// The flag of a Boolean; nil for a value of another kind.
    @inlinable public init?(_ value: AttributeValue) {
        guard case .boolean(let flag) = value else { return nil }
        self = flag
    }
    /// The flag as a Boolean.
    @inlinable public var attributeValue: AttributeValue { .boolean(self) }
}

extension String: AttributeConvertible {
    /// The text of a string; nil for a value of another kind.
    @inlinable public init?(_ value: AttributeValue) {
        guard case .string(let text) = value else { return nil }
        self = text
    }
    /// The text as a string.
    @inlinable public var attributeValue: AttributeValue { .string(self) }
}

extension AttributeValue: AttributeConvertible {
    /// Creates a copy of the value; never nil.
    @inlinable public init?(_ value: AttributeValue) { self = value }
    /// The value itself.
    @inlinable public var attributeValue: AttributeValue { self }
}

/// An enum with raw values only has to declare the conformance.
extension AttributeConvertible where Self: RawRepresentable, RawValue: AttributeConvertible {
    /// Creates the enum case of a raw value; nil if no case has it.
    public init?(_ value: AttributeValue) {
        guard let raw = RawValue(value) else { return nil }
        self.init(rawValue: raw)
    }
    /// The case's raw value.
    public var attributeValue: AttributeValue { rawValue.attributeValue }
}
