import Foundation
import Moult
import MoultBasics
import MoultModel

/// The result of a migration call with a time budget.
public enum BudgetedMigration: Sendable, Hashable {
    /// The stores are of the model's version.
    case finished
    /// There is more to do: call again, and do not load the stores before. They are as they were.
    ///
    /// - Parameters:
    ///   - fraction: of the store that is being migrated, 0 to 1.
    ///   - startedOver: why the work of earlier calls was thrown away, such as that the app has written to the store in
    ///     between; nil where it was not.
    case unfinished(fraction: Double, startedOver: String?)
}

extension PersistentContainer {
    /// Migrates the described stores for at most so many seconds, and continues where the last call has ended.
    ///
    /// An app that is killed when its launch takes too long calls this at each launch, or from a background task, until
    /// it is finished, and loads its stores then. A store is the old one until the last call puts the new one in place,
    /// in one transaction.
    ///
    /// - Parameter budget: seconds; no shorter than the longest piece that cannot be interrupted.
    /// - Throws: `budgetTooSmall` with the time that is needed, before anything is done; what migrating a store throws.
    public func migrate(budget: TimeInterval) throws -> BudgetedMigration {
        try StoreOpening.migrate(
            persistentStoreDescriptions.map { description in
                try StoreOpening(
                    description, model: managedObjectModel, versions: persistentStoreCoordinator.modelVersions)
            }, within: budget)
    }
}

extension StoreOpening {
    /// Migrates stores one after the other for as long as there is time.
    ///
    /// - Parameter budget: seconds.
    package static func migrate(_ openings: [StoreOpening], within budget: Double) throws -> BudgetedMigration {
        let system = POSIXSystem()
        let started = system.monotonicNanoseconds
        var hasMigrated = false
        for opening in openings {
            let spent = hasMigrated ? system.seconds(since: started) : 0
            do {
                guard let report = try opening.migrate(within: budget - spent) else { continue }
                switch report.outcome {
                case .nothingToDo: continue
                case .paused: return .unfinished(fraction: report.fraction, startedOver: report.startedOver)
                case .migrated, .rehearsed: hasMigrated = true
                }
            } catch let error as MigrationError where error.code == .budgetTooSmall && hasMigrated {
                // The next call has all of its time for this store.
                return .unfinished(fraction: 0, startedOver: nil)
            }
        }
        return .finished
    }
}
