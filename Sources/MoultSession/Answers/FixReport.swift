import MoultBasics
import MoultEngine
import MoultModel
import MoultObjects

extension RuleFinding {
    package var document: JSONValue {
        [
            "rule": .string(rule), "severity": .string(severity.rawValue), "entity": .string(entityName),
            "sentence": .string(sentence), "count": .integer(count), "objects": .array(examples.map(\.document)),
            "notChecked": JSONValue(obstacle),
        ]
    }

    /// Returns a line for the rule, and one for each object shown; empty for a rule that holds.
    package func lines(style: TextStyle) -> [String] {
        if let obstacle { return ["\(style.cyan("note")) [\(rule.printable)] not checked: \(obstacle)"] }
        guard isBroken else { return [] }
        let word = severity == .error ? style.red("error") : style.yellow("warning")
        let number = Quantity.count(count)
        return ["\(word) [\(rule.printable)] \(entityName.printable): \(number) × \(sentence.printable)"]
            + examples.map(\.line) + (count > Int64(examples.count) && !examples.isEmpty ? ["  …"] : [])
    }
}

extension RuleFinding.Example {
    fileprivate var document: JSONValue {
        [
            "entity": .string(id.entityName), "pk": .integer(id.key), "uri": .string(id.description),
            "detail": .string(safeDetail),
        ]
    }

    fileprivate var line: String {
        "  \(id.entityName.printable) \(id.key)\(safeDetail.isEmpty ? "" : ": \(safeDetail.printable)")"
    }
}

extension RuleFixOutcome {
    package var document: JSONValue {
        [
            "rule": .string(rule), "fix": .string(fix), "changed": .integer(changed), "deleted": .integer(deleted),
            "quarantined": .integer(quarantined), "inserted": .integer(inserted),
            "objects": .array(examples.map(\.document)),
        ]
    }

    /// - Parameter isRehearsed: whether the fix ran on a copy that is not kept.
    package func lines(style: TextStyle, isRehearsed: Bool) -> [String] {
        let parts = [
            (changed, "changed"), (deleted, "deleted"), (quarantined, "quarantined"), (inserted, "made"),
        ].filter { $0.0 > 0 }.map { "\(Quantity.count($0.0, "object")) \($0.1)" }
        guard !parts.isEmpty else { return [] }
        let verb = isRehearsed ? "would be" : "fixed:"
        let total = changed + deleted + quarantined
        return ["\(style.green(verb)) [\(rule.printable)] \(parts.joined(separator: ", "))"] + examples.map(\.line)
            + (total > Int64(examples.count) ? ["  …"] : [])
    }
}

extension RuleReport {
    package var document: JSONValue {
        [
            "moment": .string(moment), "findings": .array(findings.map(\.document)),
            "fixes": .array(fixes.map(\.document)), "remaining": .array(remaining.map(\.document)),
        ]
    }

    package func lines(style: TextStyle, isRehearsed: Bool) -> [String] {
        let lines =
            findings.flatMap { $0.lines(style: style) }
            + fixes.flatMap { $0.lines(style: style, isRehearsed: isRehearsed) }
        return lines.isEmpty ? [] : ["Rules \(moment.printable):"] + lines
    }
}

/// The result of the fixes of rules, applied or rehearsed.
public struct FixReport: Sendable {
    package private(set) var rules: [RuleReport]
    /// The number of quarantined objects.
    public let quarantined: Int64
    private let outcome: MigrationOutcome?

    /// Creates the report for nothing to fix.
    package init(left findings: [RuleFinding]) {
        self.init([RuleReport(moment: "", findings: findings)], quarantined: 0, nil)
    }

    /// - Parameter outcome: the outcome of the run; nil if nothing was changed.
    package init(_ rules: [RuleReport], quarantined: Int64, _ outcome: MigrationOutcome?) {
        (self.rules, self.quarantined, self.outcome) = (rules, quarantined, outcome)
    }

    /// The number of objects that were changed, deleted or made.
    public var fixed: Int64 { rules.fixed }
    /// The rules that still do not hold, or could not be checked; the code is the rule's name.
    public var left: [Finding] { [Finding](rules.last?.present ?? []) }
    /// The name of the run in the store's history; nil if nothing was changed.
    public var run: String? { outcome?.run }
    /// The backup to go back to; nil if nothing was changed.
    public var backup: StoreBackup? { outcome?.backup }
    /// The names of the backups that the retention policy removed.
    public var prunedBackups: [String] { outcome?.pruned ?? [] }

    /// The report with the values of the objects that it names.
    package var showingValues: FixReport {
        var report = self
        report.rules = rules.map { rule in
            var rule = rule
            rule.fixes = rule.fixes.map(\.showingValues)
            rule.remaining = rule.remaining.map(\.showingValues)
            return rule
        }
        return report
    }

    package var members: [JSONValue.Member] {
        [
            .init("fixes", .array((rules.last?.fixes ?? []).map(\.document))),
            .init("remaining", .array((rules.last?.remaining ?? []).map(\.document))),
            .init("quarantined", .integer(quarantined)), .init("run", JSONValue(run)),
            .init("backup", JSONValue(backup?.name)), .init("prunedBackups", JSONValue(prunedBackups)),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        let fixes = (rules.last?.fixes ?? []).flatMap { $0.lines(style: style, isRehearsed: outcome == nil) }
        guard outcome != nil else { return fixes + ["Rehearsed and verified on a copy. The store is unchanged."] }
        return fixes + (backup.map { ["The old store is kept as the backup \($0.name)."] } ?? [])
            + prunedBackups.map(BackupFolder.removal)
    }
}
