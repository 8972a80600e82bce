import MoultModel

extension ResolvedMapping {
    /// A hierarchy of the destination that takes objects of several hierarchies of the source, and so of several
    /// tables.
    package struct MergedHierarchy: Sendable, Equatable {
        package var root: String
        /// By root entity of the source: the entities of the destination that its objects become, in their order.
        package var members: [String: [String]]
    }

    /// The hierarchies into which several are merged, ordered by the names of their roots. Not every object of such a
    /// hierarchy keeps its key.
    package func mergedHierarchies(from source: ManagedObjectModel, to destination: ManagedObjectModel)
        -> [MergedHierarchy]
    {
        // Most models have no hierarchies, and most mappings one source for each entity.
        let names = entityMappings.compactMap(\.destinationEntityName)
        let haveOneSourceEach = names == destination.entities.map(\.name) || Set(names).count == names.count
        guard destination.entities.contains(where: { $0.superentityName != nil }) || !haveOneSourceEach else {
            return []
        }
        var hierarchies: [String: MergedHierarchy] = [:]
        for mapping in entityMappings {
            guard let old = mapping.sourceEntityName.flatMap(source.entity), !old.isAbstract,
                let new = mapping.destinationEntityName.flatMap(destination.entity)
            else { continue }
            let root = destination.root(of: new).name
            hierarchies[root, default: MergedHierarchy(root: root, members: [:])]
                .members[source.root(of: old).name, default: []].append(new.name)
        }
        return hierarchies.values.filter { $0.members.count > 1 }.sorted { $0.root.precedesInByteOrder($1.root) }
    }

    /// The entities of the source whose objects move into another hierarchy, where they get new keys.
    package func movedEntities(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> Set<String> {
        let roots = mergedHierarchies(from: source, to: destination).flatMap { hierarchy in
            let own = mapping(toEntity: hierarchy.root)?.sourceEntityName ?? hierarchy.root
            return hierarchy.members.keys.filter { $0 != own }
        }
        return Set(source.entities.filter { roots.contains(source.root(of: $0).name) }.map(\.name))
    }
}
