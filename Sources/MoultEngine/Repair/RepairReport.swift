import MoultModel

/// The findings of a repair, and their outcome.
package struct RepairReport: Sendable, Equatable {
    /// The finding of one rule at one place.
    package struct Finding: Sendable, Equatable {
        package var rule: RepairRule
        /// `Entity.property`, an entity or a table.
        package var place: String
        /// Rows at fault before; of a missing column the rows that get it, of a missing index those of its table.
        package var count: Int64
        /// The first of their keys.
        package var keys: [Int64]
        /// Objects that went to the quarantine for it, those that could not be without them included.
        package var quarantined: Int64 = 0
        /// Rows at fault afterwards, because the right value is not known.
        package var left: Int64 = 0
        /// Of files; 0 for rows.
        package var bytes: Int64 = 0

        package static let keyLimit = MoultModel.Finding.keyLimit
    }

    /// The beginning of a finding's place where an entity lacks its number.
    package static let numberPlace = "Z_PRIMARYKEY."

    package var findings: [Finding]
    /// The findings that a repair leaves as they are, each with a remedy.
    package var remarks: [MoultModel.Finding]

    package init(findings: [Finding] = [], remarks: [MoultModel.Finding] = []) {
        self.findings = findings
        self.remarks = remarks
    }

    /// Whether nothing is at fault, as far as a repair looks.
    package var isWell: Bool { left == 0 && remarks.isEmpty }

    /// Returns the findings of an audit that no rule is for, or none of the rules that have found something; if only
    /// some rules were asked for, only the findings that these are for.
    func remarks(
        of audit: StoreAudit, _ rules: Set<RepairRule>, handling handled: Set<RepairRule>
    ) -> [MoultModel.Finding] {
        audit.findings.filter { finding in
            let repairing = RepairRule.repairing[finding.code] ?? []
            let isAskedFor = rules.isSuperset(of: RepairRule.byDefault) || !rules.isDisjoint(with: repairing)
            return finding.isFault && isAskedFor && repairing.isDisjoint(with: handled)
                && !remarks.contains { $0.code == finding.code && $0.place == finding.place }
        }
    }

    package var count: Int64 { findings.reduce(0) { $0 + $1.count } }
    package var left: Int64 { findings.reduce(0) { $0 + $1.left } }
    package var quarantined: Int64 { findings.reduce(0) { $0 + $1.quarantined } }
}
