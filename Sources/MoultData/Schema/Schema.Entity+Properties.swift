import MoultModel

extension Schema.Entity {
    /// The properties that the class declares itself, in the order of the source.
    public var storedProperties: [any SchemaProperty] { own.map(\.described) }

    /// The properties that the parents declare, the eldest's first.
    public var inheritedProperties: [any SchemaProperty] { superentity.map(\.properties) ?? [] }

    /// All properties: the inherited ones first, then those that the class declares itself.
    public var properties: [any SchemaProperty] { inheritedProperties + storedProperties }

    /// The entity's own attributes, without inherited ones.
    public var attributes: Set<Schema.Attribute> {
        get { Set(attributesByName.values) }
        set { replace(\.isAttribute, with: newValue.map { .attribute($0) }) }
    }
    /// The entity's own relationships, without inherited ones.
    public var relationships: Set<Schema.Relationship> {
        get { Set(relationshipsByName.values) }
        set { replace(\.isRelationship, with: newValue.map { .relationship($0) }) }
    }

    private func replace(_ isOld: (any SchemaProperty) -> Bool, with new: [Property]) {
        own = own.filter { !isOld($0.described) } + new.sorted { $0.name.precedesInByteOrder($1.name) }
    }

    /// The class's own attributes.
    public var attributesByName: [String: Schema.Attribute] {
        own.reduce(into: [:]) { if case .attribute(let attribute) = $1 { $0[attribute.name] = attribute } }
    }

    /// The class's own relationships.
    public var relationshipsByName: [String: Schema.Relationship] {
        own.reduce(into: [:]) { if case .relationship(let found) = $1 { $0[found.name] = found } }
    }

    /// The properties that the class declares itself, by name.
    public var storedPropertiesByName: [String: any SchemaProperty] { Self.byName(storedProperties) }
    /// The properties that the parents declare, by name.
    public var inheritedPropertiesByName: [String: any SchemaProperty] { Self.byName(inheritedProperties) }

    private static func byName(_ properties: [any SchemaProperty]) -> [String: any SchemaProperty] {
        Dictionary(properties.map { ($0.name, $0) }) { first, _ in first }
    }
}
