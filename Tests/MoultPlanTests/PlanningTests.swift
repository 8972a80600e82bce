import MoultBasics
import MoultModel
import Testing

@testable import MoultPlan

@Suite struct PlanningTests {
    private func versions() throws -> ModelVersions {
        ModelVersions(
            versions: [
                try version("V1", entity("A", [attribute("x")])),
                try version("V2", entity("A", [attribute("x"), attribute("n", .integer16)])),
                try version("V3", entity("A", [attribute("x"), attribute("n", .date)]), entity("B")),
                try version("V4", entity("A", [attribute("x")]), entity("B")),
            ], currentName: "V4")
    }

    /// The mapping of the first pass.
    private func mapping(of plan: MigrationPlan) throws -> ResolvedMapping {
        guard case .mapping(let mapping) = try #require(plan.passes.first).work else {
            throw NotAMapping(plan: plan.edges.map(\.sentences))
        }
        return mapping
    }

    private struct NotAMapping: Error { let plan: [[String]] }

    private let drop = Answer(from: "V2", to: "V3", entity: "A", property: "n", is: .drop)

    @Test func `a plan walks every version and runs once`() throws {
        let plan = try MigrationPlan(versions(), from: "V1", answers: Answers([drop]))
        #expect(plan.versionNames == ["V1", "V2", "V3", "V4"])
        #expect(plan.passes.map { [$0.older.name, $0.newer.name] } == [["V1", "V4"]])
        #expect(plan.losses.map(\.place) == ["A.n", "A.n"])
        #expect(plan.edges.map(\.losesData) == [false, true, true])
        guard case .mapping = plan.edges[0].undo, case .backup(let reason) = plan.edges[2].undo else {
            Issue.record("undo of \(plan.edges.map(\.undo.sentence))")
            return
        }
        #expect(reason == "The attribute A.n is removed: Date.")
    }

    /// Every pair, not only the neighbours.
    @Test func `there is a plan for every pair of versions in their order`() throws {
        let all = try versions()
        for start in 0..<4 {
            for end in start..<4 {
                let plan = try MigrationPlan(
                    all, from: "V\(start + 1)", to: "V\(end + 1)", answers: Answers([drop]))
                #expect(plan.edges.count == end - start)
                #expect(plan.isEmpty == (start == end))
            }
        }
    }

    @Test func `same, ahead, unknown and no path are four different answers`() throws {
        let all = try versions()
        #expect(try MigrationPlan(all, from: "V4").isEmpty)
        #expect(
            #expect(throws: MigrationError.self) { try MigrationPlan(all, from: "V4", to: "V2") }?.code == .storeAhead)
        let stranger = VersionHashes(read: ["A": [1], "Z": [2]])
        #expect(#expect(throws: MigrationError.self) { try MigrationPlan(all, from: stranger) }?.code == .storeUnknown)
        #expect(#expect(throws: MigrationError.self) { try MigrationPlan(all, from: "V1", to: "V9") }?.code == .noPath)
    }

    @Test func `a store is current, behind, ahead or unknown`() throws {
        let all = try versions()
        let hashes = all.versions.map(\.hashes)
        #expect(try VersionStatus(of: hashes[3], in: all) == .current(version: "V4"))
        #expect(try VersionStatus(of: hashes[1], in: all) == .behind(version: "V2", by: 2, target: "V4"))
        #expect(try VersionStatus(of: hashes[3], in: all, target: "V2") == .ahead(version: "V4", by: 2, target: "V2"))
        let (a, b) = try (#require(hashes[0].entities["A"]), #require(hashes[3].entities["B"]))
        let store = VersionHashes(read: ["A": a, "B": b, "C": [0]])
        guard case .unknown(let nearest?) = try VersionStatus(of: store, in: all) else {
            Issue.record("not unknown")
            return
        }
        #expect(nearest.version == "V4")
        #expect(nearest.added == ["C"])
        #expect(nearest.sentence == "Nearest is V4: the store also has C.")
    }

    @Test func `a registered stage is used instead of inference, and a shortcut instead of a walk`() throws {
        let all = try versions()
        var stage = RegisteredStage(from: "V2", to: "V3", name: "widen", sentence: "It widens n.")
        #expect(throws: MigrationError.self, "its questions count") {
            try MigrationPlan(all, from: "V1", registered: [stage])
        }
        let answers = try Answers([drop])
        let inferred = try MigrationPlan(all, from: "V1", answers: answers, registered: [stage])
        #expect(inferred.passes.map(\.newer.name) == ["V4"], "a stage without code or mapping is inferred")
        #expect(inferred.edges[1].sentences.first == "It widens n.")
        stage.after = [CodeStep(name: "count", sentence: "It counts.")]
        let coded = try MigrationPlan(all, from: "V1", answers: answers, registered: [stage])
        #expect(coded.passes.map(\.newer.name) == ["V2", "V3", "V4"])
        #expect(coded.passes.map { $0.steps.map(\.name) } == [[], ["count"], []])
        #expect(coded.digest != inferred.digest)
        stage.mapping = .success(ResolvedMapping(entityMappings: []))
        let plan = try MigrationPlan(all, from: "V1", registered: [stage])
        #expect(plan.passes[1].work == .mapping(ResolvedMapping(entityMappings: [])))
        #expect(plan.edges[1].sentences == ["It widens n."])
        let shortcut = RegisteredStage(
            from: "V1", to: "V3", name: "jump", sentence: "It jumps.", undo: "It jumps back.")
        #expect(try MigrationPath(all, from: 0, to: 2, registered: [shortcut]).edges.count == 1)
        let short = try MigrationPlan(all, from: "V1", registered: [shortcut])
        #expect(short.versionNames == ["V1", "V3", "V4"])
        #expect(short.edges[0].undo == .registered("It jumps back."))
    }

    @Test func `what leaves and returns on the way is kept or dropped as answered`() throws {
        let all = ModelVersions(versions: [
            try version("V1", entity("A", [attribute("x"), attribute("n", .integer16)])),
            try version("V2", entity("A", [attribute("x")])),
            try version(
                "V3", entity("A", [attribute("x"), attribute("n", .integer16, required: true, default: .integer(9))])),
        ])
        let path = try MigrationPath(all, from: 0, to: 2)
        #expect(path.questions.map(\.kind) == [.returned])
        #expect(path.questions.first?.answers.map(\.is) == [.keep, .drop])
        let expected: [AttributeSource] = [.attribute("n", ifNil: .integer(9)), .constant(.integer(9))]
        for (answer, source) in zip(path.questions.first?.answers ?? [], expected) {
            let plan = try MigrationPlan(all, from: "V1", answers: Answers([answer]))
            #expect(try mapping(of: plan).mapping(toEntity: "A")?.attributes["n"] == source)
        }
        // From V2 on there is nothing to keep.
        #expect(try MigrationPlan(all, from: "V2").passes.count == 1)
    }

    @Test func `an entity that leaves and returns is kept or dropped as answered`() throws {
        let all = ModelVersions(versions: [
            try version("V1", entity("A"), entity("B", [attribute("x")])), try version("V2", entity("A")),
            try version("V3", entity("A"), entity("B", [attribute("x"), attribute("y", .integer16)])),
        ])
        let keep = Answer(from: "V1", to: "V3", entity: "B", is: .keep)
        #expect(try MigrationPath(all, from: 0, to: 2).questions.map(\.place) == ["B"])
        let plan = try MigrationPlan(all, from: "V1", answers: Answers([keep]))
        let mapping = try mapping(of: plan)
        #expect(
            mapping.mapping(toEntity: "B")
                == ResolvedEntityMapping(
                    sourceEntityName: "B", destinationEntityName: "B",
                    attributes: ["x": .attribute("x", ifNil: nil), "y": .constant(nil)]))
        #expect(!mapping.entityMappings.contains { $0.destinationEntityName == nil })
    }

    @Test func `the digest of a plan tells it from every other`() throws {
        let all = try versions()
        let wider = ModelVersions(versions: [
            try version("V2", entity("A", [attribute("n", .integer16)])),
            try version("V3", entity("A", [attribute("n", .integer32)])),
        ])
        let plans = [
            try MigrationPlan(all, from: "V1", answers: Answers([drop])),
            try MigrationPlan(all, from: "V2", answers: Answers([drop])),
            try MigrationPlan(all, from: "V2", to: "V3", answers: Answers([drop])),
            try MigrationPlan(wider, from: "V2"), try MigrationPlan(wider, from: "V2", answers: Answers([drop])),
            try MigrationPlan(all, from: "V4"),
        ]
        #expect(Set(plans.map(\.digest)).count == plans.count)
        #expect(try MigrationPlan(versions(), from: "V1", answers: Answers([drop])).digest == plans[0].digest)
    }

    @Test func `everything against a path is listed together`() throws {
        let all = try versions()
        #expect(all.pathIssues(from: "0", to: "9").map(\.code) == ["source-not-supported", "target-not-supported"])
        #expect(all.pathIssues(from: "V1", to: "V1").map(\.code) == ["same-version"])
        #expect(all.pathIssues(from: "V2", to: "V1").map(\.code) == ["backwards"])
        #expect(all.pathIssues(from: "V1", to: "V4").map(\.code) == ["question-conversion"])
        #expect(try all.pathIssues(from: "V1", to: "V4", answers: Answers([drop])).isEmpty)
    }

    @Test func `an answer about versions that there are not is refused`() throws {
        let wrong = Answer(from: "V0", to: "V2", entity: "A", is: .new)
        let error = #expect(throws: MigrationError.self) {
            try MigrationPlan(versions(), from: "V1", answers: Answers([wrong]))
        }
        #expect(error?.code == .usage)
    }
}
