import MoultBasics
import MoultModel
import Testing

@testable import MoultPlan

@Suite struct RefusalTests {
    struct Refused: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var before: [EntityDescription]
        var after: [EntityDescription]
        var answers: [Answer] = []
        var expected: [String]
    }

    static let refused: [Refused] = [
        .init(
            testDescription: "required attribute without default, new and formerly optional",
            before: [entity("Cat", [attribute("name")])],
            after: [entity("Cat", [attribute("name", required: true), attribute("age", .integer16, required: true)])],
            expected: ["required-without-default Cat.age", "required-without-default Cat.name"]),
        .init(
            testDescription: "required leaf of a composite attribute without default",
            before: [
                entity("Cat", [AttributeDescription(name: "owner", type: .composite, elements: [attribute("name")])])
            ],
            after: [
                entity(
                    "Cat",
                    [
                        AttributeDescription(
                            name: "owner", type: .composite,
                            elements: [attribute("name"), attribute("age", .integer16, required: true)])
                    ])
            ],
            expected: ["required-without-default Cat.owner.age"]),
        .init(
            testDescription: "required relationship that nobody fills", before: [entity("Cat"), entity("Toy")],
            after: [entity("Cat", [], [toOne("toy", "Toy", required: true)]), entity("Toy")],
            expected: ["required-relationship Cat.toy"]),
        .init(
            testDescription: "required to-many relationship with a minimum count that nobody fills",
            before: [entity("Cat"), entity("Toy")],
            after: [entity("Cat", [], [toMany("toys", "Toy", required: true, minCount: 1)]), entity("Toy")],
            expected: ["required-relationship Cat.toys"]),
        .init(
            testDescription: "two hierarchies under one root",
            before: [entity("Cat", [attribute("mews")]), entity("Dog", [attribute("barks")])],
            after: [
                entity("Animal"), entity("Cat", [attribute("mews")], parent: "Animal"),
                entity("Dog", [attribute("barks")], parent: "Animal"),
            ],
            expected: ["hierarchies-merged Animal"]),
        .init(
            testDescription: "kept although the type does not convert",
            before: [entity("Cat", [attribute("age")])], after: [entity("Cat", [attribute("age", .date)])],
            answers: [answer("Cat", "age", .keep)], expected: ["type-not-convertible Cat.age"]),
        .init(
            testDescription: "two links become the two ends of one",
            before: [entity("Cat", [], [toOne("toy", "Toy")]), entity("Toy", [], [toOne("cat", "Cat")])],
            after: [
                entity("Cat", [], [toOne("toy", "Toy", inverse: "cat")]),
                entity("Toy", [], [toOne("cat", "Cat", inverse: "toy")]),
            ],
            expected: ["inverses-disagree Cat.toy"]),
    ]

    @Test(arguments: refused) func `what cannot be inferred is refused with its reason`(_ row: Refused) throws {
        let inferred = try infer(row.before, row.after, row.answers)
        #expect(inferred.questions.isEmpty)
        #expect(inferred.mapping == nil)
        #expect(
            inferred.refusals.map { "\($0.reason.rawValue) \($0.place)" }.sorted() == row.expected)
    }

    @Test func `an abstract entity has no objects that could miss a value`() throws {
        let inferred = try infer(
            [entity("Animal", isAbstract: true)],
            [entity("Animal", [attribute("name", required: true)], isAbstract: true)])
        #expect(inferred.mapping != nil)
    }

    @Test func `all reasons are reported at once with the code cannotInfer`() throws {
        let older = try version("V1", entity("Cat"))
        let newer = try version(
            "V2", entity("Cat", [attribute("a", required: true), attribute("b", required: true)]))
        let error = #expect(throws: MigrationError.self) { try ResolvedMapping(inferring: older, to: newer) }
        #expect(error?.code == .cannotInfer)
        #expect(error?.message.contains("Cat.a") == true)
        #expect(error?.message.contains("Cat.b") == true)
    }

    @Test func `reasons are in the order of names, each time`() throws {
        let names = (1...20).map { "a\(100 + $0)" }
        let older = try version("V1", entity("Cat"), entity("Toy"))
        let newer = try version(
            "V2", entity("Cat", names.map { attribute($0, required: true) }, [toOne("toy", "Toy", required: true)]),
            entity("Toy"))
        let inferred = try InferredMapping(EntityMatching(from: older, to: newer))
        #expect(inferred.refusals.map(\.place) == names.map { "Cat.\($0)" } + ["Cat.toy"])
    }

    @Test(arguments: [RegisteredStage.Style.mapping, .handlers, .plan(from: "V1", to: "V2")])
    func `the remedy for lost objects is in the words of the stage`(style: RegisteredStage.Style) throws {
        let (older, newer) = (try version("V1", entity("Cat")), try version("V2", entity("Cat")))
        var pass = MigrationPass(older: older, newer: newer, olderPosition: 0, newerPosition: 1, work: .none)
        pass.style = style
        let loss = MigrationLoss(.rows, .dropped, entity: "Cat", version: "V2")
        let text = LossRemedy(loss, of: pass, older.model).advice.text()
        let words =
            switch style {
            case .mapping: "EntityMapping(from: \"Cat\""
            case .handlers: "willMigrateHandler"
            case .plan: "FetchDescriptor<V1.Cat>"
            }
        #expect(text.contains(words) && text.contains("EntityMapping") == (style == .mapping), "\(text)")
        #expect(text.contains("acceptedLosses = [\"Cat\"]"))
    }
}
