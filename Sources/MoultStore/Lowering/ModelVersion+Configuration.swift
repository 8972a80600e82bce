import MoultModel
import MoultPlan

extension ModelVersion {
    /// The version as a store sees it that was opened with a configuration: only that configuration's entities.
    ///
    /// - Throws: `unsupported` where the version has no configuration of that name.
    package func restricted(to configuration: String) throws -> ModelVersion {
        guard let entities = model.entities(inConfiguration: configuration) else {
            throw MigrationError(
                .unsupported,
                "The store holds the configuration \(configuration), which \(name) does not have.", place: name,
                remedy: "Add the configuration to \(name), or migrate to a version that has it.")
        }
        let part = try ManagedObjectModel(
            entities: entities, composites: model.composites, versionIdentifiers: model.versionIdentifiers)
        return ModelVersion(names: names, model: part)
    }
}

extension ResolvedMapping {
    /// The mapping between parts of two models: what lies outside of the source's part is added, what lies outside of
    /// the destination's is removed.
    func restricted(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> ResolvedMapping {
        ResolvedMapping(
            entityMappings: entityMappings.compactMap { mapping in
                let from = mapping.sourceEntityName.flatMap { source.entity($0)?.name }
                guard let to = mapping.destinationEntityName, destination.entity(to) != nil else {
                    return from.map { ResolvedEntityMapping(sourceEntityName: $0, destinationEntityName: nil) }
                }
                guard from == nil else { return mapping }
                return ResolvedEntityMapping(
                    sourceEntityName: nil, destinationEntityName: to,
                    attributes: mapping.attributes.mapValues { _ in .constant(nil) },
                    relationships: mapping.relationships.mapValues { _ in .empty })
            })
    }
}
