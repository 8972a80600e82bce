import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import MoultStore
import MoultTools

/// The time of an app's launch over an older store, in calls of 4 s, and over a store that has the app's version.
extension Benchmarks {
    func launch(_ store: BenchmarkStore) throws -> [Figure] {
        let kinds = LaunchWork.Kind.allCases.filter { settings.kind.isEmpty || $0.rawValue == settings.kind }
        let orders = kinds.contains(where: \.hasOrders) ? try orders(settings.rows) : store
        let older = try kinds.flatMap { try launch($0, of: $0.hasOrders ? orders : store) }
        return settings.kind.isEmpty ? older + (try launchOfCurrentStore()) : older
    }

    // MARK: - An older store

    private func launch(_ kind: LaunchWork.Kind, of store: BenchmarkStore) throws -> [Figure] {
        var all: [LaunchCalls] = []
        try rounds { _ in all.append(try LaunchCalls(kind, of: store)) }
        for calls in all { note("launch, \(kind.sentence), \(store.rows) rows: \(calls.sentence)") }
        func figure(_ what: String, _ ours: [Double], _ theirs: [Double] = [], _ unit: Figure.Unit) -> Figure {
            Figure(
                name: "\(kind.sentence): \(what)", rows: store.rows, ours: ours, theirs: theirs, unit: unit,
                options: ["--kind", kind.rawValue])
        }
        return [
            figure("calls", all.map { Double($0.seconds.count) }, [], .calls),
            figure("longest call / budget", all.map(\.longest), all.map(\.budget), .seconds),
            figure("peak memory", all.map(\.peak), [], .mebibytes),
        ]
    }

    // MARK: - A current store

    /// The store of the largest known model, with every version of it in the app.
    private func launchOfCurrentStore() throws -> [Figure] {
        guard let longChain else {
            skip("no corpus; set MOULT_CORPUS to measure the launch of a current store of a large model")
            return []
        }
        let versions = try ModelVersions(contentsOf: longChain)
        let current = versions.versions[try versions.target(named: nil)]
        let (store, bundle) = (folder + "/current.sqlite", folder + "/Current.momd")
        try StoreCreator(current).make(at: store)
        try FileManager.default.createDirectory(atPath: bundle, withIntermediateDirectories: true)
        for file in try CompiledModel(compiling: longChain).files {
            try Data(file.bytes).write(to: URL(fileURLWithPath: "\(bundle)/\(file.name)"))
        }
        func figure(_ what: String, _ work: String) throws -> Figure {
            var above: [Double] = []
            try rounds { _ in
                let measured = try Command.child("launch", work, store, bundle).run().json
                above.append((measured.number("moult") - measured.number("sqlite")) * 1000)
            }
            return Figure(
                name: "launch of a current store of \(current.model.entities.count) entities, "
                    + "\(versions.versions.count) versions\(what), above SQLite's", ours: above, unit: .milliseconds)
        }
        return [try figure("", "current"), try figure(", after the app was killed", "current-log")]
    }
}

/// The calls that bring a copy of a store up to date, each in a process of its own.
private struct LaunchCalls {
    private(set) var budget = 4.0
    private(set) var seconds: [Double] = []
    /// The most memory of a call, in MiB.
    private(set) var peak = 0.0
    private var refusal: String?

    init(_ kind: LaunchWork.Kind, of store: BenchmarkStore) throws {
        let copy = try store.copy("launch")
        defer { BenchmarkStore.remove(copy) }
        let before = try Command.shell(copy, kind.rows).run().output
        var isReady = false
        while !isReady {
            let json = try Command.child("launch", kind.rawValue, copy, String(budget)).run().json
            peak = max(peak, json.number("peak") / 1_048_576)
            switch json["result"]?.string {
            case "refused":
                // A piece that cannot be interrupted is longer than the budget, and nothing was begun.
                refusal = json["message"]?.string
                budget *= 1.25
            case let result:
                isReady = result == "ready"
                seconds.append(json.number("seconds"))
            }
            guard seconds.count < 100, budget < 600 else {
                throw MigrationError(.internal, "\(kind): no end.", remedy: "Look at the calls.")
            }
        }
        guard try Command.shell(copy, kind.rows).run().output == before else {
            throw MigrationError(.internal, "\(kind): other rows than before.", remedy: "Look at the store.")
        }
    }

    var longest: Double { seconds.max() ?? 0 }

    var sentence: String {
        "calls of \(seconds.map { $0.decimals(2) }.joined(separator: ", ")) s with a budget of \(budget.decimals(2)) s, "
            + "\(peak.decimals(0)) MiB" + (refusal.map { "; at first: \($0)" } ?? "")
    }
}
