import MoultBasics
import MoultEngine
import MoultModel
import MoultPlan
import MoultStore
import MoultTesting
import TestSupport

/// Migrations in calls of eight units each. A death between two units continues at the same places as a pause there, so
/// that shorter calls would only repeat the same moments.
extension FaultCases {
    private static func migrateInCalls(
        _ store: String, _ versions: ModelVersions, _ system: any System, _ preparation: PreparedMigration.Options
    ) throws {
        var (options, preparation) = (MigrationOptions.sequential, preparation)
        options.keysPerPiece = 10
        options.maximumAttempts = .max
        preparation.continuesEarlierCall = true
        while true {
            let prepared = try PreparedMigration(store, versions: versions, options: preparation, system: system)
            let migrator = Migrator(options: options, system: system)
            if case .paused = try migrator.run(prepared, within: .units(8)) { continue }
            // A call that counts units leaves the log of its commit to whoever opens the store next.
            // The migration is finished, whatever comes of that.
            _ = try? migrator.recover(store)
            return
        }
    }

    static var budgetedPolicy: FaultCase {
        get throws {
            let (versions, options) = (try noteVersions, try choosing)
            return FaultCase("by a policy, with a budget") { store in
                try makeNotes(at: store, versions)
            } run: { store, system in
                try migrateInCalls(store, versions, system, options)
            }
        }
    }

    static var budgeted: FaultCase {
        get throws {
            let versions = try KillableVersions.make()
            var trial = FaultCase("with a budget") { store in
                try makeItems(at: store, isWAL: true)
            } run: { store, system in
                try migrateInCalls(store, versions, system, .init(losses: .asTheVersionsSay()))
            }
            trial.contents = { try lines($0, items) }
            return trial
        }
    }
}
