import MoultEngine
import MoultModel

extension RepairReport {
    package var document: JSONValue {
        [
            "format": 1, "dryRun": .bool(isRehearsal), "run": JSONValue(run), "backup": JSONValue(backup?.name),
            "prunedBackups": JSONValue(prunedBackups), "count": .integer(count), "left": .integer(left),
            "quarantined": .integer(quarantined),
            "findings": .array(
                faults.map { fault in
                    [
                        "rule": .string(fault.rule.rawValue), "place": .string(fault.place),
                        "count": .integer(fault.count), "keys": .array(fault.keys.map(JSONValue.integer)),
                        "quarantined": .integer(fault.quarantined), "left": .integer(fault.left),
                        "bytes": fault.rule == .externalFiles ? .integer(fault.bytes) : .null,
                        "remedy": .string(fault.rule.sentence(isDone: outcome != nil)),
                    ]
                }), "remarks": .array(remarks.map(\.document)),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        let found = foundLines(style)
        guard isAttempted else {
            return found + [isWell ? "Nothing to repair." : "Nothing that a repair can fix; see above."]
        }
        var lines = found + (outcome.map(doneLines) ?? ["Rehearsed and verified on a copy. The store is unchanged."])
        if left > 0 {
            let rows = style.yellow(Quantity.count(left, "row"))
            lines.append("\(rows) \(left == 1 ? "is" : "are") left: the right value is not known.")
        }
        if leavesRows {
            lines.append(
                outcome == nil
                    ? "The rows are checked after tables and indexes are repaired."
                    : String(advice: "Next: \(.repair, .dryRun) checks the rows."))
        }
        return lines
    }

    private func foundLines(_ style: TextStyle) -> [String] {
        let remarks = remarks.flatMap { $0.lines(style: style) }
        guard !faults.isEmpty else { return remarks }
        let isDone = outcome != nil
        var table = TextTable([
            .left("rule"), .left("at"), .right("rows"), .right("quarantined"), .right("left"),
            .left(isDone ? "what was done" : "what will be done"),
        ])
        for fault in faults {
            table.add(
                fault.rule.rawValue, fault.place, Quantity.count(fault.count), Quantity.count(fault.quarantined),
                Quantity.count(fault.left), fault.rule.sentence(isDone: isDone))
        }
        return remarks + table.lines(style: style)
    }

    private func doneLines(_ outcome: MigrationOutcome) -> [String] {
        var lines = outcome.backup.map { ["The old store is kept as the backup \($0.name)."] } ?? []
        if let files = faults.first(where: { $0.rule == .externalFiles }) {
            lines.append(
                "\(Quantity.count(files.count, "file")), \(Quantity.bytes(Int(clamping: files.bytes))): "
                    + "external-files/\(outcome.run) in the store's .moult folder. Remove what nobody needs.")
        }
        lines += outcome.removals
        if quarantined > 0 {
            lines.append(String(advice: "\(.restoreQuarantined, .run(outcome.run)) puts objects back."))
        }
        return lines
    }
}
