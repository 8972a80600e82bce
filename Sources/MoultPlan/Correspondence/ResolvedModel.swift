import MoultModel

/// A model with inheritance and composite attributes resolved: every entity with all its properties, by name. The
/// leaves of a composite attribute replace it, each named by its path, so everything that applies to attributes, from
/// renames to default values, applies to them.
package final class ResolvedModel: Sendable {
    let model: ManagedObjectModel
    /// The names of the entities, in byte order.
    let names: [String]
    let entities: [String: ResolvedEntity]
    let hasRenamingIdentifiers: Bool

    /// - Parameter previous: the version before; its unchanged entities are reused, because identical objects need no
    ///   further comparison.
    init(_ model: ManagedObjectModel, after previous: ResolvedModel? = nil) {
        self.model = model
        names = model.entities.map(\.name)
        var entities = previous?.entities ?? [:]
        for entity in model.entities where entities[entity.name]?.isDeclared(by: entity, in: model) != true {
            entities[entity.name] = ResolvedEntity(model.lineage(of: entity))
        }
        if entities.count > model.entities.count { entities = entities.filter { model.hasEntity($0.key) } }
        self.entities = entities
        hasRenamingIdentifiers = entities.values.contains(where: \.hasRenamingIdentifiers)
    }

    subscript(name: String) -> ResolvedEntity? { entities[name] }

    /// Returns the named entity and its descendants.
    func family(of name: String) -> [String] {
        guard let entity = model.entity(name) else { return [] }
        return [name] + model.descendants(of: entity).map(\.name)
    }

    /// Returns those of the named entities whose relationships lead only to others of them, here and in a later
    /// version.
    func closed(_ names: Set<String>, with later: ResolvedModel) -> Set<String> {
        let whole = names.filter { name in
            [self, later].allSatisfy { !$0.model.hasSubentities(name) || names.isSuperset(of: $0.family(of: name)) }
        }
        return whole.filter { self[$0].map { whole.isSuperset(of: $0.reach) } ?? false }
    }
}

/// One entity with its own and its inherited properties. Versions that share the object have the entity unchanged.
package final class ResolvedEntity: Sendable {
    let description: EntityDescription
    /// The entity as its model declares it, followed by its ancestors, nearest first.
    let declared: [EntityDescription]
    let attributes: [String: AttributeDescription]
    let relationships: [String: RelationshipDescription]
    /// As `declared`, with composite attributes replaced by their leaves.
    let lineage: [EntityDescription]
    /// Each attribute and relationship as its own source.
    let sameNames: [String: String]
    /// The mapping that keeps the entity as it is: each stored property is its own source, unless it is derived.
    let same: ResolvedEntityMapping
    /// The entities of the lineage, and those that the relationships lead to.
    let reach: Set<String>
    /// Whether one of the properties has a renaming identifier.
    let hasRenamedProperties: Bool
    /// Whether the entity or a property that it declares has a renaming identifier.
    let hasRenamingIdentifiers: Bool
    /// The entity that declares each inherited property.
    private let inheritedFrom: [String: String]

    /// - Parameter declared: the entity, followed by its ancestors; never empty.
    init(_ declared: [EntityDescription]) {
        let lineage = declared.map(\.flattened)
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
        (self.attributes, self.relationships, self.declared) = (attributes, relationships, declared)
        (self.lineage, self.inheritedFrom) = (lineage, inheritedFrom)
        sameNames = Dictionary(
            (Array(attributes.keys) + Array(relationships.keys)).map { ($0, $0) },
            uniquingKeysWith: { first, _ in first })
        same = ResolvedEntityMapping(
            sourceEntityName: description.name, destinationEntityName: description.name,
            attributes: attributes.filter { $0.value.isStored && $0.value.derivation == nil }
                .mapValues { .attribute($0.name, ifNil: nil) },
            relationships: relationships.filter { !$0.value.isTransient }.mapValues { .relationship($0.name) })
        hasRenamingIdentifiers = declared.first?.hasRenamingIdentifiers ?? false
        reach = Set(relationships.values.map(\.destinationEntityName) + lineage.map(\.name))
        hasRenamedProperties =
            attributes.values.contains { $0.renamingIdentifier != nil }
            || relationships.values.contains { $0.renamingIdentifier != nil }
    }

    /// Whether the object was made from an entity of a model and its ancestors.
    func isDeclared(by entity: EntityDescription, in model: ManagedObjectModel) -> Bool {
        guard declared.first == entity else { return false }
        return entity.superentityName == nil || declared == model.lineage(of: entity)
    }

    /// Whether it has a parent, or sub-entities in a model.
    func isInHierarchy(of model: ManagedObjectModel) -> Bool { lineage.count > 1 || model.hasSubentities(name) }

    var name: String { description.name }
    var rootName: String { lineage.last?.name ?? name }

    /// Returns the entity that declares the property.
    func declaringEntity(of property: String) -> String { inheritedFrom[property] ?? name }

    func isKind(of ancestor: String) -> Bool { lineage.contains { $0.name == ancestor } }
}

extension EntityDescription {
    /// The entity with its composite attributes replaced by their leaves.
    fileprivate var flattened: EntityDescription {
        guard attributes.contains(where: { $0.type == .composite }) else { return self }
        var entity = self
        entity.attributes = attributes.flatMap(\.leaves)
        return entity
    }
}

extension ManagedObjectModel {
    /// Whether any entity, property or element of a composite attribute has a renaming identifier.
    var hasRenamingIdentifiers: Bool { entities.indices.contains { entities[$0].hasRenamingIdentifiers } }
}

extension EntityDescription {
    fileprivate var hasRenamingIdentifiers: Bool {
        // Access elements by index: a closure would receive a copy of each.
        renamingIdentifier != nil || attributes.indices.contains { attributes[$0].hasRenamingIdentifier }
            || relationships.indices.contains { relationships[$0].renamingIdentifier != nil }
    }
}

extension AttributeDescription {
    fileprivate var hasRenamingIdentifier: Bool {
        renamingIdentifier != nil || type == .composite && leaves.contains { $0.renamingIdentifier != nil }
    }
}
