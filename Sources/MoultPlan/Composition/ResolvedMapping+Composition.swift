import MoultModel

extension ResolvedMapping {
    /// The result of composing two mappings.
    package enum Composition: Sendable, Equatable {
        case joined(ResolvedMapping)
        /// The two must run one after the other, for the reason given.
        case apart(reason: String)
    }

    /// This mapping followed by `next`, as one mapping that takes a single pass over a store.
    ///
    /// The result does to every store what the two mappings do one after the other. If no single mapping can, for
    /// example for a relationship that is to-one only in the intermediate version, the two stay apart.
    package func composed(
        with next: ResolvedMapping, from source: ManagedObjectModel, through middle: ManagedObjectModel,
        to destination: ManagedObjectModel
    ) -> Composition {
        Composer(
            self, next, from: ResolvedModel(source), through: ResolvedModel(middle), to: ResolvedModel(destination)
        ).compose()
    }

    /// The mapping that keeps every object unchanged.
    package init(identityOf model: ManagedObjectModel) { self.init(identityOf: ResolvedModel(model)) }

    /// The mapping that keeps every object unchanged, including derived attributes, so that the next mapping can read
    /// them.
    init(identityOf model: ResolvedModel) {
        self.init(
            entityMappings: model.names.compactMap { model[$0] }.map { entity in
                ResolvedEntityMapping(
                    sourceEntityName: entity.name, destinationEntityName: entity.name,
                    attributes: entity.attributes.filter(\.value.isStored).mapValues {
                        .attribute($0.name, ifNil: nil)
                    },
                    relationships: entity.same.relationships)
            })
    }

    var byDestination: [String: ResolvedEntityMapping] {
        var mappings: [String: ResolvedEntityMapping] = [:]
        mappings.reserveCapacity(entityMappings.count)
        for mapping in entityMappings {
            if let name = mapping.destinationEntityName { mappings[name] = mapping }
        }
        return mappings
    }

    /// Without the removed entities.
    var bySource: [String: ResolvedEntityMapping] {
        var mappings: [String: ResolvedEntityMapping] = [:]
        for mapping in entityMappings where mapping.destinationEntityName != nil {
            if let name = mapping.sourceEntityName { mappings[name] = mapping }
        }
        return mappings
    }
}
