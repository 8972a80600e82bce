import Foundation
import Moult
import MoultBasics
import MoultModel
import MoultPlan
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// Generated pairs of models: whatever of a way can wait, the store ends as if nothing had waited.
@Suite("Generated deferred migrations")
struct DeferredPairTests {  // tier: long
    @Test(arguments: UInt64(0)..<6)
    func `finished or migrated further, the store equals one that put nothing off`(seed: UInt64) throws {
        _ = try DeferredPair(seed: seed).run()
    }

    @Test func `most of the generated ways can wait`() throws {
        let deferred = try (UInt64(100)..<130).count { seed in
            let pair = try DeferredPair(seed: seed)
            let store = try DeferredStore(pair.versions.versions[0], rows: 3, seed: seed)
            return (try? store.prepared(pair.versions))?.deferral?.isPossible == true
        }
        #expect(deferred > 15)
    }
}

@Suite(.enabled(if: Tier.matrix.isAsked))
struct DeferredPairMatrixTests {
    @Test func `a thousand pairs`() throws {
        let start = Date()
        var (tried, deferred) = (0, 0)
        for seed in UInt64(1_000)..<2_000 where Date().timeIntervalSince(start) < Tier.matrix.seconds {
            tried += 1
            if try DeferredPair(seed: seed).run() { deferred += 1 }
        }
        print("DeferredPairMatrixTests: \(deferred) of \(tried) could wait")
        #expect(deferred > tried / 2)
    }
}

/// Two versions, the second made of the first by edits that inference knows.
struct DeferredPair {
    let seed: UInt64
    let versions: ModelVersions

    init(seed: UInt64) throws {
        self.seed = seed
        var random = SeededGenerator(seed: seed &+ 1)
        let first = try ManagedObjectModel(entities: Self.entities)
        let second = try ManagedObjectModel(entities: Self.edited(Self.entities, &random))
        versions = ModelVersions(versions: [
            ModelVersion(names: ["1"], model: first), ModelVersion(names: ["2"], model: second),
        ])
    }

    /// - Returns: whether anything could wait.
    func run() throws -> Bool {
        let store = try DeferredStore(versions.versions[0], rows: 12, seed: seed, history: seed % 3 == 0)
        let other = try store.copy()
        do {
            guard try other.prepared(versions, defers: false).bound != nil else { return false }
        } catch let error as MigrationError where error.code == .question {
            return false
        }
        let kept = try store.copy()
        try other.migrate(versions, defers: false)
        // Where tables stay, all values are the same, by the names of their columns.
        try kept.migrate(versions, defers: false, normalises: false)
        #expect(try kept.values() == other.values(), "seed \(seed)")
        let isDeferred = try #require(try store.migrate(versions).deferral).isPossible
        #expect(try StoreAudit(store.path, model: versions.versions[1].model).isSound, "seed \(seed)")
        try store.finish()
        #expect(try store.contents() == other.contents(), "seed \(seed)")
        return isDeferred
    }

    private static let entities = [
        EntityDescription(
            """
            Animal = name String indexed, legs Integer16, born Date, owner > Person.animals, friends >> Person.friendsOf
            """),
        EntityDescription("Cat (Animal) = lives Integer32, size Double"),
        EntityDescription("Dog (Animal) = size Double, photo Binary"),
        EntityDescription("Person = name String, money Decimal, animals >> Animal.owner, friendsOf >> Animal.friends"),
        EntityDescription(name: "Zone", attributes: [.init(name: "code", type: .uuid)]),
    ]

    private static func edited(_ entities: [EntityDescription], _ random: inout SeededGenerator) -> [EntityDescription]
    {
        var entities = entities
        for _ in 0..<Int.random(in: 1...5, using: &random) { edit(&entities, &random) }
        return entities
    }

    private static func edit(_ entities: inout [EntityDescription], _ random: inout SeededGenerator) {
        let place = Int.random(in: 0..<min(entities.count, 4), using: &random)
        let name = "p\(Int.random(in: 0..<1_000, using: &random))"
        let count = entities[place].attributes.count
        let attribute = Int.random(in: 0..<max(count, 1), using: &random)
        switch Int.random(in: 0..<10, using: &random) {
        case 0, 1: if count > 0 { entities[place].attributes.remove(at: attribute) }
        // Of types that nothing else has, so that nobody has to ask whether it is a rename.
        case 2: entities[place].attributes.append(.init(name: name, type: .uri))
        case 3:
            entities[place].attributes.append(
                .init(name: name, type: .boolean, isOptional: false, defaultValue: .boolean(true)))
        case 4:
            guard count > 0, entities[place].attributes[attribute].renamingIdentifier == nil else { return }
            let old = entities[place].attributes[attribute].name
            guard Self.entities[place].attributes.contains(where: { $0.name == old }) else { return }
            entities[place].attributes[attribute].renamingIdentifier = old
            entities[place].attributes[attribute].name = name
        case 5: if count > 0 { entities[place].attributes[attribute].isIndexed.toggle() }
        case 6:
            entities[0].relationships.removeAll { $0.name == "friends" }
            entities[3].relationships.removeAll { $0.name == "friendsOf" }
        case 7: if entities.count == 5 { entities.removeLast() }
        case 8:
            guard !entities.contains(where: { $0.name == "Zoo" }) else { return }
            entities.append(
                EntityDescription("Zoo = city String indexed"))
        default:
            guard !entities[3].relationships.contains(where: { $0.name == "boss" }) else { return }
            entities[3].relationships += [
                .init(name: "boss", destinationEntityName: "Person", inverseName: "staff"),
                .init(name: "staff", destinationEntityName: "Person", inverseName: "boss", maxCount: 0),
            ]
        }
    }
}
