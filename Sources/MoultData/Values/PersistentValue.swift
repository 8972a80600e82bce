import Foundation
import MoultModel

/// A type whose values an attribute has a column for. `Optional` of one is one too.
public protocol PersistentValue: SendableMetatype {
    static var attributeType: AttributeType { get }
    static var isOptionalAttribute: Bool { get }
    /// The value that stands for NULL in an attribute that is not optional.
    static var valueForNull: Self { get }

    /// Whether every value that a column of ``attributeType`` can hold is one of the type.
    static var fillsColumn: Bool { get }
    /// Whether a stored value is one of the type; nil is one of an optional.
    static func canBe(_ attribute: AttributeValue?) -> Bool

    /// Nil if the attribute holds a value of another kind.
    init?(attribute: AttributeValue?)
    var attributeValue: AttributeValue? { get }
}

extension PersistentValue {
    /// False: the attribute must have a value.
    public static var isOptionalAttribute: Bool { false }
    /// True: every value of the column is one of the type.
    public static var fillsColumn: Bool { true }

    /// Whether there is a value at all.
    public static func canBe(_ attribute: AttributeValue?) -> Bool { attribute != nil }
}

extension Optional: PersistentValue where Wrapped: PersistentValue {
    /// The column type of the wrapped type.
    public static var attributeType: AttributeType { Wrapped.attributeType }
    /// True: the attribute may be empty.
    public static var isOptionalAttribute: Bool { true }
    /// Whether every value of the column, apart from NULL, is one of the wrapped type.
    public static var fillsColumn: Bool { Wrapped.fillsColumn }
    /// Nil, which an empty column stands for.
    /// Whether the column is empty or holds a value of the wrapped type.
    @inlinable public static var valueForNull: Wrapped? { nil }
    @inlinable public static func canBe(_ attribute: AttributeValue?) -> Bool {
        attribute == nil || Wrapped.canBe(attribute)
    }
    /// The wrapped value; nil for an empty column and for a value of another kind, never a failure.
    @inlinable public init?(attribute: AttributeValue?) { self = Wrapped(attribute: attribute) }
    // A key path of a generic type is rebuilt each time.
    /// The wrapped value in its stored form; nil for nil.
    @inlinable public var attributeValue: AttributeValue? { flatMap { $0.attributeValue } }
}

extension Bool: PersistentValue {
    /// A Boolean column.
    public static var attributeType: AttributeType { .boolean }
    /// False.
    public static var valueForNull: Bool { false }
    /// The stored flag, or that of the numbers 0 and 1; nil for any other value.
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
    /// An empty text.
    public static var valueForNull: String { "" }
    /// The stored text; nil for a value of another kind.
    public init?(attribute: AttributeValue?) {
        guard case .string(let text)? = attribute else { return nil }
        self = text
    }
    /// The text, as a String value.
    public var attributeValue: AttributeValue? { .string(self) }
}

// An unsigned number has the attribute type of the signed one of its width, but UInt8 fits Integer 16.
// A number above the signed range is kept as the same bits.

extension PersistentValue where Self: FixedWidthInteger {
    /// Zero.
    /// Whether the column is Integer 64: each of its numbers is one of the type, above the signed range as the same
    /// bits.
    @inlinable public static var valueForNull: Self { 0 }
    public static var fillsColumn: Bool { attributeType == .integer64 }
    /// Narrower types than the column are; a number is as it is, or the same bits.
    @inlinable public static func canBe(_ attribute: AttributeValue?) -> Bool {
        guard let number = AttributeValue.integer(attribute) else { return false }
        return Self(exactly: number) != nil || Self(truncatingIfNeeded: number).attributeValue == .integer(number)
    }
    /// The stored integer, cut to the type's width, also of a Boolean or a whole double; nil for any other value.
    @inlinable public init?(attribute: AttributeValue?) {
        guard let number = AttributeValue.integer(attribute) else { return nil }
        self.init(truncatingIfNeeded: number)
    }
    /// The number in the column's width; an unsigned number above the signed range is kept as the same bits.
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
    /// The number of an integer, or of what an integer can be made of.
    @usableFromInline static func integer(_ value: AttributeValue?) -> Int64? {
        if case .integer(let number)? = value?.fitted(to: .integer64) { number } else { nil }
    }
}

extension PersistentValue where Self: BinaryFloatingPoint {
    /// Zero.
    /// The stored double or integer; nil for a value of another kind.
    @inlinable public static var valueForNull: Self { 0 }
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
    /// The date of the seconds since 2001-01-01 00:00:00 UTC; nil for a value of another kind.
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
    /// No bytes.
    public static var valueForNull: Data { Data() }
    /// The bytes of a binary or transformable value; nil for a value of another kind.
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
    /// The UUID of 16 bytes; nil for any other value.
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
    /// The root folder, `file:///`.
    public static var valueForNull: URL { URL(fileURLWithPath: "/") }
    /// False: not every text in a URI column is a URL.
    public static var fillsColumn: Bool { false }
    /// Whether the stored text is a URL.
    public static func canBe(_ attribute: AttributeValue?) -> Bool { URL(attribute: attribute) != nil }
    /// The URL of a URI or a text; nil for a text that is no URL.
    public init?(attribute: AttributeValue?) {
        guard case .uri(let text)? = attribute?.fitted(to: .uri) else { return nil }
        self.init(string: text)
    }
    /// The URL in full, also where it is relative to another.
    public var attributeValue: AttributeValue? { .uri(absoluteString) }
}

extension Decimal: PersistentValue {
    /// A Decimal column.
    public static var attributeType: AttributeType { .decimal }
    /// Zero.
    public static var valueForNull: Decimal { 0 }
    /// False: not every text of digits is a `Decimal`.
    public static var fillsColumn: Bool { false }
    /// Whether a `Decimal` can be made of the stored value.
    public static func canBe(_ attribute: AttributeValue?) -> Bool {
        if case .decimal(let digits)? = attribute, digits.isPlainNumber { return true }
        return Decimal(attribute: attribute) != nil
    }
    /// The number of decimal digits, an integer, a double or a Boolean; nil for anything else.
    public init?(attribute: AttributeValue?) {
        guard case .decimal(let digits)? = attribute?.fitted(to: .decimal) else { return nil }
        self.init(string: digits)
    }
    /// The number's exact digits.
    public var attributeValue: AttributeValue? { .decimal(digits) }
}

extension String {
    /// Whether it is at most 38 digits, a sign before and a point among them: what any `Decimal` can be, told without
    /// making one.
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
