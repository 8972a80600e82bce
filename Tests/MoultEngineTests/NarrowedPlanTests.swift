import Foundation
import MoultBasics
import MoultModel
import MoultObjects
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// What a plan says of links that cannot all stay, against a slow choice among the pairs: what it does not refuse is
/// migrated and verified, and what it counts is gone.
struct NarrowedPlanTests {  // tier: long
    /// How many pets an owner may have and how many owners a pet; 0 for any number, nil for no relationship.
    struct Shape: Sendable {
        var pets: Int
        var owners: Int?

        var takesOwnerOnce: Bool { owners.map { $0 == 1 } ?? (pets == 0) }
    }

    private static let before = [Shape(pets: 0, owners: 0), .init(pets: 0, owners: 1), .init(pets: 0), .init(pets: 1)]
    private static let after = [
        Shape(pets: 0, owners: 0), .init(pets: 0, owners: 1), .init(pets: 1, owners: 0), .init(pets: 1, owners: 1),
        .init(pets: 0), .init(pets: 1),
    ]

    private static func version(_ name: String, _ shape: Shape, isRequired: Bool = false) throws -> ModelVersion {
        let pets = RelationshipDescription(
            name: "pets", destinationEntityName: "Pet", inverseName: shape.owners == nil ? nil : "owners",
            isOptional: !isRequired, maxCount: shape.pets)
        let owners = shape.owners.map {
            RelationshipDescription(
                name: "owners", destinationEntityName: "Owner", inverseName: "pets", isOptional: !isRequired,
                maxCount: $0)
        }
        return ModelVersion(
            names: [name],
            model: try ManagedObjectModel(entities: [
                EntityDescription(
                    name: "Owner", attributes: [.init(name: "name", type: .string)], relationships: [pets]),
                EntityDescription(
                    name: "Pet", attributes: [.init(name: "name", type: .string)],
                    relationships: owners.map { [$0] } ?? []),
            ]))
    }

    private struct Link: Hashable {
        var owner: Int
        var pet: Int
    }

    private static let count = 8

    private static func links(_ shape: Shape, _ random: inout TestSupport.SeededGenerator) -> Set<Link> {
        var links: Set<Link> = []
        for _ in 0..<14 {
            let link = Link(
                owner: .random(in: 1...count, using: &random), pet: .random(in: 1...count, using: &random))
            if shape.pets == 1, links.contains(where: { $0.owner == link.owner }) { continue }
            if shape.takesOwnerOnce, links.contains(where: { $0.pet == link.pet }) { continue }
            links.insert(link)
        }
        return links
    }

    /// The numbers at the beginning of the errors about a place.
    private static func missing(_ prepared: PreparedMigration, _ place: String) -> Int {
        (prepared.bound?.findings ?? []).filter { $0.severity == .error && $0.place == place }
            .compactMap { $0.message.split(separator: " ").first.flatMap { Int($0) } }.reduce(0, +)
    }

    @Test(arguments: 0..<24) func `a plan counts what cannot stay, and refuses what must`(number: Int) throws {
        let (before, after) = (Self.before[number / 6], Self.after[number % 6])
        for isRequired in [false, true] {
            var random = TestSupport.SeededGenerator(seed: UInt64(number))
            let folder = try ScratchFolder()
            let store = folder.path + "/Pets.sqlite"
            let versions = ModelVersions(versions: [
                try Self.version("1", before), try Self.version("2", after, isRequired: isRequired),
            ])
            let maker = try StoreCreator(versions.versions[0])
            try maker.make(at: store)
            let writer = try ObjectWriter(store: store, layout: maker.layout)
            let owners = try (1...Self.count).map { try writer.insert("Owner", ["name": .attribute(.string("\($0)"))]) }
            let pets = try (1...Self.count).map { try writer.insert("Pet", ["name": .attribute(.string("\($0)"))]) }
            let links = Self.links(before, &random)
            for link in links.sorted(by: { ($0.owner, $0.pet) < ($1.owner, $1.pet) }) {
                try writer.link(owners[link.owner - 1], "pets", to: [pets[link.pet - 1]])
            }
            try writer.finish()

            // Slowly: of all pairs those stay that are the first at each end that keeps one.
            let kept = links.filter { link in
                (after.pets == 0 || links.filter { $0.owner == link.owner }.allSatisfy { $0.pet >= link.pet })
                    && (!after.takesOwnerOnce
                        || links.filter { $0.pet == link.pet }.allSatisfy { $0.owner >= link.owner })
            }
            let prepared = try PreparedMigration(
                store, versions: versions, options: .init(losses: .asTheVersionsSay()))
            let bare = (
                owners: isRequired && after.pets == 1 ? Self.count - Set(kept.map(\.owner)).count : 0,
                pets: isRequired && after.owners == 1 ? Self.count - Set(kept.map(\.pet)).count : 0
            )
            #expect(Self.missing(prepared, "Owner.pets") == bare.owners, "\(before) \(after)")
            #expect(Self.missing(prepared, "Pet.owners") == bare.pets, "\(before) \(after)")
            guard bare == (0, 0) else {
                #expect(throws: MigrationError.self) { _ = try prepared.migration() }
                continue
            }
            let outcome = try Migrator().run(#require(try prepared.migration()), on: store)
            let lost = outcome.losses.filter { $0.kind == .links }
            #expect(lost.isEmpty == (kept.count == links.count), "\(before) \(after) \(lost)")
            #expect(lost.allSatisfy { $0.count == Int64(links.count - kept.count) }, "\(before) \(after) \(lost)")
            #expect(try Self.linkCount(store) == kept.count, "\(before) \(after)")
        }
    }

    /// The rows of a join table, or the keys in the column of one end, as the sqlite3 shell counts them.
    private static func linkCount(_ store: String) throws -> Int {
        let column = "(SELECT name FROM pragma_table_info('T') WHERE name IN ('ZPETS', 'ZOWNERS', 'Z1PETS', 'Z2PETS'))"
        func first(_ sql: String) throws -> String? {
            try SQLiteShell.run(store, sql).split(separator: "\n").first.map(String.init)
        }
        if let join = try first("SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*'") {
            return Int(try first("SELECT count(*) FROM \"\(join)\"") ?? "") ?? -1
        }
        for table in ["ZPET", "ZOWNER"] {
            guard let name = try first("SELECT " + column.replacing("T'", with: table + "'")), !name.isEmpty else {
                continue
            }
            return Int(try first("SELECT count(\"\(name)\") FROM \(table)") ?? "") ?? -1
        }
        return -1
    }

    @Test func `objects whose required destination goes are counted before the migration`() throws {
        func version(_ name: String, hasDogs: Bool) throws -> ModelVersion {
            let dogs = hasDogs ? [EntityDescription(name: "Dog", superentityName: "Animal")] : []
            return ModelVersion(
                names: [name],
                model: try ManagedObjectModel(
                    entities: [
                        EntityDescription(name: "Animal", attributes: [.init(name: "name", type: .string)]),
                        EntityDescription(name: "Cat", superentityName: "Animal"),
                        EntityDescription("Home = pet > Animal required"),
                    ] + dogs))
        }
        let folder = try ScratchFolder()
        let store = folder.path + "/Homes.sqlite"
        let versions = ModelVersions(versions: [try version("1", hasDogs: true), try version("2", hasDogs: false)])
        let maker = try StoreCreator(versions.versions[0])
        try maker.make(at: store)
        let writer = try ObjectWriter(store: store, layout: maker.layout)
        for name in ["Cat", "Dog", "Dog"] {
            let pet = try writer.insert(name, ["name": .attribute(.string(name))])
            try writer.link(try writer.insert("Home", [:]), "pet", to: [pet])
        }
        try writer.finish()
        let prepared = try PreparedMigration(store, versions: versions)
        #expect(Self.missing(prepared, "Home.pet") == 2)
        #expect(throws: MigrationError.self) { _ = try prepared.migration() }
    }
}
