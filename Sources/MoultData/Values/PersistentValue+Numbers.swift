import MoultModel

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
