import MoultModel

/// Two versions for the runs that are killed: a new required attribute fills every row, a new entity renumbers the
/// others, a relationship becomes many-to-many.
package enum KillableVersions {
    package static func make() throws -> ModelVersions {
        let tag = EntityDescription(name: "Tag", attributes: [.init(name: "word", type: .string)])
        let author = EntityDescription(name: "Author", attributes: [.init(name: "name", type: .string)])
        let models = try [
            ManagedObjectModel(entities: [item([]), link(maxCount: 1), author]),
            ManagedObjectModel(entities: [
                item([.init(name: "score", type: .integer32, isOptional: false, defaultValue: .integer(1))]),
                link(maxCount: 0), author, EntityDescription(name: "Aardvark", attributes: tag.attributes),
            ]),
        ]
        return ModelVersions(versions: models.enumerated().map { ModelVersion(names: ["\($0 + 1)"], model: $1) })
    }

    private static func item(_ more: [AttributeDescription]) -> EntityDescription {
        EntityDescription(
            name: "Item",
            attributes: [
                .init(name: "name", type: .string, isIndexed: true), .init(name: "rate", type: .double),
                .init(name: "data", type: .binary),
            ] + more,
            relationships: [.init(name: "links", destinationEntityName: "Link", inverseName: "item", maxCount: 0)])
    }

    private static func link(maxCount: Int) -> EntityDescription {
        EntityDescription(
            name: "Link", attributes: [.init(name: "place", type: .integer16)],
            relationships: [
                .init(name: "item", destinationEntityName: "Item", inverseName: "links", maxCount: maxCount)
            ])
    }
}
