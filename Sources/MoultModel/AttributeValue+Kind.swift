extension AttributeValue {
    /// The kind of value, such as `a String`. Messages name the kind, never the value itself, which belongs to a row.
    package var kindPhrase: String {
        switch self {
        case .integer: "an Integer"
        case .boolean: "a Boolean"
        case .double: "a Double"
        case .decimal: "a Decimal"
        case .string: "a String"
        case .date: "a Date"
        case .binary: "a Binary"
        case .uuid: "a UUID"
        case .uri: "a URI"
        case .transformable: "a Transformable"
        }
    }
}
