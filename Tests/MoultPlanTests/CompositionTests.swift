import Foundation
import MoultModel
import Testing

@testable import MoultPlan

@Suite struct CompositionTests {  // tier: long
    /// `MOULT_CASES` asks for more.
    private static let count = ProcessInfo.processInfo.environment["MOULT_CASES"].flatMap(Int.init) ?? 150

    @Test func `one pass does what walking step by step does`() throws {
        var edits: [String: Int] = [:]
        var (joinedEdges, cuts, returns) = (0, 0, 0)
        for seed in 0..<Self.count {
            var random = SeededGenerator(seed: UInt64(seed))
            let history = try RandomHistory(edges: 5, using: &random)
            edits.merge(history.edits, uniquingKeysWith: +)
            var world = World.random(of: history.versions[0].model, using: &random)
            var begin = world
            let models = history.versions.map { ResolvedModel($0.model) }
            var composed = ComposedEdges(at: 0, model: models[0])
            for (position, mapping) in history.mappings.enumerated() {
                let edge = ComposedEdges.Edge(
                    mapping: mapping, older: models[position], newer: models[position + 1], end: position + 1)
                if try composed.append(edge, versions: history.versions, answers: .none) != nil {
                    cuts += 1
                    begin = world
                    composed = ComposedEdges(at: position, model: models[position])
                    #expect(try composed.append(edge, versions: history.versions, answers: .none) == nil)
                }
                world = world.applying(mapping, to: history.versions[position + 1].model)
                joinedEdges += composed.end - composed.start > 1 ? 1 : 0
                returns += composed.questions.count
                let once = begin.applying(composed.mapping, to: history.versions[position + 1].model)
                guard once == world else {
                    Issue.record("seed \(seed), versions \(composed.start) to \(position + 1)")
                    return
                }
            }
        }
        print(
            "composition: \(Self.count) histories, \(joinedEdges) joins compared, \(cuts) apart, \(returns) returns asked"
        )
        print("edits: \(edits.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))")
        #expect(joinedEdges > Self.count * 2)
        #expect(cuts > 0)
        #expect(returns > 0)
    }

    /// Renames joined over a whole history are what the joined mapping reads.
    @Test func `names joined over a history agree with the joined mapping`() throws {
        var compared = 0
        for seed in 0..<60 {
            var random = SeededGenerator(seed: 9_000 + UInt64(seed))
            let history = try RandomHistory(edges: 4, using: &random)
            let versions = ModelVersions(versions: history.versions)
            let answers = try Answers(history.answers)
            let path = try MigrationPath(versions, from: 0, to: 4, answers: answers)
            #expect(path.edges.map(\.means) == history.mappings.map { .inferred($0) })
            for pass in path.passes {
                guard case .mapping(let mapping) = pass.work else { continue }
                let joined = try EntityMatching(
                    versions, from: pass.olderPosition, to: pass.newerPosition, answers: answers)
                for entity in mapping.entityMappings {
                    guard let name = entity.destinationEntityName else { continue }
                    #expect(joined.entitySources[name] == entity.sourceEntityName)
                    for case (let property, .attribute(let old, _)) in entity.attributes {
                        #expect(joined.propertySources[name]?[property] == old)
                        compared += 1
                    }
                }
            }
        }
        #expect(compared > 100)
    }
}
