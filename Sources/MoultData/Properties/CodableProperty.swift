import Foundation
import MoultBasics
import MoultModel

/// A property of any other `Codable` type, including optionals, stored in the form of the type (``ValueForm``).
public struct _CodableProperty<Value: Codable>: _ModelProperty {
    private let form: ValueForm
    private let isOptional: Bool
    /// The paths of the columns, relative to a composite attribute; empty for any other attribute.
    private let columns: [String]

    init() { self.init(form: ValueForm.of(Value.self)) }

    init(form: ValueForm) {
        self.form = form
        isOptional = Value.self is any OptionalValue.Type
        columns = form.columns
    }

    /// Decodes the value. A value that cannot be decoded reads as nil or as a stand-in, and the next save throws the
    /// error.
    public func read(_ key: String, of backing: any BackingData) -> Value {
        do {
            if let value = try value(key, of: backing) { return value }
        } catch {
            // A deleted row has no values at all.
            if !FormReader(backing: backing).isEmpty(form, form.start(key)) {
                backing.refuse(key, .notDecoded(Value.self, key, of: backing, error))
            }
        }
        if isOptional, let none = Self.none { return none }
        return standIn(key, of: backing)
    }

    /// Decodes the value; returns nil if an optional is nil, or if a required value is missing altogether.
    private func value(_ key: String, of backing: any BackingData) throws -> Value? {
        let (reader, path) = (FormReader(backing: backing), form.start(key))
        if reader.isEmpty(form, path) {
            if isOptional { return Self.none }
            guard case .fields = form else { return nil }
        }
        guard let wrapped = (Value.self as? any OptionalValue.Type)?.decodableType else {
            return try reader.value(Value.self, form, path)
        }
        func read<Wrapped: Decodable>(_ type: Wrapped.Type) throws -> Value? {
            try reader.value(type, form, path) as? Value
        }
        return try read(wrapped)
    }

    /// Encodes the value and sets its columns. If it cannot be encoded, the next save throws the error.
    public func write(_ value: Value, _ key: String, to backing: any BackingData) {
        do {
            let values = try columnValues(of: value, key)
            let paths = columns.isEmpty ? [form.start(key)] : columns.map { "\(key).\($0)" }
            backing.setElements(key, paths.map { ($0, values[$0]) })
        } catch {
            backing.refuse(key, .notEncoded(Value.self, key, of: backing, error))
        }
    }

    /// True: a value may have several columns.
    public var readsColumnsTogether: Bool { true }

    /// Returns whether the columns decode to a value of the type.
    public func canRead(_ key: String, of backing: any BackingData) -> Bool {
        do {
            return try value(key, of: backing) != nil
        } catch {
            return false
        }
    }

    /// Returns an attribute in the form of the type, composite if the form has several columns.
    public func shape(_ name: String) -> _PropertyShape { .attribute(form.attribute(name, isOptional: isOptional)) }

    /// Returns the columns of the encoded value, by path.
    ///
    /// - Throws: what encoding the value throws.
    public func columnValues(of value: Value, _ key: String) throws -> [String: AttributeValue] {
        let writer = FormWriter()
        try writer.add(value, form, form.start(key))
        return writer.columns.values
    }

    /// A nil of the type, if the type is optional.
    private static var none: Value? { (Value.self as? any OptionalValue.Type)?.none as? Value }
}

extension ValueForm {
    /// Returns the path of a property's only column, or the common prefix of its columns.
    fileprivate func start(_ key: String) -> String { if case .rawValue = self { "\(key).\(key)" } else { key } }
}

/// The common interface of all optionals.
protocol OptionalValue {
    static var none: Self { get }
    static var decodableType: (any Decodable.Type)? { get }
}

extension Optional: OptionalValue {
    static var decodableType: (any Decodable.Type)? { Wrapped.self as? any Decodable.Type }
}

extension MigrationError {
    fileprivate static func notEncoded(
        _ type: Any.Type, _ key: String, of backing: any BackingData, _ error: any Error
    ) -> MigrationError {
        MigrationError(
            .wrongType, "A value of \(type) could not be encoded.",
            place: "\(backing.persistentModelID.entityName).\(key)",
            remedy: "Give a value that its type can encode; the property has its old value.", cause: "\(error)")
    }

    fileprivate static func notDecoded(
        _ type: Any.Type, _ key: String, of backing: any BackingData, _ error: any Error
    ) -> MigrationError {
        MigrationError(
            .wrongType, "The value in the store is not of type \(type).",
            place: "\(backing.persistentModelID.entityName).\(key)",
            remedy: "Make the type decode what its earlier versions wrote, or convert the values in a migration.",
            cause: "\(error)")
    }
}

/// The encoding of a `Codable` value without columns of its own, as bytes.
///
/// As in SwiftData, an array of strings, numbers or flags is a keyed archive of an `NSArray`, and any other array of
/// plain values is a keyed archive of its JSON as `NSData`. Anything else is JSON with sorted keys.
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

    /// - Throws: `EncodingError.invalidValue` for a value that could not be decoded again.
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

    /// Returns whether JSON may have a number that Foundation writes but cannot read: a `Decimal` that is NaN or very
    /// large.
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
        guard bytes.starts(with: Array("bplist00".utf8)) else { return try decoder.decode(type, from: Data(bytes)) }
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

    /// An element of an archived list, which any decoder can read.
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

/// An array whose element type has a column type of its own.
private protocol ArchivedArray {
    /// The elements for an `NSArray`; nil if they are stored as JSON instead.
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
