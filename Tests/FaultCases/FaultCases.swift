import MoultBasics
import MoultEngine
import MoultModel
import MoultObjects
import MoultPlan
import MoultStore
import MoultTesting
import TestSupport

/// Every kind of migration there is, on a store that is small enough to be tried at every moment.
package enum FaultCases {
    /// In the order of Documentation/Safety.md; a new kind of migration adds itself here.
    package static var all: [FaultCase] {
        get throws {
            let all = [
                try inferred(isWAL: true), try inferred(isWAL: false), try altered(isWAL: true),
                try altered(isWAL: false), try retyped(isWAL: true), try retyped(isWAL: false), try rebuilt,
                try inPlace, try mapped, try policy, try passes,
                try stops, try undone, try resumed, try rolledBack, restored, restoredOverPage,
                restoredOverCut, restoredWhereGone, try mended, try putBack, try takenOutAgain, try completed,
                try repaired, try salvaged, try migratedInto, try deferred, try finished, try mirrored, try mirrorBegun,
                backedUp,
                exported, exportedFolder, imported, try budgeted, try budgetedPolicy,
            ]
            let moves = Moved.allCases.map(moved) + Moved.allCases.map(movedToOtherVolume)
            return (all + moves).map { trial in
                var trial = trial
                if trial.ignoredTable == nil, trial.witness == nil { trial.witness = ShellWitness.look }
                return trial
            }
        }
    }

    /// Migrates to the last of the versions, by the whole way that a program goes.
    static func migrate(
        _ store: String, _ versions: ModelVersions, to target: String? = nil, _ system: any System,
        _ options: PreparedMigration.Options = .init(losses: .asTheVersionsSay())
    ) throws {
        let prepared = try PreparedMigration(store, versions: versions, to: target, options: options, system: system)
        _ = try Migrator(options: .sequential, system: system).run(prepared)
    }

    /// What the shell prints, line by line.
    static func lines(_ store: String, _ sql: String) throws -> [String] {
        try SQLiteShell.run(store, sql).split(separator: "\n").map(String.init)
    }
}
