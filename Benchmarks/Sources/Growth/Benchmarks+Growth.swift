import Foundation
import MoultModel
import MoultSQLite

/// How the time of each command grows with what a store and its model have: processor time, so that who else uses the
/// machine counts little.
extension Benchmarks {
    private static let factors = [1, 4, 16]
    /// What a small run measures.
    private static let smallVerbs = ["validate", "export --out", "repair"]
    /// What the start of the process varies by: less is taken as this much.
    private static let leastSeconds = 0.005

    private var sittings: [[GrowthCommand]] {
        let verbs = settings.verbs.isEmpty && settings.isSmall ? Self.smallVerbs : settings.verbs
        return GrowthCommand.sittings.filter { sitting in
            verbs.isEmpty || sitting.contains { command in verbs.contains { command.name.hasPrefix($0) } }
        }
    }

    func growth() throws -> [Figure] {
        guard FileManager.default.isExecutableFile(atPath: moult) else {
            skip("there is no \(moult)")
            return []
        }
        let start = try (0..<20).map { _ in try Command(moult, ["--version"]).run().processorSeconds }.min() ?? 0
        note("growth: milliseconds of processor time, the \((start * 1000).decimals(1)) of a start taken off")
        var figures: [Figure] = []
        for dimension in dimensions {
            let sizes = try Self.factors.map { factor in
                try leastTimes(dimension, factor).mapValues { max($0 - start, Self.leastSeconds) }
            }
            for command in sittings.joined() where command.sql == nil {
                let times = sizes.compactMap { $0[command.name] }
                for ((small, large), factor) in zip(zip(times, times.dropFirst()), Self.factors.dropFirst())
                where large > Self.leastSeconds {
                    figures.append(
                        Figure(
                            name: "\(dimension), \(command.name): \(factor) times as many", ours: [large * 1000],
                            theirs: [small * 1000], unit: .milliseconds,
                            options: ["--kind", dimension.rawValue, "--verbs", command.name]))
                }
            }
        }
        return figures
    }

    /// The one that is asked for, or all; of a small run the rows.
    private var dimensions: [GrowthDimension] {
        GrowthDimension.allCases.filter { dimension in
            settings.kind.isEmpty ? !settings.isSmall || dimension == .rows : settings.kind == dimension.rawValue
        }
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
