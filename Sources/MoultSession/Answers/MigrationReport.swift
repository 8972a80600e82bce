import MoultBasics
import MoultEngine
import MoultModel
import MoultObjects

/// The result of a migration or of its rehearsal.
public struct MigrationReport: Sendable {
    /// The outcome of a call that migrates or rehearses.
    public enum Outcome: String, Sendable, Hashable, CaseIterable {
        /// The store already has the target version.
        case nothingToDo
        /// The store now has the target version.
        case migrated
        /// Everything was done and verified on a copy, and the store is unchanged.
        case rehearsed
        /// The call has used its budget. The store is unchanged, and the next call continues.
        case paused
    }

    /// A phase, and the time that it took.
    public struct Timing: Sendable, Hashable {
        /// The phase.
        public let phase: MigrationProgress.Phase
        /// The time that the phase took, in all passes together.
        public let duration: Duration

        let seconds: Double
    }

    /// The outcome of the call.
    public let outcome: Outcome
    /// The name of the version before.
    public let from: String
    /// The name of the target version.
    public let to: String
    /// The name of the run in the store's history; nil if there was none.
    public private(set) var run: String?
    /// The rows that the run was estimated to touch.
    public private(set) var rows: Int64 = 0
    /// The size of the store before, in bytes.
    public private(set) var bytesBefore: Int64 = 0
    /// The size of the new store, in bytes.
    public private(set) var bytesAfter: Int64 = 0
    /// The time of each phase, in order.
    public private(set) var timings: [Timing] = []
    /// The backup to go back to; nil if none was made or kept.
    public private(set) var backup: StoreBackup?
    /// The counted losses: objects, values and links that are not in the new store.
    public private(set) var losses: [MigrationLoss] = []
    /// The outcomes for objects of entity mappings with migration policies, counted pass by pass.
    public private(set) var policies: [InstanceCounts] = []
    /// The number of objects that were, or would be, quarantined.
    public private(set) var quarantined: Int64 = 0
    /// The outcome of recovering an earlier, unfinished run.
    public internal(set) var recovery = RecoveryOutcome.nothing
    /// The names of the backups that the retention policy removed.
    public private(set) var prunedBackups: [String] = []
    /// The error that prevented the cleanup, as on a full volume; nil if it is finished. The store is complete in
    /// either case.
    public private(set) var unfinishedCleanup: MigrationError?
    /// The findings about values whose files are not there, and about parts of a WAL or a rollback journal next to the
    /// store that a rehearsal has left out.
    public private(set) var findings: [Finding] = []
    /// The new file of a migration into another file; nil otherwise.
    public private(set) var destination: String?
    /// The finished part of the whole migration, 0 to 1; less than 1 only if it is paused.
    public private(set) var fraction = 1.0
    /// Sentences about the measures taken to make enough space.
    package private(set) var spaceMade: [String] = []

    /// The rules of the app that do not hold, or could not be checked, at the end of the run.
    public var rules: [Finding] { [Finding](ruleReports.last?.present ?? []) }
    /// The tasks left for a later call, in one sentence each.
    public var deferredWork: [String] {
        outcome == .nothingToDo || deferral?.isPossible != true ? [] : deferral?.tasks.map(\.sentence) ?? []
    }
    /// The free space that the run needs, in bytes.
    public var spaceNeeded: Int64 { space.total }
    /// The total time of all phases.
    public var duration: Duration { timings.reduce(.zero) { $0 + $1.duration } }

    private var deferral: DeferredWork?
    private var missingFiles: [Finding] = []
    private var ruleReports: [RuleReport] = []
    private var space = SpaceRequirement(parts: [])
    /// A sentence about the space that the run will need; nil for a finished run.
    private var spaceSentence: String?
    private var backupsOnTheWay: [String] = []
    private var pause: MigrationPause?
    /// The reason why the work of earlier calls was discarded; nil if it was not.
    package private(set) var startedOver: String?
    private var seconds: Double { timings.reduce(0) { $0 + $1.seconds } }
}

// MARK: - From the engine's outcome

extension MigrationReport {
    /// - Parameters:
    ///   - made: the measures taken to make space; nil if none were needed.
    ///   - destination: the new file of a migration into another file.
    init(
        _ prepared: PreparedMigration, _ outcome: MigrationOutcome?, _ made: FreedSpace? = nil,
        into destination: String? = nil
    ) {
        self.init(outcome == nil ? .nothingToDo : .migrated, prepared)
        self.destination = destination
        spaceMade = made?.sentences ?? []
        guard let outcome else { return }
        run = outcome.run
        (rows, bytesBefore, bytesAfter) = (outcome.rows, outcome.bytesBefore, outcome.bytesAfter)
        (timings, space) = (outcome.seconds.map(Timing.init), outcome.space)
        (backup, backupsOnTheWay, prunedBackups) = (outcome.backup, outcome.backupsOnTheWay, outcome.pruned)
        (losses, policies, quarantined) = (outcome.losses, outcome.policies, outcome.quarantined)
        (ruleReports, recovery, unfinishedCleanup) = (outcome.rules, outcome.recovery, outcome.untidied)
    }

    init(_ prepared: PreparedMigration, _ rehearsal: RehearsalOutcome) {
        self.init(.rehearsed, prepared)
        (rows, bytesBefore, bytesAfter) = (rehearsal.rows, rehearsal.bytesBefore, rehearsal.bytesAfter)
        (timings, space) = (rehearsal.seconds.map(Timing.init), rehearsal.space)
        (losses, policies, quarantined) = (rehearsal.losses, rehearsal.policies, rehearsal.quarantined)
        ruleReports = rehearsal.rules
        findings += rehearsal.findings
        spaceSentence = SpaceRequirement.sentence(rehearsal.volumes)
    }

    init(_ prepared: PreparedMigration, _ outcome: BudgetOutcome) {
        switch outcome {
        case .nothingToDo: self.init(prepared, MigrationOutcome?.none)
        case .finished(let outcome, let startedOver):
            self.init(prepared, outcome)
            self.startedOver = startedOver
        case .paused(let pause):
            self.init(.paused, prepared)
            (self.pause, startedOver) = (pause, pause.startedOver)
            (run, fraction) = (pause.run, pause.fraction)
        }
    }

    private init(_ outcome: Outcome, _ prepared: PreparedMigration) {
        self.outcome = outcome
        to = prepared.plan.to.name
        from = outcome == .nothingToDo ? to : prepared.plan.from.name
        if outcome != .nothingToDo {
            deferral = prepared.deferral.map(DeferredWork.init)
            missingFiles = prepared.missingFiles
            findings = missingFiles
        }
    }
}

extension MigrationReport.Timing {
    fileprivate init(_ timing: MigrationOutcome.Timing) {
        (phase, seconds, duration) = (timing.phase, timing.seconds, .seconds(timing.seconds))
    }
}

extension [Finding] {
    /// Creates findings of the rules that do not hold, or could not be checked.
    package init(_ rules: [RuleFinding]) {
        self = rules.filter { $0.isBroken || $0.obstacle != nil }.map { rule in
            let count = Quantity.count(rule.count, "object breaks it", plural: "objects break it")
            var finding = Finding(
                code: rule.rule, severity: rule.severity == .error && rule.isBroken ? .error : .warning,
                place: rule.entityName,
                message: rule.obstacle.map { "\(rule.sentence) It could not be checked: \($0)" }
                    ?? "\(rule.sentence) \(count).",
                remedy: rule.obstacle == nil ? "Correct the data, or apply the fix of the rule." : "")
            finding.keys = rule.examples.map(\.id.key)
            finding.values = rule.examples.map(\.safeDetail).filter { !$0.isEmpty }
            return finding
        }
    }
}

// MARK: - JSON and text

extension MigrationReport: CustomStringConvertible {
    /// The text that the command line's migrate prints.
    public var description: String { lines(style: .plain).joined(separator: "\n") }

    /// The JSON that the command line's migrate prints, on one line.
    public var json: String { document.compact }

    package var document: JSONValue {
        if let pause {
            return [
                "format": 1, "finished": false, "from": .string(from), "to": .string(to), "run": .string(pause.run),
                "fraction": .double((fraction * 1000).rounded() / 1000), "calls": JSONValue(pause.calls),
                "seconds": .double(pause.seconds), "next": .string(pause.next), "startedOver": JSONValue(startedOver),
            ]
        }
        let members: [JSONValue.Member] = [
            .init("format", 1), .init("finished", true), .init("from", .string(from)), .init("to", .string(to)),
            .init("dryRun", .bool(outcome == .rehearsed)), .init("changed", .bool(outcome == .migrated)),
            .init("verified", .bool(!timings.isEmpty)), .init("run", JSONValue(run)), .init("rows", .integer(rows)),
            .init("bytesBefore", .integer(bytesBefore)), .init("bytesAfter", .integer(bytesAfter)),
            .init("seconds", .double(seconds)), .init("policies", .array(policies.map(\.document))),
            .init(
                "phases",
                .array(timings.map { ["phase": .string($0.phase.rawValue), "seconds": .double($0.seconds)] })),
            .init("backup", backup.map { ["name": .string($0.name), "folder": .string($0.folder)] } ?? .null),
            .init("space", .array(space.peak.map(\.document))),
            .init("recovery", outcome == .migrated || recovery != .nothing ? .string(recovery.rawValue) : .null),
            .init("prunedBackups", JSONValue(prunedBackups)), .init("losses", .array(losses.map(\.document))),
            .init("rules", .array(ruleReports.map(\.document))), .init("quarantined", .integer(quarantined)),
            .init("untidied", JSONValue(unfinishedCleanup?.message)), .init("deferral", deferral?.document ?? .null),
            .init("findings", .array(findings.map(\.document))),
        ]
        return .object(members + (destination.map { [.init("into", .string($0))] } ?? []))
    }

    package func lines(style: TextStyle) -> [String] {
        let over = startedOver.map { ["\($0) The migration starts over."] } ?? []
        return switch outcome {
        case .paused: over + pauseLines(style: style)
        case .nothingToDo: recoveryLines + [StorePlan.nothingToDo(at: to)] + destinationLines
        case .migrated, .rehearsed: over + doneLines(style: style) + destinationLines
        }
    }

    private var recoveryLines: [String] {
        recovery == .nothing ? [] : ["An earlier run had not finished. It was \(recovery.rawValue) first."]
    }

    private var destinationLines: [String] {
        guard let destination else { return [] }
        let what = outcome == .nothingToDo ? "A copy of the store" : "The new store"
        return ["\(what) is at \(destination.printable). The old store is unchanged."]
    }

    private func pauseLines(style: TextStyle) -> [String] {
        guard let pause else { return [] }
        return [
            "\(style.yellow("Not finished:")) \(Int(fraction * 100)) % of \(from.printable) → \(to.printable), "
                + "\(Quantity.count(pause.calls, "call")) so far. Run the same command again to continue.",
            "Next: \(pause.next.printable)",
        ]
    }

    private func doneLines(style: TextStyle) -> [String] {
        let isRehearsed = outcome == .rehearsed
        var table = TextTable([.left(""), .right("")])
        for timing in timings where timing.seconds >= 0.0005 {
            table.add("  \(timing.phase.rawValue)", Quantity.duration(timing.seconds))
        }
        let what = isRehearsed ? "Rehearsed, and the store is unchanged:" : "Migrated"
        var lines = [
            "\(style.green(what)) \(from.printable) → \(to.printable) in \(Quantity.duration(seconds)), verified: "
                + "\(Quantity.bytes(bytesBefore)) became \(Quantity.bytes(bytesAfter))."
        ]
        lines += table.lines(style: style) + policies.map(\.line)
        lines += recoveryLines
        for report in ruleReports { lines += report.lines(style: style, isRehearsed: isRehearsed) }
        if quarantined > 0 { lines.append("\(Quantity.count(quarantined, "object")) went to the quarantine.") }
        if let deferral { lines += deferral.lines(style: style) }
        lines += missingFiles.flatMap { $0.lines(style: style) }
        for loss in losses { lines.append("\(style.red("!")) \(loss.sentence.printable)") }
        if let backup {
            lines.append(
                "The old store is kept as the backup \(backup.name)."
                    + (backupsOnTheWay.isEmpty ? String(advice: " \(.rollback) restores it.") : ""))
            if !backupsOnTheWay.isEmpty {
                lines.append(
                    String(
                        advice: """
                            The versions on the way are kept as \(backupsOnTheWay.joined(separator: ", ")). \(.rollback) \
                            restores the last of them; \(option: .to(nil)) names another.
                            """))
            }
        }
        lines += prunedBackups.map(BackupFolder.removal)
        if let error = unfinishedCleanup {
            lines.append(
                String(
                    advice: """
                        \(style.yellow("Cleanup is not finished")): \(error.message.printable) The store is whole; the next \
                        run, or \(.recover), removes what is left.
                        """))
        }
        if let spaceSentence { lines.append(spaceSentence) }
        return lines
    }
}

/// A report on the objects that a migration policy has made for one entity mapping.
extension InstanceCounts {
    package var document: JSONValue {
        [
            "mapping": .string(mapping), "policy": .string(policy), "entity": JSONValue(entityName),
            "sources": .integer(sources), "kept": .integer(kept), "split": .integer(split), "merged": .integer(merged),
            "dropped": .integer(dropped), "quarantined": .integer(quarantined), "made": .integer(made),
            "reasons": Self.document(reasons), "notes": Self.document(notes),
        ]
    }

    /// A summary, such as `UserMigrationPolicy: 26 of User: 23 kept, 2 merged, 1 quarantined; avatar dropped: 2.`
    package var line: String {
        let outcomes = [
            (kept, "kept"), (split, "split"), (merged, "merged"), (dropped, "dropped"), (quarantined, "quarantined"),
        ]
        let parts = outcomes.filter { $0.0 > 0 }.map { "\(Quantity.count($0.0)) \($0.1)" }
        let told = (Self.sorted(reasons) + Self.sorted(notes)).map {
            "; \($0.key): \(Quantity.count($0.value))"
        }
        let all = "\(Quantity.count(sources)) of \(entityName ?? mapping)"
        return "\(policy): \(all)\(parts.isEmpty ? "" : ": " + parts.joined(separator: ", "))\(told.joined())".printable
    }

    private static func sorted(_ counts: [String: Int64]) -> [(key: String, value: Int64)] {
        counts.inByteOrder { $0.key }
    }

    private static func document(_ counts: [String: Int64]) -> JSONValue {
        .object(sorted(counts).map { .init($0.key, .integer($0.value)) })
    }
}
