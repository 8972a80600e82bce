import MoultBasics
public import MoultCoreData
import MoultModel

extension Schema {
    /// Returns the model that SwiftData makes from the same classes, with the same version hashes except for the
    /// entities in ``unknownMappings``.
    ///
    /// - Throws: `MigrationError` with code `modelInvalid`, for the first fault of the models.
    public func managedObjectModel() throws -> ManagedObjectModel {
        if let fault = faults.first { throw fault }
        return try ManagedObjectModel(
            entities: entities.map(Self.description), versionIdentifiers: [version.description],
            documentAttributes: ["usedWithSwiftData": "YES"])
    }

    /// The entities whose version hash may differ from SwiftData's, each with the reason: how SwiftData stores one of
    /// their values is not publicly known. Apple's frameworks may refuse a store with such entities.
    public var unknownMappings: [String: String] {
        let byName = entitiesByName
        return entities.reduce(into: [:]) { reasons, entity in
            var current: Entity? = entity
            while let owner = current {
                for property in owner.own {
                    guard case .attribute(let attribute) = property, !attribute.isTransient,
                        let reason = attribute.unknown
                    else { continue }
                    reasons[entity.name] = reasons[entity.name] ?? "\(owner.name).\(attribute.name): \(reason)"
                }
                current = owner.superentityName.flatMap { byName[$0] }
            }
        }
    }

    /// Throws if Apple's frameworks might refuse stores of the schema: see ``unknownMappings``.
    ///
    /// - Throws: an error with code `unsupported`, with the reason for every such entity.
    public func checkMappings() throws(MigrationError) {
        let reasons = unknownMappings.inByteOrder { $0.key }
        guard !reasons.isEmpty else { return }
        throw MigrationError(
            .unsupported,
            "SwiftData's form of these models is not known: "
                + reasons.map { "\($0.key) (\($0.value))" }.joined(separator: ", ") + ".",
            place: reasons.map(\.key).joined(separator: ", "),
            remedy: "Give these properties types whose form is known, such as String and Data, or do not share the "
                + "store with Apple's frameworks.")
    }

    private static func description(of entity: Entity) -> EntityDescription {
        EntityDescription(
            name: entity.name, superentityName: entity.superentityName,
            attributes: entity.attributes.map(description), relationships: entity.relationships.map(description),
            fetchIndexes: entity.indexes.map(description), uniquenessConstraints: entity.uniquenessConstraints)
    }

    private static func description(of attribute: Attribute) -> AttributeDescription {
        var described = attribute.stored
        described.isTransient = attribute.isTransient
        described.allowsExternalBinaryDataStorage = attribute.options.contains(.externalStorage)
        described.preservesValueInHistoryOnDeletion = attribute.options.contains(.preserveValueOnDeletion)
        described.allowsCloudEncryption = attribute.options.contains(.allowsCloudEncryption)
        described.isIndexedBySpotlight = attribute.options.contains(.spotlight)
        described.renamingIdentifier = attribute.originalName == attribute.name ? nil : attribute.originalName
        described.versionHashModifier = attribute.hashModifier
        if let transformer = attribute.transformerName { described.valueTransformerName = transformer }
        return described
    }

    /// Returns the description of a relationship. A required to-one relationship has a minimum of 0, too.
    private static func description(of relationship: Relationship) -> RelationshipDescription {
        RelationshipDescription(
            name: relationship.name, destinationEntityName: relationship.destination,
            inverseName: relationship.inverseName, isOptional: relationship.isOptional,
            maxCount: relationship.isToOneRelationship ? 1 : relationship.maximumModelCount ?? 0,
            minCount: relationship.minimumModelCount ?? 0, deleteRule: relationship.deleteRule.coreData,
            renamingIdentifier: relationship.originalName == relationship.name ? nil : relationship.originalName,
            versionHashModifier: relationship.hashModifier)
    }

    /// Returns the description of an index, named as SwiftData names it.
    private static func description(of index: Entity.Indexed) -> FetchIndexDescription {
        FetchIndexDescription(
            name: "SwiftDataIndexOn\(index.isRTree ? "RTree" : "Binary")\(index.properties.joined())",
            elements: index.properties.map {
                .init(subject: .property($0), kind: index.isRTree ? .rTree : .binary)
            })
    }
}

extension Schema: _ManagedObjectModelSource {}

extension PersistentModel {
    /// Returns the managed object model of SwiftData models.
    public static func _managedObjectModel(
        of classes: [any _ManagedObjectModelClass.Type]
    ) throws -> ManagedObjectModel {
        try Schema(classes.compactMap { $0 as? any PersistentModel.Type }).managedObjectModel()
    }
}

extension ManagedObjectModel {
    /// Returns the managed object model of SwiftData models, like `NSManagedObjectModel.makeManagedObjectModel(for:)`.
    /// - Throws: `MigrationError` with code `modelInvalid`.
    public static func makeManagedObjectModel(for types: [any PersistentModel.Type]) throws -> ManagedObjectModel {
        try Schema(types).managedObjectModel()
    }
}

extension Schema {
    /// Returns the schema as a version for the engine, named by its number, such as `1.0.0`.
    ///
    /// - Parameter configurations: the entities of each of several stores, by name.
    /// - Throws: `modelInvalid` for the first fault of the models.
    func modelVersion(holding configurations: [String: Set<String>] = [:]) throws -> ModelVersion {
        ModelVersion(names: [version.description], model: try managedObjectModel().holding(configurations))
    }
}

extension ManagedObjectModel {
    /// Returns the model with configurations, each of them with the entities that it names.
    func holding(_ configurations: [String: Set<String>]) throws -> ManagedObjectModel {
        guard !configurations.isEmpty else { return self }
        return try ManagedObjectModel(
            entities: entities,
            configurations: configurations.inByteOrder { $0.key }.map { name, held in
                Configuration(name: name, entityNames: entities.map(\.name).filter(held.contains))
            }, versionIdentifiers: versionIdentifiers, documentAttributes: documentAttributes)
    }
}
