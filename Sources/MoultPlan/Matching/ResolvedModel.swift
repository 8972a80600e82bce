import MoultModel

/// A model with inheritance and composite attributes resolved: every entity with all its properties, each found by name
/// at once. A composite attribute is there as its leaves, each named by its path, so that all that is known of
/// attributes, from a rename to a default value, holds for them.
package struct ResolvedModel: Sendable {
    let model: ManagedObjectModel
    let entities: [String: ResolvedEntity]

    /// - Parameter previous: the version before, whose unchanged entities are taken over as they are: what is
    ///   identical need not be compared again.
    init(_ model: ManagedObjectModel, after previous: ResolvedModel? = nil) {
        self.model = model
        var entities: [String: ResolvedEntity] = [:]
        for entity in model.entities {
            let lineage = model.lineage(of: entity).map(\.flattened)
            if let known = previous?[entity.name], known.lineage == lineage {
                entities[entity.name] = known
            } else {
                entities[entity.name] = ResolvedEntity(lineage)
            }
        }
        self.entities = entities
    }

    subscript(name: String) -> ResolvedEntity? { entities[name] }

    /// The entity of that name and every one below it.
    func family(of name: String) -> [String] {
        guard let entity = model.entity(name) else { return [] }
        return [name] + model.descendants(of: entity).map(\.name)
    }
}

/// One entity with its own and its inherited properties. Identical means that nothing of it changed.
package final class ResolvedEntity: Sendable {
    let description: EntityDescription
    let attributes: [String: AttributeDescription]
    let relationships: [String: RelationshipDescription]
    /// The entity itself, then those above it, nearest first.
    let lineage: [EntityDescription]
    /// Each attribute and relationship as its own source.
    let sameNames: [String: String]
    /// Each attribute that is stored and not derived as its own source.
    let sameAttributes: [String: AttributeSource]
    /// The entity that declares a property, for the inherited ones alone.
    private let inheritedFrom: [String: String]

    /// - Parameter lineage: the entity, then those above it; never empty.
    init(_ lineage: [EntityDescription]) {
        var attributes: [String: AttributeDescription] = [:]
        var relationships: [String: RelationshipDescription] = [:]
        var inheritedFrom: [String: String] = [:]
        for (distance, declaring) in lineage.enumerated() {
            for attribute in declaring.attributes { attributes[attribute.name] = attribute }
            for relationship in declaring.relationships { relationships[relationship.name] = relationship }
            guard distance > 0 else { continue }
            for name in declaring.propertyNames { inheritedFrom[name] = declaring.name }
        }
        description = lineage.first ?? EntityDescription(name: "")
        self.attributes = attributes
        self.relationships = relationships
        self.lineage = lineage
        self.inheritedFrom = inheritedFrom
        sameNames = Dictionary(
            (Array(attributes.keys) + Array(relationships.keys)).map { ($0, $0) },
            uniquingKeysWith: { first, _ in first })
        sameAttributes = attributes.filter { $0.value.isStored && $0.value.derivation == nil }
            .mapValues { .attribute($0.name, ifNil: nil) }
    }

    var name: String { description.name }
    var rootName: String { lineage.last?.name ?? name }

    /// The entity that declares the property.
    func declaringEntity(of property: String) -> String { inheritedFrom[property] ?? name }

    func isKind(of ancestor: String) -> Bool { lineage.contains { $0.name == ancestor } }
}

extension EntityDescription {
    /// The entity with the leaves of its composite attributes in place of these.
    fileprivate var flattened: EntityDescription {
        guard attributes.contains(where: { $0.type == .composite }) else { return self }
        var entity = self
        entity.attributes = attributes.flatMap(\.leaves)
        return entity
    }
}
