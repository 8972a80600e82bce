import MoultBasics
import MoultEngine
import MoultModel
import MoultObjects

/// The result of reading a whole store.
public struct ValidationReport: Sendable {
    /// The name of the store's version.
    public let version: String
    /// The version as a noun of a sentence.
    private let title: String
    /// The findings in the store, after the fixes if these have changed it.
    var audit: StoreAudit
    private let ruleFindings: [RuleFinding]
    /// The result of the fixes of rules; nil if none was requested or needed.
    public internal(set) var fixes: FixReport?

    init(_ version: ModelVersion, _ audit: StoreAudit, rules: [RuleFinding]) {
        (self.version, title, self.audit, ruleFindings) = (version.name, version.title, audit, rules)
    }

    /// Objects by entity, without those of its sub-entities.
    public var rowCounts: [String: Int64] { audit.rowCounts }
    /// The faults of the store, and other findings; after fixes, those that are left.
    public var findings: [Finding] { audit.findings }
    /// The rules of the app that do not hold, or could not be checked, before any fix; the code is the rule's name.
    public var rules: [Finding] { [Finding](ruleFindings) }
    /// Whether the store has no fault and no rule of severity error is broken.
    public var isSound: Bool { audit.isSound && present.errors.isEmpty }

    private var present: [RuleFinding] {
        // A rehearsal does not repair the store.
        guard let fixes, fixes.run != nil else { return ruleFindings }
        return fixes.rules.last?.present ?? ruleFindings
    }

    private var counts: [(key: String, value: Int64)] { rowCounts.inByteOrder { $0.key } }

    package var document: JSONValue {
        .object(
            [
                .init("format", 1), .init("sound", .bool(isSound)), .init("version", .string(version)),
                .init("entities", .array(counts.map { ["name": .string($0.key), "rows": .integer($0.value)] })),
                .init("findings", .array(findings.map(\.document))),
                .init("rules", .array(ruleFindings.map(\.document))),
                .init("dryRun", .bool(fixes != nil && fixes?.run == nil)),
            ] + (fixes ?? FixReport([], quarantined: 0, nil)).members)
    }

    package func lines(style: TextStyle) -> [String] {
        let total = Int(clamping: counts.reduce(0) { $0 + $1.value })
        let verdict = audit.isSound ? style.green("sound") : style.red("not sound")
        return findings.flatMap { $0.lines(style: style) } + ruleFindings.flatMap { $0.lines(style: style) } + [
            "The store is \(verdict): \(title.printable), \(Quantity.count(total, "object")) in "
                + "\(Quantity.count(counts.count, "entity", plural: "entities"))."
        ] + ruleLines(style) + (fixes?.lines(style: style) ?? [])
    }

    private func ruleLines(_ style: TextStyle) -> [String] {
        guard !ruleFindings.isEmpty else { return [] }
        let broken = present.count(where: \.isBroken)
        let number = Quantity.count(present.count, "rule")
        let moment = fixes?.run == nil ? "" : " after the fixes"
        return broken == 0
            ? ["\(style.green("All hold"))\(moment): \(number)."]
            : ["\(style.red("Broken"))\(moment): \(broken) of \(number), \(present.errors.count) of severity error."]
    }
}

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
    init(left findings: [RuleFinding]) { self.init([RuleReport(moment: "", findings: findings)], quarantined: 0, nil) }

    /// - Parameter outcome: the outcome of the run; nil if nothing was changed.
    init(_ rules: [RuleReport], quarantined: Int64, _ outcome: MigrationOutcome?) {
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
    var showingValues: FixReport {
        var report = self
        report.rules = rules.map { rule in
            var rule = rule
            rule.fixes = rule.fixes.map(\.showingValues)
            rule.remaining = rule.remaining.map(\.showingValues)
            return rule
        }
        return report
    }

    var members: [JSONValue.Member] {
        [
            .init("fixes", .array((rules.last?.fixes ?? []).map(\.document))),
            .init("remaining", .array((rules.last?.remaining ?? []).map(\.document))),
            .init("quarantined", .integer(quarantined)), .init("run", JSONValue(run)),
            .init("backup", JSONValue(backup?.name)), .init("prunedBackups", JSONValue(prunedBackups)),
        ]
    }

    func lines(style: TextStyle) -> [String] {
        let fixes = (rules.last?.fixes ?? []).flatMap { $0.lines(style: style, isRehearsed: outcome == nil) }
        guard outcome != nil else { return fixes + ["Rehearsed and verified on a copy. The store is unchanged."] }
        return fixes + (backup.map { ["The old store is kept as the backup \($0.name)."] } ?? [])
            + prunedBackups.map(BackupFolder.removal)
    }
}
