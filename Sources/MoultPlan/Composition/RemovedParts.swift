import MoultModel

/// The entities and properties that composed edges have removed, with the source of their values in the first version.
///
/// A later edge may add them again (``RestoredParts``).
struct RemovedParts {
    /// A property that an edge removed.
    struct Property {
        /// The position of the last version that had it.
        var version: Int
        var value: Value
    }

    enum Value {
        case attribute(AttributeDescription, AttributeSource)
        /// The destination entity has its current name.
        case relationship(RelationshipDescription, RelationshipSource, destination: String)
    }

    /// By the current name of the entity, and the former name of the property.
    private(set) var properties: [String: [String: Property]] = [:]
    /// Removed entities by their former names, with their mapping from the first version.
    private(set) var entities: [String: (version: Int, mapping: ResolvedEntityMapping)] = [:]

    /// Adds what one edge removes.
    ///
    /// - Parameters:
    ///   - version: the position of the edge's older version.
    ///   - model: the edge's older version.
    ///   - before: the mapping from the first version to it, by its entities.
    ///   - edge: the mapping of the edge.
    mutating func pass(
        version: Int, model: ResolvedModel, before: [String: ResolvedEntityMapping], edge: ResolvedMapping
    ) {
        var newNames: [String: String] = [:]
        newNames.reserveCapacity(edge.entityMappings.count)
        for mapping in edge.entityMappings {
            guard let old = mapping.sourceEntityName else { continue }
            newNames[old] = mapping.destinationEntityName
            if mapping.destinationEntityName == nil, let lost = before[old], lost.sourceEntityName != nil {
                entities[old] = (version, lost)
            }
        }
        var next: [String: [String: Property]] = [:]
        for mapping in edge.entityMappings {
            guard let old = mapping.sourceEntityName, let new = mapping.destinationEntityName else { continue }
            var gone = (properties[old] ?? [:]).compactMapValues { $0.following(newNames) }
            if let entity = model[old], let sources = before[old], sources.sourceEntityName != nil {
                for (name, value) in leaving(entity, by: mapping, sources: sources) {
                    gone[name] = Property(version: version, value: value).following(newNames)
                }
            }
            if !gone.isEmpty { next[new] = gone }
        }
        properties = next
    }

    private func leaving(_ entity: ResolvedEntity, by mapping: ResolvedEntityMapping, sources: ResolvedEntityMapping)
        -> [String: Value]
    {
        if mapping == entity.same, sources.hasProperties(of: mapping) { return [:] }
        var used: Set<String> = []
        for case .attribute(let name, _) in mapping.attributes.values { used.insert(name) }
        for case .relationship(let name) in mapping.relationships.values { used.insert(name) }
        var gone: [String: Value] = [:]
        for (name, source) in sources.attributes where !used.contains(name) {
            guard case .attribute = source, let attribute = entity.attributes[name] else { continue }
            gone[name] = .attribute(attribute, source)
        }
        for (name, source) in sources.relationships where !used.contains(name) {
            guard case .relationship = source, let relationship = entity.relationships[name] else { continue }
            gone[name] = .relationship(relationship, source, destination: relationship.destinationEntityName)
        }
        return gone
    }
}

extension RemovedParts.Property {
    /// The same with the new name of its destination; nil if the destination is removed.
    fileprivate func following(_ newNames: [String: String]) -> Self? {
        guard case .relationship(let description, let source, let destination) = value else { return self }
        guard let name = newNames[destination] else { return nil }
        return Self(version: version, value: .relationship(description, source, destination: name))
    }
}
