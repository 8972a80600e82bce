import MoultModel
import MoultObjects
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// A relationship that becomes to-one keeps the first of the objects that are left, whoever makes the objects at either
/// end: statements or a policy that drops some.
struct PolicyNarrowingTests {  // tier: long
    struct Shape: Sendable, CustomTestStringConvertible {
        /// Whether an owner has many pets, and a pet many owners, before; one of the two becomes to-one.
        var (pets, owners): (Bool, Bool)
        var isOrdered: Bool
        var narrowsPets: Bool
        var policies: Set<String>

        var testDescription: String {
            "\(pets ? "many" : "one") pets, \(owners ? "many" : "one") owners, \(isOrdered ? "in order" : "by key"), "
                + "one \(narrowsPets ? "pet" : "owner") is left; policies: \(policies.sorted())"
        }

        static var all: [Shape] {
            var shapes: [Shape] = []
            for (pets, owners, narrowsPets) in [
                (true, true, true), (true, true, false), (true, false, true), (false, true, false),
            ] {
                for isOrdered in [false, true] {
                    for policies: Set<String> in [[], ["Owner"], ["Pet"], ["Owner", "Pet"]] {
                        shapes.append(
                            Shape(
                                pets: pets, owners: owners, isOrdered: isOrdered, narrowsPets: narrowsPets,
                                policies: policies))
                    }
                }
            }
            return shapes
        }

        func version(_ number: Int) throws -> ModelVersion {
            let pets = pets && (number == 1 || !narrowsPets)
            let owners = owners && (number == 1 || narrowsPets)
            func entity(_ name: String, _ link: String, _ to: String, _ inverse: String, _ isMany: Bool)
                -> EntityDescription
            {
                EntityDescription(
                    name: name, attributes: [.init(name: "name", type: .string)],
                    relationships: [
                        .init(
                            name: link, destinationEntityName: to, inverseName: inverse, maxCount: isMany ? 0 : 1,
                            isOrdered: isMany && isOrdered)
                    ])
            }
            return ModelVersion(
                names: ["\(number)"],
                model: try ManagedObjectModel(entities: [
                    entity("Owner", "pets", "Pet", "owners", pets), entity("Pet", "owners", "Owner", "pets", owners),
                ]))
        }
    }

    private final class Dropping: EntityMigrationPolicy {
        static func drops(_ key: Int64) -> Bool { key % 4 == 1 }

        override func createDestinationInstances(
            forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            if Self.drops(source.objectID.key) {
                source.outcome = .dropped(reason: "its key")
            } else {
                try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
            }
        }
    }

    @Test(arguments: Shape.all) func `the first of those that are left stays`(_ shape: Shape) throws {
        let folder = try ScratchFolder()
        let store = folder.path + "/Pets.sqlite"
        let versions = ModelVersions(versions: [try shape.version(1), try shape.version(2)])
        let links = try Self.make(store, shape, versions.versions[0])
        var registry = MigrationRegistry()
        var mapping = MappingModel(["Owner", "Pet"].map { EntityMapping(from: $0, to: $0) })
        for (place, name) in ["Owner", "Pet"].enumerated() where shape.policies.contains(name) {
            mapping.entityMappings[place].entityMigrationPolicyClassName = "Dropping"
            mapping.entityMappings[place].type = .custom
        }
        registry.register(policy: { Dropping() }, named: "Dropping")
        registry.register(mapping: mapping, from: "1", to: "2")
        let prepared = try PreparedMigration(store, versions: versions, options: .init(registry: registry))
        _ = try Migrator().run(#require(try prepared.migration()), on: store)

        let expected = Self.narrowed(links, shape)
        let objects = try WitnessStore(store).objects
        for (entity, name, other, isMany, lists) in [
            ("Owner", "pets", "Pet", shape.pets && !shape.narrowsPets, expected.pets),
            ("Pet", "owners", "Owner", shape.owners && shape.narrowsPets, expected.owners),
        ] {
            for (key, object) in objects[entity] ?? [:] {
                let names = (lists[key] ?? []).map { "\(other)/\($0)" }
                let wanted = isMany ? "m:" + names.joined(separator: ",") : names.first.map { "o:\($0)" } ?? "-"
                #expect(object[name] == wanted, "\(entity) \(key)")
            }
        }
    }

    /// Some random pairs, in the order of their making.
    private static func make(_ store: String, _ shape: Shape, _ version: ModelVersion) throws -> [(Int, Int)] {
        let maker = try StoreCreator(version)
        try maker.make(at: store)
        let writer = try ObjectWriter(store: store, layout: maker.layout, speed: .reckless)
        func objects(_ name: String) throws -> [ObjectReference] {
            try (1...12).map { try writer.insert(name, ["name": .attribute(.string("\($0)"))]) }
        }
        let (owners, pets) = try (objects("Owner"), objects("Pet"))
        var random = TestSupport.SeededGenerator(seed: 11)
        var links: [(Int, Int)] = []
        for _ in 0..<60 {
            let (owner, pet) = (Int.random(in: 1...12, using: &random), Int.random(in: 1...12, using: &random))
            guard !links.contains(where: { $0 == (owner, pet) }),
                shape.pets || !links.contains(where: { $0.0 == owner }),
                shape.owners || !links.contains(where: { $0.1 == pet })
            else { continue }
            try writer.link(owners[owner - 1], "pets", to: [pets[pet - 1]])
            links.append((owner, pet))
        }
        try writer.finish()
        return links
    }

    /// Slowly: without what is dropped, each that must choose takes its first.
    private static func narrowed(_ links: [(Int, Int)], _ shape: Shape) -> (pets: [Int: [Int]], owners: [Int: [Int]]) {
        var left = links.filter { owner, pet in
            !(shape.policies.contains("Owner") && Dropping.drops(Int64(owner)))
                && !(shape.policies.contains("Pet") && Dropping.drops(Int64(pet)))
        }
        func list(_ owner: Int) -> [Int] {
            let pets = left.filter { $0.0 == owner }.map(\.1)
            return shape.isOrdered ? pets : pets.sorted()
        }
        func back(_ pet: Int) -> [Int] {
            let owners = left.filter { $0.1 == pet }.map(\.0)
            return shape.isOrdered ? owners : owners.sorted()
        }
        left = left.filter { owner, pet in
            shape.narrowsPets ? list(owner).first == pet : back(pet).first == owner
        }
        return (
            pets: Dictionary(uniqueKeysWithValues: (1...12).map { ($0, list($0)) }),
            owners: Dictionary(uniqueKeysWithValues: (1...12).map { ($0, back($0)) })
        )
    }
}
