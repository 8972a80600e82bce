import MoultModel

/// Writes values to the columns of their form.
struct FormWriter {
    /// The values of the columns by path; a missing path is NULL.
    final class Columns {
        fileprivate(set) var values: [String: AttributeValue] = [:]
    }

    let columns = Columns()

    /// - Parameter path: the path of the column, or the common prefix of a form's several columns.
    /// - Throws: what the value's `encode(to:)` throws; `EncodingError` for a value that does not match its type.
    func add<Value: Encodable>(_ value: Value, _ form: ValueForm, _ path: String) throws {
        if let optional = value as? any NilTest {
            if let wrapped = optional.wrapped as? any Encodable { try add(wrapped, form, path) }
            return
        }
        switch form {
        case .plain: columns.values[path] = (value as? any PersistentValue)?.attributeValue
        case .rawValue: columns.values[path] = (value as? any RawRepresentable).flatMap(Self.rawValue)
        case .cases:
            guard let name = EnumCases.name(of: value) else { throw irregular(value, path) }
            columns.values["\(path).\(name)"] = .string(name)
        case .fields(let fields): try value.encode(to: FieldEncoder(writer: self, path: path, fields: fields))
        case .archive, .unknown: columns.values[path] = .transformable(try CodableForm.bytes(of: value))
        case .json, .encoded: columns.values[path] = .binary(try CodableForm.json(of: value))
        }
    }

    static func rawValue(_ value: any RawRepresentable) -> AttributeValue? {
        (value.rawValue as? any PersistentValue)?.attributeValue
    }

    fileprivate func irregular(_ value: Any, _ path: String) -> EncodingError {
        .invalidValue(value, .init(codingPath: [], debugDescription: "\(path) is kept as fields, each by its name."))
    }
}

/// Encodes a struct into the columns of its fields.
private struct FieldEncoder: Encoder {
    let writer: FormWriter
    let path: String
    let fields: [ValueForm.Field]

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(FieldContainer(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { RefusingContainer(encoder: self) }
    func singleValueContainer() -> any SingleValueEncodingContainer { RefusingContainer(encoder: self) }

    fileprivate func refuse(_ value: Any) -> EncodingError { writer.irregular(value, path) }
}

private struct FieldContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: FieldEncoder
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) throws {}

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        guard let field = encoder.fields.first(where: { $0.name == key.stringValue }) else {
            throw EncodingError.invalidValue(
                value, .init(codingPath: [], debugDescription: "\(encoder.path) has no field \(key.stringValue)."))
        }
        // A binary column of a composite always holds JSON, whatever form its type has elsewhere.
        if case .unknown = field.form {
            try encoder.writer.add(value, .encoded, "\(encoder.path).\(field.name)")
        } else {
            try encoder.writer.add(value, field.form, "\(encoder.path).\(field.name)")
        }
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { KeyedEncodingContainer(RefusingKeys(encoder: encoder)) }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { encoder.unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder }
    func superEncoder(forKey key: Key) -> any Encoder { encoder }
}

/// A container of a kind that a struct stored as fields may not use: writing to it throws.
private struct RefusingContainer: UnkeyedEncodingContainer, SingleValueEncodingContainer {
    let encoder: FieldEncoder
    var codingPath: [any CodingKey] { [] }
    var count: Int { 0 }

    func encodeNil() throws { throw encoder.refuse(Any?.none as Any) }
    func encode<Value: Encodable>(_ value: Value) throws { throw encoder.refuse(value) }
    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        KeyedEncodingContainer(RefusingKeys(encoder: encoder))
    }
    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
    func superEncoder() -> any Encoder { encoder }
}

private struct RefusingKeys<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: FieldEncoder
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) throws { throw encoder.refuse(Any?.none as Any) }
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { throw encoder.refuse(value) }
    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { KeyedEncodingContainer(RefusingKeys<Nested>(encoder: encoder)) }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { encoder.unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder }
    func superEncoder(forKey key: Key) -> any Encoder { encoder }
}
