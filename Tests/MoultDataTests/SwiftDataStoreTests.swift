import MoultData
import MoultModel
import MoultStore
import TestSupport
import Testing

/// Models written to match a store that SwiftData made: what Apple's frameworks compute of theirs is in the store.
@Suite(.enabled(if: Corpus.isAvailable)) struct SwiftDataStoreTests {
    private func snapshot() throws -> StoreSnapshot {
        let store = try #require(Corpus.stores.first { $0.hasSuffix("CartKitSwiftData_v1.sqlite") })
        let folder = try ScratchFolder()
        return try ReadOnlyStore.read(try folder.copyStore(store)) { try StoreSnapshot($0.connection) }
    }

    @Test func `the version hashes are Apple's`() throws {
        let metadata = try snapshot().metadata
        let schema = Schema(versionedSchema: Carts.self)
        let hashes = VersionHashes(of: try schema.managedObjectModel())
        #expect(hashes.entities.count == 3)
        #expect(hashes.entities == metadata.hashes?.entities)
        #expect(schema.unknownMappings.isEmpty && hashes.uncertain.isEmpty)
    }

    @Test func `the model is the one that SwiftData left in the store`() throws {
        let cached = try #require(try snapshot().cachedModel)
        let model = try Schema(versionedSchema: Carts.self).managedObjectModel()
        #expect(model.versionIdentifiers == cached.versionIdentifiers)
        for entity in model.entities {
            let theirs = try #require(cached.entity(entity.name))
            #expect(entity.uniquenessConstraints == theirs.uniquenessConstraints)
            for attribute in entity.attributes {
                let other = try #require(theirs.attribute(attribute.name))
                #expect(attribute.type == other.type && attribute.isOptional == other.isOptional)
                #expect(attribute.defaultValue == other.defaultValue)
            }
            for relationship in entity.relationships {
                let other = try #require(theirs.relationship(relationship.name))
                #expect(relationship.deleteRule == other.deleteRule && relationship.inverseName == other.inverseName)
                #expect(relationship.maxCount == other.maxCount && relationship.minCount == other.minCount)
                #expect(relationship.isOptional == other.isOptional)
            }
            #expect(entity.propertyNames.count == theirs.propertyNames.count)
        }
    }

    @Test func `one changed type changes the hash of its entity alone`() throws {
        let metadata = try snapshot().metadata
        var model = try Schema(versionedSchema: Carts.self).managedObjectModel()
        try model.updateEntity("CartModel") { $0.attributes[0].isOptional.toggle() }
        let hashes = VersionHashes(of: model).entities
        #expect(hashes["CartModel"] != metadata.hashes?.entities["CartModel"])
        #expect(hashes["CartItemModel"] == metadata.hashes?.entities["CartItemModel"])
    }
}
