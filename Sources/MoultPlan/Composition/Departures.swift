import MoultModel

/// What has left on the way through a stretch, with where its values lay at the start, in case it returns.
struct Departures {
    /// A property that an edge left behind.
    struct Property {
        /// The position of the last version that had it.
        var version: Int
        var value: Value
    }

    enum Value {
        case attribute(AttributeDescription, AttributeSource)
        /// The destination entity goes by the name it has now.
        case relationship(RelationshipDescription, RelationshipSource, destination: String)
    }

    /// By entity, as it is called now, and by the name the property had.
    private(set) var properties: [String: [String: Property]] = [:]
    /// Entities that were removed, by the name they had, with their mapping from the stretch's start.
    private(set) var entities: [String: (version: Int, mapping: ResolvedEntityMapping)] = [:]

    /// Takes one edge into account.
    ///
    /// - Parameters:
    ///   - version: the position of the edge's older version.
    ///   - model: the edge's older version.
    ///   - joined: the mapping from the stretch's start to it.
    ///   - edge: the mapping of the edge.
    mutating func pass(version: Int, model: ResolvedModel, joined: ResolvedMapping, edge: ResolvedMapping) {
        let before = joined.byDestination
        var newNames: [String: String] = [:]
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

extension Departures.Property {
    /// The same with its destination called by its new name; nil where the destination is removed.
    fileprivate func following(_ newNames: [String: String]) -> Self? {
        guard case .relationship(let description, let source, let destination) = value else { return self }
        guard let name = newNames[destination] else { return nil }
        return Self(version: version, value: .relationship(description, source, destination: name))
    }
}
