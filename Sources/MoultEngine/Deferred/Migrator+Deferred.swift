import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore

extension Migrator {
    /// Whether a deferred migration has left work to do; false for a store that is gone or damaged.
    ///
    /// - Throws: why the store cannot be read otherwise, which says nothing about its work.
    package func hasDeferredWork(_ store: String) throws -> Bool {
        do {
            return try ReadOnlyStore.read(store, system: system) {
                try StoreMetadata(from: $0.connection).hasDeferredWork
            }
        } catch let error as MigrationError where (ReadOnlyStore.unreadable + [.fileNotFound]).contains(error.code) {
            return false
        }
    }

    /// Returns the tasks that a deferred migration has left, measured. Does not change the store.
    ///
    /// - Parameter versions: the versions that the store may have; if none matches, the store's own model is used.
    /// - Throws: `storeUnknown` if neither identifies its model; `deferredWork` if another tool has deferred work in an
    ///   unknown way.
    package func deferredTasks(of store: String, versions: ModelVersions? = nil) throws -> [DeferredTask] {
        try ReadOnlyStore.read(store, system: system) { probe in
            let snapshot = try StoreSnapshot(probe.connection)
            guard snapshot.metadata.hasDeferredWork else { return [] }
            try snapshot.checkDeferredWork()
            return try DeferredWork(
                snapshot, version: snapshot.version(in: versions), measuredOver: probe.connection
            ).tasks
        }
    }

    /// Performs the tasks that a deferred migration has left. Each task is one transaction of the store, so it is done
    /// completely or not at all, and a later call continues with the remaining tasks.
    ///
    /// Backs up the store before the first task that drops values, unless the options are frugal. The last task removes
    /// the mark from the metadata; the store then equals one that was migrated without deferring anything.
    ///
    /// - Parameters:
    ///   - versions: the versions that the store may have; if none matches, the store's own model is used.
    ///   - limit: the amount of work to do now.
    /// - Throws: `budgetTooSmall` if a budget is shorter than the longest task; `cancelled`, with finished tasks still
    ///   done; `locked`, `insufficientStorage`; `verificationFailed` with the store as it was before the task.
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

/// The amount of deferred work to do in one call.
package enum CallLimit: Sendable, Hashable {
    case all
    /// At most this number of the next tasks or units.
    case units(Int)
    /// As many tasks as fit in the time.
    case seconds(Double)

    /// The next task or unit.
    package static let one = CallLimit.units(1)

    /// - Parameters:
    ///   - longest: the longest unit that cannot be interrupted.
    ///   - begun: the seconds of the call that have passed, beyond those that every call needs.
    /// - Throws: `budgetTooSmall` with these numbers.
    func check(against longest: MigrationUnit, after begun: Double = 0) throws {
        guard case .seconds(let budget) = self else { return }
        guard budget.isFinite, budget > 0, budget >= longest.seconds + begun else {
            throw MigrationError.budgetTooSmall(budget, longest.seconds, longest.sentence, after: begun)
        }
    }
}

extension MigrationError {
    /// - Parameters:
    ///   - longest: the seconds of the longest known unit.
    ///   - begun: the seconds that had passed in the call before it.
    static func budgetTooSmall(
        _ budget: Double, _ longest: Double, _ sentence: String, after begun: Double = 0
    ) -> MigrationError {
        func seconds(_ number: Double) -> Double { (number * 1000).rounded(.up) / 1000 }
        // The next call may need slightly longer to get there.
        let needed = seconds(longest + begun * 1.2)
        let before = begun > 0.01 ? "\(seconds(begun)) s had passed before the piece that is next, and " : ""
        return MigrationError(
            .budgetTooSmall,
            "A budget of \((budget * 1e6).rounded() / 1e6) s is not enough: \(before)the longest piece that cannot be "
                + "interrupted takes about \(seconds(longest)) s: " + sentence,
            remedy: "Give a budget of \(needed) s or more, or none.")
    }
}

/// The result of a call that performs deferred work.
package struct DeferredOutcome: Sendable, Equatable {
    package var done: [DeferredTask]
    /// The remaining tasks.
    package var left: [DeferredTask]
    /// The backup made before the first task that drops values; nil if no such task ran, or an earlier backup exists.
    package var backup: StoreBackup?
    package var seconds: Double
    /// The data that the tasks have dropped, counted.
    package var losses: [MigrationLoss] = []

    /// Whether the store equals one that was migrated without deferring anything.
    package var isFinished: Bool { left.isEmpty }
}

extension StoreSnapshot {
    /// Returns the version of the store: one of `versions`, otherwise the model that the store itself contains.
    ///
    /// - Throws: `storeUnknown` if nothing identifies the model.
    package func version(in versions: ModelVersions?) throws -> ModelVersion {
        if let place = versions?.place(of: hashes, identifiers: metadata.versionIdentifiers) { return place.version }
        guard let own = try? ownVersion().calledTheStoresOwn else {
            throw MigrationError.storeUnknown(nearest: versions?.nearest(to: hashes))
        }
        return own
    }
}
