import MoultModel
import MoultSystem

/// The limit on how often a migration may die before it is not begun by itself any more: an app that is killed while it
/// migrates, at each launch, would never get further.
package enum Attempts {
    /// - Parameters:
    ///   - limit: how many runs from the one version to the other may have died, one after the other.
    /// - Throws: `tooManyAttempts` with their number.
    static func check(_ migration: Migration, _ sidecar: Sidecar, limit: Int, _ system: any System) throws {
        let last = try dead(from: migration.from, to: migration.to, migration.operation, sidecar, system)
        guard last.count >= limit, let newest = last.first else { return }
        // What is in use already is no advice.
        let deferring: Remedy = migration.script.isDeferred ? "" : "defer work (\(option: .deferred)), or "
        throw MigrationError(
            .tooManyAttempts,
            "None of the last \(Quantity.count(last.count, "run")) from \(migration.from) to \(migration.to) reached its "
                + "end; the newest started at \(newest.startTime). The store is unchanged.", place: sidecar.store,
            remedy:
                "Find out what ends them, such as a watchdog. Give them more time, \(deferring)work in "
                + "smaller pieces (\(option: .stopAtEachVersion)). Then start again with \(option: .again).")
    }

    /// Returns the number of runs that have died in succession, counted from the last. One that was cancelled is
    /// neither a death nor a success.
    package static func deaths(
        from: String, to: String, _ operation: Journal.Operation, _ sidecar: Sidecar, _ system: any System
    ) throws -> Int {
        try dead(from: from, to: to, operation, sidecar, system).count
    }

    private static func dead(
        from: String, to: String, _ operation: Journal.Operation, _ sidecar: Sidecar, _ system: any System
    ) throws -> [StoreRun] {
        let own = try RunHistory(sidecar, system).records().reversed().filter { $0.result != .cancelled }
        return Array(
            own.prefix { record in
                record.operation == operation && record.result == .undone && record.from == from && record.to == to
            })
    }
}
