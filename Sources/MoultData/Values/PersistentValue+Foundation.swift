import Foundation
import MoultModel

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
