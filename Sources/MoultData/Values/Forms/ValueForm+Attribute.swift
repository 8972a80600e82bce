import MoultModel

extension ValueForm {
    /// The attribute that a property of the form becomes.
    func attribute(_ name: String, isOptional: Bool) -> AttributeDescription {
        switch self {
        case .plain(let type): return AttributeDescription(name: name, type: type.attributeType, isOptional: isOptional)
        case .rawValue(let type, _):
            // The leaf of an enum is optional also where the property is not.
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
            return AttributeDescription(
                name: name, type: .transformable, isOptional: isOptional, uncertainty: reason)
        }
    }
}

extension ValueForm.Field {
    /// Returns the attribute that the field is in a composite attribute.
    ///
    /// - Parameter isInOptional: whether the struct is optional, or one that it lies in: all its leaves are then.
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
    /// A composite is as uncertain as any of its elements.
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

    /// The attribute's name, or the paths of a composite's leaves in the order of declaration.
    package var paths: [String] { leaves.map(\.name) }

    /// The attribute with default values for the columns of these paths.
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
