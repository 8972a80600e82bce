import MoultEngine
import MoultModel
import MoultReport
import MoultStore
import MoultSystem

extension Verb {
    /// One call of a migration that takes several.
    static func migrate(
        _ invocation: Invocation, within budget: Double, _ console: Console
    ) throws -> ExitCode {
        let started = POSIXSystem().monotonicNanoseconds
        for option in [Option.dryRun, .inPlace, .deferred, .makeRoom, .stops] where invocation[option] {
            throw invocation.wrong("--budget and --\(option.name) exclude each other.")
        }
        guard try invocation.newStore() == nil else {
            throw invocation.wrong("--budget and --into exclude each other.")
        }
        let kept = try invocation.keptPlan()
        try kept?.checkCode(invocation.registry)
        let prepared = try invocation.preparedMigration(console)
        try kept?.check(prepared)
        console.say(prepared.warnings)
        let progress = ProgressDisplay(console)
        defer { progress.end() }
        let outcome = try invocation.migrator.run(
            prepared, within: .seconds(budget), since: started, progress.observer)
        progress.end()
        switch outcome {
        case .nothingToDo:
            let report = OutcomeReport(nothingToDoAt: prepared.plan.to.name)
            console.print(report.document) { PlanReport(prepared).lines(style: $0) }
            return .done
        case .finished(let outcome, let startedOver):
            let report = OutcomeReport(prepared.plan, outcome)
            console.print(report.document) { style in
                startedOver.line + report.lines(style: style)
            }
            return .done
        case .paused(let pause):
            console.print(pause.document) { pause.lines(style: $0) }
            return .unfinished
        }
    }
}

extension MigrationPause {
    fileprivate var document: JSONValue {
        [
            "format": 1, "finished": false, "from": .string(from), "to": .string(to), "run": .string(run),
            "fraction": .double((fraction * 1000).rounded() / 1000), "calls": JSONValue(calls),
            "seconds": .double(seconds), "next": .string(next), "startedOver": JSONValue(startedOver),
        ]
    }

    fileprivate func lines(style: TextStyle) -> [String] {
        startedOver.line + [
            "\(style.yellow("Not finished:")) \(Int(fraction * 100)) % of \(from.printable) → \(to.printable), "
                + "\(Quantity.count(calls, "call")) so far. Run the same command again to continue.",
            "Next: \(next.printable)",
        ]
    }
}

extension String? {
    fileprivate var line: [String] { map { ["\($0) The migration starts over."] } ?? [] }
}
