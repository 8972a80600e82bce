import MoultModel

/// Two versions of which nearly all of the way can wait: a column leaves, one is renamed, one with a default and one
/// without come, an entity leaves; no entity gets another number.
package enum DeferrableVersions {
    package static func make() throws -> ModelVersions {
        let tag = EntityDescription(name: "Tag", attributes: [.init(name: "word", type: .string, isIndexed: true)])
        let models = try [
            ManagedObjectModel(entities: [
                author([]), item("name", [.init(name: "rate", type: .double)]), link(isIndexed: false), tag,
            ]),
            ManagedObjectModel(entities: [
                author([.init(name: "age", type: .integer16)]),
                item(
                    "title",
                    [.init(name: "score", type: .integer32, isOptional: false, defaultValue: .integer(7))]),
                link(isIndexed: true),
            ]),
        ]
        return ModelVersions(versions: models.enumerated().map { ModelVersion(names: ["\($0 + 1)"], model: $1) })
    }

    private static func author(_ more: [AttributeDescription]) -> EntityDescription {
        EntityDescription(name: "Author", attributes: [.init(name: "name", type: .string)] + more)
    }

    private static func item(_ title: String, _ more: [AttributeDescription]) -> EntityDescription {
        EntityDescription(
            name: "Item",
            attributes: [
                .init(
                    name: title, type: .string, isIndexed: true, renamingIdentifier: title == "name" ? nil : "name"),
                .init(name: "data", type: .binary),
            ] + more,
            relationships: [.init(name: "links", destinationEntityName: "Link", inverseName: "item", maxCount: 0)])
    }

    private static func link(isIndexed: Bool) -> EntityDescription {
        EntityDescription(
            name: "Link", attributes: [.init(name: "place", type: .integer16, isIndexed: isIndexed)],
            relationships: [.init(name: "item", destinationEntityName: "Item", inverseName: "links")])
    }
}
