import MoultModel

/// A default value for an attribute, as an attribute of XML.
package struct DefaultExample: Sendable {
    package let name: String
    package let value: String

    /// Nil for a type that has no default value in a model file, and where the value might break a validation rule.
    package init?(for attribute: AttributeDescription) {
        let rules = attribute.validation
        guard rules.minimum == nil, rules.maximum == nil, rules.regularExpression == nil, rules.rules.isEmpty,
            let value = Self.value(for: attribute.type)
        else { return nil }
        name = attribute.type == .date ? "defaultDateTimeInterval" : "defaultValueString"
        self.value = value
    }

    /// `defaultValueString="0"`.
    package var text: String { "\(name)=\"\(value)\"" }

    /// Returns instructions to correct a required attribute without a default value in a model file, or by an answer.
    static func detail(of attribute: AttributeDescription, at place: String) -> Remedy {
        guard let example = DefaultExample(for: attribute) else {
            return value(for: attribute.type) == nil
                ? "In a model file, type \(attribute.type.name) has no default value, so set optional=\"YES\"."
                : "In a model file, that is defaultValueString with a value that the validation rules allow, or "
                    + "optional=\"YES\"."
        }
        return """
            In a model file, that is \(example.text) or optional="YES". Without a change of the model, \
            \(.answer, .anyModel, .set("\(place)=value:\(example.value)")) gives the existing objects one value.
            """
    }

    private static func value(for type: AttributeType) -> String? {
        switch type {
        case .integer16, .integer32, .integer64, .date: "0"
        case .decimal, .double, .float: "0.0"
        case .boolean: "NO"
        case .string: ""
        case .undefined, .binary, .uuid, .uri, .transformable, .objectID, .composite: nil
        }
    }
}
