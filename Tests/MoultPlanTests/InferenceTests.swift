import MoultModel
import Testing

@testable import MoultPlan

/// One row for each operation that Core Data calls lightweight, with the mapping that must come of it.
struct Operation: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var before: [EntityDescription]
    var after: [EntityDescription]
    var answers: [Answer] = []
    /// The source of one attribute or relationship, as text: `Entity.property` = `source`.
    var expected: [String: String]
}

private func text(_ mapping: ResolvedMapping) -> [String: String] {
    var lines: [String: String] = [:]
    for entity in mapping.entityMappings {
        let name = entity.destinationEntityName ?? "nothing"
        lines[entity.destinationEntityName == nil ? "-" + (entity.sourceEntityName ?? "") : name] =
            entity.sourceEntityName ?? "nothing"
        for (property, source) in entity.attributes {
            lines["\(name).\(property)"] =
                switch source {
                case .attribute(let old, let value): old + (value.map { " else \($0.text)" } ?? "")
                case .constant(let value): "= " + (value?.text ?? "nil")
                case .expression: source.text
                }
        }
        for (property, source) in entity.relationships {
            lines["\(name).\(property)"] =
                switch source {
                case .relationship(let old): old
                case .empty: "none"
                case .path: source.text
                }
        }
    }
    return lines
}

private let cat = entity("Cat", [attribute("name")])

private func composite(_ name: String, _ elements: [AttributeDescription], was: String? = nil) -> AttributeDescription {
    AttributeDescription(name: name, type: .composite, elements: elements, renamingIdentifier: was)
}

@Suite struct InferenceTests {
    static let operations: [Operation] = [
        .init(
            testDescription: "attribute added, optional", before: [cat],
            after: [entity("Cat", [attribute("age", .integer16), attribute("name")])],
            expected: ["Cat": "Cat", "Cat.name": "name", "Cat.age": "= nil"]),
        .init(
            testDescription: "attribute added with a default, optional or not", before: [cat],
            after: [
                entity(
                    "Cat",
                    [
                        attribute("age", .integer16, required: true, default: .integer(3)), attribute("name"),
                        attribute("legs", .integer16, default: .integer(4)),
                    ])
            ],
            expected: ["Cat": "Cat", "Cat.name": "name", "Cat.age": "= 3", "Cat.legs": "= 4"]),
        .init(
            testDescription:
                "leaves of a composite attribute added, removed, renamed, required and of a composite inside",
            before: [
                entity(
                    "Cat",
                    [
                        composite(
                            "owner",
                            [
                                attribute("name"), attribute("age", .integer16), attribute("gone"),
                                composite("home", [attribute("street")]),
                            ])
                    ])
            ],
            after: [
                entity(
                    "Cat",
                    [
                        composite(
                            "owner",
                            [
                                attribute("title", was: "name"),
                                attribute("age", .integer16, required: true, default: .integer(1)),
                                composite("home", [attribute("street"), attribute("floor", .integer16)]),
                            ])
                    ])
            ],
            expected: [
                "Cat": "Cat", "Cat.owner.title": "owner.name", "Cat.owner.age": "owner.age else 1",
                "Cat.owner.home.street": "owner.home.street", "Cat.owner.home.floor": "= nil",
            ]),
        .init(
            testDescription: "composite attribute renamed, and one that is new",
            before: [entity("Cat", [composite("owner", [attribute("name")])])],
            after: [
                entity(
                    "Cat",
                    [composite("keeper", [attribute("name")], was: "owner"), composite("vet", [attribute("name")])])
            ],
            expected: ["Cat": "Cat", "Cat.keeper.name": "owner.name", "Cat.vet.name": "= nil"]),
        .init(
            testDescription: "text becomes an enum, and an enum of another property a text",
            before: [entity("Cat", [attribute("kind"), composite("mood", [attribute("mood")])])],
            after: [entity("Cat", [composite("kind", [attribute("kind")]), attribute("mood")])],
            expected: ["Cat": "Cat", "Cat.kind.kind": "kind", "Cat.mood": "mood.mood"]),
        .init(
            testDescription: "attribute removed", before: [entity("Cat", [attribute("name"), attribute("x")])],
            after: [cat], expected: ["Cat": "Cat", "Cat.name": "name"]),
        .init(
            testDescription: "optional to required with a default", before: [cat],
            after: [entity("Cat", [attribute("name", required: true, default: .string("Tom"))])],
            expected: ["Cat": "Cat", "Cat.name": "name else \"Tom\""]),
        .init(
            testDescription: "required to optional",
            before: [entity("Cat", [attribute("name", required: true, default: .string("Tom"))])], after: [cat],
            expected: ["Cat": "Cat", "Cat.name": "name"]),
        .init(
            testDescription: "attribute renamed by identifier", before: [cat],
            after: [entity("Cat", [attribute("title", was: "name")])],
            expected: ["Cat": "Cat", "Cat.title": "name"]),
        .init(
            testDescription: "two attributes swap names by identifiers",
            before: [entity("Cat", [attribute("a"), attribute("b")])],
            after: [entity("Cat", [attribute("a", was: "b"), attribute("b", was: "a")])],
            expected: ["Cat": "Cat", "Cat.a": "b", "Cat.b": "a"]),
        .init(
            testDescription: "attribute renamed by an answer", before: [cat],
            after: [entity("Cat", [attribute("title")])],
            answers: [answer("Cat", "title", .rename, old: "name")],
            expected: ["Cat": "Cat", "Cat.title": "name"]),
        .init(
            testDescription: "attribute replaced by a new one, by an answer", before: [cat],
            after: [entity("Cat", [attribute("title")])], answers: [answer("Cat", "title", .new)],
            expected: ["Cat": "Cat", "Cat.title": "= nil"]),
        .init(
            testDescription: "attribute of another type is removed and added without a question", before: [cat],
            after: [entity("Cat", [attribute("age", .integer16)])],
            expected: ["Cat": "Cat", "Cat.age": "= nil"]),
        .init(
            testDescription: "entity added, whatever it requires", before: [cat],
            after: [
                cat,
                entity("Dog", [attribute("bark", .integer16, required: true)], [toOne("foe", "Cat", required: true)]),
            ],
            expected: ["Cat": "Cat", "Cat.name": "name", "Dog": "nothing", "Dog.bark": "= nil", "Dog.foe": "none"]),
        .init(
            testDescription:
                "required to-many relationships added, with an inverse and without (wire 2.78, Awful 3.33)",
            before: [cat, entity("Toy")],
            after: [
                entity(
                    "Cat", [attribute("name")],
                    [
                        toMany("toys", "Toy", inverse: "cats", required: true),
                        toMany("wishes", "Toy", ordered: true, required: true),
                    ]), entity("Toy", [], [toMany("cats", "Cat", inverse: "toys", required: true)]),
            ],
            expected: [
                "Cat": "Cat", "Cat.name": "name", "Cat.toys": "none", "Cat.wishes": "none", "Toy": "Toy",
                "Toy.cats": "none",
            ]),
        .init(
            testDescription: "entity removed", before: [cat, entity("Dog", [attribute("bark", .integer16)])],
            after: [cat], expected: ["Cat": "Cat", "Cat.name": "name", "-Dog": "Dog"]),
        .init(
            testDescription: "entity renamed by identifier", before: [cat],
            after: [entity("Feline", [attribute("name")], was: "Cat")],
            expected: ["Feline": "Cat", "Feline.name": "name"]),
        .init(
            testDescription: "entity and attribute renamed by answers", before: [cat],
            after: [entity("Feline", [attribute("title")])],
            answers: [answer("Feline", nil, .rename, old: "Cat"), answer("Feline", "title", .rename, old: "name")],
            expected: ["Feline": "Cat", "Feline.title": "name"]),
        .init(
            testDescription: "new parent takes an attribute up", before: [cat],
            after: [entity("Animal", [attribute("name")]), entity("Cat", parent: "Animal")],
            expected: ["Animal": "nothing", "Animal.name": "= nil", "Cat": "Cat", "Cat.name": "name"]),
        .init(
            testDescription: "new child takes an attribute down, whose other rows lose it",
            before: [entity("Animal", [attribute("name"), attribute("mews", .boolean)])],
            after: [
                entity("Animal", [attribute("name")]),
                entity("Cat", [attribute("mews", .boolean)], parent: "Animal"),
            ],
            expected: [
                "Animal": "Animal", "Animal.name": "name", "Cat": "nothing", "Cat.name": "= nil",
                "Cat.mews": "= nil",
            ]),
        .init(
            testDescription: "attribute moves down to the children there are",
            before: [entity("Animal", [attribute("name")], isAbstract: true), entity("Cat", parent: "Animal")],
            after: [entity("Animal", isAbstract: true), entity("Cat", [attribute("name")], parent: "Animal")],
            expected: ["Animal": "Animal", "Cat": "Cat", "Cat.name": "name"]),
        .init(
            testDescription: "entity leaves its hierarchy and keeps what it inherited",
            before: [entity("Animal", [attribute("name")]), entity("Cat", parent: "Animal")],
            after: [entity("Animal", [attribute("name")]), entity("Cat", [attribute("name")])],
            expected: ["Animal": "Animal", "Animal.name": "name", "Cat": "Cat", "Cat.name": "name"]),
        .init(
            testDescription: "an entity moves with its child into a hierarchy that is there",
            before: [
                entity("Animal", [attribute("age", .integer16)]),
                entity("Cat", [attribute("mews"), attribute("age", .integer16)], [toOne("foe", "Animal")]),
                entity("Kitten", parent: "Cat"),
            ],
            after: [
                entity("Animal", [attribute("age", .integer16)]),
                entity("Cat", [attribute("mews")], [toOne("foe", "Animal")], parent: "Animal"),
                entity("Kitten", parent: "Cat"),
            ],
            expected: [
                "Animal": "Animal", "Animal.age": "age", "Cat": "Cat", "Cat.age": "age", "Cat.mews": "mews",
                "Cat.foe": "foe", "Kitten": "Kitten", "Kitten.age": "age", "Kitten.mews": "mews", "Kitten.foe": "foe",
            ]),
        .init(
            testDescription: "parent removed, its child stays",
            before: [entity("Animal", [attribute("name")]), entity("Cat", parent: "Animal")],
            after: [entity("Cat", [attribute("name")])],
            expected: ["-Animal": "Animal", "Cat": "Cat", "Cat.name": "name"]),
        .init(
            testDescription: "child removed, its parent stays",
            before: [
                entity("Animal", [attribute("name")]), entity("Cat", [attribute("mews", .boolean)], parent: "Animal"),
            ],
            after: [entity("Animal", [attribute("name")])],
            expected: ["Animal": "Animal", "Animal.name": "name", "-Cat": "Cat"]),
        .init(
            testDescription: "relationship added, filled by nobody", before: [cat, entity("Toy")],
            after: [
                entity("Cat", [attribute("name")], [toMany("toys", "Toy", inverse: "owner")]),
                entity("Toy", [], [toOne("owner", "Cat", inverse: "toys")]),
            ],
            expected: ["Cat": "Cat", "Cat.name": "name", "Cat.toys": "none", "Toy": "Toy", "Toy.owner": "none"]),
        .init(
            testDescription: "to-one becomes ordered to-many",
            before: [
                entity("Cat", [], [toOne("toy", "Toy", inverse: "cat")]),
                entity("Toy", [], [toOne("cat", "Cat", inverse: "toy")]),
            ],
            after: [
                entity("Cat", [], [toMany("toys", "Toy", inverse: "cat", ordered: true, was: "toy")]),
                entity("Toy", [], [toOne("cat", "Cat", inverse: "toys")]),
            ],
            expected: ["Cat": "Cat", "Cat.toys": "toy", "Toy": "Toy", "Toy.cat": "cat"]),
        .init(
            testDescription: "a renamed relationship carries its renamed inverse along",
            before: [
                entity("Cat", [], [toMany("toys", "Toy", inverse: "owner")]),
                entity("Toy", [], [toOne("owner", "Cat", inverse: "toys")]),
            ],
            after: [
                entity("Cat", [], [toMany("things", "Toy", inverse: "holder", was: "toys")]),
                entity("Toy", [], [toOne("holder", "Cat", inverse: "things")]),
            ],
            expected: ["Cat": "Cat", "Cat.things": "toys", "Toy": "Toy", "Toy.holder": "owner"]),
        .init(
            testDescription: "a new required relationship that its old inverse fills",
            before: [entity("Cat", [], [toMany("toys", "Toy")]), entity("Toy")],
            after: [
                entity("Cat", [], [toMany("toys", "Toy", inverse: "owner")]),
                entity("Toy", [], [toOne("owner", "Cat", inverse: "toys", required: true)]),
            ],
            expected: ["Cat": "Cat", "Cat.toys": "toys", "Toy": "Toy", "Toy.owner": "none"]),
        .init(
            testDescription: "destination widens to the parent",
            before: [entity("Toy", [], [toOne("cat", "Cat")]), entity("Animal"), entity("Cat", parent: "Animal")],
            after: [entity("Toy", [], [toOne("cat", "Animal")]), entity("Animal"), entity("Cat", parent: "Animal")],
            expected: ["Toy": "Toy", "Toy.cat": "cat", "Animal": "Animal", "Cat": "Cat"]),
        .init(
            testDescription: "type widens, asked by nobody", before: [entity("Cat", [attribute("age", .integer16)])],
            after: [entity("Cat", [attribute("age", .double)])], expected: ["Cat": "Cat", "Cat.age": "age"]),
        .init(
            testDescription: "type widens, as an older answer says",
            before: [entity("Cat", [attribute("n", .boolean)])],
            after: [entity("Cat", [attribute("n", .integer64)])], answers: [answer("Cat", "n", .keep)],
            expected: ["Cat": "Cat", "Cat.n": "n"]),
        .init(
            testDescription: "type changes and the values are dropped, by an answer", before: [cat],
            after: [entity("Cat", [attribute("name", .integer64, default: .integer(1))])],
            answers: [answer("Cat", "name", .drop)], expected: ["Cat": "Cat", "Cat.name": "= 1"]),
        .init(
            testDescription: "transient becomes stored",
            before: [entity("Cat", [AttributeDescription(name: "name", type: .string, isTransient: true)])],
            after: [cat], expected: ["Cat": "Cat", "Cat.name": "= nil"]),
        .init(
            testDescription: "derived attributes are left out", before: [cat],
            after: [
                entity(
                    "Cat",
                    [
                        attribute("name"),
                        AttributeDescription(
                            name: "shout", type: .string, derivation: .init(expression: "uppercase:(name)")),
                    ])
            ],
            expected: ["Cat": "Cat", "Cat.name": "name"]),
    ]

    @Test(arguments: operations) func `an operation is inferred`(_ operation: Operation) throws {
        let inferred = try infer(operation.before, operation.after, operation.answers)
        #expect(inferred.questions.map(\.sentence) == [])
        #expect(inferred.refusals.map(\.message) == [])
        #expect(inferred.mapping.map(text) == operation.expected)
    }
}
