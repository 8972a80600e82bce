extension AttributeValue {
    /// What kind of value it is, such as `a String`; messages say that and never the value itself, which is a row's.
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
