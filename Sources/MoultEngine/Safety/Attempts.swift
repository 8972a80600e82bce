import MoultModel
import MoultSystem

/// How often a migration may die before it is not begun by itself any more: an app that is killed while it migrates, at
/// each launch, would never get further.
enum Attempts {
    /// - Parameters:
    ///   - limit: how many runs from the one version to the other may have died, one after the other.
    /// - Throws: `tooManyAttempts` with their number.
    static func check(_ migration: Migration, _ sidecar: Sidecar, limit: Int, _ system: any System) throws {
        let last = try RunHistory(sidecar, system).records().reversed().prefix { record in
            record.operation == .migrate && record.result == .undone && record.from == migration.from
                && record.to == migration.to
        }
        guard last.count >= limit, let newest = last.first else { return }
        throw MigrationError(
            .tooManyAttempts,
            "The last \(last.count) runs from \(migration.from) to \(migration.to) died before their end, the newest of "
                + "\(newest.startedAt). The store is as it was.", place: sidecar.store,
            remedy:
                "Find out what ends them, such as a watchdog: give it more time, put work off (--deferred), or go in "
                + "smaller pieces (--stop-at-each-version). Then begin once more with --again.")
    }
}
