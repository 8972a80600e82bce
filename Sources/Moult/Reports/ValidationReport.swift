import MoultCare
import MoultEngine
import MoultModel
import MoultTransform

/// The result of reading a whole store.
public struct ValidationReport: Sendable {
    /// The name of the store's version.
    public let version: String
    /// Objects by entity, without those of its sub-entities.
    public let rowCounts: [String: Int64]
    /// The faults of the store, and what was noticed.
    public let findings: [Finding]
    /// The rules of the app that do not hold, or that could not be checked; the code is the rule's name.
    public let rules: [Finding]

    /// Whether the store has no fault and no rule of severity error is broken.
    public var isSound: Bool {
        !findings.contains(where: \.isFault) && !rules.contains { $0.severity == .error }
    }

    init(_ version: String, _ audit: StoreAudit, rules: [RuleFinding]) {
        self.version = version
        rowCounts = audit.rowCounts
        findings = audit.findings
        self.rules = [Finding](rules)
    }
}

/// The diagnosis of a store: what is wrong with it, and what to do about it.
public struct DiagnosisReport: Sendable {
    /// The name of the store's version; nil if it is not known.
    public let version: String?
    /// The worst first; each remedy begins with the command that helps.
    public let findings: [Finding]
    /// Whether nothing stands in the way of a migration, and nothing of the data is at risk.
    public let isWell: Bool

    init(_ diagnosis: StoreDiagnosis) {
        (version, findings, isWell) = (diagnosis.version, diagnosis.findings, diagnosis.isWell)
    }
}
