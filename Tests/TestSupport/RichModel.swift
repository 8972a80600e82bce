import MoultModel

/// A model that says everything a model can say: each field of each description has a value that is not its usual one.
package enum RichModel {
    private static let place = CompositeDescription(name: "Place", elements: [.init(name: "x", type: .double)])
    /// What a reader of XML says of every composite attribute.
    static let unseenSpelling = "is a composite attribute in a model source, whose form is not verified"

    package static let attribute = AttributeDescription(
        name: "body", type: .string, isOptional: false, isTransient: true,
        derivation: .init(expression: "canonical:(title)", filter: "title != nil"), compositeName: "Place",
        elements: place.elements, uncertainty: unseenSpelling,
        defaultValue: .string("a < b & \"c\"\n\t\u{1F426} é"), allowsExternalBinaryDataStorage: true,
        preservesValueInHistoryOnDeletion: true, allowsCloudEncryption: true, valueTransformerName: "Transformer",
        attributeValueClassName: "[String]", usesScalarValueType: false, isIndexed: true, isIndexedBySpotlight: true,
        isStoredInExternalRecord: true,
        validation: .init(minimum: "1", maximum: "64", regularExpression: "[a-z]+"),
        renamingIdentifier: "text", versionHashModifier: "2", userInfo: ["key": "value", "a": ""], isSyncable: false)

    package static let relationship = RelationshipDescription(
        name: "answers", destinationEntityName: "Answer", inverseName: "post", isOptional: false, isTransient: true,
        maxCount: 7, minCount: 2, isOrdered: true, deleteRule: .deny, isIndexed: true, isIndexedBySpotlight: true,
        isStoredInExternalRecord: true, renamingIdentifier: "replies", versionHashModifier: "3",
        userInfo: ["k": "v"], isSyncable: false)

    package static let fetchedProperty = FetchedPropertyDescription(
        name: "recent", isOptional: false, destinationEntityName: "Answer", predicate: "score > 3",
        options: ["fetchLimit": "5"], isTransient: true, renamingIdentifier: "fresh", versionHashModifier: "4",
        userInfo: ["f": "p"], isSyncable: false)

    package static let index = FetchIndexDescription(
        name: "byBody",
        elements: [
            .init(subject: .property("body"), kind: .rTree, isAscending: false),
            .init(subject: .expression("length(body)"), expressionType: "Integer 64"),
        ],
        partialIndexPredicate: "body != nil")

    package static let entity = EntityDescription(
        name: "Post", managedObjectClassName: ".Post", isAbstract: true, superentityName: "Thing",
        attributes: [attribute], relationships: [relationship], fetchedProperties: [fetchedProperty],
        fetchIndexes: [index], compoundIndexes: [["body", "answers"]], uniquenessConstraints: [["body"], ["a", "b"]],
        renamingIdentifier: "Entry", versionHashModifier: "5", userInfo: ["e": "1"], isSyncable: false,
        coreSpotlightDisplayNameExpression: "body", codeGenerationType: "class")

    /// One attribute of each type with a default value where the type has one.
    package static let everyType: [AttributeDescription] = [
        .init(name: "integer16", type: .integer16, defaultValue: .integer(-32768)),
        .init(name: "integer32", type: .integer32, defaultValue: .integer(2_147_483_647)),
        .init(name: "integer64", type: .integer64, defaultValue: .integer(.min)),
        .init(name: "decimal", type: .decimal, defaultValue: .decimal("0.1")),
        .init(name: "double", type: .double, defaultValue: .double(0.1)),
        .init(name: "float", type: .float, defaultValue: .double(-1.5e-7)),
        .init(name: "string", type: .string, defaultValue: .string("")),
        .init(name: "boolean", type: .boolean, defaultValue: .boolean(true)),
        .init(
            name: "date", type: .date, defaultValue: .date(-978307200.25),
            validation: .init(minimum: "0", maximum: "86400")),
        .init(name: "binary", type: .binary, defaultValue: .binary([0, 255])),
        .init(name: "uuid", type: .uuid, defaultValue: .uuid(Array(0..<16))),
        .init(name: "uri", type: .uri, defaultValue: .uri("https://example.org/?a=1&b=2")),
        .init(name: "transformable", type: .transformable, defaultValue: .transformable([1, 2])),
        .init(name: "objectID", type: .objectID), .init(name: "undefined", type: .undefined, isTransient: true),
        .init(
            name: "place", type: .composite, compositeName: "Place", elements: place.elements,
            uncertainty: unseenSpelling),
    ]

    package static func model(entity: EntityDescription = entity) throws -> ManagedObjectModel {
        try ManagedObjectModel(
            entities: [
                entity,
                EntityDescription(name: "Thing", attributes: everyType),
                EntityDescription(
                    name: "Answer",
                    relationships: [.init(name: "post", destinationEntityName: "Post", inverseName: "answers")]),
            ],
            configurations: [Configuration(name: "Cloud", entityNames: ["Post", "Answer"], usedWithCloudKit: true)],
            composites: [place],
            fetchRequestTemplates: [
                FetchRequestTemplate(
                    name: "all", entityName: "Post", predicate: "TRUEPREDICATE", options: ["fetchLimit": "1"])
            ],
            versionIdentifiers: ["1.2"],
            documentAttributes: ["type": "com.apple.IDECoreDataModeler.DataModel", "documentVersion": "1.0"])
    }
}
