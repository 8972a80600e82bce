import MoultModel
import MoultSystem

extension Migrator {
    /// Runs everything that a prepared migration needs: one run, or one for each version where it stops at each.
    ///
    /// A run that stops at each version and fails, or dies, leaves the store at the last version that it has reached,
    /// whole; preparing it again continues from there.
    ///
    /// - Returns: what each run has done; none where the store is of the target version already.
    /// - Throws: what ``PreparedMigration/migration()`` and ``run(_:on:_:)`` throw; with stops, the message
    ///   says which version the store has by then.
    package func run(
        _ prepared: PreparedMigration, _ observer: MigrationObserver = .none
    ) throws -> [MigrationOutcome] {
        guard let whole = try prepared.migration() else {
            try healed(prepared.store)
            return []
        }
        guard prepared.stopsAtEachVersion else {
            return [try run(whole, on: prepared.store, observer)]
        }
        // Before the first stop, not at the one that would lose something.
        if let refusal = whole.lossRefusal { throw refusal }
        var outcomes: [MigrationOutcome] = []
        let started = system.monotonicNanoseconds
        let count = prepared.plan.edges.count
        for (number, edge) in prepared.plan.edges.enumerated() {
            do {
                var options = prepared.options
                options.registry.rules = options.registry.rules.atStop(number, of: count)
                options.isStop = true
                // Earlier stops have changed the store: what its rows say now is asked of them now.
                let next = try PreparedMigration(
                    prepared.store, versions: prepared.versions, to: edge.to, options: options,
                    system: system)
                guard let migration = try next.migration() else { continue }
                outcomes.append(
                    try run(
                        migration, on: prepared.store,
                        observer.part(number, of: count, since: started, system)))
            } catch var error as MigrationError where number > 0 {
                error.message += " The store stays at \(edge.from), the last version that it reached."
                throw error
            }
        }
        return outcomes
    }
}

extension MigrationObserver {
    /// For one of several runs that are one to the person who watches.
    ///
    /// Those that are still to come are expected to take as long as this one; before anything of it was measured, as those
    /// before it.
    ///
    /// - Parameter started: when the first of them began.
    fileprivate func part(
        _ number: Int, of count: Int, since started: UInt64, _ system: any System
    ) -> MigrationObserver {
        var observer = self
        let begun = system.monotonicNanoseconds
        observer.onProgress = { [onProgress] progress in
            var progress = progress
            progress.fraction = (Double(number) + progress.fraction) / Double(count)
            if let left = progress.estimatedTimeRemaining {
                let whole = system.seconds(since: begun) + left
                progress.estimatedTimeRemaining = left + whole * Double(count - number - 1)
            } else if number > 0 {
                let each = system.seconds(since: started, to: begun) / Double(number)
                progress.estimatedTimeRemaining = each * Double(count - number)
            }
            if progress.phase == .done, number + 1 < count { progress.phase = .commit }
            onProgress(progress)
        }
        return observer
    }
}

extension MigrationOutcome {
    /// Combines the outcomes of several runs after each other into one; nil if there was none.
    package init?(joining outcomes: [MigrationOutcome]) {
        guard let first = outcomes.first, let last = outcomes.last else { return nil }
        self = last
        (backup, bytesBefore, recovery) = (first.backup, first.bytesBefore, first.recovery)
        rows = outcomes.reduce(0) { $0 + $1.rows }
        pruned = outcomes.flatMap(\.pruned)
        backupsOnTheWay = outcomes.dropFirst().compactMap(\.backup?.name).filter { !pruned.contains($0) }
        policies = outcomes.flatMap(\.policies)
        losses = outcomes.flatMap(\.losses)
        rules = outcomes.flatMap(\.rules)
        quarantined = outcomes.reduce(0) { $0 + $1.quarantined }
        seconds = []
        for timing in outcomes.flatMap(\.seconds) { seconds.add(timing) }
    }
}
