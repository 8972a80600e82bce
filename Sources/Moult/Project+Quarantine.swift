import MoultModel
import MoultReport

extension Project {
    /// The objects that runs took out of a store, oldest first. The store may be gone.
    ///
    /// - Parameters:
    ///   - store: the store's path.
    ///   - limit: how many to return at most.
    /// - Throws: `fileNotFound` if there is neither a store nor anything that Moult keeps of it; `locked` while a run
    ///   writes to the quarantine.
    public func quarantine(of store: String, limit: Int = 1_000) async throws -> [QuarantinedObject] {
        try await onThread { _ in try keeper(of: store).quarantine(limit: limit).objects }
    }

    /// Puts objects from the quarantine back into their store, where they fit the version that it has now: with their key
    /// if that is free, and with their links if their destinations exist. It works as a migration does. What does not fit
    /// stays in the quarantine.
    ///
    /// The report's errors: `usage` if the quarantine has no such object; `dataConflict` if none of them fits;
    /// `storeUnknown`, `cloudKit`, `deferredWork`, `locked`, `insufficientStorage`.
    ///
    /// - Parameters:
    ///   - store: the store's path.
    ///   - objects: which objects.
    ///   - isRehearsal: whether to do everything on a copy that is not kept.
    ///   - options: how the store is changed.
    public func restore(
        quarantined objects: QuarantineSelection, of store: String, isRehearsal: Bool = false,
        options: RunOptions = RunOptions()
    ) -> StoreTask<RestorationReport> {
        task("quarantine", store) { observer, _ in
            try keeper(of: store, options).restore(quarantined: objects, isRehearsal: isRehearsal, observer)
        }
    }
}
