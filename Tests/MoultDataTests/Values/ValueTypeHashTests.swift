import MoultData
import MoultModel
import MoultStore
import TestSupport
import Testing

/// The version hash of models with enums, structs and lists, from Swift source, against what Apple's frameworks have
/// written.
@Suite struct ValueTypeHashTests {
    /// Published for iOS 26.5.
    @Test func `a shipping app's entity with thirteen composites has its published hash`() throws {
        let schema = Schema(versionedSchema: Token.self)
        let hash = VersionHashes(of: try schema.managedObjectModel()).entities["PersistentToken"]
        #expect(hash?.hexadecimal == "85dacb8b1556f06c9ece6bac94e185e0fdbd8f62554f2b5eca444c121649567c")
        #expect(schema.unknownMappings.isEmpty)
    }

    static var stores: [(file: String, version: any VersionedSchema.Type)] {
        [
            ("146fb67d.store", BarV1.self), ("5856f077.store", BarV2.self), ("4880ec31.store", BarV3.self),
            ("52495ad9.store", BarV4.self), ("b1b50c05.store", BarV4.self), ("mock.store", Recipes.self),
        ]
    }

    @Test(.enabled(if: Corpus.isWhole), arguments: stores.indices)
    func `every entity of a store that SwiftData made has the hash that stands there`(_ number: Int) throws {
        let (snapshot, version) = try Self.store(number)
        let schema = Schema(versionedSchema: version)
        let hashes = VersionHashes(of: try schema.managedObjectModel())
        let theirs = try #require(snapshot.metadata.hashes)
        for (name, hash) in theirs.entities { #expect(hashes.entities[name] == hash, "\(name)") }
        #expect(hashes.entities == theirs.entities)
        #expect(schema.unknownMappings.isEmpty && hashes.uncertain.isEmpty)
    }

    @Test(.enabled(if: Corpus.isWhole), arguments: stores.indices)
    func `the model is the one in the store's cache`(_ number: Int) throws {
        let (snapshot, version) = try Self.store(number)
        let cached = try #require(snapshot.cachedModel)
        let model = try Schema(versionedSchema: version).managedObjectModel()
        for entity in model.entities {
            let theirs = try #require(cached.entity(entity.name))
            #expect(entity.attributes.map(\.name) == theirs.attributes.map(\.name))
            for (own, other) in zip(entity.attributes, theirs.attributes) {
                let place = "\(entity.name).\(own.name)"
                #expect(own.type == other.type && own.isOptional == other.isOptional, "\(place)")
                #expect(own.userInfo == other.userInfo, "\(place)")
                #expect(own.elements.map(\.name) == other.elements.map(\.name), "\(place)")
                #expect(own.elements.map(\.type) == other.elements.map(\.type), "\(place)")
                #expect(own.elements.map(\.isOptional) == other.elements.map(\.isOptional), "\(place)")
                #expect(own.valueTransformerName == other.valueTransformerName, "\(place)")
                if own.type == .transformable { #expect(own.attributeValueClassName == other.attributeValueClassName) }
            }
        }
    }

    @Test(.enabled(if: Corpus.isWhole), arguments: stores.indices)
    func `a fresh store has the very tables of the store`(_ number: Int) throws {
        let stored = try #require(Corpus.stores.first { $0.hasSuffix("/" + Self.stores[number].file) })
        let tables =
            "SELECT sql FROM sqlite_master WHERE type = 'table' AND (name GLOB 'Z[A-Y]*' OR name GLOB 'Z_[0-9]*')"
            + " ORDER BY name"
        let own = try VersionedStore()
        try own.open(Self.stores[number].version) { _ in }
        #expect(try own.sql(tables) == SQLiteShell.run(stored, tables, immutable: true))
    }

    private static func store(_ number: Int) throws -> (StoreSnapshot, any VersionedSchema.Type) {
        let path = try #require(Corpus.stores.first { $0.hasSuffix("/" + stores[number].file) })
        let copy = try ScratchFolder()
        return (
            try ReadOnlyStore.read(try copy.copyStore(path)) { try StoreSnapshot($0.connection) },
            stores[number].version
        )
    }
}
