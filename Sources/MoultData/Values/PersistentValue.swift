import Foundation
import MoultModel

/// A type whose values fit the column of an attribute. `Optional` of such a type is one too.
public protocol PersistentValue: SendableMetatype {
    static var attributeType: AttributeType { get }
    static var isOptionalAttribute: Bool { get }
    /// The value that represents NULL in a required attribute.
    static var valueForNull: Self { get }

    /// Whether the type has a value for every value that a column of ``attributeType`` can hold.
    static var fillsColumn: Bool { get }
    /// Returns whether the type has a value for a stored one; nil is valid for an optional type.
    static func canBe(_ attribute: AttributeValue?) -> Bool

    /// Creates a value from an attribute's; returns nil if the attribute holds a value of another kind.
    init?(attribute: AttributeValue?)
    var attributeValue: AttributeValue? { get }
}

extension PersistentValue {
    /// False: the attribute must have a value.
    public static var isOptionalAttribute: Bool { false }
    /// True: the type has a value for every value of the column.
    public static var fillsColumn: Bool { true }

    /// Returns whether there is a value at all.
    public static func canBe(_ attribute: AttributeValue?) -> Bool { attribute != nil }
}

extension Optional: PersistentValue where Wrapped: PersistentValue {
    /// The column type of the wrapped type.
    public static var attributeType: AttributeType { Wrapped.attributeType }
    /// True: the attribute may be NULL.
    public static var isOptionalAttribute: Bool { true }
    /// Whether the wrapped type has a value for every value of the column, apart from NULL.
    public static var fillsColumn: Bool { Wrapped.fillsColumn }
    /// Nil, which NULL represents.
    @inlinable public static var valueForNull: Wrapped? { nil }
    /// Returns whether the column is NULL or holds a value of the wrapped type.
    @inlinable public static func canBe(_ attribute: AttributeValue?) -> Bool {
        attribute == nil || Wrapped.canBe(attribute)
    }
    /// Creates the wrapped value; nil for NULL and for a value of another kind. Never fails.
    @inlinable public init?(attribute: AttributeValue?) { self = Wrapped(attribute: attribute) }
    // A closure, because a key path of a generic type would be rebuilt at each call.
    /// The wrapped value in its stored form; nil for nil.
    @inlinable public var attributeValue: AttributeValue? { flatMap { $0.attributeValue } }
}

extension Bool: PersistentValue {
    /// A Boolean column.
    public static var attributeType: AttributeType { .boolean }
    /// False.
    public static var valueForNull: Bool { false }
    /// Creates a flag from a stored flag, 0 or 1; returns nil for any other value.
    public init?(attribute: AttributeValue?) {
        guard case .boolean(let flag)? = attribute?.fitted(to: .boolean) else { return nil }
        self = flag
    }
    /// The flag, as a Boolean value.
    public var attributeValue: AttributeValue? { .boolean(self) }
}

extension String: PersistentValue {
    /// A String column.
    public static var attributeType: AttributeType { .string }
    /// The empty string.
    public static var valueForNull: String { "" }
    /// Creates the stored string; returns nil for a value of another kind.
    public init?(attribute: AttributeValue?) {
        guard case .string(let text)? = attribute else { return nil }
        self = text
    }
    /// The string as a String value.
    public var attributeValue: AttributeValue? { .string(self) }
}

// An unsigned integer has the attribute type of the signed integer with its width, except that UInt8 has Integer 16. A
// number above the signed range is stored with the same bits.

extension PersistentValue where Self: FixedWidthInteger {
    /// Zero.
    @inlinable public static var valueForNull: Self { 0 }
    /// Whether the column is Integer 64. The type then has a value for each of its numbers; those above the signed
    /// range have the same bits.
    public static var fillsColumn: Bool { attributeType == .integer64 }
    /// Returns whether the type, which may be narrower than the column, has a value for a number as it is or with the
    /// same bits.
    @inlinable public static func canBe(_ attribute: AttributeValue?) -> Bool {
        guard let number = AttributeValue.integer(attribute) else { return false }
        return Self(exactly: number) != nil || Self(truncatingIfNeeded: number).attributeValue == .integer(number)
    }
    /// Creates the integer from an integer, a Boolean or a whole double, truncated to the type's width; returns nil for
    /// any other value.
    @inlinable public init?(attribute: AttributeValue?) {
        guard let number = AttributeValue.integer(attribute) else { return nil }
        self.init(truncatingIfNeeded: number)
    }
    /// The number in the column's width. An unsigned number above the signed range is stored with the same bits.
    @inlinable public var attributeValue: AttributeValue? {
        switch Self.attributeType {
        case .integer16: .integer(Int64(Int16(truncatingIfNeeded: self)))
        case .integer32: .integer(Int64(Int32(truncatingIfNeeded: self)))
        default: .integer(Int64(truncatingIfNeeded: self))
        }
    }
}

extension Int: PersistentValue { public static var attributeType: AttributeType { .integer64 } }
extension Int8: PersistentValue { public static var attributeType: AttributeType { .integer16 } }
extension Int16: PersistentValue { public static var attributeType: AttributeType { .integer16 } }
extension Int32: PersistentValue { public static var attributeType: AttributeType { .integer32 } }
extension Int64: PersistentValue { public static var attributeType: AttributeType { .integer64 } }
extension UInt: PersistentValue { public static var attributeType: AttributeType { .integer64 } }
extension UInt8: PersistentValue { public static var attributeType: AttributeType { .integer16 } }
extension UInt16: PersistentValue { public static var attributeType: AttributeType { .integer16 } }
extension UInt32: PersistentValue { public static var attributeType: AttributeType { .integer32 } }
extension UInt64: PersistentValue { public static var attributeType: AttributeType { .integer64 } }

extension AttributeValue {
    /// Returns the number of an integer, or of a value that converts to one.
    @usableFromInline static func integer(_ value: AttributeValue?) -> Int64? {
        if case .integer(let number)? = value?.fitted(to: .integer64) { number } else { nil }
    }
}

extension PersistentValue where Self: BinaryFloatingPoint {
    /// Zero.
    @inlinable public static var valueForNull: Self { 0 }
    /// Creates the number from a stored double or integer; returns nil for a value of another kind.
    @inlinable public init?(attribute: AttributeValue?) {
        switch attribute {
        case .double(let number)?: self.init(number)
        case .integer(let number)?: self.init(number)
        default: return nil
        }
    }
    /// The number as a double.
    @inlinable public var attributeValue: AttributeValue? { .double(Double(self)) }
}

extension Double: PersistentValue { public static var attributeType: AttributeType { .double } }
extension Float: PersistentValue { public static var attributeType: AttributeType { .float } }

extension Date: PersistentValue {
    /// A Date column.
    public static var attributeType: AttributeType { .date }
    /// 2001-01-01, the date that is stored as 0.
    public static var valueForNull: Date { Date(timeIntervalSinceReferenceDate: 0) }
    /// Creates a date from the seconds since 2001-01-01 00:00:00 UTC; returns nil for a value of another kind.
    public init?(attribute: AttributeValue?) {
        guard case .date(let seconds)? = attribute else { return nil }
        self.init(timeIntervalSinceReferenceDate: seconds)
    }
    /// Seconds since 2001-01-01 00:00:00 UTC.
    public var attributeValue: AttributeValue? { .date(timeIntervalSinceReferenceDate) }
}

extension Data: PersistentValue {
    /// A Binary column.
    public static var attributeType: AttributeType { .binary }
    /// Empty data.
    public static var valueForNull: Data { Data() }
    /// Creates data from the bytes of a binary or transformable value; returns nil for a value of another kind.
    public init?(attribute: AttributeValue?) {
        switch attribute {
        case .binary(let bytes)?, .transformable(let bytes)?: self.init(bytes)
        default: return nil
        }
    }
    /// The bytes, as a binary value.
    public var attributeValue: AttributeValue? { .binary([UInt8](self)) }
}

extension UUID: PersistentValue {
    /// A UUID column.
    public static var attributeType: AttributeType { .uuid }
    /// All zeros.
    public static var valueForNull: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
    /// Creates a UUID from 16 bytes; returns nil for any other value.
    public init?(attribute: AttributeValue?) {
        guard case .uuid(let bytes)? = attribute, bytes.count == 16 else { return nil }
        self = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
    /// The UUID's 16 bytes.
    public var attributeValue: AttributeValue? { .uuid(withUnsafeBytes(of: uuid) { Array($0) }) }
}

extension URL: PersistentValue {
    /// A URI column.
    public static var attributeType: AttributeType { .uri }
    /// The root directory, `file:///`.
    public static var valueForNull: URL { URL(fileURLWithPath: "/") }
    /// False: not every string in a URI column is a URL.
    public static var fillsColumn: Bool { false }
    /// Returns whether the stored string is a URL.
    public static func canBe(_ attribute: AttributeValue?) -> Bool { URL(attribute: attribute) != nil }
    /// Creates a URL from a URI or a string; returns nil if the string is not a URL.
    public init?(attribute: AttributeValue?) {
        guard case .uri(let text)? = attribute?.fitted(to: .uri) else { return nil }
        self.init(string: text)
    }
    /// The absolute URL, even if it is relative to another.
    public var attributeValue: AttributeValue? { .uri(absoluteString) }
}

extension Decimal: PersistentValue {
    /// A Decimal column.
    public static var attributeType: AttributeType { .decimal }
    /// Zero.
    public static var valueForNull: Decimal { 0 }
    /// False: not every string of digits is a `Decimal`.
    public static var fillsColumn: Bool { false }
    /// Returns whether the stored value converts to a `Decimal`.
    public static func canBe(_ attribute: AttributeValue?) -> Bool {
        if case .decimal(let digits)? = attribute, digits.isPlainNumber { return true }
        return Decimal(attribute: attribute) != nil
    }
    /// Creates a number from decimal digits, an integer, a double or a Boolean; returns nil for anything else.
    public init?(attribute: AttributeValue?) {
        guard case .decimal(let digits)? = attribute?.fitted(to: .decimal) else { return nil }
        self.init(string: digits)
    }
    /// The number's exact digits.
    public var attributeValue: AttributeValue? { .decimal(digits) }
}

extension String {
    /// Whether the text has at most 38 digits, with an optional sign and point. Any such text is a `Decimal`, so there
    /// is no need to create one.
    fileprivate var isPlainNumber: Bool {
        var (digits, points, signs) = (0, 0, 0)
        for byte in utf8 {
            switch byte {
            case 0x30...0x39: digits += 1
            case 0x2E where digits > 0: points += 1
            case 0x2D where digits == 0: signs += 1
            default: return false
            }
        }
        return (1...38).contains(digits) && points <= 1 && signs <= 1 && utf8.last != 0x2E
    }
}
