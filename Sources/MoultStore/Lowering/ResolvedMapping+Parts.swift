import MoultModel
import MoultPlan

extension ResolvedMapping {
    /// The mapping between parts of two models: what lies outside of the source's part is added, what lies outside of
    /// the destination's is removed.
    package func restricted(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> ResolvedMapping {
        var restricted = self
        restricted.entityMappings = entityMappings.compactMap { mapping in
            let from = mapping.sourceEntityName.flatMap { source.entity($0)?.name }
            let to = mapping.destinationEntityName.flatMap { destination.entity($0)?.name }
            if from == mapping.sourceEntityName, to == mapping.destinationEntityName { return mapping }
            guard let to else {
                return from.map { ResolvedEntityMapping(sourceEntityName: $0, destinationEntityName: nil) }
            }
            guard from == nil else { return mapping }
            return ResolvedEntityMapping(
                sourceEntityName: nil, destinationEntityName: to,
                attributes: mapping.attributes.mapValues { _ in .constant(nil) },
                relationships: mapping.relationships.mapValues { _ in .empty })
        }
        return restricted
    }
}

extension MigrationLoss {
    /// The loss with where its entity is in the new version, if that has it outside of what the store is to hold.
    ///
    /// - Parameters:
    ///   - mapping: between the whole models.
    ///   - target: the whole model of the new version.
    func placed(by mapping: ResolvedMapping, in target: ManagedObjectModel) -> MigrationLoss {
        guard kind == .rows, reason == .removed,
            let heir = mapping.mappings(fromEntity: entityName).compactMap(\.destinationEntityName).first,
            target.entity(heir) != nil
        else { return self }
        var loss = self
        loss.reason = .otherConfiguration
        loss.isInBoth = true
        loss.detail = target.configurations.first { $0.entityNames.contains(heir) }?.name
        return loss
    }
}
