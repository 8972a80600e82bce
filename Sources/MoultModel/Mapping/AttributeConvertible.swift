/// A Swift type that an attribute's values convert to and from, so that code need not name ``AttributeValue``'s cases.
public protocol AttributeConvertible: SendableMetatype {
    /// Nil if the value is of another type, or one that this type does not have.
    init?(_ value: AttributeValue)
    var attributeValue: AttributeValue { get }
}

extension AttributeConvertible where Self: FixedWidthInteger {
    /// The integer; nil for a value of another kind, and for a number that the type cannot hold.
    @inlinable public init?(_ value: AttributeValue) {
        guard case .integer(let number) = value, let exact = Self(exactly: number) else { return nil }
        self = exact
    }
    /// The number as an integer, cut at the limits of 64 bits with sign.
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
    /// The value itself.
    /// The value itself.
    @inlinable public init?(_ value: AttributeValue) { self = value }
    @inlinable public var attributeValue: AttributeValue { self }
}

/// An enum with raw values needs no more than to say that it conforms.
extension AttributeConvertible where Self: RawRepresentable, RawValue: AttributeConvertible {
    /// The enum's case of a raw value; nil for a raw value that is no case.
    public init?(_ value: AttributeValue) {
        guard let raw = RawValue(value) else { return nil }
        self.init(rawValue: raw)
    }
    /// The case's raw value.
    public var attributeValue: AttributeValue { rawValue.attributeValue }
}
