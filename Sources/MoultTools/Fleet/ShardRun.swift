import MoultFleet
import MoultModel
import MoultReport
import MoultSystem

/// The run of one shard: its canary, and the other stores when they may follow.
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

    /// - Returns: how the work on these stores ended; the report may be of several shards.
    private func work(
        on tasks: [FleetTask], _ report: inout FleetReport, _ progress: FleetProgress
    ) async throws -> FleetRun.Outcome.End {
        let run = FleetRun(
            tasks, of: shard, policy, work, isStopping: isStopping, tell: { progress.tell($0, tasks.count) })
        let outcome = try await run.run()
        report.add(outcome)
        return outcome.end
    }

    /// - Returns: whether the other stores follow; they are what is left of `rest`.
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

/// Says what fails, and now and then how far a run is.
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
            say(
                "\(result.path.printable): \(result.state.rawValue) (\(cause.code)): \(cause.message.printable)")
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
