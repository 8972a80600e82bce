import MoultEngine
import MoultModel
import MoultReport

extension Verb {
    static let runs = Verb(
        "runs", "List the runs on a store, oldest first: versions, result, backup and losses.",
        discussion: "A run is one execution of a verb that changes the store, such as migrate, rollback or repair.",
        operands: [.store],
        examples: ["moult runs forum.sqlite", "moult runs forum.sqlite --json"]
    ) { invocation, console in
        let runs = try invocation.runs(of: try invocation.required(Operand.store))
        console.print(["format": 1, "runs": .array(runs.map(\.document))]) { style in
            if runs.isEmpty { return ["There are no runs of this store yet."] }
            var table = TextTable([
                .left("started"), .left("what"), .left("from"), .left("to"), .left("result"), .right("rows"),
                .right("time"), .left("backup"),
            ])
            for run in runs {
                table.add(
                    run.startedAt, run.operation.verb, run.from, run.to, run.result.rawValue,
                    Quantity.count(Int(clamping: run.rows)), Quantity.duration(run.seconds), run.backup ?? "")
            }
            let losses = runs.flatMap { run in
                run.losses.map { "\(style.red("!")) \(run.startedAt) \($0.sentence.printable)" }
            }
            return table.lines(style: style) + (losses.isEmpty ? [] : [""]) + losses
        }
        return .done
    }
}

extension Journal.Operation {
    /// The verb that does it, as a person types it.
    fileprivate var verb: String {
        switch self {
        case .validate: "validate --fix"
        case .quarantine: "quarantine restore"
        case .migrate, .rollback, .finish, .repair, .downgrade: rawValue
        }
    }
}

extension RunRecord {
    var document: JSONValue {
        [
            "run": .string(run), "operation": .string(operation.rawValue), "result": .string(result.rawValue),
            "from": .string(from), "to": .string(to), "startedAt": .string(startedAt), "endedAt": .string(endedAt),
            "seconds": .double(seconds), "rows": .integer(rows), "bytes": .integer(bytes),
            "backup": JSONValue(backup), "backups": JSONValue(backups), "error": JSONValue(error),
            "quarantined": .integer(quarantined),
            "fixed": .integer(fixed), "losses": .array(losses.map(\.document)),
        ]
    }
}
