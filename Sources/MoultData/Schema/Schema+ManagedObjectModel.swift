import MoultBasics
public import MoultCoreData
import MoultModel

extension Schema {
    /// The model that SwiftData makes of the same classes, so that version hashes are the same, but
    /// for the entities in ``unknownMappings``.
    ///
    /// - Throws: `MigrationError` with code `modelInvalid`, for the first fault of the models.
    public func managedObjectModel() throws -> ManagedObjectModel {
        if let fault = faults.first { throw fault }
        return try ManagedObjectModel(
            entities: entities.map(Self.description), versionIdentifiers: [version.description],
            documentAttributes: ["usedWithSwiftData": "YES"])
    }

    /// The entities whose version hash may differ from SwiftData's, each with the reason: it is not publicly known how
    /// SwiftData keeps one of their values. Apple's frameworks may refuse a store with them.
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

    /// Refuses models whose stores Apple's frameworks may refuse: see ``unknownMappings``.
    ///
    /// - Throws: code `unsupported`, with the reason of every such entity.
    public func checkMappings() throws(MigrationError) {
        let reasons = unknownMappings.sorted { $0.key.precedesInByteOrder($1.key) }
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

    /// A to-one relationship that is not optional has minimum 0 anyway.
    private static func description(of relationship: Relationship) -> RelationshipDescription {
        RelationshipDescription(
            name: relationship.name, destinationEntityName: relationship.destination,
            inverseName: relationship.inverseName, isOptional: relationship.isOptional,
            maxCount: relationship.isToOneRelationship ? 1 : relationship.maximumModelCount ?? 0,
            minCount: relationship.minimumModelCount ?? 0, deleteRule: relationship.deleteRule.coreData,
            renamingIdentifier: relationship.originalName == relationship.name ? nil : relationship.originalName,
            versionHashModifier: relationship.hashModifier)
    }

    /// Named as SwiftData names them.
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
    /// The managed object model of models of SwiftData.
    public static func _managedObjectModel(
        of classes: [any _ManagedObjectModelClass.Type]
    ) throws -> ManagedObjectModel {
        try Schema(classes.compactMap { $0 as? any PersistentModel.Type }).managedObjectModel()
    }
}

extension ManagedObjectModel {
    /// The managed object model of SwiftData models: what `NSManagedObjectModel.makeManagedObjectModel(for:)` makes.
    /// - Throws: `MigrationError` with code `modelInvalid`.
    public static func makeManagedObjectModel(for types: [any PersistentModel.Type]) throws -> ManagedObjectModel {
        try Schema(types).managedObjectModel()
    }
}

extension Schema {
    /// The schema as the engine knows it, by its number, such as `1.0.0`.
    ///
    /// - Parameter configurations: which entities each of several stores holds, by name.
    /// - Throws: `modelInvalid` for the first fault of its models.
    func modelVersion(holding configurations: [String: Set<String>] = [:]) throws -> ModelVersion {
        ModelVersion(names: [version.description], model: try managedObjectModel().holding(configurations))
    }
}

extension ManagedObjectModel {
    /// The model with configurations of those of its entities that each of them names.
    func holding(_ configurations: [String: Set<String>]) throws -> ManagedObjectModel {
        guard !configurations.isEmpty else { return self }
        return try ManagedObjectModel(
            entities: entities,
            configurations: configurations.sorted { $0.key.precedesInByteOrder($1.key) }.map { name, held in
                Configuration(name: name, entityNames: entities.map(\.name).filter(held.contains))
            }, versionIdentifiers: versionIdentifiers, documentAttributes: documentAttributes)
    }
}
