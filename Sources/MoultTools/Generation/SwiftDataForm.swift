import MoultBasics
import MoultModel

/// A version of a model, reduced to the features that SwiftData's types can express.
///
/// If the model uses other features, an entity's version hash may differ; ``Coexistence`` lists the differences.
package struct SwiftDataForm {
    package let model: ManagedObjectModel
    /// The transient attributes, which no store contains, by entity.
    let transients: [String: [AttributeDescription]]

    /// - Throws: `modelInvalid` if two names become the same identifier.
    package init(of model: ManagedObjectModel) throws {
        var entities = model.entities.map { Self.entity($0, in: model) }
        Self.pairRelationships(&entities)
        self.model = try ManagedObjectModel(
            entities: entities, composites: [], versionIdentifiers: model.versionIdentifiers,
            documentAttributes: ["usedWithSwiftData": "YES"])
        transients = Dictionary(
            uniqueKeysWithValues: model.entities.map { entity in
                (Self.className(entity.name), entity.attributes.filter { $0.isTransient && $0.type != .undefined })
            })
    }

    // MARK: - Names

    /// Names that a class cannot have beside `import SwiftData`, or in any source.
    private static let reservedClasses: Set<String> = [
        "Type", "Protocol", "Self", "Any", "Schema", "Model", "Attribute", "Relationship", "Index", "Unique",
        "Transient", "PersistentModel", "VersionedSchema", "MigrationStage", "SchemaMigrationPlan", "ModelContext",
    ]
    /// Names that every SwiftData model already has, or that no property can have.
    private static let reservedProperties: Set<String> = [
        "description", "hashValue", "persistentModelID", "modelContext", "persistentBackingData", "schemaMetadata",
        "init", "self", "Type",
    ]

    static func className(_ entity: String) -> String {
        let name = entity.asIdentifier
        return reservedClasses.contains(name) ? name + "_" : name
    }

    static func propertyName(_ property: String) -> String {
        let name = property.asIdentifier
        return reservedProperties.contains(name) ? name + "_" : name
    }

    // MARK: - Parts

    private static func entity(_ entity: EntityDescription, in model: ManagedObjectModel) -> EntityDescription {
        let attributes = entity.attributes.filter { $0.isStored && $0.type != .objectID && $0.isExpressible }
        let relationships = entity.relationships.filter { !$0.isTransient }
        let own = Set(attributes.map(\.name) + relationships.filter { !$0.isToMany }.map(\.name))
        let plain = Set(attributes.filter { $0.type != .composite }.map(\.name))
        return EntityDescription(
            name: className(entity.name), superentityName: entity.superentityName.map(className),
            attributes: attributes.map(attribute), relationships: relationships.map { relationship($0, in: model) },
            fetchIndexes: entity.effectiveFetchIndexes.compactMap { index($0, of: plain) },
            uniquenessConstraints: entity.uniquenessConstraints.filter { !$0.isEmpty && own.isSuperset(of: $0) }
                .map { $0.map(propertyName) })
    }

    private static func attribute(_ attribute: AttributeDescription) -> AttributeDescription {
        let name = propertyName(attribute.name)
        return AttributeDescription(
            name: name, type: attribute.type, isOptional: attribute.isOptional, compositeName: nil,
            elements: attribute.columns(isInOptional: false), defaultValue: attribute.defaultValue,
            allowsExternalBinaryDataStorage: attribute.allowsExternalBinaryDataStorage,
            preservesValueInHistoryOnDeletion: attribute.preservesValueInHistoryOnDeletion,
            allowsCloudEncryption: attribute.allowsCloudEncryption,
            valueTransformerName: attribute.valueTransformerName,
            attributeValueClassName: attribute.attributeValueClassName,
            isIndexedBySpotlight: attribute.isIndexedBySpotlight,
            renamingIdentifier: attribute.renamingIdentifier ?? (name == attribute.name ? nil : attribute.name),
            versionHashModifier: attribute.versionHashModifier, userInfo: attribute.userInfo)
    }

    private static func relationship(
        _ relationship: RelationshipDescription, in model: ManagedObjectModel
    ) -> RelationshipDescription {
        let name = propertyName(relationship.name)
        // A relationship cannot name itself as its inverse: the compiler reports a circular reference.
        let inverse = model.inverse(of: relationship).flatMap {
            $0.isTransient || $0 == relationship ? nil : $0.name
        }
        return RelationshipDescription(
            name: name, destinationEntityName: className(relationship.destinationEntityName),
            inverseName: inverse.map(propertyName), isOptional: relationship.isOptional,
            maxCount: relationship.maxCount, minCount: relationship.minCount, deleteRule: relationship.deleteRule,
            renamingIdentifier: relationship.renamingIdentifier
                ?? (name == relationship.name ? nil : relationship.name),
            versionHashModifier: relationship.versionHashModifier)
    }

    /// Returns SwiftData's form of an index. SwiftData chooses the name, and supports only ascending indexes on all
    /// rows, with properties of the class itself.
    private static func index(_ index: FetchIndexDescription, of own: Set<String>) -> FetchIndexDescription? {
        guard index.partialIndexPredicate == nil, let kind = index.elements.first?.kind else { return nil }
        var names: [String] = []
        for element in index.elements {
            guard case .property(let name) = element.subject, own.contains(name), element.kind == kind,
                element.isAscending
            else { return nil }
            names.append(propertyName(name))
        }
        return FetchIndexDescription(
            name: "SwiftDataIndexOn\(kind == .rTree ? "RTree" : "Binary")\(names.joined())",
            elements: names.map { .init(subject: .property($0), kind: kind) })
    }

    // MARK: - Inverses

    /// Pairs relationships as SwiftData does: if one names the other, or if each of two classes has exactly one
    /// relationship to the other without an inverse.
    private static func pairRelationships(_ entities: inout [EntityDescription]) {
        func set(_ inverse: String, _ entity: Int, _ name: String) {
            guard let place = entities[entity].relationships.firstIndex(where: { $0.name == name }) else { return }
            entities[entity].relationships[place].inverseName = inverse
        }
        func open(_ entity: Int, to other: Int) -> [String] {
            entities[entity].relationships.filter {
                $0.destinationEntityName == entities[other].name && $0.inverseName == nil
            }.map(\.name)
        }
        let parents = Dictionary(entities.map { ($0.name, $0.superentityName) }) { first, _ in first }
        for entity in entities {
            for relationship in entity.relationships {
                guard let inverse = relationship.inverseName else { continue }
                var owner: String? = relationship.destinationEntityName
                while let name = owner {
                    if let other = entities.firstIndex(where: { $0.name == name }),
                        entities[other].relationships.contains(where: { $0.name == inverse })
                    {
                        set(relationship.name, other, inverse)
                        break
                    }
                    owner = parents[name] ?? nil
                }
            }
        }
        for one in entities.indices {
            for other in entities.indices where entities[one].name.precedesInByteOrder(entities[other].name) {
                let (there, back) = (open(one, to: other), open(other, to: one))
                guard there.count == 1, back.count == 1, let first = there.first, let second = back.first else {
                    continue
                }
                set(second, one, first)
                set(first, other, second)
            }
        }
    }
}

extension AttributeDescription {
    /// Whether a class property can represent the attribute. For a composite, that includes all of its elements.
    fileprivate var isExpressible: Bool {
        guard type == .composite else { return type != .objectID && type != .undefined }
        return !elements.isEmpty && elements.allSatisfy { $0.isExpressible && $0.name.isIdentifier }
    }

    /// Returns the elements as the fields of a struct. In an optional struct or an enum, every column is optional.
    fileprivate func columns(isInOptional: Bool) -> [AttributeDescription] {
        let isInOptional = isInOptional || isOptional
        return elements.map { element in
            var element = element
            if isInOptional || isEnum { element.isOptional = true }
            element.elements = element.columns(isInOptional: isInOptional)
            return element
        }
    }
}
