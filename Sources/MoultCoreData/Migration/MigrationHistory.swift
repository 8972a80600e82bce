import Foundation
import MoultBasics
import MoultEngine
import MoultModel

/// The history of one store, kept next to it: every migration and rollback that Moult has run on it.
public struct MigrationHistory: Sendable {
    /// The store whose history this is.
    public let url: URL

    /// Creates a history for the store at a URL, without reading anything yet.
    public init(storeAt url: URL) { self.url = url }

    /// Returns the events, oldest first; an empty array if there are none.
    public func events() throws -> [MigrationEvent] {
        let system = POSIXSystem()
        let path = try system.exists(url.path) ? system.resolve(url.path) : url.path
        return try RunHistory(StoreRecords(store: path), system).records().map(MigrationEvent.init)
    }
}

/// One migration, or one rollback to a backup.
public struct MigrationEvent: Sendable, Hashable, Identifiable {
    /// The outcome of a migration or a rollback.
    public enum Outcome: String, Sendable {
        case succeeded = "done"
        case failed, cancelled
        /// The run reached its budget, and the next one continues it.
        case paused
        /// The process died before the commit, and the old store stayed in place.
        case undone
        /// The process died after the commit, and the next run found the new store in place.
        case recovered
    }

    /// The name of the run, unique among the store's events.
    public let id: String
    /// The version before the migration or rollback.
    public let from: String
    /// The target version of the run, even if it was not reached.
    public let to: String
    /// True for a rollback to a backup, false for a migration.
    public let isRollback: Bool
    /// The outcome of this migration or rollback.
    public let outcome: Outcome
    /// The start time in ISO 8601, UTC.
    public let startedAt: String
    /// The measured duration in seconds.
    public let duration: TimeInterval
    /// The name of the backup that was created or restored.
    public let backup: String?
    /// The estimated number of rows that the migration touched; 0 for a rollback, and for a run that failed or died.
    public let rows: Int64
    /// A sentence about the error; nil if there was none.
    public let error: String?
    /// The data that the store lost in the run, with counts.
    public let losses: [MigrationLoss]

    init(_ record: StoreRun) {
        id = record.run
        from = record.from
        to = record.to
        isRollback = record.operation == .rollback
        outcome = Outcome(rawValue: record.result.rawValue) ?? .failed
        startedAt = record.startTime
        duration = record.seconds
        backup = record.backup
        rows = record.rows
        error = record.error
        losses = record.losses
    }
}

/// The progress of the migration of a store.
public struct MigrationProgress: Sendable, Hashable {
    /// `lock`, `backup`, `copy`, `change`, `verify`, `commit` or `done`.
    public let phase: String
    /// The completed fraction of the whole migration, from 0 to 1. It never decreases.
    public let fractionCompleted: Double
    /// The number of rows done so far.
    public let rows: Int64
    /// The estimated number of rows that the migration touches.
    public let totalRows: Int64
    /// The number of bytes copied so far, for the backup and the commit together.
    public let bytes: Int64
    /// The estimated remaining time in seconds, 0 when the migration is done; nil before the first measurement.
    public let estimatedTimeRemaining: Double?
    /// A sentence about the step just completed; nil between steps.
    public let message: String?

    init(_ progress: MoultEngine.MigrationProgress) {
        phase = progress.phase.rawValue
        fractionCompleted = progress.fraction
        rows = progress.rows
        totalRows = progress.totalRows
        bytes = progress.bytes
        estimatedTimeRemaining = progress.estimatedTimeRemaining
        message = progress.message
    }
}

extension MigrationObserver {
    init(
        telling onProgress: @escaping @Sendable (MigrationProgress) -> Void, isCancelled: @escaping @Sendable () -> Bool
    ) {
        self.init(onProgress: { onProgress(MigrationProgress($0)) }, isCancelled: isCancelled)
    }
}
