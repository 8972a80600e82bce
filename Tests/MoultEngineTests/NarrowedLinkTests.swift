import MoultModel
import MoultObjects
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// Relationships of which only some links can stay: both ends must agree on which.
struct NarrowedLinkTests {
    private static func versions(_ shapes: [(pets: Int, owners: Int)]) throws -> ModelVersions {
        ModelVersions(
            versions: try shapes.enumerated().map { number, shape in
                let owner = EntityDescription(
                    name: "Owner", attributes: [.init(name: "name", type: .string)],
                    relationships: [
                        .init(name: "pets", destinationEntityName: "Pet", inverseName: "owners", maxCount: shape.pets)
                    ])
                let pet = EntityDescription(
                    name: "Pet", attributes: [.init(name: "name", type: .string)],
                    relationships: [
                        .init(
                            name: "owners", destinationEntityName: "Owner", inverseName: "pets",
                            maxCount: shape.owners)
                    ])
                return ModelVersion(
                    names: ["\(number + 1)"], model: try ManagedObjectModel(entities: [owner, pet]))
            })
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// How many pets an owner may have and how many owners a pet, before and after; 0 for any number.
        var before: (pets: Int, owners: Int)
        var after: (pets: Int, owners: Int)
        var links: [(owner: Int, pet: Int)]
        /// What the witness reads: the links of the owners, then those of the pets.
        var owners: [String]
        var pets: [String]
    }

    static let cases = [
        Case(
            testDescription: "one to many becomes one to one: the first of many stays", before: (0, 1), after: (1, 1),
            links: [(1, 1), (1, 2), (2, 3)], owners: ["o:Pet/1", "o:Pet/3", "-"], pets: ["o:Owner/1", "-", "o:Owner/2"]
        ),
        Case(
            testDescription: "many to many becomes one to many", before: (0, 0), after: (0, 1),
            links: [(2, 1), (1, 1), (2, 2), (3, 2)], owners: ["m:Pet/1", "m:Pet/2", "m:"],
            pets: ["o:Owner/1", "o:Owner/2", "-"]),
        Case(
            testDescription: "many to many becomes one to one: the pairs that both ends would choose stay",
            before: (0, 0), after: (1, 1), links: [(1, 1), (2, 1), (2, 2), (3, 3)],
            owners: ["o:Pet/1", "-", "o:Pet/3"], pets: ["o:Owner/1", "-", "o:Owner/3"]),
    ]

    /// Objects of two entities become one entity's, so that the keys of the second ones change, and both ends of a many
    /// to many become to-one.
    @Test func `both ends keep the same links where keys change`() throws {
        let folder = try ScratchFolder()
        let store = folder.path + "/Pets.sqlite"
        func entity(_ name: String, _ links: [(String, String, String, Int)]) -> EntityDescription {
            EntityDescription(
                name: name, attributes: [.init(name: "name", type: .string)],
                relationships: links.map {
                    .init(name: $0.0, destinationEntityName: $0.1, inverseName: $0.2, maxCount: $0.3)
                })
        }
        let old = try ManagedObjectModel(entities: [
            entity("Owner", [("pets", "Pet", "owners", 0)]), entity("Vet", [("patients", "Pet", "vets", 0)]),
            entity("Pet", [("owners", "Owner", "pets", 0), ("vets", "Vet", "patients", 0)]),
        ])
        let new = try ManagedObjectModel(entities: [
            entity("Person", [("pet", "Pet", "person", 1), ("patient", "Pet", "vet", 1)]),
            entity("Pet", [("person", "Person", "pet", 1), ("vet", "Person", "patient", 1)]),
        ])
        let versions = ModelVersions(versions: [
            ModelVersion(names: ["1"], model: old), ModelVersion(names: ["2"], model: new),
        ])
        let maker = try StoreMaker(versions.versions[0])
        try maker.make(at: store)
        let writer = try ObjectWriter(store: store, layout: maker.layout)
        func make(_ name: String, _ count: Int) throws -> [ObjectReference] {
            try (1...count).map { try writer.insert(name, ["name": .attribute(.string("\(name)\($0)"))]) }
        }
        let (owners, vets, pets) = try (make("Owner", 30), make("Vet", 30), make("Pet", 40))
        var random = TestSupport.SeededGenerator(seed: 7)
        var links: [String: [(Int, Int)]] = ["pets": [], "patients": []]
        for (name, ends) in [("pets", owners), ("patients", vets)] {
            for (number, end) in ends.enumerated() {
                let chosen = Set(
                    (0..<Int.random(in: 0...3, using: &random)).map { _ in
                        Int.random(in: 0..<pets.count, using: &random)
                    })
                guard !chosen.isEmpty else { continue }
                try writer.link(end, name, to: chosen.sorted().map { pets[$0] })
                links[name]? += chosen.map { (number + 1, $0 + 1) }
            }
        }
        try writer.finish()

        var registry = MigrationRegistry()
        var vet = EntityMapping(from: "Vet", to: "Person")
        vet.relationshipMappings = [
            PropertyMapping(
                "patient", .destinationInstances(.ofSourceRelationship, named: "patients", for: .source("patients"))),
            PropertyMapping("pet", nil),
        ]
        var owner = EntityMapping(from: "Owner", to: "Person")
        owner.relationshipMappings = [
            PropertyMapping(
                "pet", .destinationInstances(.ofSourceRelationship, named: "pets", for: .source("pets"))),
            PropertyMapping("patient", nil),
        ]
        registry.register(
            mapping: MappingModel([owner, vet, EntityMapping(from: "Pet", to: "Pet")]), from: "1", to: "2")
        let prepared = try PreparedMigration(
            store, versions: versions, options: .init(registry: registry, losses: .asTheVersionsSay()))
        #expect((prepared.bound?.findings ?? []).contains { $0.code == "keys-shifted" })
        _ = try Migrator().run(#require(try prepared.migration()), on: store)

        // Slowly: of all pairs those stay that are the first at both ends.
        for (name, column, back, prefix) in [
            ("pets", "ZPET", "ZPERSON", "Owner"), ("patients", "ZPATIENT", "ZVET", "Vet"),
        ] {
            let pairs = links[name] ?? []
            let expected = pairs.filter { pair in
                pairs.filter { $0.0 == pair.0 }.map(\.1).min() == pair.1
                    && pairs.filter { $0.1 == pair.1 }.map(\.0).min() == pair.0
            }.map { "\(prefix)\($0.0)|Pet\($0.1)" }.sorted()
            #expect(expected.count > 5)
            func found(_ condition: String) throws -> [String] {
                try SQLiteShell.run(
                    store, "SELECT o.ZNAME, p.ZNAME FROM ZPERSON o JOIN ZPET p ON \(condition)"
                ).split(separator: "\n").map(String.init).sorted()
            }
            #expect(try found("o.\(column) = p.Z_PK") == expected)
            #expect(try found("p.\(back) = o.Z_PK") == expected)
        }
    }

    @Test(arguments: cases) func `both ends keep the same links`(_ row: Case) throws {
        let folder = try ScratchFolder()
        let store = folder.path + "/Pets.sqlite"
        let versions = try Self.versions([row.before, row.after])
        let maker = try StoreMaker(versions.versions[0])
        try maker.make(at: store)
        let writer = try ObjectWriter(store: store, layout: maker.layout)
        let owners = try (1...3).map { try writer.insert("Owner", ["name": .attribute(.string("\($0)"))]) }
        let pets = try (1...3).map { try writer.insert("Pet", ["name": .attribute(.string("\($0)"))]) }
        for (owner, pet) in row.links { try writer.link(owners[owner - 1], "pets", to: [pets[pet - 1]]) }
        try writer.finish()
        _ = try Migrator().run(
            #require(
                try PreparedMigration(store, versions: versions, options: .init(losses: .asTheVersionsSay()))
                    .migration()), on: store)
        let objects = try WitnessStore(store).objects
        #expect((1...3).map { objects["Owner"]?[$0]?["pets"] } == row.owners)
        #expect((1...3).map { objects["Pet"]?[$0]?["owners"] } == row.pets)
    }
}
