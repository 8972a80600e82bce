@_spi(Reflection) import Swift

/// The stored properties of a struct, according to Swift's metadata.
enum StructFields {
    struct Field {
        let name: String
        let type: Any.Type
        /// The offset in bytes.
        let offset: Int
    }

    /// Returns the fields in order of declaration; nil for a type that is not a struct.
    static func of(_ type: Any.Type) -> [Field]? {
        guard MetadataKind.of(type) == .struct else { return nil }
        var fields: [Field] = []
        let isWhole = _forEachField(of: type) { name, offset, type, _ in
            fields.append(Field(name: String(cString: name), type: type, offset: offset))
            return true
        }
        return isWhole ? fields : nil
    }

    /// Returns the name of the stored property for a key path of one component; nil for a computed property.
    static func name<Root>(of keyPath: PartialKeyPath<Root>) -> String? {
        guard let offset = MemoryLayout<Root>.offset(of: keyPath) else { return nil }
        let type = type(of: keyPath).valueType
        return of(Root.self)?.first { $0.offset == offset && $0.type == type }?.name
    }
}

/// The cases of an enum without associated values.
///
/// Swift's metadata has the number of cases and their names in order of declaration; `CaseIterable` is not needed.
enum EnumCases {
    /// Returns whether the type is an enum other than an optional.
    static func isEnum(_ type: Any.Type) -> Bool { MetadataKind.of(type) == .enum }

    /// Returns the names of the cases in order of declaration; nil for a type that is not an enum, an enum with
    /// associated values, or an enum without reflection metadata.
    static func names(of type: Any.Type) -> [String]? {
        func names<Value>(_ type: Value.Type) -> [String]? { values(of: type)?.map(\.name) }
        return _openExistential(type, do: names)
    }

    /// Returns the name of a value's case; nil if the type is not an enum or has no reflection metadata.
    static func name<Value>(of value: Value) -> String? {
        guard isEnum(Value.self) else { return nil }
        return enumCaseName(value).map { String(cString: $0) }
    }

    static func value<Value>(named name: String, of type: Value.Type) -> Value? {
        values(of: type)?.first { $0.name == name }?.value
    }

    /// Returns every value with the name of its case, in order of declaration.
    static func values<Value>(of type: Value.Type) -> [(name: String, value: Value)]? {
        guard let count = caseCount(type), count > 0 else { return nil }
        // Such a value is the number of its case, in as few bytes as possible.
        let size = count == 1 ? 0 : count <= 1 << 8 ? 1 : count <= 1 << 16 ? 2 : 4
        guard _isPOD(type), MemoryLayout<Value>.size == size else { return nil }
        var values: [(name: String, value: Value)] = []
        for number in 0..<count {
            guard let value = value(number, of: type), let name = name(of: value) else { return nil }
            values.append((name, value))
        }
        return values
    }

    private static func value<Value>(_ number: Int, of type: Value.Type) -> Value? {
        let alignment = max(MemoryLayout<Value>.alignment, MemoryLayout<UInt32>.alignment)
        return withUnsafeTemporaryAllocation(byteCount: 8, alignment: alignment) { bytes in
            bytes.initializeMemory(as: UInt8.self, repeating: 0)
            bytes.storeBytes(of: UInt32(truncatingIfNeeded: number).littleEndian, as: UInt32.self)
            return bytes.baseAddress?.load(as: Value.self)
        }
    }

    /// Returns the number of cases of an enum; nil for any other type, or if a case has an associated value.
    private static func caseCount(_ type: Any.Type) -> Int? {
        guard isEnum(type) else { return nil }
        // Swift's ABI (TypeMetadata.rst): the second word of an enum's metadata is its nominal type descriptor, whose
        // sixth and seventh 32-bit words count the cases with and without associated values.
        let descriptor = unsafeBitCast(type, to: UnsafeRawPointer.self)
            .load(fromByteOffset: MemoryLayout<Int>.size, as: UnsafeRawPointer.self)
        let withValues = descriptor.load(fromByteOffset: 20, as: UInt32.self) & 0xFF_FFFF
        guard withValues == 0 else { return nil }
        return Int(descriptor.load(fromByteOffset: 24, as: UInt32.self))
    }
}

/// The kind of a type, from the first word of its metadata; nil for a class.
enum MetadataKind {
    static func of(_ type: Any.Type) -> _MetadataKind? {
        _MetadataKind(rawValue: unsafeBitCast(type, to: UnsafeRawPointer.self).load(as: UInt.self))
    }
}

/// The runtime function that the standard library uses to print an enum.
@_silgen_name("swift_EnumCaseName")
private func enumCaseName<Value>(_ value: Value) -> UnsafePointer<CChar>?

/// A decoder that records which keys a type decodes, and with which types. The decoded values are blank
/// (``DefaultValueDecoder``).
struct FieldRecorder: Decoder {
    /// The record of one type's decoding.
    final class Notes {
        var fields: [(name: String, type: Any.Type)] = []
        /// Whether the type decodes anything other than values for keys.
        var isIrregular = false
    }

    let notes = Notes()
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// Returns the record of a type's decoding, and whether decoding succeeded.
    static func fields(of type: any Decodable.Type) -> (notes: Notes, isWhole: Bool) {
        let recorder = FieldRecorder()
        let isWhole = (try? type.init(from: recorder)) != nil
        return (recorder.notes, isWhole)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(RecordingContainer(notes: notes))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        notes.isIrregular = true
        return DefaultValueDecoder().unkeyedContainer()
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        notes.isIrregular = true
        return DefaultValueDecoder().singleValueContainer()
    }
}

private struct RecordingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let notes: FieldRecorder.Notes
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] {
        notes.isIrregular = true
        return []
    }

    // Report every optional value as present, so that its type is recorded.
    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) -> Bool { false }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        notes.fields.append((key.stringValue, type))
        return try DefaultValueDecoder().decode(type)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedDecodingContainer<Nested> {
        notes.isIrregular = true
        return DefaultValueDecoder().container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer {
        notes.isIrregular = true
        return DefaultValueDecoder().unkeyedContainer()
    }

    func superDecoder() -> any Decoder {
        notes.isIrregular = true
        return DefaultValueDecoder()
    }

    func superDecoder(forKey key: Key) -> any Decoder { superDecoder() }
}
