import MoultModel

/// A model with every way in which a store keeps attributes and relationships.
enum FetchModel {
    /// - Parameter attribute: one of Writer's, which gets an index `byName`.
    static func make(indexing attribute: String? = nil) throws -> ManagedObjectModel {
        var writer = writer
        writer.fetchIndexes =
            attribute.map {
                [FetchIndexDescription(name: "byName", elements: [.init(subject: .property($0))])]
            } ?? []
        return try ManagedObjectModel(
            entities: [
                writer, EntityDescription(name: "Poet", superentityName: "Writer", attributes: [string("metre")]),
                EntityDescription(
                    name: "Laureate", superentityName: "Poet",
                    attributes: [AttributeDescription(name: "since", type: .date)]),
                book, tag, house,
            ],
            composites: [
                CompositeDescription(
                    name: "Address",
                    elements: [
                        string("city"), AttributeDescription(name: "zip", type: .integer32),
                        AttributeDescription(name: "point", type: .composite, compositeName: "Point"),
                    ]),
                CompositeDescription(
                    name: "Point",
                    elements: [
                        AttributeDescription(name: "lat", type: .double),
                        AttributeDescription(name: "lon", type: .double),
                    ]),
            ])
    }

    private static func string(_ name: String) -> AttributeDescription {
        AttributeDescription(name: name, type: .string)
    }

    private static var writer: EntityDescription {
        EntityDescription(
            name: "Writer",
            attributes: [
                string("name"), string("motto"), AttributeDescription(name: "age", type: .integer16),
                AttributeDescription(name: "count", type: .integer32),
                AttributeDescription(name: "big", type: .integer64),
                AttributeDescription(name: "born", type: .date), AttributeDescription(name: "score", type: .double),
                AttributeDescription(name: "weight", type: .float), AttributeDescription(name: "fee", type: .decimal),
                AttributeDescription(name: "isActive", type: .boolean),
                AttributeDescription(name: "token", type: .uuid),
                AttributeDescription(name: "site", type: .uri), AttributeDescription(name: "mark", type: .binary),
                AttributeDescription(name: "memo", type: .transformable),
                AttributeDescription(name: "photo", type: .binary, allowsExternalBinaryDataStorage: true),
                AttributeDescription(name: "passing", type: .string, isTransient: true),
                AttributeDescription(name: "address", type: .composite, compositeName: "Address"),
            ],
            relationships: [
                // One to many, ordered, from an entity with sub-entities.
                RelationshipDescription(
                    name: "books", destinationEntityName: "Book", inverseName: "author", maxCount: 0, isOrdered: true),
                // One to one.
                RelationshipDescription(name: "home", destinationEntityName: "House", inverseName: "owner"),
                // Many to many: with itself, and with another.
                RelationshipDescription(
                    name: "friends", destinationEntityName: "Writer", inverseName: "friends", maxCount: 0),
                RelationshipDescription(
                    name: "tags", destinationEntityName: "Tag", inverseName: "writers", maxCount: 0, isOrdered: true),
                // A tree inside one table.
                RelationshipDescription(name: "mentor", destinationEntityName: "Writer", inverseName: "pupils"),
                RelationshipDescription(
                    name: "pupils", destinationEntityName: "Writer", inverseName: "mentor", maxCount: 0),
                // Without inverse.
                RelationshipDescription(name: "lastRead", destinationEntityName: "Book"),
                RelationshipDescription(name: "shelf", destinationEntityName: "Book", maxCount: 0, isOrdered: true),
            ])
    }

    private static var book: EntityDescription {
        EntityDescription(
            name: "Book",
            attributes: [
                string("title"), AttributeDescription(name: "year", type: .integer16),
                AttributeDescription(name: "price", type: .decimal), AttributeDescription(name: "stars", type: .double),
                AttributeDescription(name: "published", type: .date),
            ],
            relationships: [
                RelationshipDescription(name: "author", destinationEntityName: "Writer", inverseName: "books"),
                RelationshipDescription(
                    name: "tags", destinationEntityName: "Tag", inverseName: "books", maxCount: 0),
            ])
    }

    private static var tag: EntityDescription {
        EntityDescription(
            name: "Tag", attributes: [string("label"), AttributeDescription(name: "rank", type: .integer64)],
            relationships: [
                RelationshipDescription(
                    name: "writers", destinationEntityName: "Writer", inverseName: "tags", maxCount: 0),
                RelationshipDescription(
                    name: "books", destinationEntityName: "Book", inverseName: "tags", maxCount: 0, isOrdered: true),
            ])
    }

    private static var house: EntityDescription {
        EntityDescription(
            name: "House",
            attributes: [AttributeDescription(name: "number", type: .integer32), string("street")],
            relationships: [
                RelationshipDescription(name: "owner", destinationEntityName: "Writer", inverseName: "home")
            ])
    }
}
