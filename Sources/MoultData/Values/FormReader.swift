import MoultModel

/// Reads values from the columns of their form.
struct FormReader {
    let backing: any BackingData

    /// - Parameter path: the path of the column, or the common prefix of a form's several columns.
    /// - Throws: `DecodingError` if the columns hold no value of the type.
    func value<Value: Decodable>(_ type: Value.Type, _ form: ValueForm, _ path: String) throws -> Value {
        let found: Value?
        switch form {
        case .plain: found = plain(type, path)
        case .rawValue: found = backing.attribute(path).flatMap { Self.ofRawValue(type, $0) }
        case .cases(let names): found = try ofCase(type, names, path)
        case .fields(let fields):
            return try Value(from: FieldDecoder(reader: self, path: path, fields: fields, form: form))
        case .archive, .json, .encoded, .unknown:
            guard let bytes = backing.attribute(path)?.bytes else { throw none(type, path) }
            return try CodableForm.value(type, from: bytes)
        }
        guard let found else { throw none(type, path) }
        return found
    }

    /// Returns whether every column is NULL.
    func isEmpty(_ form: ValueForm, _ path: String) -> Bool {
        switch form {
        case .cases(let names): names.allSatisfy { backing.attribute("\(path).\($0)") == nil }
        case .fields(let fields): fields.allSatisfy { isEmpty($0.form, "\(path).\($0.name)") }
        case .plain, .rawValue, .archive, .json, .encoded, .unknown: backing.attribute(path) == nil
        }
    }

    private func plain<Value>(_ type: Value.Type, _ path: String) -> Value? {
        func read<Plain: PersistentValue>(_ plain: Plain.Type) -> Value? {
            let attribute = backing.attribute(path)
            return Plain.canBe(attribute) ? Plain(attribute: attribute) as? Value : nil
        }
        return (type as? any PersistentValue.Type).flatMap { read($0) }
    }

    static func ofRawValue<Value>(_ type: Value.Type, _ attribute: AttributeValue) -> Value? {
        func read<Raw: RawRepresentable>(_ type: Raw.Type) -> Any? {
            func raw<Plain: PersistentValue>(_ plain: Plain.Type) -> Any? {
                Plain.canBe(attribute) ? Plain(attribute: attribute) : nil
            }
            let value = (Raw.RawValue.self as? any PersistentValue.Type).flatMap { raw($0) } as? Raw.RawValue
            return value.flatMap(Raw.init(rawValue:))
        }
        return (type as? any RawRepresentable.Type).flatMap { read($0) } as? Value
    }

    /// Returns the case whose column holds its name, if there is exactly one.
    private func ofCase<Value>(_ type: Value.Type, _ names: [String], _ path: String) throws -> Value? {
        let used = names.filter { backing.attribute("\(path).\($0)") != nil }
        guard used.count == 1, let name = used.first, backing.attribute("\(path).\(name)") == .string(name) else {
            throw none(type, path)
        }
        return EnumCases.value(named: name, of: type)
    }

    private func none(_ type: Any.Type, _ path: String) -> DecodingError {
        .valueNotFound(type, .init(codingPath: [], debugDescription: "\(path) holds no \(type)."))
    }
}

extension AttributeValue {
    /// The bytes of a binary or a transformable value.
    var bytes: [UInt8]? {
        switch self {
        case .binary(let bytes), .transformable(let bytes): bytes
        default: nil
        }
    }
}

/// Decodes a struct from the columns of its fields.
private struct FieldDecoder: Decoder {
    let reader: FormReader
    let path: String
    let fields: [ValueForm.Field]
    /// The form of the value itself, for a type that decodes a single value.
    let form: ValueForm

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(FieldContainer(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw irregular }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw irregular }

    fileprivate var irregular: DecodingError {
        .dataCorrupted(.init(codingPath: [], debugDescription: "\(path) is kept as fields, each by its name."))
    }
}

private struct FieldContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: FieldDecoder
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { decoder.fields.compactMap { Key(stringValue: $0.name) }.filter(contains) }

    private func field(_ key: Key) -> (form: ValueForm, path: String)? {
        decoder.fields.first { $0.name == key.stringValue }.map { ($0.form, "\(decoder.path).\($0.name)") }
    }

    func contains(_ key: Key) -> Bool {
        field(key).map { form, path in form.canBeEmpty || !decoder.reader.isEmpty(form, path) } ?? false
    }

    func decodeNil(forKey key: Key) -> Bool { field(key).map { decoder.reader.isEmpty($0.form, $0.path) } ?? true }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        guard let (form, path) = field(key) else {
            throw DecodingError.keyNotFound(
                key, .init(codingPath: [], debugDescription: "\(decoder.path) has no field \(key.stringValue)."))
        }
        return try decoder.reader.value(type, form, path)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { throw decoder.irregular }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw decoder.irregular }
    func superDecoder() throws -> any Decoder { throw decoder.irregular }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw decoder.irregular }
}

extension ValueForm {
    /// Whether a value may leave all its columns NULL, like a struct of optional fields.
    fileprivate var canBeEmpty: Bool {
        if case .fields(let fields) = self { fields.allSatisfy { $0.isOptional || $0.form.canBeEmpty } } else { false }
    }
}
