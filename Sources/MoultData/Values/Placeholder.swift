/// A value to show if the stored value is missing or invalid: zero, an empty value, or the first value of the type.
enum Placeholder {
    /// Returns the stand-in; nil for a type without one, such as a class that decodes only what it has encoded.
    static func value<Value>(of type: Value.Type) -> Value? {
        (plain(type) ?? decoded(type)) as? Value ?? firstOfBits(type)
    }

    private static func plain(_ type: Any.Type) -> Any? {
        if let type = type as? any PersistentValue.Type { return type.valueForNull }
        if let type = type as? any CaseIterable.Type { return first(type) }
        return nil
    }

    private static func first<Value: CaseIterable>(_ type: Value.Type) -> Any? { type.allCases.first }

    private static func decoded(_ type: Any.Type) -> Any? {
        guard let type = type as? any Decodable.Type else { return nil }
        return try? DefaultValueDecoder().decode(type)
    }

    /// Returns the value with all bits zero, for a type of plain bits: the first case of an enum.
    static func firstOfBits<Value>(_ type: Value.Type) -> Value? {
        guard _isPOD(type) else { return nil }
        let size = max(MemoryLayout<Value>.size, 1)
        return withUnsafeTemporaryAllocation(byteCount: size, alignment: MemoryLayout<Value>.alignment) { bytes in
            bytes.initializeMemory(as: UInt8.self, repeating: 0)
            return bytes.baseAddress?.load(as: Value.self)
        }
    }
}

/// A decoder of blank values: zeros, empty strings and lists, nil, the first case of an enum. See ``Placeholder``.
struct DefaultValueDecoder: Decoder {
    private(set) var codingPath: [any CodingKey] = []
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// The maximum nesting depth, for types that contain themselves.
    private static var depthLimit: Int { 32 }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(BlankKeyedContainer(decoder: self))
    }

    func unkeyedContainer() -> any UnkeyedDecodingContainer { BlankContainer(decoder: self) }
    func singleValueContainer() -> any SingleValueDecodingContainer { BlankContainer(decoder: self) }

    /// - Throws: `DecodingError` for a type that rejects blank values.
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if let type = type as? any PersistentValue.Type, let value = type.valueForNull as? Value { return value }
        guard codingPath.count < Self.depthLimit else {
            throw DecodingError.dataCorrupted(.init(codingPath: codingPath, debugDescription: "\(type) never ends."))
        }
        do {
            return try Value(from: self)
        } catch {
            guard let first = Placeholder.firstOfBits(type) else { throw error }
            return first
        }
    }

    fileprivate func deeper(_ key: any CodingKey) -> DefaultValueDecoder {
        DefaultValueDecoder(codingPath: codingPath + [key])
    }
}

private struct BlankKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: DefaultValueDecoder
    var codingPath: [any CodingKey] { decoder.codingPath }
    /// The first key, for an enum with associated values, which expects exactly one key with the name of its case.
    var allKeys: [Key] { Placeholder.firstOfBits(Key.self).map { [$0] } ?? [] }

    func contains(_ key: Key) -> Bool { false }
    func decodeNil(forKey key: Key) -> Bool { true }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try decoder.deeper(key).decode(type)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedDecodingContainer<Nested> { decoder.deeper(key).container(keyedBy: type) }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer {
        decoder.deeper(key).unkeyedContainer()
    }
    func superDecoder() -> any Decoder { decoder }
    func superDecoder(forKey key: Key) -> any Decoder { decoder }
}

/// An empty list, and a single blank value.
private struct BlankContainer: UnkeyedDecodingContainer, SingleValueDecodingContainer {
    let decoder: DefaultValueDecoder
    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { 0 }
    var isAtEnd: Bool { true }
    private(set) var currentIndex = 0

    init(decoder: DefaultValueDecoder) { self.decoder = decoder }

    func decodeNil() -> Bool { true }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.deeper(Place()).decode(type) }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedDecodingContainer<Nested> {
        decoder.deeper(Place()).container(keyedBy: type)
    }
    func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer { decoder.deeper(Place()).unkeyedContainer() }
    func superDecoder() -> any Decoder { decoder }

    private struct Place: CodingKey {
        var stringValue: String { "0" }
        var intValue: Int? { 0 }
        init() {}
        init?(stringValue: String) { return nil }
        init?(intValue: Int) { return nil }
    }
}
