import MoultModel

/// The form of a Swift type's values in a row, according to SwiftData's rules for types.
package indirect enum ValueForm: Sendable {
    /// One column of the type's own column type.
    case plain(any PersistentValue.Type)
    /// One column for the raw value of an enum, with the raw values of all cases if they are known.
    case rawValue(any PersistentValue.Type, [AttributeValue])
    /// One column for each case of an enum without raw values; the column of the current case holds the case's name.
    case cases([String])
    /// The columns of a struct's fields.
    case fields([Field])
    /// A keyed archive of an array, whose element type has a column type of its own.
    case archive(element: any PersistentValue.Type)
    /// JSON in a binary column: an array or a dictionary of other values.
    case json(Collection)
    /// JSON in a binary column, as `@Attribute(.codable)` requests.
    case encoded
    /// JSON in a transformable column, because SwiftData's form is unknown for this reason.
    case unknown(String)

    package enum Collection: Sendable {
        case array
        /// A dictionary with string keys and values without a column type of their own.
        case dictionary
        case otherDictionary
    }

    /// A field of a struct.
    package struct Field: Sendable {
        let name: String
        let form: ValueForm
        let isOptional: Bool
    }

    /// Returns the form of a type, or of the type that it wraps as an optional.
    static func of(_ type: Any.Type) -> ValueForm { of(type, depth: 0) }

    /// The maximum nesting depth, because types can contain themselves through optionals.
    private static var depthLimit: Int { 8 }

    private static func of(_ type: Any.Type, depth: Int) -> ValueForm {
        let type = withoutOptionals(type)
        if let plain = type as? any PersistentValue.Type { return .plain(plain) }
        if EnumCases.isEnum(type) { return ofEnum(type) }
        if let array = type as? any AnyArray.Type {
            if let element = array.elementType as? any PersistentValue.Type, !element.isOptionalAttribute {
                return .archive(element: element)
            }
            return .json(.array)
        }
        if let dictionary = type as? any AnyDictionary.Type {
            let isPlain = dictionary.valueType is any PersistentValue.Type
            return .json(dictionary.keyType == String.self && !isPlain ? .dictionary : .otherDictionary)
        }
        guard depth < depthLimit else { return .unknown("\(type) never ends") }
        return ofStruct(type, depth: depth)
    }

    private static func ofEnum(_ type: Any.Type) -> ValueForm {
        if let raw = type as? any RawRepresentable.Type { return ofRawValues(raw) }
        if let names = EnumCases.names(of: type) { return .cases(names) }
        return .unknown("no public store shows how SwiftData keeps an enum with associated values")
    }

    static func ofRawValues<Value: RawRepresentable>(_ type: Value.Type) -> ValueForm {
        guard let raw = Value.RawValue.self as? any PersistentValue.Type else {
            return .unknown("no public store shows how SwiftData keeps raw values of \(Value.RawValue.self)")
        }
        let values = EnumCases.values(of: type) ?? []
        return .rawValue(raw, values.compactMap { ($0.value.rawValue as? any PersistentValue)?.attributeValue })
    }

    /// Returns the fields in order of declaration, if the type decodes exactly its stored properties.
    private static func ofStruct(_ type: Any.Type, depth: Int) -> ValueForm {
        let unknown = ValueForm.unknown("no public store shows how SwiftData keeps a \(type)")
        guard let stored = StructFields.of(type), !stored.isEmpty, let decodable = type as? any Decodable.Type else {
            return unknown
        }
        let (notes, isWhole) = FieldRecorder.fields(of: decodable)
        guard !notes.isIrregular, !isWhole || notes.fields.count == stored.count, !notes.fields.isEmpty else {
            return unknown
        }
        // A type that rejects blank values may have stopped decoding before its last key.
        for (name, type) in notes.fields {
            guard let field = stored.first(where: { $0.name == name }),
                withoutOptionals(field.type) == withoutOptionals(type)
            else { return unknown }
        }
        return .fields(
            stored.map { field in
                Field(
                    name: field.name, form: of(field.type, depth: depth + 1),
                    isOptional: field.type is any NilTest.Type)
            })
    }

    /// The columns of a composite attribute, by path within it, each with its own form.
    var leaves: [(path: String, form: ValueForm)] {
        switch self {
        case .fields(let fields):
            fields.flatMap { field in
                switch field.form {
                case .fields, .cases: field.form.leaves.map { ("\(field.name).\($0.path)", $0.form) }
                default: [(field.name, field.form)]
                }
            }
        case .cases(let names): names.map { ($0, .cases([$0])) }
        case .plain, .rawValue, .archive, .json, .encoded, .unknown: []
        }
    }

    /// The paths of ``leaves``.
    var columns: [String] { leaves.map(\.path) }

    /// Returns the element types of two arrays, or the value types of two dictionaries; nil for any other pair.
    static func elements(of type: Any.Type, _ other: Any.Type) -> (Any.Type, Any.Type)? {
        if let array = type as? any AnyArray.Type, let other = other as? any AnyArray.Type {
            return (array.elementType, other.elementType)
        }
        if let dictionary = type as? any AnyDictionary.Type, let other = other as? any AnyDictionary.Type {
            return (dictionary.valueType, other.valueType)
        }
        return nil
    }
}

/// An array of an unknown element type.
private protocol AnyArray {
    static var elementType: Any.Type { get }
}

extension Array: AnyArray {
    fileprivate static var elementType: Any.Type { Element.self }
}

private protocol AnyDictionary {
    static var keyType: Any.Type { get }
    static var valueType: Any.Type { get }
}

extension Dictionary: AnyDictionary {
    fileprivate static var keyType: Any.Type { Key.self }
    fileprivate static var valueType: Any.Type { Value.self }
}

extension ValueForm {
    /// Returns the attribute of a property with the form.
    func attribute(_ name: String, isOptional: Bool) -> AttributeDescription {
        switch self {
        case .plain(let type): return AttributeDescription(name: name, type: type.attributeType, isOptional: isOptional)
        case .rawValue(let type, _):
            // The leaf of an enum is optional even if the property is not.
            let leaf = AttributeDescription(name: name, type: type.attributeType)
            return .composite(name, isOptional: isOptional, [leaf], userInfo: [AttributeDescription.enumTypeKey: "1"])
        case .cases(let names):
            return .composite(
                name, isOptional: isOptional, names.map { AttributeDescription(name: $0, type: .string) },
                userInfo: [
                    AttributeDescription.enumTypeKey: "1",
                    AttributeDescription.enumCasesKey: names.joined(separator: ","),
                ])
        case .fields(let fields):
            return .composite(name, isOptional: isOptional, fields.map { $0.leaf(isInOptional: isOptional) })
        case .archive(let element): return .archive(name, isOptional: isOptional, of: element)
        case .json(let collection):
            let isKnown = isOptional && collection == .dictionary
            return .json(name, isOptional: isOptional, isKnown ? nil : "no public store shows \(collection.words)")
        case .encoded:
            return .json(name, isOptional: isOptional, "no public store shows a property with @Attribute(.codable)")
        case .unknown(let reason):
            return AttributeDescription(name: name, type: .transformable, isOptional: isOptional, uncertainty: reason)
        }
    }
}

extension ValueForm.Field {
    /// Returns the attribute of the field in a composite attribute.
    ///
    /// - Parameter isInOptional: whether the struct or an enclosing one is optional, which makes all its leaves
    ///   optional.
    func leaf(isInOptional: Bool) -> AttributeDescription {
        let isOptional = isOptional || isInOptional
        switch form {
        case .rawValue(let type, _):
            var leaf = AttributeDescription(name: name, type: type.attributeType)
            if !isOptional { leaf.uncertainty = "no public store shows a required enum in a required struct" }
            return leaf
        case .cases:
            var composite = form.attribute(name, isOptional: isOptional)
            composite.uncertainty = "no public store shows an enum without raw values in a struct"
            return composite
        case .json(let collection):
            let isKnown = isOptional && collection != .otherDictionary
            return .json(name, isOptional: isOptional, isKnown ? nil : "no public store shows \(collection.words)")
        case .unknown(let reason): return .json(name, isOptional: isOptional, reason)
        case .plain, .fields, .archive, .encoded: return form.attribute(name, isOptional: isOptional)
        }
    }
}

extension ValueForm.Collection {
    fileprivate var words: String {
        switch self {
        case .array: "a required array of such values"
        case .dictionary: "a required dictionary"
        case .otherDictionary: "such a dictionary"
        }
    }
}

extension AttributeDescription {
    /// Returns a composite attribute, which is uncertain if any of its elements is.
    fileprivate static func composite(
        _ name: String, isOptional: Bool, _ elements: [AttributeDescription], userInfo: [String: String] = [:]
    ) -> AttributeDescription {
        AttributeDescription(
            name: name, type: .composite, isOptional: isOptional, elements: elements,
            uncertainty: elements.compactMap(\.uncertainty).first, userInfo: userInfo)
    }

    fileprivate static func archive(
        _ name: String, isOptional: Bool, of element: any PersistentValue.Type
    ) -> AttributeDescription {
        AttributeDescription(
            name: name, type: .transformable, isOptional: isOptional,
            valueTransformerName: "NSSecureUnarchiveFromData", attributeValueClassName: "Array<\(element)>")
    }

    fileprivate static func json(_ name: String, isOptional: Bool, _ uncertainty: String?) -> AttributeDescription {
        AttributeDescription(name: name, type: .binary, isOptional: isOptional, uncertainty: uncertainty)
    }

    /// The attribute's name or, for a composite, the paths of its leaves in order of declaration.
    package var paths: [String] { leaves.map(\.name) }

    /// Returns the attribute with default values for the columns with these paths.
    func withDefaults(_ values: [String: AttributeValue], at path: String? = nil) -> AttributeDescription {
        let path = path ?? name
        var copy = self
        if type == .composite {
            copy.elements = elements.map { $0.withDefaults(values, at: "\(path).\($0.name)") }
        } else if let value = values[path] {
            copy.defaultValue = value
        }
        return copy
    }
}
