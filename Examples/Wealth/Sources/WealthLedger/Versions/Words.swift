import MoultCoreData

// Short words for the models of this folder.

func text(_ name: String, optional: Bool = true) -> AttributeDescription {
    AttributeDescription(name: name, type: .string, isOptional: optional)
}

func date(_ name: String, optional: Bool = true) -> AttributeDescription {
    AttributeDescription(name: name, type: .date, isOptional: optional)
}

/// An amount of money or a share: decimal digits, never a binary fraction.
func amount(_ name: String, optional: Bool = true) -> AttributeDescription {
    AttributeDescription(name: name, type: .decimal, isOptional: optional, defaultValue: optional ? nil : .decimal("0"))
}

func one(_ name: String, _ entity: String, inverse: String) -> RelationshipDescription {
    RelationshipDescription(name: name, destinationEntityName: entity, inverseName: inverse)
}

func many(_ name: String, _ entity: String, inverse: String, _ rule: DeleteRule = .nullify) -> RelationshipDescription {
    RelationshipDescription(
        name: name, destinationEntityName: entity, inverseName: inverse, maxCount: 0, deleteRule: rule)
}

extension ManagedObjectModel {
    /// The next version: the same with these entities added, and these properties added to those that it has.
    ///
    /// - Throws: `modelInvalid` where the parts do not fit together.
    func version(
        _ number: String, adding entities: [EntityDescription] = [],
        to additions: [String: [any PropertyDescription]] = [:]
    ) throws -> ManagedObjectModel {
        let extended = self.entities.map { entity in
            var entity = entity
            entity.properties += additions[entity.name] ?? []
            return entity
        }
        var model = self
        try model.setEntities(extended + entities)
        model.versionIdentifiers = [number]
        return model
    }
}
