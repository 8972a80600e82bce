import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore

extension Migrator {
    /// Whether a deferred migration has left anything; false too for what cannot be read.
    package func hasDeferredWork(_ store: String) -> Bool {
        (try? StoreProbe.read(store, system: system) { try StoreMetadata(from: $0.connection).hasDeferredWork })
            ?? false
    }

    /// The tasks that a deferred migration has left, measured; the store is not changed.
    ///
    /// - Parameter versions: those that the store may be of; the model that it carries otherwise.
    /// - Throws: `storeUnknown` if neither tells its model; `deferredWork` if another tool has put work off in a way
    ///   that is not known.
    package func deferredTasks(of store: String, versions: ModelVersions? = nil) throws -> [DeferredTask] {
        try StoreProbe.read(store, system: system) { probe in
            let snapshot = try StoreSnapshot(probe.connection)
            guard snapshot.metadata.hasDeferredWork else { return [] }
            try snapshot.checkDeferredWork()
            return try DeferredWork(
                snapshot, version: snapshot.version(in: versions), measuredOver: probe.connection
            ).tasks
        }
    }

    /// Does what a deferred migration has left: each task is one transaction of the store, so that it is done whole or
    /// not at all whatever happens, and whoever comes next continues with what is left.
    ///
    /// Before the first task that drops values the store is backed up, unless the options are frugal. The last task
    /// takes the mark out of the metadata; the store is then as one that was migrated without putting anything off.
    ///
    /// - Parameters:
    ///   - versions: those that the store may be of; the model that it carries otherwise.
    ///   - limit: how much of it is done now.
    /// - Throws: `budgetTooSmall` if a budget is shorter than the longest task; `cancelled`, with the tasks that were
    ///   done still done; `locked`, `insufficientStorage`; `verificationFailed` with the store as it was before the
    ///   task.
    package func finishDeferred(
        _ store: String, versions: ModelVersions? = nil, _ limit: CallLimit = .all,
        _ observer: MigrationObserver = .none
    ) throws -> DeferredOutcome {
        let started = system.monotonicNanoseconds
        let lock = try lock(store)
        defer { lock.release() }
        _ = try Recovery.heal(lock, system)
        let snapshot = try StoreSnapshot(lock.connection)
        try snapshot.checkDeferredWork()
        let run = try DeferredRun(
            lock, version: snapshot.version(in: versions), self,
            CallClock(limit: limit, started: started, system: system), observer)
        let outcome = try run.perform(snapshot)
        try lock.connection.keepWALOnClose(false)
        return outcome
    }
}

/// The amount of deferred work that is done in one call.
package enum CallLimit: Sendable, Hashable {
    case all
    /// The next task.
    case one
    /// As many tasks as there is time for.
    case seconds(Double)

    /// - Parameters:
    ///   - longest: the longest unit that cannot be interrupted.
    ///   - begun: seconds of the call that have passed, beyond those that every call needs.
    /// - Throws: `budgetTooSmall` that says these numbers.
    func check(against longest: MigrationUnit, after begun: Double = 0) throws {
        guard case .seconds(let budget) = self else { return }
        guard budget.isFinite, budget > 0, budget >= longest.seconds + begun else {
            throw MigrationError.budgetTooSmall(budget, longest.seconds, longest.sentence, after: begun)
        }
    }
}

extension MigrationError {
    /// - Parameters:
    ///   - longest: seconds of the longest unit, as far as is known.
    ///   - begun: seconds of the call that had passed before it.
    static func budgetTooSmall(
        _ budget: Double, _ longest: Double, _ sentence: String, after begun: Double = 0
    ) -> MigrationError {
        func seconds(_ number: Double) -> Double { (number * 1000).rounded(.up) / 1000 }
        // The next call may take a little longer to get there.
        let needed = seconds(longest + begun * 1.2)
        let before = begun > 0.01 ? "\(seconds(begun)) s had passed before the piece that is next, and " : ""
        return MigrationError(
            .budgetTooSmall,
            "A budget of \((budget * 1e6).rounded() / 1e6) s is not enough: \(before)the longest piece that cannot be "
                + "interrupted takes about \(seconds(longest)) s: " + sentence,
            remedy: "Give a budget of \(needed) s or more, or none.")
    }
}

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

extension StoreSnapshot {
    /// The version of the store: one of `versions`, otherwise the model that it carries.
    ///
    /// - Throws: `storeUnknown` if nothing says what model the store has.
    package func version(in versions: ModelVersions?) throws -> ModelVersion {
        if let place = versions?.place(of: hashes, identifiers: metadata.versionIdentifiers) { return place.version }
        guard let own = try? ownVersion().calledTheStoresOwn else {
            throw MigrationError.storeUnknown(nearest: versions?.nearest(to: hashes))
        }
        return own
    }
}
