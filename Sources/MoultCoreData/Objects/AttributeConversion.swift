import Foundation
import MoultBasics
import MoultModel

/// A conversion between the stored value of an attribute and its value in the app.
package struct AttributeConversion {
    let type: AttributeType
    /// The entity's name; empty if `name` alone identifies the attribute.
    var owner = ""
    let name: String
    var transformer: AnyAttributeTransformer?
    /// Whether decimals are `NSDecimalNumber`, and Foundation's classes are accepted as values.
    var takesFoundationClasses = false
    /// Whether an integer or Boolean attribute takes every number, as in Core Data, which checks the class alone: without
    /// its fraction, and as much of it as fits.
    var takesEveryNumber = false

    /// `Entity.attribute`
    private var place: String { owner.isEmpty ? name : "\(owner).\(name)" }

    package func foundation(_ value: AttributeValue) throws -> Any {
        switch value {
        case .integer(let number): NSNumber(value: number)
        case .boolean(let flag): NSNumber(value: flag)
        case .double(let number): NSNumber(value: number)
        case .decimal(let digits) where takesFoundationClasses: NSDecimalNumber(string: digits)
        case .decimal(let digits): Decimal(string: digits) ?? Decimal.nan
        case .string(let text): text
        case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
        case .binary(let bytes): Data(bytes)
        case .uuid(let bytes): UUID(bytes: bytes) as Any? ?? Data(bytes)
        case .uri(let text): URL(string: text) as Any? ?? text
        case .transformable(let bytes):
            try transformer.map { try $0.decode(Data(bytes)) } ?? Data(bytes)
        }
    }

    /// - Throws: `wrongType`.
    package func attributeValue(_ value: Any?) throws -> AttributeValue? {
        guard let given = value, !(given is NSNull) else { return nil }
        if let value = given as? AttributeValue { return value.fitted(to: type) }
        let value = takesFoundationClasses && transformer == nil ? plainValue(given) : given
        if type == .transformable { return try transformed(value) }
        if let value = converted(value) { return value }
        throw MigrationError(
            .wrongType, "A \(Swift.type(of: value)) cannot be the value of \(place), which is \(type.name).",
            place: place, remedy: "Give a value of the attribute's type.")
    }

    private func converted(_ value: Any) -> AttributeValue? {
        switch type {
        case .integer16, .integer32, .integer64: integer(value).map(AttributeValue.integer)
        case .boolean: flag(value).map(AttributeValue.boolean)
        case .double, .float: NumberReading.double(value).map(AttributeValue.double)
        case .decimal: decimal(value).map { .decimal("\($0)") }
        case .string: ((value as? String) ?? (value as? Substring).map(String.init)).map(AttributeValue.string)
        case .date: (value as? Date).map { .date($0.timeIntervalSinceReferenceDate) }
        case .binary, .transformable: bytes(value).map(AttributeValue.binary)
        case .uuid: (value as? UUID).map { .uuid($0.bytes) }
        case .uri: ((value as? URL)?.absoluteString ?? (value as? String)).map(AttributeValue.uri)
        case .undefined: Self.natural(value)
        case .objectID, .composite: nil
        }
    }

    private func integer(_ value: Any) -> Int64? {
        guard takesEveryNumber else { return NumberReading.integer(value) }
        guard let number = NumberReading.integer(value) ?? NumberReading.whole(value) else { return nil }
        return switch type {
        case .integer16: Int64(Int16(truncatingIfNeeded: number))
        case .integer32: Int64(Int32(truncatingIfNeeded: number))
        default: number
        }
    }

    private func flag(_ value: Any) -> Bool? {
        NumberReading.flag(value) ?? (takesEveryNumber ? NumberReading.double(value).map { $0 != 0 } : nil)
    }

    private func decimal(_ value: Any) -> Decimal? {
        switch value {
        case let number as Decimal: number
        case let number as NSDecimalNumber: number.decimalValue
        case let number as Float: Decimal(string: "\(number)")
        case let number as Double: Decimal(string: "\(number)")
        default: NumberReading.integer(value).map { Decimal($0) } ?? NumberReading.double(value).map { Decimal($0) }
        }
    }

    private func bytes(_ value: Any) -> [UInt8]? {
        (value as? Data).map { [UInt8]($0) } ?? (value as? [UInt8])
    }

    private func transformed(_ value: Any) throws -> AttributeValue {
        if let transformer { return .transformable([UInt8](try transformer.encode(value, place))) }
        if let bytes = bytes(value) { return .transformable(bytes) }
        throw MigrationError(
            .wrongType, "\(place) is transformable, and no transformer is registered for it.", place: place,
            remedy: "Register one with setTransformer(_:forName:), or give Data.")
    }

    /// Converts the value of an attribute without a type, which no store keeps.
    static func natural(_ value: Any) -> AttributeValue? {
        switch value {
        case let value as AttributeValue: value
        case let value as any AttributeValueConvertible: value.attributeValue
        case let value as NSNumber: .double(value.doubleValue)
        default: nil
        }
    }
}

extension UUID {
    var bytes: [UInt8] { withUnsafeBytes(of: uuid) { Array($0) } }

    /// Creates a UUID from sixteen bytes; nil for any other number of bytes.
    init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}

/// Returns the value of an attribute in Core Data's form.
package func foundationValue(_ value: AttributeValue) -> Any? {
    try? AttributeConversion(type: .undefined, name: "", takesFoundationClasses: true).foundation(value)
}

/// - Throws: `wrongType`.
package func attributeValue(_ value: Any, _ type: AttributeType, _ place: String) throws -> AttributeValue? {
    try AttributeConversion(type: type, name: place, takesFoundationClasses: true).attributeValue(value)
}

/// Converts Foundation's classes to the Swift types that a store accepts.
package func plainValue(_ value: Any) -> Any {
    // One question in place of six for each value of Swift's own types.
    guard value is NSObject else { return value }
    return switch value {
    case let number as NSDecimalNumber: number.decimalValue
    case let text as NSString: text.substring(from: 0)
    case let date as NSDate: Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate)
    case let data as NSData: Data(referencing: data)
    case let url as NSURL: URL(string: url.absoluteString) as Any? ?? url
    case let id as NSUUID: UUID(uuidString: id.uuidString) as Any? ?? id
    default: value
    }
}

/// Conversions of numbers passed by a caller: any Swift number type, or an `NSNumber`.
package enum NumberReading {
    /// Returns the number as an integer; nil if it is not one, or does not fit.
    package static func integer(_ value: Any) -> Int64? {
        switch value {
        case let flag as Bool where type(of: value) == Bool.self: flag ? 1 : 0
        case let number as any BinaryInteger: Int64(exactly: number)
        case let number as any BinaryFloatingPoint: Int64(exactly: Double(number))
        case let number as Decimal: Int64(exactly: number)
        case let number as NSNumber where ["d", "f"].contains(String(cString: number.objCType)):
            Int64(exactly: number.doubleValue)
        case let number as NSNumber: Int64(exactly: number)
        default: nil
        }
    }

    /// Returns the number without its fraction, or the nearest integer that fits; 0 for not a number.
    static func whole(_ value: Any) -> Int64? {
        // A `Double` has fewer digits.
        if let number = value as? Decimal, let whole = Int64("\(number)".prefix { $0 != "." }) { return whole }
        guard let number = double(value) else { return nil }
        if number.isNaN { return 0 }
        return Int64(exactly: number.rounded(.towardZero)) ?? (number < 0 ? .min : .max)
    }

    static func double(_ value: Any) -> Double? {
        switch value {
        case let number as any BinaryFloatingPoint: Double(number)
        case let number as any BinaryInteger: Double(number)
        case let number as Decimal: NSDecimalNumber(decimal: number).doubleValue
        case let number as NSNumber: number.doubleValue
        default: nil
        }
    }

    static func flag(_ value: Any) -> Bool? {
        if type(of: value) == Bool.self { return value as? Bool }
        switch integer(value) {
        case 0: return false
        case 1: return true
        default: return nil
        }
    }
}

extension Int64 {
    /// Nil if the number has a fraction or is too large.
    fileprivate init?(exactly number: Decimal) {
        self.init("\(number)")
    }
}

extension Decimal {
    /// The number's exact digits, the same as its `description` but twenty times faster.
    package var digits: String {
        let number = abs(Double(truncating: significand as NSDecimalNumber))
        // Every integer below 2^53 is exact as a `Double`. Zero, NaN and longer numbers take the slow path.
        guard number >= 1, number < 0x1p53 else { return description }
        var (rest, exponent) = (UInt64(number), exponent)
        // Room for 16 digits, a point, a sign, and the zeros for an 8-bit exponent.
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 160) { bytes in
            var start = bytes.count
            func put(_ byte: UInt8) {
                start -= 1
                bytes[start] = byte
            }
            while exponent > 0 {
                put(UInt8(ascii: "0"))
                exponent -= 1
            }
            while exponent < 0, rest % 10 == 0 {
                rest /= 10
                exponent += 1
            }
            while rest > 0 || exponent < 0 {
                put(UInt8(ascii: "0") + UInt8(rest % 10))
                rest /= 10
                exponent += 1
                guard exponent == 0 else { continue }
                put(UInt8(ascii: "."))
                if rest == 0 { put(UInt8(ascii: "0")) }
            }
            if isSignMinus { put(UInt8(ascii: "-")) }
            return String(decoding: bytes[start...], as: UTF8.self)
        }
    }
}
