import Foundation
import MoultModel
import MoultPropertyList

/// The encoding of a `Codable` value without columns of its own as bytes.
///
/// An array of strings, numbers or flags is a keyed archive of an `NSArray`, any other array of plain values one of the
/// JSON's `NSData`, as SwiftData's are. Anything else is JSON, with sorted keys.
enum CodableForm {
    static func bytes<Value: Encodable>(of value: Value) throws -> [UInt8] {
        guard let array = value as? any ArchivedArray else { return try json(of: value) }
        var archive = KeyedArchive.Builder()
        guard let elements = array.archived else {
            let data = archive.leaf(.data(try json(of: value)))
            return archive.archive(root: data)
        }
        let root = archive.array(elements.map { archive.leaf($0) })
        return archive.archive(root: root)
    }

    /// - Throws: `EncodingError.invalidValue` for what could not be decoded again.
    static func json<Value: Encodable>(of value: Value) throws -> [UInt8] {
        let data = try encoder.encode(value)
        if mayHoldUnreadableNumber(data), let type = Value.self as? any Decodable.Type {
            do { _ = try decoder.decode(type, from: data) } catch {
                throw EncodingError.invalidValue(
                    value, .init(codingPath: [], debugDescription: "It holds a number that could not be read again."))
            }
        }
        return [UInt8](data)
    }

    /// Foundation writes a `Decimal` that is not a number, and the largest ones, as what it does not read.
    private static func mayHoldUnreadableNumber(_ json: Data) -> Bool {
        var digits = 0
        for byte in json {
            if byte == UInt8(ascii: "N") { return true }
            digits = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) ? digits + 1 : 0
            if digits > 38 { return true }
        }
        return false
    }

    static func value<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        guard bytes.starts(with: Array("bplist00".utf8)) else {
            return try decoder.decode(type, from: Data(bytes))
        }
        guard let root = try KeyedArchive(parsing: bytes).root else { throw noArray(type) }
        if let json = root.data { return try decoder.decode(type, from: Data(json)) }
        guard let elements = root.elements?.map(\.content) else { throw noArray(type) }
        return try decoder.decode(type, from: try encoder.encode(elements.map(Element.init)))
    }

    private static func noArray(_ type: Any.Type) -> DecodingError {
        .valueNotFound(type, .init(codingPath: [], debugDescription: "The archive holds neither an array nor data."))
    }

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return encoder
    }

    private static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return decoder
    }

    /// An element of an archived list, as any decoder reads it.
    private struct Element: Encodable {
        let content: PropertyList

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch content {
            case .string(let text): try container.encode(text)
            case .integer(let number): try container.encode(number)
            case .unsignedInteger(let number): try container.encode(number)
            case .real(let number): try container.encode(number)
            case .boolean(let flag): try container.encode(flag)
            default: try container.encodeNil()
            }
        }
    }
}

/// An array whose values have columns of their own elsewhere.
private protocol ArchivedArray {
    /// The elements of an `NSArray`; nil if they stand in JSON instead.
    var archived: [PropertyList]? { get }
}

extension Array: ArchivedArray where Element: PersistentValue {
    fileprivate var archived: [PropertyList]? {
        guard [.string, .boolean, .integer16, .integer32, .integer64, .double, .float].contains(Element.attributeType)
        else { return nil }
        let elements = compactMap(archived)
        return elements.count == count ? elements : nil
    }

    private func archived(_ element: Element) -> PropertyList? {
        if let number = element as? any FixedWidthInteger {
            return Int64(exactly: number).map(PropertyList.integer)
                ?? UInt64(exactly: number).map(PropertyList.unsignedInteger)
        }
        return switch element.attributeValue {
        case .string(let text)?: .string(text)
        case .boolean(let flag)?: .boolean(flag)
        case .double(let number)?: .real(number)
        default: nil
        }
    }
}
