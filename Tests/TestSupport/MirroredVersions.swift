import MoultModel

/// Versions for mirrors, with every kind of relationship: `1`, and two that it goes to.
///
/// `back` is the same under other names and without some of it, so that all that is written there can be taken back.
/// `on` is of another layout: entities are numbered anew, a to-one is a many-to-many, a list has an order.
package enum MirroredVersions {
    package static func make(to other: String) throws -> ModelVersions {
        let second = other == "back" ? back : on
        return ModelVersions(versions: [
            ModelVersion(names: ["1"], model: try ManagedObjectModel(entities: first)),
            ModelVersion(names: [other], model: try ManagedObjectModel(entities: second)),
        ])
    }

    private static let first: [EntityDescription] = [
        EntityDescription(
            name: "Person",
            attributes: [
                .init(name: "name", type: .string, isOptional: false, defaultValue: .string("")),
                .init(name: "age", type: .integer32), .init(name: "born", type: .date),
                .init(name: "photo", type: .binary, allowsExternalBinaryDataStorage: true),
            ],
            relationships: [
                .init(
                    name: "books", destinationEntityName: "Book", inverseName: "author", maxCount: 0, isOrdered: true,
                    deleteRule: .nullify),
                .init(name: "mentor", destinationEntityName: "Person", inverseName: "pupils"),
                .init(name: "pupils", destinationEntityName: "Person", inverseName: "mentor", maxCount: 0),
            ]),
        EntityDescription(
            name: "Editor", superentityName: "Person", attributes: [.init(name: "desk", type: .string)]),
        book([
            .init(name: "author", destinationEntityName: "Person", inverseName: "books"),
            .init(name: "tags", destinationEntityName: "Tag", inverseName: "books", maxCount: 0),
            .init(name: "cover", destinationEntityName: "Cover", inverseName: "book", deleteRule: .cascade),
        ]),
        EntityDescription(
            name: "Cover", attributes: [.init(name: "colour", type: .string)],
            relationships: [.init(name: "book", destinationEntityName: "Book", inverseName: "cover")]),
        tag(isOrdered: false),
        EntityDescription(
            name: "Shelf", attributes: [.init(name: "place", type: .integer16)],
            relationships: [.init(name: "items", destinationEntityName: "Cover", maxCount: 0)]),
        EntityDescription(name: "Draft", attributes: [.init(name: "text", type: .string)]),
    ]

    private static func book(
        _ relationships: [RelationshipDescription], _ more: [AttributeDescription] = []
    ) -> EntityDescription {
        EntityDescription(
            name: "Book",
            attributes: [
                .init(name: "title", type: .string), .init(name: "pages", type: .integer16),
                .init(name: "price", type: .decimal),
            ] + (more.isEmpty ? [.init(name: "note", type: .string)] : more), relationships: relationships)
    }

    private static func tag(isOrdered: Bool) -> EntityDescription {
        EntityDescription(
            name: "Tag", attributes: [.init(name: "word", type: .string)],
            relationships: [
                .init(
                    name: "books", destinationEntityName: "Book", inverseName: "tags", maxCount: 0, isOrdered: isOrdered
                )
            ])
    }

    private static let back: [EntityDescription] = [
        EntityDescription(
            name: "Human",
            attributes: [
                .init(
                    name: "fullName", type: .string, isOptional: false, defaultValue: .string(""),
                    renamingIdentifier: "name"),
                .init(name: "age", type: .integer32), .init(name: "born", type: .date),
                .init(name: "photo", type: .binary, allowsExternalBinaryDataStorage: true),
            ],
            relationships: [
                .init(
                    name: "books", destinationEntityName: "Book", inverseName: "writer", maxCount: 0, isOrdered: true,
                    deleteRule: .nullify),
                .init(name: "mentor", destinationEntityName: "Human", inverseName: "pupils"),
                .init(name: "pupils", destinationEntityName: "Human", inverseName: "mentor", maxCount: 0),
            ], renamingIdentifier: "Person"),
        EntityDescription(
            name: "Editor", superentityName: "Human", attributes: [.init(name: "desk", type: .string)]),
        EntityDescription(
            name: "Book",
            attributes: [
                .init(name: "title", type: .string), .init(name: "pages", type: .integer16),
                .init(name: "price", type: .decimal),
            ],
            relationships: [
                .init(
                    name: "writer", destinationEntityName: "Human", inverseName: "books", renamingIdentifier: "author"),
                .init(name: "tags", destinationEntityName: "Tag", inverseName: "books", maxCount: 0),
                .init(name: "cover", destinationEntityName: "Cover", inverseName: "book", deleteRule: .cascade),
            ]),
        EntityDescription(
            name: "Cover", attributes: [.init(name: "colour", type: .string)],
            relationships: [.init(name: "book", destinationEntityName: "Book", inverseName: "cover")]),
        tag(isOrdered: false),
        EntityDescription(
            name: "Shelf", attributes: [.init(name: "place", type: .integer16)],
            relationships: [.init(name: "items", destinationEntityName: "Cover", maxCount: 0)]),
    ]

    private static let on: [EntityDescription] = [
        EntityDescription(name: "Aardvark", attributes: [.init(name: "ants", type: .integer64)]),
        EntityDescription(
            name: "Person",
            attributes: [
                .init(name: "name", type: .string, isOptional: false, defaultValue: .string("")),
                .init(name: "age", type: .integer32), .init(name: "born", type: .date),
                .init(name: "photo", type: .binary, allowsExternalBinaryDataStorage: true),
            ],
            relationships: [
                .init(
                    name: "books", destinationEntityName: "Book", inverseName: "authors", maxCount: 0, isOrdered: true,
                    deleteRule: .nullify),
                .init(name: "mentor", destinationEntityName: "Person", inverseName: "pupils"),
                .init(name: "pupils", destinationEntityName: "Person", inverseName: "mentor", maxCount: 0),
            ]),
        EntityDescription(
            name: "Editor", superentityName: "Person", attributes: [.init(name: "desk", type: .string)]),
        book(
            [
                .init(
                    name: "authors", destinationEntityName: "Person", inverseName: "books", maxCount: 0,
                    renamingIdentifier: "author"),
                .init(name: "tags", destinationEntityName: "Tag", inverseName: "books", maxCount: 0),
                .init(name: "cover", destinationEntityName: "Cover", inverseName: "book", deleteRule: .cascade),
            ], [.init(name: "rating", type: .integer16, isOptional: false, defaultValue: .integer(3))]),
        EntityDescription(
            name: "Cover", attributes: [.init(name: "colour", type: .string)],
            relationships: [.init(name: "book", destinationEntityName: "Book", inverseName: "cover")]),
        tag(isOrdered: true),
        EntityDescription(
            name: "Shelf", attributes: [.init(name: "place", type: .integer16)],
            relationships: [.init(name: "items", destinationEntityName: "Cover", maxCount: 0)]),
    ]
}
