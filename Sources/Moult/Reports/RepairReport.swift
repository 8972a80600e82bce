import MoultEngine
import MoultModel

/// The result of a repair: the faults that it has found, and what became of them.
public struct RepairReport: Sendable {
    /// The faults of one rule at one place.
    public struct Fault: Sendable, Hashable {
        /// The rule.
        public let rule: RepairRule
        /// `Entity.property`, an entity or a table.
        public let place: String
        /// Rows at fault before.
        public let count: Int64
        /// The first of their keys.
        public let keys: [Int64]
        /// Objects that went to the quarantine for it.
        public let quarantined: Int64
        /// Rows at fault afterwards, because the right value is not known.
        public let left: Int64
        /// The size of files that no row names; 0 for rows.
        public let bytes: Int64
    }

    /// The faults that were found, by rule and place.
    public let faults: [Fault]
    /// The findings for which there is no repair, each with what to do about it.
    public let remarks: [Finding]
    /// Whether nothing is left, as far as a repair looks.
    public let isWell: Bool
    /// The name of the run in the store's history; nil if nothing was changed.
    public let run: String?
    /// The backup to go back to; nil if nothing was changed.
    public let backup: StoreBackup?
    /// The names of the backups that the retention policy let go.
    public let prunedBackups: [String]

    init(_ report: MoultEngine.RepairReport, _ outcome: MigrationOutcome?) {
        faults = report.findings.map {
            Fault(
                rule: $0.rule, place: $0.place, count: $0.count, keys: $0.keys, quarantined: $0.quarantined,
                left: $0.left, bytes: $0.bytes)
        }
        (remarks, isWell) = (report.remarks, report.isWell)
        (run, backup) = (outcome?.run, outcome?.backup.map(StoreBackup.init))
        prunedBackups = outcome?.pruned ?? []
    }
}
