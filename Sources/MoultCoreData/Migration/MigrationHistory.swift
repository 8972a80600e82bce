import Foundation
import MoultBasics
import MoultEngine
import MoultModel

/// The history of one store, kept next to it: every migration and rollback since the store first met Moult.
public struct MigrationHistory: Sendable {
    /// The store whose history this is.
    public let url: URL

    /// The history of the store at a URL; nothing is read yet.
    public init(storeAt url: URL) { self.url = url }

    /// Oldest first; none where nothing has been done.
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
        /// A call ended on its budget, for the next one to continue.
        case paused
        /// The process died before the commit, and the store stayed the old one.
        case undone
        /// The process died after the commit, and the next run found the new store.
        case recovered
    }

    /// The name of the run, which no other event of the store has.
    public let id: String
    /// The version before; for a rollback too.
    public let from: String
    /// The version that the run led to, or would have led to.
    public let to: String
    /// True for a rollback to a backup, false for a migration.
    public let isRollback: Bool
    /// The outcome of this migration or rollback.
    public let outcome: Outcome
    /// In ISO 8601, UTC.
    public let startedAt: String
    /// Measured, in seconds.
    public let duration: TimeInterval
    /// The name of the backup that was made, or put back.
    public let backup: String?
    /// The rows that the migration was estimated to touch; 0 for a rollback and for a run that failed or died.
    public let rows: Int64
    /// The error in a sentence; nil if nothing went wrong.
    public let error: String?
    /// The data that the store lost in it, counted.
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
    /// Of the whole migration, 0 to 1, never less than before.
    public let fractionCompleted: Double
    /// Rows done so far, and all rows.
    public let rows: Int64
    /// All rows that the migration is estimated to touch.
    public let totalRows: Int64
    /// Bytes copied so far, of backup and commit together.
    public let bytes: Int64
    /// Seconds that the migration still takes, 0 when it is done; nil before anything of it was measured.
    public let estimatedTimeRemaining: Double?
    /// A sentence that says what has just been done; nil between two such moments.
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
