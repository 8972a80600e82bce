import MoultModel

extension ResolvedMapping {
    /// The mapping as a person reads it, a line for each entity and property; equal mappings have equal text.
    package var lines: [String] { entityMappings.flatMap(\.lines) }
}

extension ResolvedEntityMapping {
    /// `Cat from Kitty`, and below it `name from title`.
    package var lines: [String] {
        let condition = (predicate.map { " where \($0.format)" } ?? "") + (policy.map { " by \($0)" } ?? "")
        switch (sourceEntityName, destinationEntityName) {
        case (let source?, nil): return ["\(source)\(condition) is removed"]
        case (nil, let destination): return ["\(destination ?? "")\(condition) is new"]
        case (let source?, let destination?):
            let properties =
                attributes.map { ($0.key, $0.value.text) } + relationships.map { ($0.key, $0.value.text) }
            return ["\(destination) from \(source)\(condition)"]
                + properties.sorted { $0.0.precedesInByteOrder($1.0) }.map { "  \($0.0) \($0.1)" }
        }
    }
}

extension AttributeSource {
    /// `from title`, `from title, or "none" where there is no value`, `is 3`.
    package var text: String {
        switch self {
        case .attribute(let name, nil): "from \(name)"
        case .attribute(let name, let value?): "from \(name), or \(value.text) where there is no value"
        case .constant(let value): "is \(value?.text ?? "nil")"
        case .expression(let expression): "is \(expression.format)"
        }
    }
}

extension RelationshipSource {
    package var text: String {
        switch self {
        case .relationship(let name): "from \(name)"
        case .empty: "starts empty, or as its inverse has it"
        case .path(let path, let mapping):
            "from what became of \((["$source"] + path).joined(separator: "."))" + (mapping.map { " by \($0)" } ?? "")
        }
    }
}
