import MoultEngine
import MoultModel
import MoultTransform

/// The result of the fixes of rules, applied or rehearsed.
public struct FixReport: Sendable {
    /// Objects that were changed, deleted or made.
    public let fixed: Int64
    /// Objects that went to the quarantine.
    public let quarantined: Int64
    /// The rules that do not hold afterwards, or that could not be checked; the code is the rule's name.
    public let left: [Finding]
    /// The name of the run in the store's history; nil if nothing was changed.
    public let run: String?
    /// The backup to go back to; nil if nothing was changed.
    public let backup: StoreBackup?
    /// The names of the backups that the retention policy let go.
    public private(set) var prunedBackups: [String] = []

    /// Nothing to fix.
    init(left rules: [RuleFinding]) {
        (fixed, quarantined, run, backup) = (0, 0, nil, nil)
        left = [Finding](rules)
    }

    init(_ outcome: MigrationOutcome) {
        (fixed, quarantined, run) = (outcome.rules.fixed, outcome.quarantined, outcome.run)
        backup = outcome.backup.map(StoreBackup.init)
        prunedBackups = outcome.pruned
        left = [Finding](outcome.rules.last?.present ?? [])
    }

    init(_ rehearsal: RehearsalOutcome) {
        (fixed, quarantined, run, backup) = (rehearsal.rules.fixed, rehearsal.quarantined, nil, nil)
        left = [Finding](rehearsal.rules.last?.present ?? [])
    }
}
