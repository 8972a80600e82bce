import MoultModel
import TestSupport
import Testing

/// Each change of one field changes the fingerprint; what is not said by the model does not.
@Suite struct FingerprintTests {
    private let attributeChanges: [(inout AttributeDescription) -> Void] = [
        { $0.name = "other" }, { $0.type = .binary }, { $0.isOptional.toggle() }, { $0.isTransient.toggle() },
        { $0.derivation?.filter = nil }, { $0.compositeName = nil }, { $0.elements = [] },
        { $0.uncertainty = nil }, { $0.defaultValue = nil },
        { $0.allowsExternalBinaryDataStorage.toggle() }, { $0.preservesValueInHistoryOnDeletion.toggle() },
        { $0.allowsCloudEncryption.toggle() }, { $0.valueTransformerName = nil }, { $0.attributeValueClassName = nil },
        { $0.usesScalarValueType = nil }, { $0.isIndexed.toggle() }, { $0.isIndexedBySpotlight.toggle() },
        { $0.isStoredInExternalRecord.toggle() }, { $0.validation.maximum = nil }, { $0.renamingIdentifier = nil },
        { $0.versionHashModifier = nil }, { $0.userInfo["a"] = nil }, { $0.isSyncable.toggle() },
    ]

    private let relationshipChanges: [(inout RelationshipDescription) -> Void] = [
        { $0.name = "other" }, { $0.destinationEntityName = "Thing" }, { $0.inverseName = nil },
        { $0.isOptional.toggle() }, { $0.isTransient.toggle() }, { $0.maxCount = 8 }, { $0.minCount = 1 },
        { $0.isOrdered.toggle() }, { $0.deleteRule = .cascade }, { $0.isIndexed.toggle() },
        { $0.isIndexedBySpotlight.toggle() }, { $0.isStoredInExternalRecord.toggle() }, { $0.renamingIdentifier = nil },
        { $0.versionHashModifier = nil }, { $0.userInfo = [:] }, { $0.isSyncable.toggle() },
    ]

    private let fetchedPropertyChanges: [(inout FetchedPropertyDescription) -> Void] = [
        { $0.name = "other" }, { $0.isOptional.toggle() }, { $0.destinationEntityName = nil }, { $0.predicate = nil },
        { $0.options = [:] }, { $0.isTransient.toggle() }, { $0.renamingIdentifier = nil },
        { $0.versionHashModifier = nil }, { $0.userInfo = [:] }, { $0.isSyncable.toggle() },
    ]

    private let entityChanges: [(inout EntityDescription) -> Void] = [
        { $0.name = "Other" }, { $0.managedObjectClassName = nil }, { $0.isAbstract.toggle() },
        { $0.superentityName = nil }, { $0.attributes = [] }, { $0.relationships = [] }, { $0.fetchedProperties = [] },
        { $0.fetchIndexes[0].elements[0].kind = .binary }, { $0.compoundIndexes = [] },
        { $0.uniquenessConstraints[1] = ["a", "c"] }, { $0.renamingIdentifier = nil }, { $0.versionHashModifier = nil },
        { $0.userInfo = [:] }, { $0.isSyncable.toggle() }, { $0.coreSpotlightDisplayNameExpression = nil },
        { $0.codeGenerationType = nil },
    ]

    @Test func `every field counts`() throws {
        #expect(attributeChanges.count == Mirror(reflecting: RichModel.attribute).children.count)
        #expect(relationshipChanges.count == Mirror(reflecting: RichModel.relationship).children.count)
        #expect(fetchedPropertyChanges.count == Mirror(reflecting: RichModel.fetchedProperty).children.count)
        #expect(entityChanges.count == Mirror(reflecting: RichModel.entity).children.count)
        var entities = [RichModel.entity]
        entities += entityChanges.map { changed(RichModel.entity, $0) }
        entities += attributeChanges.map { change in
            changed(RichModel.entity) { $0.attributes = [changed(RichModel.attribute, change)] }
        }
        entities += relationshipChanges.map { change in
            changed(RichModel.entity) { $0.relationships = [changed(RichModel.relationship, change)] }
        }
        entities += fetchedPropertyChanges.map { change in
            changed(RichModel.entity) { $0.fetchedProperties = [changed(RichModel.fetchedProperty, change)] }
        }
        // Alone in a model, without what they refer to, so that each may be as odd as it is.
        let fingerprints = try entities.map { entity in
            var alone = entity
            alone.superentityName = entity.superentityName == nil ? nil : alone.name + "Parent"
            alone.relationships = entity.relationships.map { relationship in
                changed(relationship) { $0.userInfo["to"] = "\($0.destinationEntityName) \($0.inverseName ?? "")" }
            }
            alone.relationships = alone.relationships.map { relationship in
                changed(relationship) {
                    $0.destinationEntityName = alone.name
                    $0.inverseName = nil
                }
            }
            let parent = alone.superentityName.map { [EntityDescription(name: $0)] } ?? []
            return ModelFingerprint(of: try ManagedObjectModel(entities: [alone] + parent)).bytes
        }
        #expect(Set(fingerprints).count == entities.count)
    }

    @Test func `what the model does not say does not count`() throws {
        let model = try RichModel.model()
        let entity = changed(RichModel.entity) { $0.uniquenessConstraints.reverse() }
        #expect(try RichModel.model(entity: entity).isIdentical(to: model))
        let renamed = try ManagedObjectModel(entities: [EntityDescription(name: "A", renamingIdentifier: "A")])
        #expect(renamed.isIdentical(to: try ManagedObjectModel(entities: [EntityDescription(name: "A")])))
        let resaved = try ManagedObjectModel(
            entities: model.entities, configurations: model.configurations, composites: model.composites,
            fetchRequestTemplates: model.fetchRequestTemplates, versionIdentifiers: model.versionIdentifiers,
            documentAttributes: ["lastSavedToolsVersion": "23000"])
        #expect(resaved.isIdentical(to: model))
        #expect(VersionHashes(of: resaved).isCompatible(with: VersionHashes(of: model)))
    }

    private func changed<Value>(_ value: Value, _ change: (inout Value) -> Void) -> Value {
        var value = value
        change(&value)
        return value
    }
}
