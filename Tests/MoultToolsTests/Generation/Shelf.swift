import MoultModel

/// A model of every attribute type and kind of relationship, for classes of Core Data.
enum Shelf {
    /// - Parameter prefix: begins the names of the classes, so that one program can have them for two APIs.
    static func model(classes prefix: String = "") throws -> ManagedObjectModel {
        func scalar(_ name: String, _ type: AttributeType, _ isScalar: Bool = true) -> AttributeDescription {
            AttributeDescription(name: name, type: type, usesScalarValueType: isScalar)
        }
        let book = EntityDescription(
            name: "Book", managedObjectClassName: ".\(prefix)Book",
            attributes: [
                scalar("integer16", .integer16), scalar("integer32", .integer32), scalar("integer64", .integer64),
                scalar("double", .double), scalar("float", .float), scalar("boolean", .boolean),
                scalar("number", .integer32, false), scalar("moment", .date), scalar("date", .date, false),
                .init(name: "decimal", type: .decimal), .init(name: "string", type: .string, isOptional: false),
                .init(name: "binary", type: .binary), .init(name: "uuid", type: .uuid), .init(name: "uri", type: .uri),
                .init(name: "transformable", type: .transformable),
                .init(name: "default", type: .string),
            ],
            relationships: [
                .init(name: "author", destinationEntityName: "Author", inverseName: "books"),
                .init(name: "tags", destinationEntityName: "Tag", inverseName: "books", maxCount: 0),
            ], codeGenerationType: "class")
        return try ManagedObjectModel(
            entities: [
                book,
                EntityDescription(
                    name: "Author", managedObjectClassName: "Shelf.\(prefix)Author",
                    attributes: [.init(name: "name", type: .string)],
                    relationships: [
                        .init(
                            name: "books", destinationEntityName: "Book", inverseName: "author", maxCount: 0,
                            isOrdered: true)
                    ],
                    fetchedProperties: [
                        .init(
                            name: "namesakes", destinationEntityName: "Author",
                            predicate: "name == $FETCH_SOURCE.name")
                    ], codeGenerationType: "class"),
                EntityDescription(
                    name: "Editor", managedObjectClassName: "\(prefix)Editor", superentityName: "Author",
                    attributes: [.init(name: "house", type: .string)], codeGenerationType: "class"),
                EntityDescription(
                    name: "Tag", managedObjectClassName: "\(prefix)Tag",
                    attributes: [.init(name: "title", type: .string)],
                    relationships: [
                        .init(name: "books", destinationEntityName: "Book", inverseName: "tags", maxCount: 0)
                    ], codeGenerationType: "class"),
            ])
    }
}
