import MoultModel

/// A model with inheritance resolved: every entity with all its properties, each found by name at once.
package struct ResolvedModel: Sendable {
    let model: ManagedObjectModel
    let entities: [String: ResolvedEntity]

    init(_ model: ManagedObjectModel) {
        self.model = model
        var entities: [String: ResolvedEntity] = [:]
        for entity in model.entities { entities[entity.name] = ResolvedEntity(entity, in: model) }
        self.entities = entities
    }

    subscript(name: String) -> ResolvedEntity? { entities[name] }

    /// The entity of that name and every one below it.
    func family(of name: String) -> [String] {
        guard let entity = model.entity(name) else { return [] }
        return [name] + model.descendants(of: entity).map(\.name)
    }
}

/// One entity with its own and its inherited properties.
package struct ResolvedEntity: Sendable {
    let description: EntityDescription
    let attributes: [String: AttributeDescription]
    let relationships: [String: RelationshipDescription]
    /// The entity itself, then those above it, nearest first.
    let lineage: [String]
    /// The entity that declares a property, for the inherited ones alone.
    private let inheritedFrom: [String: String]

    init(_ entity: EntityDescription, in model: ManagedObjectModel) {
        let lineage = model.lineage(of: entity)
        var attributes: [String: AttributeDescription] = [:]
        var relationships: [String: RelationshipDescription] = [:]
        var inheritedFrom: [String: String] = [:]
        for declaring in lineage {
            for attribute in declaring.attributes { attributes[attribute.name] = attribute }
            for relationship in declaring.relationships { relationships[relationship.name] = relationship }
            guard declaring.name != entity.name else { continue }
            for name in declaring.propertyNames { inheritedFrom[name] = declaring.name }
        }
        description = entity
        self.attributes = attributes
        self.relationships = relationships
        self.lineage = lineage.map(\.name)
        self.inheritedFrom = inheritedFrom
    }

    var name: String { description.name }
    var rootName: String { lineage.last ?? name }

    /// The entity that declares the property.
    func declaringEntity(of property: String) -> String { inheritedFrom[property] ?? name }

    func isKind(of ancestor: String) -> Bool { lineage.contains(ancestor) }
}
