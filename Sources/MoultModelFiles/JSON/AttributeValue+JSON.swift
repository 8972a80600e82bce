import MoultModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension AttributeValue {
    /// An object of one member, whose name is the kind of value: `{"integer":5}`, `{"binary":"AAE="}`.
    var json: JSONValue {
        switch self {
        case .integer(let number): ["integer": .integer(number)]
        case .boolean(let isTrue): ["boolean": .bool(isTrue)]
        case .double(let number): ["double": .double(number)]
        case .decimal(let text): ["decimal": .string(text)]
        case .string(let text): ["string": .string(text)]
        case .date(let seconds): ["date": .double(seconds)]
        case .binary(let bytes): ["binary": .string(bytes.base64)]
        case .uuid(let bytes): ["uuid": .string(bytes.base64)]
        case .uri(let text): ["uri": .string(text)]
        case .transformable(let bytes): ["transformable": .string(bytes.base64)]
        }
    }

    init(_ fields: JSONFields) throws {
        if let number = fields.member("integer")?.integer {
            self = .integer(number)
        } else if let isTrue = fields.member("boolean")?.bool {
            self = .boolean(isTrue)
        } else if let number = fields.member("double")?.number {
            self = .double(number)
        } else if let seconds = fields.member("date")?.number {
            self = .date(seconds)
        } else if let text = fields.member("decimal")?.string {
            self = .decimal(text)
        } else if let text = fields.member("string")?.string {
            self = .string(text)
        } else if let text = fields.member("uri")?.string {
            self = .uri(text)
        } else if let bytes = fields.member("binary")?.bytes {
            self = .binary(bytes)
        } else if let bytes = fields.member("uuid")?.bytes, bytes.count == 16 {
            self = .uuid(bytes)
        } else if let bytes = fields.member("transformable")?.bytes {
            self = .transformable(bytes)
        } else {
            throw fields.invalid("is not a value")
        }
    }
}

extension JSONValue {
    /// A number; JSON has no word for NaN and the infinities, which are strings.
    fileprivate var number: Double? { double ?? string.flatMap(Double.init) }

    /// The bytes of base64.
    fileprivate var bytes: [UInt8]? { string.flatMap { Data(base64Encoded: $0) }.map { [UInt8]($0) } }
}
