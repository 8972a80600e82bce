import MoultEngine
import MoultModel
import MoultPlan
import MoultStore
import MoultTransform

/// A report on what a migration, or the rehearsal of one, has done.
package struct OutcomeReport: Sendable {
    private let from: String
    private let to: String
    private let outcome: MigrationOutcome?
    private let rehearsal: RehearsalOutcome?
    private let deferral: Deferral?

    /// - Parameter deferral: what waits; nil if that was not asked for.
    package init(_ plan: MigrationPlan, _ outcome: MigrationOutcome, deferral: Deferral? = nil) {
        (from, to) = (plan.from.name, plan.to.name)
        (self.outcome, rehearsal, self.deferral) = (outcome, nil, deferral)
    }

    package init(_ plan: MigrationPlan, _ rehearsal: RehearsalOutcome, deferral: Deferral? = nil) {
        (from, to) = (plan.from.name, plan.to.name)
        (outcome, self.rehearsal, self.deferral) = (nil, rehearsal, deferral)
    }

    /// For a store that is of the version aimed at.
    package init(nothingToDoAt version: String) {
        (from, to, outcome, rehearsal, deferral) = (version, version, nil, nil, nil)
    }

    private var losses: [MigrationLoss] { rehearsal?.losses ?? outcome?.losses ?? [] }
    private var policies: [InstanceCounts] { rehearsal?.policies ?? outcome?.policies ?? [] }
    private var timings: [MigrationOutcome.Timing] { rehearsal?.seconds ?? outcome?.seconds ?? [] }
    private var seconds: Double { timings.reduce(0) { $0 + $1.seconds } }
    private var rows: Int64 { rehearsal?.rows ?? outcome?.rows ?? 0 }
    private var bytesBefore: Int64 { rehearsal?.bytesBefore ?? outcome?.bytesBefore ?? 0 }
    private var bytesAfter: Int64 { rehearsal?.bytesAfter ?? outcome?.bytesAfter ?? 0 }
    private var rules: [RuleReport] { rehearsal?.rules ?? outcome?.rules ?? [] }
    private var quarantined: Int64 { rehearsal?.quarantined ?? outcome?.quarantined ?? 0 }
    private var space: SpaceRequirement? { rehearsal?.space ?? outcome?.space }

    package var document: JSONValue {
        [
            "format": 1, "finished": true, "from": .string(from), "to": .string(to), "dryRun": .bool(rehearsal != nil),
            "changed": .bool(outcome != nil), "verified": .bool(!timings.isEmpty), "run": JSONValue(outcome?.run),
            "rows": .integer(rows), "bytesBefore": .integer(bytesBefore), "bytesAfter": .integer(bytesAfter),
            "seconds": .double(seconds),
            "policies": .array(policies.map(\.document)),
            "phases": .array(
                timings.map { ["phase": .string($0.phase.rawValue), "seconds": .double($0.seconds)] }),
            "backup": outcome?.backup.map { ["name": .string($0.name), "folder": .string($0.folder)] } ?? .null,
            "space": .array(space?.parts.map(\.document) ?? []),
            "recovery": JSONValue(outcome?.recovery.rawValue),
            "prunedBackups": JSONValue(outcome?.pruned ?? []), "losses": .array(losses.map(\.document)),
            "rules": .array(rules.map(\.document)), "quarantined": .integer(quarantined),
            "untidied": JSONValue(outcome?.untidied?.message),
            "deferral": deferral?.document ?? .null,
            "findings": .array((rehearsal?.findings ?? []).map(\.document)),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        var table = TextTable([.left(""), .right("")])
        for timing in timings where timing.seconds >= 0.0005 {
            table.add("  \(timing.phase.rawValue)", Quantity.duration(timing.seconds))
        }
        let what = rehearsal == nil ? "Migrated" : "Rehearsed, and the store is unchanged:"
        var lines = [
            "\(style.green(what)) \(from.printable) → \(to.printable) in \(Quantity.duration(seconds)), verified: "
                + "\(Quantity.bytes(Int(clamping: bytesBefore))) became \(Quantity.bytes(Int(clamping: bytesAfter)))."
        ]
        lines += table.lines(style: style) + policies.map(\.line)
        if let recovery = outcome?.recovery, recovery != .nothing {
            lines.append("An earlier run had not finished. It was \(recovery.rawValue) first.")
        }
        for report in rules { lines += report.lines(style: style, isRehearsed: rehearsal != nil) }
        if quarantined > 0 {
            lines.append("\(Quantity.count(Int(clamping: quarantined), "object")) went to the quarantine.")
        }
        if let deferral { lines += deferral.lines(style: style) }
        for loss in losses { lines.append("\(style.red("!")) \(loss.sentence.printable)") }
        if let outcome, let backup = outcome.backup {
            lines.append("The old store is kept as the backup \(backup.name).")
            if !outcome.backupsOnTheWay.isEmpty {
                let names = outcome.backupsOnTheWay.joined(separator: ", ")
                lines.append(
                    "The versions on the way are kept as \(names). moult rollback restores the last of them; --to names "
                        + "another.")
            }
        }
        lines += outcome?.removals ?? []
        if let error = outcome?.untidied {
            lines.append(
                "\(style.yellow("Cleanup is not finished")): \(error.message.printable) The store is whole; the next "
                    + "run, or moult resume, removes what is left.")
        }
        if let sentence = rehearsal.flatMap({ SpaceRequirement.sentence($0.volumes) }) { lines.append(sentence) }
        return lines
    }
}

extension SpaceRequirement.Part {
    var document: JSONValue {
        ["reason": .string(reason), "folder": .string(folder), "bytes": .integer(bytes)]
    }
}
