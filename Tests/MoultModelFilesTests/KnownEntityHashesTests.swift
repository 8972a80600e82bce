import MoultModel
import MoultModelFiles
import TestSupport
import Testing

/// A hash that is taken from another version is the one that the model alone gives.
struct KnownEntityHashesTests {  // tier: long
    @Test(.enabled(if: Corpus.isAvailable)) func `every model of the corpus has the same hashes among all others`()
        throws
    {
        var known = KnownEntityHashes()
        for source in try CorpusSources.all.get() {
            let among = try VersionHashes(of: source.model.made(), known: &known)
            #expect(among == VersionHashes(of: try source.model.made()), "\(source.path)")
        }
    }

    /// An entity repeats nothing of what it inherits, and its hash changes with it.
    @Test func `an entity of another parent is hashed anew`() throws {
        var known = KnownEntityHashes()
        var hashes: [[UInt8]?] = []
        for type in [AttributeType.string, .date, .string] {
            let model = try ManagedObjectModel(entities: [
                EntityDescription(name: "Child", superentityName: "Middle"),
                EntityDescription(name: "Middle", superentityName: "Top"),
                EntityDescription(name: "Top", attributes: [.init(name: "a", type: type)]),
            ])
            let all = VersionHashes(of: model, known: &known)
            #expect(all == VersionHashes(of: try model.made()))
            hashes.append(all.entities["Child"])
        }
        #expect(hashes[0] != hashes[1])
        #expect(hashes[0] == hashes[2])
    }

    @Test func `an uncertain hash stays uncertain`() throws {
        var known = KnownEntityHashes()
        for _ in 0..<2 {
            let model = try ManagedObjectModel(entities: [
                EntityDescription(name: "Child", superentityName: "Top"),
                EntityDescription(name: "Top", attributes: [.init(name: "a", type: .composite)]),
            ])
            let hashes = VersionHashes(of: model, known: &known)
            #expect(hashes == VersionHashes(of: try model.made()))
            #expect(Set(hashes.uncertain.keys) == ["Child", "Top"])
        }
    }
}

extension ManagedObjectModel {
    /// An equal model whose hashes have not been computed.
    fileprivate func made() throws -> ManagedObjectModel { try ManagedObjectModel(entities: entities) }
}
