import Foundation
import MoultModel
import Testing

@testable import MoultPlan

@Suite struct DifferenceTests {
    @Test func `each change is one plain sentence with its place`() throws {
        let before = [
            entity("Animal", [attribute("name"), attribute("legs", .integer16)], isAbstract: true),
            entity("Cat", [attribute("color")], [toOne("owner", "Person", inverse: "cats")], parent: "Animal"),
            entity("Person", [attribute("mail")], [toMany("cats", "Cat", inverse: "owner")]), entity("Dog"),
        ]
        let after = [
            entity("Animal", [attribute("name", required: true, default: .string("?"))], isAbstract: true),
            entity(
                "Cat", [attribute("coat", was: "color"), attribute("legs", .integer16)],
                [toMany("owners", "Human", inverse: "cats", ordered: true, was: "owner")], parent: "Animal"),
            entity(
                "Human", [attribute("phone", .integer64)], [toMany("cats", "Cat", inverse: "owners")], was: "Person"),
            entity("Fish", [attribute("fins", .integer16)]),
        ]
        let diff = try differences(before, after)
        #expect(
            diff.changes.map(\.sentence) == [
                "Animal.name becomes required; it was optional.",
                "The default value of Animal.name becomes \"?\"; there was none.",
                "The attribute Cat.coat is renamed from color.",
                "The renaming identifier of Cat.coat becomes color; there was none.",
                "The attribute Cat.legs moves here from Animal.legs.",
                "The relationship Cat.owners is renamed from owner.",
                "Cat.owners becomes to-many; it was to-one.",
                "Cat.owners becomes ordered; it was unordered.",
                "The maximum count of Cat.owners changes from 1 to unlimited.",
                "The renaming identifier of Cat.owners becomes owner; there was none.",
                "The entity Dog is removed: 0 attributes, 0 relationships.",
                "An entity Fish is added: 1 attribute, 0 relationships.",
                "The entity Human is renamed from Person.",
                "The renaming identifier of Human becomes Person; there was none.",
                "An attribute Human.phone is added: optional Integer 64.",
                "The attribute Human.mail is removed: String.",
            ])
        #expect(diff.losses.map(\.place) == ["Dog", "Human.mail"])
    }

    @Test func `Core Data forbids the renames of the configurations that are mirrored, and no others`() throws {
        let before = [entity("Cat", [attribute("color")]), entity("Dog", [attribute("color")])]
        let after = [
            entity("Cat", [attribute("coat", was: "color")]), entity("Dog", [attribute("coat", was: "color")]),
        ]
        let diff = try differences(before, after)
        func forbidden(_ configurations: Configuration...) throws -> [String?] {
            diff.renamesForbiddenByCloudKit(
                in: try ManagedObjectModel(entities: after, configurations: configurations)
            ).map(\.entity)
        }
        #expect(try forbidden() == ["Cat", "Dog"])
        #expect(
            try forbidden(
                Configuration(name: "Cloud", entityNames: ["Cat"], usedWithCloudKit: true),
                Configuration(name: "Local", entityNames: ["Dog"])) == ["Cat"])
    }

    @Test func `a new index changes nothing that is hashed`() throws {
        var indexed = entity("Cat", [attribute("name")])
        indexed.fetchIndexes = [.init(name: "byName", elements: [.init(subject: .property("name"))])]
        let diff = try differences([entity("Cat", [attribute("name")])], [indexed])
        #expect(diff.hashed.isEmpty)
        #expect(diff.unhashed.map(\.sentence) == ["A fetch index Cat.byName is added: name."])
    }

    @Test func `a new uniqueness constraint depends on the rows`() throws {
        var unique = entity("Cat", [attribute("name")])
        unique.uniquenessConstraints = [["name"]]
        let diff = try differences([entity("Cat", [attribute("name")])], [unique])
        #expect(diff.changes.map(\.kind) == [.constraintAdded])
        #expect(diff.changes.allSatisfy { $0.mayFail && $0.isHashed })
    }

    /// The version hash is the witness: it changes exactly where a change says so.
    @Test func `changes are marked as hashed exactly where the version hash changes`() throws {
        var pairs = 0
        for seed in 0..<150 {
            var random = SeededGenerator(seed: 7_000 + UInt64(seed))
            let history = try RandomHistory(edges: 4, using: &random)
            for (position, correspondence) in history.correspondences.enumerated() {
                let diff = ModelDiff(correspondence)
                let differs = history.versions[position].hashes != history.versions[position + 1].hashes
                guard diff.hashed.isEmpty == differs else {
                    pairs += 1
                    continue
                }
                Issue.record("seed \(seed), edge \(position): \(diff.changes.map(\.sentence))")
                return
            }
        }
        #expect(pairs == 600)
    }
}

@Suite struct LossDifferenceTests {
    @Test func `a property that an entity loses by leaving its hierarchy is a loss, renamed or not`() throws {
        let before = [
            entity("Animal", [attribute("name")], [toOne("home", "Animal")]), entity("Cat", parent: "Animal"),
        ]
        for name in ["name", "title"] {
            let diff = try differences(
                before, [entity("Animal", [attribute(name)], [toOne("home", "Animal")]), entity("Cat")],
                name == "name" ? [] : [answer("Animal", "title", .rename, old: "name")])
            #expect(
                diff.losses.map { "\($0.kind.rawValue) \($0.place)" } == [
                    "attribute-removed Cat.name", "relationship-removed Cat.home",
                ])
        }
    }
}
