/// The outcome of recovering a run whose process died.
public enum RecoveryOutcome: String, Sendable, Hashable, CaseIterable, Codable {
    /// No run was left unfinished.
    case nothing
    /// The run had not committed: the store is as it was before.
    case undone
    /// The run had committed: the store is the new one.
    case completed
    /// The run was to restore a backup, but another store is there now, and it is unchanged.
    case replaced
}
