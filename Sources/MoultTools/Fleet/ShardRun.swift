import Moult
import MoultBasics

/// The run of one shard: its canary, then the other stores if they may follow.
struct ShardRun {
    private let shard: ShardFolder
    private let policy: FleetPolicy
    private let work: FleetWork
    private let isApproved: Bool
    private let isStopping: () -> Bool

    init(
        _ shard: ShardFolder, _ policy: FleetPolicy, _ work: FleetWork, isApproved: Bool,
        isStopping: @escaping () -> Bool
    ) {
        (self.shard, self.policy, self.work) = (shard, policy, work)
        (self.isApproved, self.isStopping) = (isApproved, isStopping)
    }

    func run(
        _ entries: [(entry: FleetEntry, earlier: Int?)], verb: String, _ report: inout FleetReport,
        _ progress: FleetProgress
    ) async throws {
        let selected = try FleetSelection.tasks(entries, verb: verb, shard, policy)
        report.skipped += selected.done.count
        report.leftOut += entries.count - selected.stores.count
        var rest = selected.tasks
        if try await !passCanary(selected, &rest, &report, progress) { return }
        _ = try await work(on: rest, &report, progress)
        let results = try shard.contents().results
        report.remaining += results.values.count { !$0.state.isGood && $0.state != .findings }
        if selected.stores.allSatisfy({ results[$0.number] != nil }) { try shard.join(results) }
    }

    /// - Returns: how the work on these stores ended. The report may cover several shards.
    private func work(
        on tasks: [FleetTask], _ report: inout FleetReport, _ progress: FleetProgress
    ) async throws -> FleetRun.Outcome.End {
        let run = FleetRun(
            tasks, of: shard, policy, work, isStopping: isStopping, tell: { progress.tell($0, tasks.count) })
        let outcome = try await run.run()
        report.add(outcome)
        return outcome.end
    }

    /// - Returns: whether the other stores may follow; they remain in `rest`.
    private func passCanary(
        _ selected: FleetSelection.Tasks, _ rest: inout [FleetTask], _ report: inout FleetReport,
        _ progress: FleetProgress
    ) async throws -> Bool {
        var canary = Canary(of: shard)
        if isApproved {
            if canary?.state == .running { throw notFinished }
            canary?.state = .approved
            try canary?.write(to: shard)
            return true
        }
        if canary?.state == .approved { return true }
        guard let asked = policy.canary else {
            if canary != nil { throw notApproved(canary) }
            return true
        }
        let chosen = Canary.chosen(selected.stores, share: asked.share)
        try Canary(state: .running, stores: chosen.count, failures: 0).write(to: shard)
        let end = try await work(on: rest.filter { chosen.contains($0.entry.number) }, &report, progress)
        guard end == .complete else { return false }
        rest.removeAll { chosen.contains($0.entry.number) }
        let results = try shard.contents().results
        let failures = chosen.count { number in
            guard let state = results[number]?.state else { return true }
            return !state.isGood && state != .findings
        }
        var passed = Canary(state: .waiting, stores: chosen.count, failures: failures)
        if let tolerance = asked.tolerance {
            passed.state = Double(failures) > tolerance * Double(chosen.count) ? .failed : .approved
        }
        try passed.write(to: shard)
        guard passed.state != .approved || chosen.isEmpty else { return true }
        report.note(passed.state == .failed ? .canaryFailed : .canaryWaits)
        report.canary = (report.canary.stores + passed.stores, report.canary.failures + passed.failures)
        report.left += rest.count
        return false
    }

    private var notFinished: MigrationError {
        MigrationError(
            .locked, "The canary of shard \(shard.index) is not finished.", place: shard.path,
            remedy: "Run the fleet with \(option: .canary) again first.")
    }

    private func notApproved(_ canary: Canary?) -> MigrationError {
        let what =
            canary?.state == .failed
            ? "has failed (\(canary?.failures ?? 0) of \(canary?.stores ?? 0) stores)"
            : canary?.state == .running ? "is not finished" : "waits for approval"
        return MigrationError(
            .wouldReplace, "The canary of shard \(shard.index) \(what).", place: shard.path,
            remedy:
                "Give \(option: .approve) to work on the other stores, or undo it with \(.rollbackFleet). "
                + "\(.fleetStatus) shows what became of it.")
    }
}

/// A reporter of failures, and of the progress of a run at intervals.
final class FleetProgress {
    private let say: (String) -> Void
    private let system = POSIXSystem()
    private var finished = 0
    private let start: UInt64
    private var last: UInt64

    init(_ say: @escaping (String) -> Void) {
        self.say = say
        start = POSIXSystem().monotonicNanoseconds
        last = start
    }

    func tell(_ result: FleetResult, _ total: Int) {
        finished += 1
        if !result.state.isGood {
            let cause = result.cause
            say("\(result.path.printable): \(result.state.rawValue) (\(cause.code)): \(cause.message.printable)")
        }
        let now = system.monotonicNanoseconds
        guard system.seconds(since: last, to: now) > 10 else { return }
        last = now
        let rate = Double(finished) / system.seconds(since: start, to: now)
        say(
            "\(Quantity.count(finished)) of \(Quantity.count(total)) stores, \(Quantity.decimal(rate, places: 1)) a second"
        )
    }
}

/// A report on a run.
package struct FleetReport: ToolAnswer {
    /// The end of a run, ordered from best to worst, because shards may end differently.
    package enum End: String, CaseIterable, Sendable { case complete, canaryWaits, canaryFailed, failures, stopped }

    let manifest: String
    let results: String
    let verb: String
    package private(set) var end = End.complete
    var counts: [FleetResult.State: Int] = [:]
    /// The number of stores that already had a result.
    var skipped = 0
    /// The number of stores that the verb does not apply to.
    var leftOut = 0
    var left = 0
    /// The number of stores whose result, from this run or an earlier one, is not good.
    var remaining = 0
    var canary = (stores: 0, failures: 0)
    var seconds: Double = 0

    mutating func add(_ outcome: FleetRun.Outcome) {
        for (state, count) in outcome.counts { counts[state, default: 0] += count }
        left += outcome.left
        switch outcome.end {
        case .complete: break
        case .stopped: note(.stopped)
        case .failures: note(.failures)
        }
    }

    /// Records the end of a shard; the report keeps the worst.
    mutating func note(_ other: End) {
        let order = End.allCases
        if let one = order.firstIndex(of: end), let two = order.firstIndex(of: other), two > one { end = other }
    }

    /// Whether some stores are not done, although the run was neither stopped nor waits for approval.
    package var hasFailures: Bool {
        switch end {
        case .stopped, .canaryWaits: false
        case .failures, .canaryFailed: true
        case .complete: remaining > 0 || left > 0 || counts.contains { !$0.key.isGood && $0.value > 0 }
        }
    }

    package var document: JSONValue {
        [
            "format": 1, "results": .string(results), "verb": .string(verb), "end": .string(end.rawValue),
            "counts": JSONValue(
                sorted: Dictionary(uniqueKeysWithValues: counts.map { ($0.key.rawValue, JSONValue($0.value)) })),
            "skipped": JSONValue(skipped), "leftOut": JSONValue(leftOut), "left": JSONValue(left),
            "remaining": JSONValue(remaining),
            "canary": canary.stores == 0
                ? .null : ["stores": JSONValue(canary.stores), "failures": JSONValue(canary.failures)],
            "seconds": .double(seconds),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        let finished = counts.values.reduce(0, +)
        let rate = seconds > 0 ? ", \(Quantity.decimal(Double(finished) / seconds, places: 1)) a second" : ""
        var lines = ["\(Quantity.count(finished, "store")) in \(Quantity.duration(seconds))\(rate)."]
        for state in FleetResult.State.allCases {
            guard let count = counts[state] else { continue }
            lines.append("  \((state.isGood ? style.green : style.red)(state.rawValue)) \(Quantity.count(count))")
        }
        if skipped > 0 {
            lines.append("\(Quantity.count(skipped, "store had its", plural: "stores had their")) result before.")
        }
        if leftOut > 0 { lines.append("\(Quantity.count(leftOut, "store needs", plural: "stores need")) no \(verb).") }
        if left > 0 { lines.append("\(Quantity.count(left, "store is", plural: "stores are")) left.") }
        switch end {
        case .complete: break
        case .stopped: lines.append("Stopped. The same command continues.")
        case .failures: lines.append("Too many stores failed. The same command continues.")
        case .canaryWaits:
            lines.append(
                String(
                    advice: """
                        The canary is done: \(canary.failures) of \(canary.stores) stores failed. With \
                        \(option: .approve) the others follow.
                        """))
        case .canaryFailed:
            lines.append(
                style.red("The canary has failed: ") + "\(canary.failures) of \(canary.stores) stores. "
                    + "No other store was touched.")
        }
        if hasFailures {
            lines.append(String(advice: "  → \(.fleetStatus, .path(manifest)) says what failed and what to do next."))
        }
        return lines
    }
}
