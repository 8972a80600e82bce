extension Schema.Entity {
    /// What the class declares itself, in the order of the source.
    public var storedProperties: [any SchemaProperty] { own.map(\.described) }

    /// What the parents declare, the eldest's first.
    public var inheritedProperties: [any SchemaProperty] { superentity.map(\.properties) ?? [] }

    /// All properties: the inherited ones first, then those that the class declares itself.
    public var properties: [any SchemaProperty] { inheritedProperties + storedProperties }

    /// The class's own attributes, without inherited ones.
    public var attributes: Set<Schema.Attribute> { Set(attributesByName.values) }
    /// The class's own relationships, without inherited ones.
    public var relationships: Set<Schema.Relationship> { Set(relationshipsByName.values) }

    /// The class's own attributes.
    public var attributesByName: [String: Schema.Attribute] {
        own.reduce(into: [:]) { if case .attribute(let attribute) = $1 { $0[attribute.name] = attribute } }
    }

    /// The class's own relationships.
    public var relationshipsByName: [String: Schema.Relationship] {
        own.reduce(into: [:]) { if case .relationship(let found) = $1 { $0[found.name] = found } }
    }

    /// What the class declares itself, by name.
    public var storedPropertiesByName: [String: any SchemaProperty] { Self.byName(storedProperties) }
    /// What the parents declare, by name.
    public var inheritedPropertiesByName: [String: any SchemaProperty] { Self.byName(inheritedProperties) }

    private static func byName(_ properties: [any SchemaProperty]) -> [String: any SchemaProperty] {
        Dictionary(properties.map { ($0.name, $0) }) { first, _ in first }
    }
}
