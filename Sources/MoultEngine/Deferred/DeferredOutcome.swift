import MoultModel
import MoultStore

/// The result of doing deferred work.
package struct DeferredOutcome: Sendable, Equatable {
    package var done: [DeferredTask]
    /// What is still to be done.
    package var left: [DeferredTask]
    /// Made before the first task that drops values; nil if there was none, or where one was made before.
    package var backup: StoreBackup?
    package var seconds: Double
    /// What the tasks have dropped, counted.
    package var losses: [MigrationLoss] = []

    /// Whether the store is as one that was migrated without putting anything off.
    package var isFinished: Bool { left.isEmpty }
}
