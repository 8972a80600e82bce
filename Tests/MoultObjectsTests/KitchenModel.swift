import MoultModel

/// A model with one of everything: every attribute type, inheritance, every kind of relationship, derived attributes.
enum KitchenModel {
    static func make() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [dish, soup, ingredient, cook, kitchen, tag])
    }

    private static let types: [AttributeType] = [
        .integer16, .integer32, .integer64, .decimal, .double, .float, .string, .boolean, .date, .binary, .uuid, .uri,
        .transformable,
    ]

    private static var dish: EntityDescription {
        let everything = types.map {
            AttributeDescription(name: "a\($0.name.filter { $0 != " " })", type: $0)
        }
        return EntityDescription(
            name: "Dish",
            attributes: everything + [
                AttributeDescription(name: "photo", type: .binary, allowsExternalBinaryDataStorage: true),
                AttributeDescription(name: "title", type: .string, isOptional: false),
                AttributeDescription(
                    name: "ingredientCount", type: .integer64, derivation: .init(expression: "ingredients.@count")),
                AttributeDescription(
                    name: "tagCount", type: .integer64, derivation: .init(expression: "tags.@count")),
                AttributeDescription(
                    name: "cookName", type: .string, derivation: .init(expression: "cook.name")),
                AttributeDescription(name: "touched", type: .date, derivation: .init(expression: "now()")),
            ],
            relationships: [
                RelationshipDescription(
                    name: "ingredients", destinationEntityName: "Ingredient", inverseName: "dish", maxCount: 0,
                    isOrdered: true),
                RelationshipDescription(name: "cook", destinationEntityName: "Cook", inverseName: "dishes"),
                RelationshipDescription(
                    name: "tags", destinationEntityName: "Tag", inverseName: "dishes", maxCount: 0, isOrdered: true),
                RelationshipDescription(
                    name: "goesWith", destinationEntityName: "Dish", inverseName: "goesWith", maxCount: 0),
            ])
    }

    private static var soup: EntityDescription {
        EntityDescription(
            name: "Soup", superentityName: "Dish",
            attributes: [AttributeDescription(name: "isHot", type: .boolean, isOptional: false)])
    }

    private static var ingredient: EntityDescription {
        EntityDescription(
            name: "Ingredient",
            attributes: [AttributeDescription(name: "name", type: .string, isOptional: false)],
            relationships: [
                RelationshipDescription(name: "dish", destinationEntityName: "Dish", inverseName: "ingredients"),
                RelationshipDescription(
                    name: "partOf", destinationEntityName: "Ingredient", inverseName: "parts"),
                RelationshipDescription(
                    name: "parts", destinationEntityName: "Ingredient", inverseName: "partOf", maxCount: 0),
            ],
            fetchIndexes: [
                FetchIndexDescription(name: "byName", elements: [.init(subject: .property("name"))])
            ])
    }

    private static var cook: EntityDescription {
        EntityDescription(
            name: "Cook",
            attributes: [AttributeDescription(name: "name", type: .string, isOptional: false)],
            relationships: [
                RelationshipDescription(
                    name: "dishes", destinationEntityName: "Dish", inverseName: "cook", maxCount: 0),
                RelationshipDescription(name: "kitchen", destinationEntityName: "Kitchen", inverseName: "chief"),
                // Without inverse, to one and to many.
                RelationshipDescription(name: "favourite", destinationEntityName: "Tag"),
                RelationshipDescription(
                    name: "notes", destinationEntityName: "Tag", maxCount: 0, isOrdered: true),
            ],
            uniquenessConstraints: [["name"]])
    }

    private static var kitchen: EntityDescription {
        EntityDescription(
            name: "Kitchen",
            relationships: [
                RelationshipDescription(name: "chief", destinationEntityName: "Cook", inverseName: "kitchen")
            ])
    }

    private static var tag: EntityDescription {
        EntityDescription(
            name: "Tag", attributes: [AttributeDescription(name: "label", type: .string)],
            relationships: [
                RelationshipDescription(
                    name: "dishes", destinationEntityName: "Dish", inverseName: "tags", maxCount: 0)
            ])
    }
}
