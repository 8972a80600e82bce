import MoultEngine
import MoultModel
import MoultPlan
import MoultStore
import MoultTesting
import TestSupport

/// A migration in calls of eight units each. A death between two units continues at the same places as a pause there, so
/// that shorter calls would only repeat the same moments.
extension FaultCases {
    static var budgeted: FaultCase {
        get throws {
            let versions = try KillableVersions.make()
            var trial = FaultCase("with a budget") { store in
                try makeItems(at: store, isWAL: true)
            } run: { store, system in
                var options = MigrationOptions.sequential
                options.keysPerPiece = 10
                options.maximumAttempts = .max
                var preparation = PreparedMigration.Options(losses: .asTheVersionsSay())
                preparation.continuesEarlierCall = true
                while true {
                    let prepared = try PreparedMigration(
                        store, versions: versions, options: preparation, system: system)
                    let migrator = Migrator(options: options, system: system)
                    if case .paused = try migrator.run(prepared, within: .units(8)) { continue }
                    // A call that counts units leaves the log of its commit to whoever opens the store next.
                    // The migration is finished, whatever comes of that.
                    _ = try? migrator.recover(store)
                    return
                }
            }
            trial.contents = { try lines($0, items) }
            return trial
        }
    }
}
