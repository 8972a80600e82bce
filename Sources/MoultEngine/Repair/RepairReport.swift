import MoultModel

/// What a repair has found, and what became of it.
package struct RepairReport: Sendable, Equatable {
    /// What was found of one rule at one place.
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

    /// What the place begins with where an entity lacks its number.
    package static let numberPlace = "Z_PRIMARYKEY."

    package var findings: [Finding]
    /// What a repair leaves as it is, each with what to do about it.
    package var remarks: [MoultModel.Finding]

    package init(findings: [Finding] = [], remarks: [MoultModel.Finding] = []) {
        self.findings = findings
        self.remarks = remarks
    }

    /// Whether nothing is at fault, as far as a repair looks.
    package var isWell: Bool { left == 0 && remarks.isEmpty }

    /// What an audit finds that no rule is for, or none of those that have found something; of some rules alone, only
    /// what these are for.
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
