import Foundation
import MoultModel
import MoultSQLite

/// How the time of each command grows with what a store and its model have: four times as much may take four times as
/// long, and 1.3 times that. Processor time, so that who else uses the machine counts little.
extension Benchmarks {
    private static let factors = [1, 4, 16]
    /// What the start of the process varies by: less is taken as this much.
    private static let leastSeconds = 0.005

    private var sittings: [[GrowthCommand]] {
        let verbs = settings.verbs
        return GrowthCommand.sittings.filter { sitting in
            verbs.isEmpty || sitting.contains { command in verbs.contains { command.name.hasPrefix($0) } }
        }
    }

    func growth() throws -> [Figure] {
        guard FileManager.default.isExecutableFile(atPath: moult) else {
            note("SKIPPED: there is no \(moult)")
            return []
        }
        let start = try (0..<20).map { _ in try Command(moult, ["--version"]).run().processorSeconds }.min() ?? 0
        note("growth: milliseconds of processor time, the \((start * 1000).decimals(1)) of a start taken off")
        let dimensions = GrowthDimension.allCases.filter { settings.kind.isEmpty || settings.kind == $0.rawValue }
        var figures: [Figure] = []
        // By command, a cell for each dimension.
        var cells: [String: [String]] = [:]
        for dimension in dimensions {
            let sizes = try Self.factors.map { factor in
                try leastTimes(dimension, factor).mapValues { max($0 - start, Self.leastSeconds) }
            }
            for command in sittings.joined() where command.sql == nil {
                let times = sizes.compactMap { $0[command.name] }
                let steps = zip(times.dropFirst(), times).map { Step(small: $1, large: $0) }
                cells[command.name, default: []].append(steps.isEmpty ? "" : Self.text(times, steps))
                for (step, factor) in zip(steps, Self.factors.dropFirst()) where step.large > Self.leastSeconds {
                    figures.append(
                        Figure(
                            name: "\(dimension), \(command.name): \(factor) times as many", ours: [step.large],
                            theirs: [step.small], bound: .ratioAtMost(4 * 1.3)))
                }
            }
        }
        print((["| command"] + dimensions.map(\.rawValue)).joined(separator: " | ") + " |")
        print("|---" + dimensions.map { _ in "|---" }.joined() + "|")
        for command in sittings.joined() {
            guard let row = cells.removeValue(forKey: command.name) else { continue }
            print((["| " + command.name] + row).joined(separator: " | ") + " |")
        }
        return figures
    }

    private struct Step {
        var small: Double
        var large: Double
        var isKept: Bool { large <= 4 * 1.3 * small }
    }

    /// Such as "12, 45, 180 (3.75, 4.00)", with a step over the bound in bold.
    private static func text(_ times: [Double], _ steps: [Step]) -> String {
        let milliseconds = times.map { $0 > leastSeconds ? ($0 * 1000).decimals(0) : "<5" }
        let ratios = steps.map { step in
            let ratio = (step.large / step.small).decimals(2)
            return step.isKept ? ratio : "**\(ratio)**"
        }
        return "\(milliseconds.joined(separator: ", ")) (\(ratios.joined(separator: ", ")))"
    }

    /// The least time of all rounds, by command.
    private func leastTimes(_ dimension: GrowthDimension, _ factor: Int) throws -> [String: Double] {
        let store = try GrowthStore(dimension.size(factor), in: "\(folder)/growth-\(dimension)-\(factor)")
        defer { store.remove() }
        var least: [String: Double] = [:]
        for sitting in sittings where dimension.isOfModel || sitting.contains(where: \.readsStore) {
            for _ in 0..<settings.rounds {
                try store.makeCopy()
                for command in sitting {
                    if let sql = command.sql {
                        try store.change(sql)
                    } else {
                        let time = try Command(moult, store.arguments(of: command)).run().processorSeconds
                        least[command.name] = min(time, least[command.name] ?? time)
                    }
                }
            }
        }
        return least
    }
}
