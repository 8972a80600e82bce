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
        _ = try Migrator().run(#require(try PreparedMigration(store, versions: versions).migration()), on: store)
        let objects = try WitnessStore(store).objects
        #expect((1...3).map { objects["Owner"]?[$0]?["pets"] } == row.owners)
        #expect((1...3).map { objects["Pet"]?[$0]?["owners"] } == row.pets)
    }
}
