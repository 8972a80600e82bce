import Foundation
import MoultEngine
import MoultModel
import MoultSystem

/// What has been done to one store: every migration and rollback since it first met Moult, kept next to it.
public struct MigrationHistory: Sendable {
    public let url: URL

    public init(storeAt url: URL) { self.url = url }

    /// Oldest first; none where nothing has been done.
    public func events() throws -> [MigrationEvent] {
        let system = POSIXSystem()
        let path = try system.exists(url.path) ? system.resolve(url.path) : url.path
        return try RunHistory(Sidecar(store: path), system).records().map(MigrationEvent.init)
    }
}

/// One migration, or one rollback to a backup.
public struct MigrationEvent: Sendable, Hashable, Identifiable {
    public enum Outcome: String, Sendable {
        case succeeded = "done"
        case failed, cancelled
        /// A call ended on its budget, for the next one to continue.
        case paused
        /// The process died before the commit, and the store stayed the old one.
        case undone
        /// The process died after the commit, and the next run found the new store.
        case recovered
    }

    public let id: String
    /// The version before; for a rollback too.
    public let from: String
    public let to: String
    public let isRollback: Bool
    public let outcome: Outcome
    /// In ISO 8601, UTC.
    public let startedAt: String
    /// Measured, in seconds.
    public let duration: TimeInterval
    /// The name of the backup that was made, or put back.
    public let backup: String?
    public let rows: Int64
    /// What went wrong, in a sentence; nil if nothing did.
    public let error: String?
    /// What the store does not have since, counted.
    public let losses: [MigrationLoss]

    init(_ record: RunRecord) {
        id = record.run
        from = record.from
        to = record.to
        isRollback = record.operation == .rollback
        outcome = Outcome(rawValue: record.result.rawValue) ?? .failed
        startedAt = record.startedAt
        duration = record.seconds
        backup = record.backup
        rows = record.rows
        error = record.error
        losses = record.losses
    }
}
