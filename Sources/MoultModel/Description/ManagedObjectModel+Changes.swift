import MoultBasics

/// Inspecting and changing a model, with Core Data's method names. A change that would make the model invalid throws.
extension ManagedObjectModel {
    /// The entities of the model by name.
    public var entitiesByName: [String: EntityDescription] {
        Dictionary(entities.map { ($0.name, $0) }) { first, _ in first }
    }

    /// Returns the entity's properties by name, including inherited ones.
    public func propertiesByName(of entity: EntityDescription) -> [String: any PropertyDescription] {
        let pairs = lineage(of: entity).flatMap(\.properties).map { ($0.name, $0) }
        return Dictionary(pairs) { first, _ in first }
    }

    /// Returns the entity's attributes by name, including inherited ones.
    public func attributesByName(of entity: EntityDescription) -> [String: AttributeDescription] {
        Dictionary(attributes(of: entity).map { ($0.name, $0) }) { first, _ in first }
    }

    /// Returns the entity's relationships by name, including inherited ones.
    public func relationshipsByName(of entity: EntityDescription) -> [String: RelationshipDescription] {
        Dictionary(relationships(of: entity).map { ($0.name, $0) }) { first, _ in first }
    }

    /// Replaces all entities of the model. A removed entity is also removed from its configurations.
    ///
    /// - Throws: `modelInvalid`; the model is then unchanged.
    public mutating func setEntities(_ entities: [EntityDescription]) throws {
        let names = Set(entities.map(\.name))
        let configurations = configurations.map { configuration in
            var configuration = configuration
            configuration.entityNames.removeAll { !names.contains($0) }
            return configuration
        }
        try replace(entities: entities, configurations: configurations)
    }

    /// Changes one entity in place.
    ///
    /// - Throws: `modelInvalid` if there is no such entity or the change breaks the model; also rethrows from `change`.
    public mutating func updateEntity(_ name: String, _ change: (inout EntityDescription) throws -> Void) throws {
        var entities = entities
        guard let position = entities.firstIndex(where: { $0.name == name }) else {
            throw MigrationError.modelInvalid(
                "The model has no entity named \(name).", place: name,
                remedy: "Its entities are: \(entities.map(\.name).joined(separator: ", ")).")
        }
        try change(&entities[position])
        try replace(entities: entities, configurations: configurations)
    }

    /// The names of the configurations, in byte order.
    public var configurationNames: [String] { configurations.map(\.name) }

    /// Returns the entities of a configuration, or of the whole model for nil; nil if there is no such configuration.
    public func entities(forConfigurationName name: String?) -> [EntityDescription]? {
        name.map(entities(inConfiguration:)) ?? entities
    }

    /// Sets the entities of a configuration. Entities that the model does not have yet are added to it.
    ///
    /// - Throws: `modelInvalid`; the model is then unchanged.
    public mutating func setEntities(_ entities: [EntityDescription], forConfigurationName name: String) throws {
        let known = Set(self.entities.map(\.name))
        let configuration = Configuration(name: name, entityNames: entities.map(\.name))
        try replace(
            entities: self.entities + entities.filter { !known.contains($0.name) },
            configurations: configurations.filter { $0.name != name } + [configuration])
    }

    /// Merges several models into one: entities of the same name must be equal.
    ///
    /// - Throws: `modelInvalid` if two models define an entity differently, or do not fit together.
    public init(byMerging models: [ManagedObjectModel]) throws {
        try self.init(
            entities: Self.joined(models.flatMap(\.entities), name: \.name, "entity"),
            configurations: Self.joined(models.flatMap(\.configurations), name: \.name, "configuration"),
            composites: Self.joined(models.flatMap(\.composites), name: \.name, "composite type"),
            fetchRequestTemplates: Self.joined(models.flatMap(\.fetchRequestTemplates), name: \.name, "fetch request"),
            versionIdentifiers: models.flatMap(\.versionIdentifiers).reduce(into: []) {
                if !$0.contains($1) { $0.append($1) }
            })
        describesCloudEncryption = models.allSatisfy(\.describesCloudEncryption)
    }

    private static func joined<Part: Equatable>(
        _ parts: [Part], name: (Part) -> String, _ kind: String
    ) throws -> [Part] {
        var byName: [String: Part] = [:]
        for part in parts {
            let name = name(part)
            guard byName.updateValue(part, forKey: name).map({ $0 == part }) ?? true else {
                throw MigrationError.modelInvalid(
                    "Two of the models to merge define the \(kind) \(name) differently.", place: name,
                    remedy: "Make the definitions equal, or rename one of them.")
            }
        }
        return Array(byName.values)
    }

    private mutating func replace(entities: [EntityDescription], configurations: [Configuration]) throws {
        var changed = try ManagedObjectModel(
            entities: entities, configurations: configurations, composites: composites,
            fetchRequestTemplates: fetchRequestTemplates, versionIdentifiers: versionIdentifiers,
            documentAttributes: documentAttributes, diagram: diagram)
        changed.source = source
        self = changed
    }
}
