import MoultBasics
import MoultModel
import Testing

@testable import MoultPlan

@Suite struct QuestionTests {
    private let before = [
        entity("Cat", [attribute("name"), attribute("age", .integer16)], [toMany("toys", "Toy")]), entity("Toy"),
    ]
    private let after = [
        entity("Cat", [attribute("title"), attribute("weight", .double)], [toMany("things", "Toy")]), entity("Toy"),
    ]

    @Test func `what was removed and added and could be the same is asked, the rest is not`() throws {
        let asked = try correspond(before, after).questions
        #expect(asked.map(\.place) == ["Cat.things", "Cat.title"])
        #expect(asked.last?.candidates.map(\.name) == ["name"])
        #expect(asked.last?.candidates.first?.evidence.contains("the same type String") == true)
        #expect(
            asked.last?.answers.map(\.json) == [
                #"{"from": "V1", "to": "V2", "entity": "Cat", "property": "title", "is": "rename", "old": "name"}"#,
                #"{"from": "V1", "to": "V2", "entity": "Cat", "property": "title", "is": "new"}"#,
            ])
    }

    @Test func `an attribute of the new parent of an entity is not asked about, for it is not new`() throws {
        func models(_ parent: String) -> [EntityDescription] {
            [
                entity("Animal", [attribute("name")]), entity("Pet", [attribute("owner")]),
                entity("Dog", [attribute("breed")], parent: parent),
            ]
        }
        #expect(try correspond(models("Animal"), models("Pet")).questions == [])
        // What is new in the parent too is a question as before.
        var renamed = models("Pet")
        renamed[1] = entity("Pet", [attribute("keeper")])
        #expect(try correspond(models("Animal"), renamed).questions.map(\.place) == ["Pet.keeper"])
    }

    @Test func `an entity that shares half of its properties with a removed one is asked about`() throws {
        let cat = entity("Cat", [attribute("name"), attribute("age", .integer16)])
        #expect(
            try correspond([cat], [entity("Feline", [attribute("name"), attribute("fur")])]).questions.map(\.place)
                == ["Feline"])
        #expect(
            try correspond([cat], [entity("Car", [attribute("name", .integer16), attribute("fuel")])]).questions == [])
    }

    @Test func `entities that lead to each other and are renamed together are asked about`() throws {
        func models(_ author: String, _ book: String) -> [EntityDescription] {
            [
                entity(author, [attribute("name")], [toMany("books", book), toOne("first", book)]),
                entity(book, [attribute("title")], [toOne("author", author), toMany("readers", author)]),
            ]
        }
        let questions = try correspond(models("Author", "Book"), models("Writer", "Volume")).questions
        #expect(questions.map(\.place) == ["Volume", "Writer"])
        #expect(questions.map { $0.candidates.map(\.name) } == [["Book"], ["Author"]])
        // What one answer says of the destination counts for the other entity.
        let answered = try correspond(
            models("Author", "Book"), models("Writer", "Volume"), [answer("Volume", nil, .rename, old: "Book")])
        #expect(answered.questions.first?.place == "Writer")
        #expect(
            answered.questions.first?.candidates.first?.evidence.first?.hasPrefix("3 properties are the same") == true)
    }

    @Test func `all questions of a whole way are refused together with the code question`() throws {
        let all = ModelVersions(versions: [
            try version("V1", entity("A", [attribute("a")])), try version("V2", entity("A", [attribute("b")])),
            try version("V3", entity("A", [attribute("c")])),
        ])
        let error = #expect(throws: MigrationError.self) { try MigrationPlan(all, from: "V1") }
        #expect(error?.code == .question)
        #expect(error?.message.contains(#""property": "b", "is": "rename", "old": "a""#) == true)
        #expect(error?.message.contains(#""property": "c", "is": "rename", "old": "b""#) == true)
    }

    @Test func `a file of answers is read as it was written`() throws {
        let list = [
            answer("Cat", "title", .rename, old: "na\"me\\ü\u{1}"), answer("Dog", nil, .new),
            answer("Cat", "age", .keep),
        ]
        #expect(try Answers(json: Answers(list).json).list == list)
        #expect(String(decoding: try Answers(list).json, as: UTF8.self).contains(#""format": 1"#))
    }

    @Test(arguments: [
        "", "[]", #"{"answers": []}"#, #"{"format": 2, "answers": []}"#,
        #"{"format": 1, "answers": [{"from": "V1"}]}"#,
        #"{"format": 1, "answers": [{"from": "V1", "to": "V2", "entity": "A", "is": "maybe"}]}"#,
        #"{"format": 1, "answers": [{"from": "V1", "to": "V2", "entity": "A", "is": "rename"}]}"#,
        #"{"format": 1, "answers": [{"from": "V1", "to": "V2", "entity": "", "is": "new"}]}"#,
    ]) func `a file that is none of answers is refused`(_ text: String) {
        let error = #expect(throws: MigrationError.self) { try Answers(json: Array(text.utf8)) }
        #expect(error?.code == .usage)
        #expect(error?.place.isEmpty == false)
    }

    @Test func `contradictions are refused`() {
        let pairs = [
            [answer("A", "x", .rename, old: "y"), answer("A", "x", .new)],
            [answer("A", "x", .rename, old: "y"), answer("A", "z", .rename, old: "y")],
            [answer("A", nil, .rename, old: "C"), answer("B", nil, .rename, old: "C")],
        ]
        for pair in pairs { #expect(throws: MigrationError.self) { try Answers(pair) } }
    }

    @Test(arguments: [
        answer("Dog", nil, .new), answer("Cat", "tail", .new), answer("Cat", "title", .rename, old: "tail"),
        answer("Cat", "title", .rename, old: "toys"), answer("Cat", nil, .rename, old: "Dog"),
        answer("Cat", nil, .drop), answer("Cat", "weight", .keep), answer("Cat", "weight", .drop),
    ]) func `an answer to nothing is refused`(_ answer: Answer) {
        let error = #expect(throws: MigrationError.self) { try infer(before, after, [answer]) }
        #expect(error?.code == .usage)
        #expect(error?.message.contains(answer.json) == true)
    }

    @Test func `an answer that the models have come to say themselves is accepted`() throws {
        let mapping = try infer(
            [entity("Cat", [attribute("name")])], [entity("Cat", [attribute("title", was: "name")])],
            [answer("Cat", "title", .rename, old: "name")]
        ).mapping
        #expect(mapping?.mapping(toEntity: "Cat")?.attributes["title"] == .attribute("name", ifNil: nil))
    }

    @Test func `a type that keeps every value is not asked about, and any other is`() throws {
        let older = [entity("A", [attribute("x", .integer32)])]
        let wider = try infer(older, [entity("A", [attribute("x", .integer64)])])
        #expect(wider.questions == [])
        #expect(wider.mapping?.mapping(toEntity: "A")?.attributes["x"] == .attribute("x", ifNil: nil))
        let dropped = try infer(older, [entity("A", [attribute("x", .integer64)])], [answer("A", "x", .drop)])
        #expect(dropped.mapping?.mapping(toEntity: "A")?.attributes["x"] == .constant(nil))
        for type in [AttributeType.date, .integer16, .string, .float] {
            let other = try infer(older, [entity("A", [attribute("x", type)])])
            #expect(other.questions.first?.answers.map(\.is) == [.drop])
        }
    }

    @Test func `a rename to a wider type keeps the values, and to any other is refused with what to answer`() throws {
        let older = [entity("A", [attribute("x", .integer32)])]
        let rename = [answer("A", "y", .rename, old: "x")]
        let wider = try infer(older, [entity("A", [attribute("y", .integer64)])], rename)
        #expect(wider.mapping?.mapping(toEntity: "A")?.attributes["y"] == .attribute("x", ifNil: nil))
        let other = try infer(older, [entity("A", [attribute("y", .string)])], rename)
        #expect(other.questions == [] && other.mapping == nil)
        #expect(other.refusals.map(\.reason) == [.typeNotConvertible])
        #expect(other.refusals.first?.remedy.contains("Answer new") == true)
    }

    /// Each value of the narrower type must be one of the wider: decided by hand, not read off the code.
    @Test func `only lossless conversions widen`() {
        let expected: [AttributeType: Set<AttributeType>] = [
            .boolean: [.integer16, .integer32, .integer64, .float, .double, .decimal],
            .integer16: [.integer32, .integer64, .float, .double, .decimal],
            .integer32: [.integer64, .double, .decimal], .integer64: [.decimal], .float: [.double],
        ]
        for from in AttributeType.allCases {
            for to in AttributeType.allCases {
                #expect(from.widens(to: to) == (expected[from]?.contains(to) == true), "\(from) to \(to)")
            }
        }
    }
}
