import MoultEngine
import MoultModel

/// What a migration, or the rehearsal of one, has done.
package struct OutcomeReport: Sendable {
    private let from: String
    private let to: String
    /// One for each pass.
    private let outcomes: [MigrationOutcome]
    private let rehearsal: RehearsalOutcome?
    private let losses: [ModelChange]

    package init(from: String, to: String, _ outcomes: [MigrationOutcome], losses: [ModelChange]) {
        (self.from, self.to, self.outcomes, self.losses) = (from, to, outcomes, losses)
        rehearsal = nil
    }

    package init(from: String, to: String, rehearsal: RehearsalOutcome, losses: [ModelChange]) {
        (self.from, self.to, self.rehearsal, self.losses) = (from, to, rehearsal, losses)
        outcomes = []
    }

    private var timings: [MigrationOutcome.Timing] { rehearsal?.seconds ?? outcomes.flatMap(\.seconds) }
    private var seconds: Double { timings.reduce(0) { $0 + $1.seconds } }
    private var rows: Int64 { rehearsal?.rows ?? outcomes.reduce(0) { $0 + $1.rows } }
    private var bytesBefore: Int64 { rehearsal?.bytesBefore ?? outcomes.first?.bytesBefore ?? 0 }
    private var bytesAfter: Int64 { rehearsal?.bytesAfter ?? outcomes.last?.bytesAfter ?? 0 }
    private var space: SpaceRequirement? { rehearsal?.space ?? outcomes.first?.space }
    private var backup: StoreBackup? { outcomes.first?.backup }

    package var document: JSONValue {
        [
            "format": 1, "from": .string(from), "to": .string(to), "dryRun": .bool(rehearsal != nil),
            "changed": .bool(!outcomes.isEmpty), "verified": true, "runs": JSONValue(outcomes.map(\.run)),
            "rows": .integer(rows), "bytesBefore": .integer(bytesBefore), "bytesAfter": .integer(bytesAfter),
            "seconds": .double(seconds),
            "phases": .array(
                timings.map { ["phase": .string($0.phase.rawValue), "seconds": .double($0.seconds)] }),
            "backup": backup.map { ["name": .string($0.name), "folder": .string($0.folder)] } ?? .null,
            "space": .array(space?.parts.map(\.document) ?? []),
            "recovery": JSONValue(outcomes.first?.recovery.rawValue),
            "prunedBackups": JSONValue(outcomes.flatMap(\.pruned)), "losses": .array(losses.map(\.document)),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        var table = TextTable([.left(""), .right("")])
        for timing in timings where timing.seconds >= 0.0005 {
            table.add("  \(timing.phase.rawValue)", Quantity.duration(timing.seconds))
        }
        let what = rehearsal == nil ? "Migrated" : "Rehearsed, and the store is as it was:"
        var lines = [
            "\(style.green(what)) \(from.printable) → \(to.printable) in \(Quantity.duration(seconds)), verified: "
                + "\(Quantity.bytes(Int(clamping: bytesBefore))) became \(Quantity.bytes(Int(clamping: bytesAfter)))."
        ]
        lines += table.lines(style: style)
        if let recovery = outcomes.first?.recovery, recovery != .nothing {
            lines.append("An earlier run that had not ended was \(recovery.rawValue) first.")
        }
        for loss in losses { lines.append("\(style.red("!")) \(loss.sentence.printable)") }
        if let backup { lines.append("The old store is kept as the backup \(backup.name).") }
        if let space, rehearsal != nil {
            lines.append("The migration itself will ask for \(Quantity.bytes(Int(clamping: space.total))) of room.")
        }
        return lines
    }
}

extension SpaceRequirement.Part {
    fileprivate var document: JSONValue {
        ["reason": .string(reason), "folder": .string(folder), "bytes": .integer(bytes)]
    }
}
