import MoultEngine
import MoultModel
import MoultReport

extension Verb {
    static let runs = Verb(
        "runs", "List the runs on a store, oldest first: versions, result, backup and losses.",
        discussion: """
            A run is one execution of a verb that changes the store, such as migrate, rollback or repair. Exits with 1 if a
            record of the history cannot be read.
            """,
        operands: [.store],
        examples: ["moult runs forum.sqlite", "moult runs forum.sqlite --json"]
    ) { invocation, console in
        let store = try invocation.required(Operand.store)
        let runs = try invocation.runs(of: store)
        let unreadable = try invocation.migrator.unreadableRuns(of: store)
        let document: JSONValue = [
            "format": 1, "runs": .array(runs.map(\.document)), "unreadable": JSONValue(unreadable?.count ?? 0),
        ]
        let warning = unreadable.map { "\($0.sentence) moult log prints what is known in words." }
        console.print(document) { style in
            let warnings = warning.map { [style.red($0)] } ?? []
            if runs.isEmpty { return warning == nil ? ["There are no runs of this store yet."] : warnings }
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
            let removals = runs.flatMap { run in
                run.removed.map { "\(run.startedAt) \(BackupFolder.removal(of: $0))".printable }
            }
            let remarks = losses + removals
            return warnings + table.lines(style: style) + (remarks.isEmpty ? [] : [""]) + remarks
        }
        return unreadable == nil ? .done : .findings
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
            "removedBackups": JSONValue(removed),
        ]
    }
}
