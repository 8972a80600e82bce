import MoultEngine
import MoultModel
import MoultTransform

/// The result of the fixes of rules, applied or rehearsed.
public struct FixReport: Sendable {
    package private(set) var rules: [RuleReport]
    /// Objects that went to the quarantine.
    public let quarantined: Int64
    private let outcome: MigrationOutcome?

    /// Nothing to fix.
    init(left findings: [RuleFinding]) {
        self.init([RuleReport(moment: "", findings: findings)], quarantined: 0, nil)
    }

    /// - Parameter outcome: nil if nothing was changed.
    init(_ rules: [RuleReport], quarantined: Int64, _ outcome: MigrationOutcome?) {
        (self.rules, self.quarantined, self.outcome) = (rules, quarantined, outcome)
    }

    /// Objects that were changed, deleted or made.
    public var fixed: Int64 { rules.fixed }
    /// The rules that do not hold afterwards, or that could not be checked; the code is the rule's name.
    public var left: [Finding] { [Finding](rules.last?.present ?? []) }
    /// The name of the run in the store's history; nil if nothing was changed.
    public var run: String? { outcome?.run }
    /// The backup to go back to; nil if nothing was changed.
    public var backup: StoreBackup? { outcome?.backup }
    /// The names of the backups that the retention policy let go.
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
