import Foundation
internal import MoultCoreData

/// The result of a migration with a budget.
public enum BudgetedMigration: Sendable, Hashable {
    /// The stores are of the schema's version; a container opens them at once.
    case finished
    /// There is more to do: call again, and make no container before. The stores are as they were.
    ///
    /// - Parameters:
    ///   - fraction: of the store that is being migrated, 0 to 1.
    ///   - startedOver: why the work of earlier calls was discarded; nil if it was not.
    case unfinished(fraction: Double, startedOver: String?)
}

extension ModelContainer {
    /// Migrates stores for at most so many seconds, and continues where the last call has ended; made before a
    /// container of the same schema, plan and configurations.
    ///
    /// A store is the old one until the last call puts the new one in place, in one transaction.
    ///
    /// - Parameter budget: seconds; no shorter than the longest piece that cannot be interrupted.
    /// - Throws: what making a container throws; `budgetTooSmall` as its cause with the time that is needed.
    public static func migrate(
        for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: ModelConfiguration..., budget: TimeInterval
    ) throws -> BudgetedMigration {
        let given = configurations.isEmpty ? [ModelConfiguration(schema: schema)] : configurations
        let stores = ContainerStores(schema: schema, plan: migrationPlan, configurations: given)
        return switch try stores.migrate(within: budget) {
        case .finished: .finished
        case .unfinished(let fraction, let startedOver): .unfinished(fraction: fraction, startedOver: startedOver)
        }
    }
}
