import Foundation
import MoultBasics
import MoultModel

/// Between the value of an attribute and what an application has for it.
package struct AttributeConversion {
    let type: AttributeType
    /// `Entity.attribute`
    let place: String
    let transformer: AnyAttributeTransformer?

    init(type: AttributeType, place: String, transformer: AnyAttributeTransformer?) {
        self.type = type
        self.place = place
        self.transformer = transformer
    }

    /// For an attribute without a transformer.
    package init(type: AttributeType, place: String) { self.init(type: type, place: place, transformer: nil) }

    package func foundation(_ value: AttributeValue) throws -> Any {
        switch value {
        case .integer(let number): NSNumber(value: number)
        case .boolean(let flag): NSNumber(value: flag)
        case .double(let number): NSNumber(value: number)
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
        guard let value, !(value is NSNull) else { return nil }
        if let value = value as? AttributeValue { return value.fitted(to: type) }
        if type == .transformable { return try transformed(value) }
        if let value = converted(value) { return value }
        throw MigrationError(
            .wrongType, "A \(Swift.type(of: value)) cannot be the value of \(place), which is \(type.name).",
            place: place, remedy: "Give a value of the attribute's type.")
    }

    private func converted(_ value: Any) -> AttributeValue? {
        switch type {
        case .integer16, .integer32, .integer64: NumberReading.integer(value).map(AttributeValue.integer)
        case .boolean: NumberReading.flag(value).map(AttributeValue.boolean)
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

    /// For an attribute without a type, which no store keeps.
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

    /// Nil for anything but sixteen bytes.
    init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
