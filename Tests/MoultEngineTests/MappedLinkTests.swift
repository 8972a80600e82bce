import Foundation
import MoultModel
import MoultObjects
import MoultPlan
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// An entity split in two, paths through relationships, and objects of one entity picked out of many, beside a slow
/// obvious reference over what the independent witness reads before.
@Suite("Links of mapping models") struct MappedLinkTests {  // tier: long
    private typealias Objects = [String: [Int: WitnessStore.Object]]

    @Test(arguments: UInt64(1)...4)
    func `every link leads to what its expression says`(seed: UInt64) throws {
        let folder = try ScratchFolder()
        let store = folder.path + "/people.sqlite"
        let (old, new) = (try Self.before(), try Self.after())
        let maker = try StoreCreator(old)
        try maker.make(at: store)
        let writer = try ObjectWriter(store: store, layout: maker.layout)
        try SampleData(seed: seed, count: 30, counts: ["Country": 4], isHostile: false).fill(writer)
        try writer.finish()
        let before = try WitnessStore(store).objects

        let versions = ModelVersions(versions: [old, new])
        let mapping = try Self.mapping.get().completed(from: old, to: new)
        let stage = try RegisteredStage(mapping, named: "split", in: versions)
        let prepared = try PreparedMigration(store, versions: versions, options: .init(registered: [stage]))
        _ = try Migrator().run(#require(try prepared.migration()), on: store)

        let found = try WitnessStore(store).objects
        let expected = Self.expected(before)
        #expect(found.mapValues { Set($0.keys) } == expected.mapValues { Set($0.keys) })
        for (entity, objects) in expected {
            for (key, object) in objects {
                let result = found[entity]?[key] ?? [:]
                let sorted = result.mapValues { value in
                    value.hasPrefix("m:") ? Self.text(Self.links(value)) : value
                }
                #expect(sorted == object, "\(entity) \(key)")
            }
        }
        #expect(try Self.wrongEntityNumbers(store) == "0\n")
        // Else nothing was tried.
        #expect(found["Person"]?.values.contains { $0["country"] != "-" } == true)
        #expect(found["Country"]?.values.contains { Self.links($0["toys"] ?? "").count > 1 } == true)
        #expect(found["Person"]?.values.contains { !Self.links($0["dogs"] ?? "").isEmpty } == true)
    }

    /// Profiles have a sub-entity, so that the number of the profile's entity stands beside its key.
    private static func wrongEntityNumbers(_ store: String) throws -> String {
        let column = try SQLiteShell.run(
            store, "SELECT name FROM pragma_table_info('ZPERSON') WHERE name GLOB 'Z*_PROFILE'")
        let name = column.trimmingCharacters(in: .whitespacesAndNewlines)
        return try SQLiteShell.run(
            store,
            "SELECT count(*) FROM ZPERSON p JOIN ZPROFILE f ON f.Z_PK = p.ZPROFILE WHERE p.\(name) IS NOT f.Z_ENT")
    }

    // MARK: The reference

    private static func expected(_ before: Objects) -> Objects {
        var after: Objects = [
            "Toy": [:], "Dog": [:], "Cat": [:], "Person": [:], "Profile": [:], "Country": [:],
        ]
        let get = { (reference: String, key: String) -> String in
            let parts = reference.split(separator: "/")
            guard parts.count == 2, let number = Int(parts[1]) else { return "-" }
            return before[String(parts[0])]?[number]?[key] ?? "-"
        }
        let through = { (references: [String], key: String) in
            Set(references.flatMap { links(get($0, key)) }).sorted()
        }
        for (key, person) in before["Person"] ?? [:] {
            let address = String(person["address"]?.dropFirst(2) ?? "")
            let pets = links(person["pets"] ?? "")
            after["Person"]?[key] = [
                "name": person["name"] ?? "-", "profile": "o:Profile/\(key)", "country": get(address, "country"),
                "toys": text(links(person["toys"] ?? "")), "dogs": text(pets.filter { $0.hasPrefix("Dog/") }),
                "cats": text(pets.filter { $0.hasPrefix("Cat/") }),
            ]
            after["Profile"]?[key] = [
                "age": person["age"] ?? "-", "city": get(address, "city"), "person": "o:Person/\(key)", "kind": "i:7",
            ]
        }
        for (key, country) in before["Country"] ?? [:] {
            let residents = through(links(country["addresses"] ?? ""), "residents")
            after["Country"]?[key] = [
                "code": country["code"] ?? "-", "people": text(residents), "toys": text(through(residents, "toys")),
            ]
        }
        for (key, toy) in before["Toy"] ?? [:] {
            let owners = links(toy["owners"] ?? "")
            let addresses = through(owners, "address")
            after["Toy"]?[key] = [
                "label": toy["label"] ?? "-", "owners": text(owners), "countries": text(through(addresses, "country")),
            ]
        }
        after["Dog"] = (before["Dog"] ?? [:]).mapValues {
            ["name": $0["name"] ?? "-", "keeper": $0["keeper"] ?? "-"]
        }
        after["Cat"] = (before["Cat"] ?? [:]).mapValues {
            ["name": $0["name"] ?? "-", "keepers": text(links($0["keeper"] ?? ""))]
        }
        return after
    }

    /// `m:Toy/1,Toy/2`, `o:Toy/1`
    private static func links(_ value: String) -> [String] {
        guard value.hasPrefix("m:") || value.hasPrefix("o:") else { return [] }
        return value.dropFirst(2).split(separator: ",").map(String.init)
    }

    private static func text(_ links: [String]) -> String { "m:" + links.sorted().joined(separator: ",") }

    // MARK: The models

    /// Of each pair of inverses only one side is mapped, here and there the to-many one.
    private static let mapping = Result {
        var person = EntityMapping(from: "Person", to: "Person")
        let named = Expression.DestinationInstances.ofEntityMapping
        person.relationshipMappings = [
            PropertyMapping(
                "profile", .destinationInstances(named, named: "PersonToProfile", for: .variable("source"))),
            PropertyMapping(
                "dogs", .destinationInstances(.ofSourceRelationship, named: "pets", for: .source("pets"))),
            PropertyMapping("cats", .destinationInstances(named, named: "CatToCat", for: .source("pets"))),
            PropertyMapping("country"),
        ]
        var profile = EntityMapping(from: "Person", to: "Profile")
        profile.attributeMappings = [
            try PropertyMapping("city", "$source.address.city"), try PropertyMapping("kind", "7"),
        ]
        var country = EntityMapping(from: "Country", to: "Country")
        country.relationshipMappings = [
            PropertyMapping(
                "people",
                .destinationInstances(
                    named, named: "PersonToPerson", for: .source("addresses.@distinctUnionOfSets.residents"))),
            PropertyMapping(
                "toys",
                .destinationInstances(
                    named, named: "ToyToToy",
                    for: .source("addresses.@distinctUnionOfSets.residents.@distinctUnionOfSets.toys"))),
        ]
        var (dog, cat) = (EntityMapping(from: "Dog", to: "Dog"), EntityMapping(from: "Cat", to: "Cat"))
        dog.relationshipMappings = [PropertyMapping("keeper")]
        cat.relationshipMappings = [PropertyMapping("keepers")]
        return MappingModel([person, profile, country, EntityMapping(from: "Toy", to: "Toy"), dog, cat])
    }

    private static func before() throws -> ModelVersion {
        ModelVersion(
            names: ["1"],
            model: try ManagedObjectModel(
                """
                Person = name String, age Integer16, address > Address.residents, toys >> Toy.owners, pets >> Animal.keeper
                Address = city String, residents >> Person.address, country > Country.addresses
                Country = code String, addresses >> Address.country
                Toy = label String, owners >> Person.toys
                Animal abstract = name String, keeper > Person.pets
                Dog (Animal)
                Cat (Animal)
                """))
    }

    private static func after() throws -> ModelVersion {
        ModelVersion(
            names: ["2"],
            model: try ManagedObjectModel(
                """
                Person = name String, profile > Profile.person, country > Country.people, toys >> Toy.owners,
                    dogs >> Dog.keeper, cats >> Cat.keepers
                Profile = age Integer16, city String, kind Integer32 required, person > Person.profile
                StarProfile (Profile)
                Country = code String, people >> Person.country, toys >> Toy.countries
                Toy = label String, owners >> Person.toys, countries >> Country.toys
                Dog = name String, keeper > Person.dogs
                Cat = name String, keepers >> Person.cats
                """))
    }
}
