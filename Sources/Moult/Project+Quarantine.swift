import MoultEngine
import MoultModel
import MoultReport
import MoultTransform

extension Project {
    /// The objects that runs took out of a store, oldest first. The store may be gone.
    ///
    /// - Parameters:
    ///   - store: the store's path.
    ///   - limit: how many to return at most.
    /// - Throws: `fileNotFound` if there is neither a store nor anything that Moult keeps of it; `locked` while a run
    ///   writes to the quarantine.
    public func quarantine(of store: String, limit: Int = 1_000) async throws -> [QuarantinedObject] {
        try await onThread { _ in
            var objects: [QuarantinedObject] = []
            try Migrator().quarantine(of: store).forEachEntry { entry in
                if objects.count < limit { objects.append(QuarantinedObject(entry)) }
            }
            return objects
        }
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
            let migrator = options.migrator()
            if !isRehearsal { try migrator.healed(store) }
            let version = try versions.version(ofStore: store)
            // Nothing is left to do, as opposed to an object that is not there.
            if objects == .all, try migrator.quarantine(of: store).newest() == nil {
                return RestorationReport(MoultTransform.RestorationReport(), nil)
            }
            let restoration = try Restoration(of: objects.numbers, run: objects.run, into: store, at: version)
            let outcome = try perform(restoration.migration, on: store, isRehearsal: isRehearsal, migrator, observer)
            return RestorationReport(restoration.report, outcome)
        }
    }
}

/// Objects of a quarantine.
public enum QuarantineSelection: Sendable, Hashable {
    /// Every object.
    case all
    /// The objects with these numbers (``QuarantinedObject/id``).
    case objects([Int64])
    /// The objects that one run has removed, by the run's name.
    case run(String)

    var numbers: [Int64]? { if case .objects(let numbers) = self { numbers } else { nil } }
    var run: String? { if case .run(let name) = self { name } else { nil } }
}

/// An object that a run took out of a store.
public struct QuarantinedObject: Sendable, Hashable, Identifiable {
    /// Its number in the quarantine.
    public let id: Int64
    /// The name of the run that removed it.
    public let run: String
    /// When it was removed, in ISO 8601.
    public let time: String
    /// The name of its entity.
    public let entityName: String
    /// The primary key that it had.
    public let key: Int64
    /// The reason why it was removed.
    public let reason: String
    /// The rule or policy that removed it.
    public let origin: String
    /// Its values, as `moult quarantine show --json` prints them.
    public let json: String

    init(_ entry: Quarantine.Entry) {
        (id, run, time) = (entry.id, entry.run, entry.time)
        (entityName, key) = (entry.object.entity, entry.object.key)
        (reason, origin, json) = (entry.object.reason, entry.object.origin, entry.object.object)
    }
}

/// The result of restoring objects from the quarantine.
public struct RestorationReport: Sendable {
    /// An object that is in the store again.
    public struct Restored: Sendable, Hashable {
        /// Its number in the quarantine.
        public let id: Int64
        /// The name of its entity.
        public let entityName: String
        /// Its primary key now.
        public let key: Int64
        /// The key that it had, if another object has that now.
        public let oldKey: Int64?
        /// The links that were left out, because their destination is gone or belongs to another object.
        public let lostLinks: [String]
    }

    /// An object that stays in the quarantine.
    public struct Refused: Sendable, Hashable {
        /// Its number in the quarantine.
        public let id: Int64
        /// The name of its entity.
        public let entityName: String
        /// The primary key that it had.
        public let key: Int64
        /// The reason why it does not fit.
        public let reason: String
    }

    /// The objects that are in the store again, or would be.
    public let restored: [Restored]
    /// The objects that stay.
    public let refused: [Refused]
    /// The name of the run in the store's history; nil if nothing was changed.
    public let run: String?
    /// The backup to go back to; nil if nothing was changed.
    public let backup: StoreBackup?

    init(_ report: MoultTransform.RestorationReport, _ outcome: MigrationOutcome?) {
        restored = report.restored.map {
            Restored(
                id: $0.entry, entityName: $0.id.entityName, key: $0.id.key, oldKey: $0.oldKey, lostLinks: $0.lostLinks)
        }
        refused = report.refused.map {
            Refused(id: $0.entry, entityName: $0.entityName, key: $0.key, reason: $0.reason)
        }
        (run, backup) = (outcome?.run, outcome?.backup.map(StoreBackup.init))
    }
}
