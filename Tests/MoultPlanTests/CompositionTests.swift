import Foundation
import MoultModel
import Testing

@testable import MoultPlan

@Suite struct CompositionTests {
    /// `MOULT_CASES` asks for more.
    private static let count = ProcessInfo.processInfo.environment["MOULT_CASES"].flatMap(Int.init) ?? 500

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
            var stretch = Stretch(at: 0, model: models[0])
            for (position, mapping) in history.mappings.enumerated() {
                let edge = Stretch.Edge(
                    mapping: mapping, older: models[position], newer: models[position + 1], end: position + 1)
                if try stretch.append(edge, versions: history.versions, answers: .none) != nil {
                    cuts += 1
                    begin = world
                    stretch = Stretch(at: position, model: models[position])
                    #expect(try stretch.append(edge, versions: history.versions, answers: .none) == nil)
                }
                world = world.applying(mapping, to: history.versions[position + 1].model)
                joinedEdges += stretch.end - stretch.start > 1 ? 1 : 0
                returns += stretch.questions.count
                let once = begin.applying(stretch.mapping, to: history.versions[position + 1].model)
                guard once == world else {
                    Issue.record("seed \(seed), versions \(stretch.start) to \(position + 1)")
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
}
