import MoultModel
import MoultObjects
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// Relationships of which only some links can stay: both ends must agree on which.
struct NarrowedLinkTests {
    /// Objects of two entities become one entity's, so that the keys of the second ones change, and both ends of a many
    /// to many become to-one.
    @Test func `both ends keep the same links where keys change`() throws {
        let folder = try ScratchFolder()
        let store = folder.path + "/Pets.sqlite"
        let versions = try ModelVersions(
            """
            Owner = name String, pets >> Pet.owners
            Vet = name String, patients >> Pet.vets
            Pet = name String, owners >> Owner.pets, vets >> Vet.patients
            """,
            """
            Person = name String, pet > Pet.person, patient > Pet.vet
            Pet = name String, person > Person.pet, vet > Person.patient
            """)
        let maker = try StoreCreator(versions.versions[0])
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
}
