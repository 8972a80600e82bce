import MoultModel
import Testing

@testable import MoultPlan

/// Chains of renames in both spellings, over every pair of versions.
@Suite struct RenamingTests {
    /// V1 color, V2 paintColor, V3 primaryColor, with the identifiers of V2 and V3.
    static let chains: [(second: String?, third: String)] = [
        ("color", "color"), ("color", "paintColor"), (nil, "paintColor"),
    ]

    private func versions(_ second: String?, _ third: String) throws -> ModelVersions {
        ModelVersions(versions: [
            try version("V1", entity("Aircraft", [attribute("color")])),
            try version("V2", entity("Aircraft", [attribute("paintColor", was: second)])),
            try version("V3", entity("Aircraft", [attribute("primaryColor", was: third)])),
            try version("V4", entity("Aircraft", [attribute("primaryColor", was: third), attribute("color")])),
        ])
    }

    @Test(arguments: chains) func `every chain keeps the value from every version to every later one`(
        _ chain: (second: String?, third: String)
    ) throws {
        let all = try versions(chain.second, chain.third)
        let rename = Answer(
            from: "V1", to: "V2", entity: "Aircraft", property: "paintColor", is: .rename, old: "color")
        let answers = try Answers(chain.second == nil ? [rename] : [])
        for (start, old) in ["color", "paintColor", "primaryColor"].enumerated() {
            for end in (start + 1)..<4 {
                let path = try MigrationPath(all, from: start, to: end, answers: answers)
                #expect(path.questions.isEmpty)
                #expect(path.passes.count == 1)
                guard case .mapping(let mapping)? = path.passes.first?.work else {
                    Issue.record("no mapping")
                    continue
                }
                let name = end == 1 ? "paintColor" : "primaryColor"
                #expect(
                    mapping.mapping(toEntity: "Aircraft")?.attributes[name] == .attribute(old, ifNil: nil),
                    "V\(start + 1) to V\(end + 1)")
            }
        }
    }

    @Test func `a difference over several versions, and back, follows the chain`() throws {
        let all = try versions("color", "paintColor")
        let diff = try ModelDiff(all, from: "V1", to: "V3")
        #expect(diff.changes.map(\.kind) == [.attributeRenamed, .renamingIdentifier])
        #expect(diff.changes.first?.old == "color")
        let back = try ModelDiff(all, from: "V4", to: "V2")
        #expect(
            back.changes.filter(\.isHashed).map(\.sentence) == [
                "The attribute Aircraft.paintColor is renamed from primaryColor.",
                "The attribute Aircraft.color is removed: String.",
            ])
        #expect(try ModelDiff(all, from: "V2", to: "V2").isEmpty)
    }

    @Test func `the earliest name is known although the version between dropped its identifier`() throws {
        let all = ModelVersions(versions: [
            try version("V1", entity("A", [attribute("color")])),
            try version("V2", entity("A", [attribute("paint", was: "color")])),
            try version("V3", entity("A", [attribute("paint"), attribute("age", .integer16)])),
            try version("V4", entity("A", [attribute("primary", was: "color"), attribute("age", .integer16)])),
        ])
        let plan = try MigrationPlan(all, from: "V3", to: "V4")
        guard case .inferred(let mapping) = plan.edges[0].means else {
            Issue.record("not inferred: \(plan.edges[0].sentences)")
            return
        }
        #expect(mapping.mapping(toEntity: "A")?.attributes["primary"] == .attribute("paint", ifNil: nil))
    }

    @Test func `so is that of an element, where nothing else has an identifier`() throws {
        func home(_ element: AttributeDescription, _ more: AttributeDescription...) -> EntityDescription {
            entity("A", [AttributeDescription(name: "home", type: .composite, elements: [element])] + more)
        }
        let all = ModelVersions(versions: [
            try version("V1", home(attribute("color"))),
            try version("V2", home(attribute("paint", was: "color"))),
            try version("V3", home(attribute("paint"), attribute("age", .integer16))),
            try version("V4", home(attribute("primary", was: "color"), attribute("age", .integer16))),
        ])
        let plan = try MigrationPlan(all, from: "V3", to: "V4")
        guard case .inferred(let mapping) = plan.edges[0].means else {
            Issue.record("no mapping")
            return
        }
        #expect(mapping.mapping(toEntity: "A")?.attributes["home.primary"] == .attribute("home.paint", ifNil: nil))
    }

    @Test func `an identifier with two meanings is a question with an answer for each`() throws {
        let before = [entity("A", [attribute("color"), attribute("paint", was: "color")])]
        let after = [entity("A", [attribute("primary", was: "color")])]
        let asked = try correspond(before, after).questions
        #expect(asked.map(\.kind) == [.ambiguousIdentifier])
        #expect(asked.first?.candidates.map(\.name) == ["color", "paint"])
        for answer in asked.first?.answers ?? [] {
            let inferred = try infer(before, after, [answer])
            let source = inferred.mapping?.mapping(toEntity: "A")?.attributes["primary"]
            #expect(source == answer.old.map { .attribute($0, ifNil: nil) } ?? .constant(nil))
        }
    }

    @Test func `a stale identifier beside the old name is a question`() throws {
        let asked = try correspond(
            [entity("A", [attribute("color")])],
            [entity("A", [attribute("color"), attribute("paint", was: "color")])]
        ).questions
        #expect(asked.map(\.place) == ["A.paint"])
    }

    @Test func `two entities that swap names by identifiers swap`() throws {
        let mapping = try infer(
            [entity("A", [attribute("a")]), entity("B", [attribute("b")])],
            [entity("A", [attribute("b")], was: "B"), entity("B", [attribute("a")], was: "A")]
        ).mapping
        #expect(mapping?.mapping(toEntity: "A")?.sourceEntityName == "B")
        #expect(mapping?.mapping(toEntity: "B")?.sourceEntityName == "A")
    }
}
