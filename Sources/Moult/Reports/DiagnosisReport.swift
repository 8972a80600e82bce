import MoultCare
import MoultModel

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
