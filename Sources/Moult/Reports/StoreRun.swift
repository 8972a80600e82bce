import MoultEngine
import MoultModel
import MoultSystem

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One run in a store's history.
public struct StoreRun: Sendable, Hashable, Identifiable {
    /// The result of a run.
    public enum Result: String, Sendable, Hashable, CaseIterable {
        /// It has done its work.
        case done
        /// It failed, and the store is as it was.
        case failed
        /// It was stopped, and the store is as it was.
        case cancelled
        /// It ended on its budget, for the next call to continue.
        case paused
        /// Its process died before the commit, and the store stayed the old one.
        case undone
        /// Its process died after the commit, and the next run found the new store.
        case recovered
    }

    /// The name of the run, which no other run of the store has.
    public let id: String
    /// The operation of the run: `migrate`, `rollback`, `finish`, `repair`, `validate`, `quarantine` or `downgrade`.
    public let operation: String
    /// The result of the run.
    public let result: Result
    /// The name of the version before.
    public let from: String
    /// The name of the version that it led to, or would have led to.
    public let to: String
    /// When it began; nil for a record that does not say.
    public let startedAt: Date?
    /// The time that the run took.
    public let duration: Duration
    /// Rows that it was estimated to touch.
    public let rows: Int64
    /// The name of the backup that it made; nil if it made or kept none.
    public let backup: String?
    /// The losses of the run, counted: what the store does not have since.
    public let losses: [MigrationLoss]
    /// Objects that it put into the quarantine.
    public let quarantined: Int64
    /// The error's code and sentence; nil if it did not fail.
    public let error: String?

    init(_ record: RunRecord) {
        id = record.run
        operation = record.operation.rawValue
        result = Result(rawValue: record.result.rawValue) ?? .failed
        (from, to, rows, backup) = (record.from, record.to, record.rows, record.backup)
        startedAt = Timestamp(iso8601: record.startedAt)?.date
        duration = .seconds(record.seconds)
        (losses, quarantined, error) = (record.losses, record.quarantined, record.error)
    }
}

/// The result of a rollback.
public struct RollbackReport: Sendable {
    /// The name of the run in the store's history.
    public let run: String
    /// The backup that was restored.
    public let restored: StoreBackup
    /// The backup of the state that was there before; nil if there was no store that could be read.
    public let saved: StoreBackup?
    /// The folder with the files of a store that could not be read; nil if there was none.
    public let setAside: String?
    /// The time that the rollback took.
    public let duration: Duration

    init(_ outcome: RollbackOutcome) {
        (run, setAside, duration) = (outcome.run, outcome.setAside, .seconds(outcome.seconds))
        restored = StoreBackup(outcome.restored)
        saved = outcome.saved.map(StoreBackup.init)
    }
}

/// The result of a call that does the work left by a deferred migration.
public struct FinishReport: Sendable {
    /// The tasks that were done, in one sentence each.
    public let done: [String]
    /// The tasks that are still to be done.
    public let left: [String]
    /// The backup that was made before values were dropped; nil if none was needed.
    public let backup: StoreBackup?
    /// The losses that the tasks have caused, counted.
    public let losses: [MigrationLoss]
    /// The time that the call took.
    public let duration: Duration

    /// Whether nothing is left.
    public var isFinished: Bool { left.isEmpty }

    init(_ outcome: DeferredOutcome) {
        (done, left) = (outcome.done.map(\.sentence), outcome.left.map(\.sentence))
        (backup, losses) = (outcome.backup.map(StoreBackup.init), outcome.losses)
        duration = .seconds(outcome.seconds)
    }
}
