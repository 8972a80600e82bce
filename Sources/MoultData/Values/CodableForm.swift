import Foundation
import MoultModel
import MoultPropertyList

/// How a `Codable` value without a column type of its own becomes bytes.
///
/// Lists of strings and of numbers are keyed archives, as SwiftData's are (STORE_FORMAT_MORE 4). How SwiftData keeps
/// anything else is not known: here it is JSON with sorted keys.
enum CodableForm {
    static func bytes<Value: Encodable>(of value: Value) throws -> [UInt8] {
        if let elements = archivable(value) {
            var archive = KeyedArchive.Builder()
            let array = archive.array(elements.map { archive.leaf($0) })
            return archive.archive(root: array)
        }
        return [UInt8](try encoder.encode(value))
    }

    static func value<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        guard bytes.starts(with: Array("bplist00".utf8)) else {
            return try decoder.decode(type, from: Data(bytes))
        }
        let elements = try KeyedArchive(parsing: bytes).root?.elements?.map(\.content) ?? []
        return try decoder.decode(type, from: try encoder.encode(elements.map(Element.init)))
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

    private static func archivable(_ value: Any) -> [PropertyList]? {
        switch value {
        case let texts as [String]: texts.map(PropertyList.string)
        case let numbers as [Int]: numbers.map { .integer(Int64($0)) }
        case let numbers as [Double]: numbers.map(PropertyList.real)
        case let flags as [Bool]: flags.map(PropertyList.boolean)
        default: nil
        }
    }

    /// An element of an archived list, as any decoder reads it.
    private struct Element: Encodable {
        let content: PropertyList

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch content {
            case .string(let text): try container.encode(text)
            case .integer(let number): try container.encode(number)
            case .real(let number): try container.encode(number)
            case .boolean(let flag): try container.encode(flag)
            default: try container.encodeNil()
            }
        }
    }
}
