/// Notes which keys a type asks a decoder for, and with which types; it decodes values of nothing (``BlankDecoder``).
struct FieldRecorder: Decoder {
    /// The record of what one type has asked for.
    final class Notes {
        var fields: [(name: String, type: Any.Type)] = []
        /// Whether the type asks for anything but the values of keys.
        var isIrregular = false
    }

    let notes = Notes()
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// Returns the record of what a type asks for, and whether it was content with what it got.
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
        return BlankDecoder().unkeyedContainer()
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        notes.isIrregular = true
        return BlankDecoder().singleValueContainer()
    }
}

private struct RecordingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let notes: FieldRecorder.Notes
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] {
        notes.isIrregular = true
        return []
    }

    // An optional value is asked for as any other, so that its type is known.
    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) -> Bool { false }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        notes.fields.append((key.stringValue, type))
        return try BlankDecoder().decode(type)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedDecodingContainer<Nested> {
        notes.isIrregular = true
        return BlankDecoder().container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer {
        notes.isIrregular = true
        return BlankDecoder().unkeyedContainer()
    }

    func superDecoder() -> any Decoder {
        notes.isIrregular = true
        return BlankDecoder()
    }

    func superDecoder(forKey key: Key) -> any Decoder { superDecoder() }
}
