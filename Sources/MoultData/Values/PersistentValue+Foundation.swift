import Foundation
import MoultModel

extension Date: PersistentValue {
    public static var attributeType: AttributeType { .date }
    /// 2001-01-01, the date that is stored as 0.
    public static var valueForNull: Date { Date(timeIntervalSinceReferenceDate: 0) }
    public init?(attribute: AttributeValue?) {
        guard case .date(let seconds)? = attribute else { return nil }
        self.init(timeIntervalSinceReferenceDate: seconds)
    }
    public var attributeValue: AttributeValue? { .date(timeIntervalSinceReferenceDate) }
}

extension Data: PersistentValue {
    public static var attributeType: AttributeType { .binary }
    public static var valueForNull: Data { Data() }
    public init?(attribute: AttributeValue?) {
        switch attribute {
        case .binary(let bytes)?, .transformable(let bytes)?: self.init(bytes)
        default: return nil
        }
    }
    public var attributeValue: AttributeValue? { .binary([UInt8](self)) }
}

extension UUID: PersistentValue {
    public static var attributeType: AttributeType { .uuid }
    /// All zeros.
    public static var valueForNull: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
    public init?(attribute: AttributeValue?) {
        guard case .uuid(let bytes)? = attribute, bytes.count == 16 else { return nil }
        self = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
    public var attributeValue: AttributeValue? { .uuid(withUnsafeBytes(of: uuid) { Array($0) }) }
}

extension URL: PersistentValue {
    public static var attributeType: AttributeType { .uri }
    public static var valueForNull: URL { URL(fileURLWithPath: "/") }
    public static var fillsColumn: Bool { false }
    public static func canBe(_ attribute: AttributeValue?) -> Bool { URL(attribute: attribute) != nil }
    public init?(attribute: AttributeValue?) {
        guard case .uri(let text)? = attribute?.fitted(to: .uri) else { return nil }
        self.init(string: text)
    }
    public var attributeValue: AttributeValue? { .uri(absoluteString) }
}

extension Decimal: PersistentValue {
    public static var attributeType: AttributeType { .decimal }
    public static var valueForNull: Decimal { 0 }
    public static var fillsColumn: Bool { false }
    public static func canBe(_ attribute: AttributeValue?) -> Bool {
        if case .decimal(let digits)? = attribute, digits.isPlainNumber { return true }
        return Decimal(attribute: attribute) != nil
    }
    public init?(attribute: AttributeValue?) {
        guard case .decimal(let digits)? = attribute?.fitted(to: .decimal) else { return nil }
        self.init(string: digits)
    }
    public var attributeValue: AttributeValue? { .decimal("\(self)") }
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
