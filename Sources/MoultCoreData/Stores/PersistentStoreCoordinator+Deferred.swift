import Foundation
import Moult
import MoultEngine
import MoultModel
import MoultObjects
import MoultStore

extension PersistentStoreCoordinator {
    /// Does everything that deferred migrations have left in the open stores: `finishDeferredLightweightMigration()`.
    ///
    /// Which stores have something left, their metadata say under
    /// ``PersistentStoreOption/deferredLightweightMigration``. The stores are closed in the meantime and opened again,
    /// so contexts wait; the objects that they have stay valid. A store is backed up before values leave it for good.
    ///
    /// - Parameter onProgress: told often, on this thread, how far the work on one store is; of several, on each in
    ///   turn.
    /// - Throws: `locked` if another process has a store open, `insufficientStorage`; what was done stays done.
    public func finishDeferredLightweightMigration(
        onProgress: @escaping @Sendable (MigrationProgress) -> Void = { _ in }
    ) throws {
        for store in persistentStores where try isPending(store) { try finish(store, .all, onProgress) }
    }

    /// Does the next task that a deferred migration has left, if there is one.
    ///
    /// To be called again and again, such as in a background task, until no store's metadata have
    /// ``PersistentStoreOption/deferredLightweightMigration``; between two calls everything is whole.
    ///
    /// - Parameter onProgress: told often, on this thread, how far this task is.
    /// - Throws: as above.
    public func finishDeferredLightweightMigrationTask(
        onProgress: @escaping @Sendable (MigrationProgress) -> Void = { _ in }
    ) throws {
        guard let store = try persistentStores.first(where: isPending) else { return }
        try finish(store, .one, onProgress)
    }

    private func isPending(_ store: PersistentStore) throws -> Bool {
        guard store.type == .sqlite, !store.isReadOnly else { return false }
        return try objects.lock.withLock { try store.store.metadata().hasDeferredWork }
    }

    /// Contexts find the store's place taken by one that was opened again, whatever became of the work.
    private func finish(
        _ store: PersistentStore, _ limit: DeferredLimit, _ onProgress: @escaping @Sendable (MigrationProgress) -> Void
    ) throws {
        guard let url = store.url else { return }
        try objects.lock.withLock {
            try objects.remove(store.store)
            store.close()
            let result = Result {
                var options = RunOptions()
                options.patience = .milliseconds(max(store.options.busyTimeout, 0))
                _ = try options.migrator().finishDeferred(
                    url.path, versions: modelVersions, limit,
                    MigrationObserver(telling: onProgress, isCancelled: { false }))
            }
            try reopen(store, at: url)
            try result.get()
        }
    }

    private func reopen(_ store: PersistentStore, at url: URL) throws {
        let opened = try ObjectStore(
            url.path, model: managedObjectModel, configuration: store.configurationName,
            busyTimeout: store.options.busyTimeout)
        try opened.configure(store.options)
        try objects.add(opened)
        exchange(
            store,
            for: PersistentStore(
                opened, url: url, type: store.type, configuration: store.configurationName, options: store.options))
    }
}
