import MoultModel
import MoultStore

/// The result of doing deferred work.
package struct DeferredOutcome: Sendable, Equatable {
    package var done: [DeferredTask]
    /// The tasks that are still to be done.
    package var left: [DeferredTask]
    /// Made before the first task that drops values; nil if there was none, or where one was made before.
    package var backup: StoreBackup?
    package var seconds: Double
    /// The data that the tasks have dropped, counted.
    package var losses: [MigrationLoss] = []

    /// Whether the store is as one that was migrated without putting anything off.
    package var isFinished: Bool { left.isEmpty }
}
