import MoultModel
import MoultSQLite
import MoultStore
import MoultSystem

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
        _ store: String, versions: ModelVersions? = nil, _ limit: DeferredLimit = .all,
        _ observer: MigrationObserver = .none
    ) throws -> DeferredOutcome {
        let started = system.monotonicNanoseconds
        let path = try StoreProbe.checkFile(store, system)
        try Preflight.checkFile(path, system)
        let lock = try StoreLock(path, system, patience: options.patience)
        defer { lock.release() }
        _ = try Recovery.heal(lock, system)
        let snapshot = try StoreSnapshot(lock.connection)
        try snapshot.checkDeferredWork()
        let run = try DeferredRun(
            lock, version: snapshot.version(in: versions), self, limit, started: started, observer)
        let outcome = try run.perform(snapshot)
        try lock.connection.keepWALOnClose(false)
        return outcome
    }
}
