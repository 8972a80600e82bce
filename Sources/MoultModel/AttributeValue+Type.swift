extension AttributeValue {
    /// The same value as an attribute of a type keeps it, where it is a number of another kind or bytes or text under
    /// another name; any other value as it is.
    package func fitted(to type: AttributeType) -> AttributeValue {
        switch (self, type) {
        case (.integer(let number), .double), (.integer(let number), .float): .double(Double(number))
        case (.integer(let number), .decimal): .decimal("\(number)")
        case (.double(let number), .decimal): .decimal("\(number)")
        case (.integer(0), .boolean): .boolean(false)
        case (.integer(1), .boolean): .boolean(true)
        case (.boolean(let flag), .integer16), (.boolean(let flag), .integer32), (.boolean(let flag), .integer64):
            .integer(flag ? 1 : 0)
        case (.boolean(let flag), .double), (.boolean(let flag), .float): .double(flag ? 1 : 0)
        case (.boolean(let flag), .decimal): .decimal(flag ? "1" : "0")
        case (.double(let number), .integer16), (.double(let number), .integer32), (.double(let number), .integer64):
            Int64(exactly: number).map(AttributeValue.integer) ?? self
        case (.binary(let bytes), .transformable): .transformable(bytes)
        case (.string(let text), .uri): .uri(text)
        default: self
        }
    }
}
