import MoultBasics
import MoultModel
import TestSupport

/// A model of everything that a SwiftData class can say, in three versions.
enum Fleet {
    static let place = CompositeDescription(
        name: "Place",
        elements: [
            .init(name: "latitude", type: .double, isOptional: false), .init(name: "name", type: .string),
            .init(
                name: "depth", type: .composite, isOptional: false,
                elements: [.init(name: "metres", type: .integer16, isOptional: false)]),
        ])

    private static let everyType: [AttributeDescription] = [
        .init(name: "integer16", type: .integer16, isOptional: false, defaultValue: .integer(-7)),
        .init(name: "integer32", type: .integer32, defaultValue: .integer(7)),
        .init(name: "integer64", type: .integer64, isOptional: false),
        .init(name: "decimal", type: .decimal, isOptional: false, defaultValue: .decimal("-12.5")),
        .init(name: "double", type: .double, isOptional: false, defaultValue: .double(0.1)),
        .init(name: "float", type: .float, versionHashModifier: "2"),
        .init(name: "string", type: .string, isOptional: false, defaultValue: .string("a \"b\" \\\n\u{7}é")),
        .init(name: "boolean", type: .boolean, isOptional: false, defaultValue: .boolean(true)),
        .init(name: "date", type: .date, isOptional: false, defaultValue: .date(1.5)),
        .init(name: "binary", type: .binary, defaultValue: .binary([0, 255]), allowsExternalBinaryDataStorage: true),
        .init(name: "uuid", type: .uuid, isOptional: false, defaultValue: .uuid(Array(0..<16))),
        .init(name: "uri", type: .uri, defaultValue: .uri("https://example.org/?a=1")),
        .init(name: "words", type: .transformable, attributeValueClassName: "[String]"),
        .init(name: "colour", type: .transformable, valueTransformerName: "ColourTransformer"),
        .init(
            name: "berth", type: .composite,
            elements: [.init(name: "quay", type: .string), .init(name: "number", type: .integer32)]),
        .init(name: "origin", type: .composite, isOptional: false, compositeName: "Place", elements: place.elements),
        .init(name: "secret", type: .string, preservesValueInHistoryOnDeletion: true, allowsCloudEncryption: true),
        .init(name: "cache", type: .date, isTransient: true),
        .init(name: "default", type: .string), .init(name: "in", type: .boolean, isOptional: false),
    ]

    /// - Parameters:
    ///   - hull: what the ship's hull is called in this version, renamed from `hull`.
    ///   - extra: more attributes of a ship.
    static func model(hull: String = "hull", extra: [AttributeDescription] = []) throws -> ManagedObjectModel {
        let ship = EntityDescription(
            name: "Ship",
            attributes: everyType + extra + [
                .init(name: "name", type: .string),
                .init(
                    name: hull, type: .string, isOptional: false,
                    renamingIdentifier: hull == "hull" ? nil : "hull"),
            ],
            relationships: [
                .init(
                    name: "crew", destinationEntityName: "Sailor", inverseName: "ship", maxCount: 0,
                    deleteRule: .cascade),
                .init(
                    name: "ports", destinationEntityName: "Port", inverseName: "ships", isOptional: false, maxCount: 9,
                    minCount: 1),
                .init(name: "home", destinationEntityName: "Port", inverseName: "residents", isOptional: false),
                .init(
                    name: "sisters", destinationEntityName: "Ship", inverseName: "sisters", maxCount: 0),
                .init(name: "tug", destinationEntityName: "Ship", inverseName: "towed"),
                .init(name: "towed", destinationEntityName: "Ship", inverseName: "tug", deleteRule: .deny),
            ],
            fetchIndexes: [
                .init(name: "byName", elements: [.init(subject: .property("name"))]),
                .init(
                    name: "byTwo",
                    elements: [.init(subject: .property("name")), .init(subject: .property("integer16"))]),
            ], uniquenessConstraints: [["uuid"], ["name", "integer32"]])
        return try ManagedObjectModel(
            entities: [
                ship,
                EntityDescription(
                    name: "Sailor", attributes: [.init(name: "name", type: .string, isOptional: false)],
                    relationships: [
                        .init(
                            name: "ship", destinationEntityName: "Ship", inverseName: "crew", isOptional: false,
                            minCount: 1)
                    ]),
                EntityDescription("Captain (Sailor) = rank Integer16 required"),
                EntityDescription(name: "Cook", superentityName: "Sailor"),
                EntityDescription("Port = since Date, ships >> Ship.ports, residents >> Ship.home"),
                // Names of Foundation and of the language.
                EntityDescription("Date = day Date, class String"),
                EntityDescription(name: "Decimal", attributes: [.init(name: "digits", type: .decimal)]),
            ])
    }

    static func versions() throws -> ModelVersions {
        ModelVersions(versions: [
            ModelVersion(names: ["Fleet"], model: try model()),
            ModelVersion(names: ["Fleet 2"], model: try model(hull: "body")),
            ModelVersion(
                names: ["Fleet 3"],
                model: try model(hull: "body", extra: [.init(name: "flag", type: .string, isOptional: false)])),
        ])
    }
}
