extension Schema {
    /// One model: its own properties; inherited ones are the parent's.
    public struct Entity: Sendable, Hashable {
        public let name: String
        public let superentityName: String?
        /// In the order of the source.
        public internal(set) var storedProperties: [Property]
        /// The names of the properties that no two objects share together, `.unique` ones first.
        public let uniquenessConstraints: [[String]]
        public let indices: [Indexed]

        public var attributes: Set<Attribute> { Set(attributesByName.values) }
        public var relationships: Set<Relationship> { Set(relationshipsByName.values) }

        public var attributesByName: [String: Attribute] {
            storedProperties.reduce(into: [:]) {
                if case .attribute(let attribute) = $1 { $0[attribute.name] = attribute }
            }
        }

        public var relationshipsByName: [String: Relationship] {
            storedProperties.reduce(into: [:]) { if case .relationship(let found) = $1 { $0[found.name] = found } }
        }
    }
}

extension Schema.Entity {
    public enum Property: Sendable, Hashable {
        case attribute(Schema.Attribute)
        case relationship(Schema.Relationship)

        public var name: String {
            switch self {
            case .attribute(let attribute): attribute.name
            case .relationship(let relationship): relationship.name
            }
        }
    }

    /// Properties that are looked up together.
    public struct Indexed: Sendable, Hashable {
        public let properties: [String]
        public let isRTree: Bool
    }
}
