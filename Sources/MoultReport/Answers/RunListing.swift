import MoultEngine
import MoultModel

/// The runs on a store, oldest first, and what cannot be read of its history.
package struct RunListing: Sendable {
    package let runs: [StoreRun]
    package let unreadable: RunHistory.Unreadable?

    package var document: JSONValue {
        [
            "format": 1, "runs": .array(runs.map(\.document)), "unreadable": JSONValue(unreadable?.count ?? 0),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        let warnings =
            unreadable.map {
                [style.red(String(advice: "\($0.sentence) \(.log) prints what is known in words."))]
            } ?? []
        if runs.isEmpty { return unreadable == nil ? ["There are no runs of this store yet."] : warnings }
        var table = TextTable([
            .left("started"), .left("what"), .left("from"), .left("to"), .left("result"), .right("rows"),
            .right("time"), .left("backup"),
        ])
        for run in runs {
            table.add(
                run.startTime, run.operation.verb, run.from, run.to, run.result.rawValue,
                Quantity.count(Int(clamping: run.rows)), Quantity.duration(run.seconds), run.backup ?? "")
        }
        let losses = runs.flatMap { run in
            run.losses.map { "\(style.red("!")) \(run.startTime) \($0.sentence.printable)" }
        }
        let removals = runs.flatMap { run in
            run.removed.map { "\(run.startTime) \(BackupFolder.removal(of: $0))".printable }
        }
        let remarks = losses + removals
        return warnings + table.lines(style: style) + (remarks.isEmpty ? [] : [""]) + remarks
    }
}

extension StoreRun.Operation {
    /// The verb that does it, as a person types it.
    fileprivate var verb: String {
        switch self {
        case .validate: String(advice: "validate \(option: .fix)")
        case .quarantine: "quarantine restore"
        case .migrate, .rollback, .finish, .repair, .downgrade: rawValue
        }
    }
}

extension StoreRun {
    package var document: JSONValue {
        [
            "run": .string(run), "operation": .string(operation.rawValue), "result": .string(result.rawValue),
            "from": .string(from), "to": .string(to), "startedAt": .string(startTime), "endedAt": .string(endTime),
            "seconds": .double(seconds), "rows": .integer(rows), "bytes": .integer(bytes),
            "backup": JSONValue(backup), "backups": JSONValue(backups), "error": JSONValue(error),
            "quarantined": .integer(quarantined), "fixed": .integer(fixed),
            "losses": .array(losses.map(\.document)), "removedBackups": JSONValue(removed),
        ]
    }
}
