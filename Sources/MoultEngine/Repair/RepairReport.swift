import MoultModel

/// The result of a repair: the faults that it has found, and what became of them.
public struct RepairReport: Sendable, Equatable {
    /// The faults of one rule at one place.
    public struct Fault: Sendable, Hashable {
        /// The rule.
        public package(set) var rule: RepairRule
        /// `Entity.property`, an entity or a table.
        public package(set) var place: String
        /// Rows at fault before; of a missing column the rows that get it, of a missing index those of its table.
        public package(set) var count: Int64
        /// The first of their keys.
        public package(set) var keys: [Int64]
        /// Objects that went to the quarantine for it, those that could not be without them included.
        public package(set) var quarantined: Int64 = 0
        /// Rows at fault afterwards, because the right value is not known.
        public package(set) var left: Int64 = 0
        /// The size of files that no row names; 0 for rows.
        public package(set) var bytes: Int64 = 0

        package static let keyLimit = Finding.keyLimit
    }

    /// The beginning of a fault's place where an entity lacks its number.
    package static let numberPlace = "Z_PRIMARYKEY."

    /// The faults that were found, by rule and place.
    public package(set) var faults: [Fault]
    /// The findings for which there is no repair, each with what to do about it.
    public package(set) var remarks: [Finding]
    /// Whether tables or columns were missing, so that the rows were not looked at: repair the store again for them.
    public package(set) var leavesRows = false
    /// The outcome of the run; nil if nothing was changed.
    package var outcome: MigrationOutcome?
    /// Whether everything was to be done on a copy that is not kept.
    package var isRehearsal = false
    /// Whether there was something to repair, so that it was done, or rehearsed.
    package var isAttempted = false

    package init(faults: [Fault] = [], remarks: [Finding] = []) {
        self.faults = faults
        self.remarks = remarks
    }

    /// Whether nothing is left, as far as a repair looks.
    public var isWell: Bool { left == 0 && remarks.isEmpty }
    /// The name of the run in the store's history; nil if nothing was changed.
    public var run: String? { outcome?.run }
    /// The backup to go back to; nil if nothing was changed.
    public var backup: StoreBackup? { outcome?.backup }
    /// The names of the backups that the retention policy let go.
    public var prunedBackups: [String] { outcome?.pruned ?? [] }

    /// Returns the findings of an audit that no rule is for, or none of the rules that have found something; if only
    /// some rules were asked for, only the findings that these are for.
    func remarks(
        of audit: StoreAudit, _ rules: Set<RepairRule>, handling handled: Set<RepairRule>
    ) -> [Finding] {
        audit.findings.filter { finding in
            let repairing = RepairRule.repairing[finding.code] ?? []
            let isAskedFor = rules.isSuperset(of: RepairRule.byDefault) || !rules.isDisjoint(with: repairing)
            return finding.isFault && isAskedFor && repairing.isDisjoint(with: handled)
                && !remarks.contains { $0.code == finding.code && $0.place == finding.place }
        }
    }

    package var count: Int64 { faults.reduce(0) { $0 + $1.count } }
    package var left: Int64 { faults.reduce(0) { $0 + $1.left } }
    package var quarantined: Int64 { faults.reduce(0) { $0 + $1.quarantined } }
}
