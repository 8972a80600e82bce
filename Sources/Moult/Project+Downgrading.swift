import MoultCare
import MoultEngine
import MoultModel
import MoultReport

extension Project {
    /// Brings a store back to an older version. If every value of the store has a place there, the store is migrated
    /// back; otherwise nothing is changed, and the report has the losses and the newest backup of that version, which
    /// ``restore(_:to:options:)`` restores.
    ///
    /// The report's errors: `usage` for a version that is newer than the store's; `storeUnknown`, `noPath`, `locked`,
    /// `insufficientStorage`; `cancelled`, `migrationFailed`, `verificationFailed` with the store as it was.
    ///
    /// - Parameters:
    ///   - store: the store's path.
    ///   - version: the name of the older version; nil for the current one.
    ///   - isRehearsal: whether to do everything on a copy that is not kept.
    ///   - options: how the store is changed.
    public func downgrade(
        _ store: String, to version: String? = nil, isRehearsal: Bool = false, options: RunOptions = RunOptions()
    ) -> StoreTask<DowngradeReport> {
        task("downgrade", store) { observer, _ in
            let migrator = options.migrator()
            if !isRehearsal { try migrator.healed(store) }
            let downgrade = try StoreDowngrade(
                store, versions: versions, to: version, answers: answers, migrator: migrator)
            switch downgrade.way {
            case .mapping(let migration), .leftovers(let migration):
                let outcome = try perform(migration, on: store, isRehearsal: isRehearsal, migrator, observer)
                return DowngradeReport(downgrade, outcome)
            case .none, .backup, .impossible:
                return DowngradeReport(downgrade, nil)
            }
        }
    }
}

/// The result of bringing a store back to an older version.
public struct DowngradeReport: Sendable {
    /// The cases exclude each other.
    public enum Way: String, Sendable, Hashable, CaseIterable {
        /// The store is of that version already.
        case none
        /// The reverse mapping loses nothing.
        case mapping
        /// The data that a deferred migration has left in the store takes its place again.
        case leftovers
        /// Only a backup restores it.
        case backup
        /// Something would be lost, and there is no sound backup of that version.
        case impossible
    }

    /// The losses of one earlier run on the way to the store's version.
    public struct EarlierLoss: Sendable {
        /// The name of the run in the store's history.
        public let run: String
        /// The losses of the run, counted.
        public let losses: [MigrationLoss]
        /// Objects of it that are still in the quarantine.
        public let quarantined: Int64
        /// The backup that holds what was lost; nil if there is none any more.
        public let backup: StoreBackup?
    }

    /// The changes to the objects of one entity since the backup, counted.
    public struct Change: Sendable, Hashable {
        /// The name of the entity.
        public let entityName: String
        /// Objects that were inserted.
        public let inserted: Int64
        /// Objects that were updated.
        public let updated: Int64
        /// Objects that were deleted.
        public let deleted: Int64
    }

    /// The name of the store's version before.
    public let from: String
    /// The name of the older version.
    public let to: String
    /// The way in which the store goes back.
    public let way: Way
    /// The losses that going back by a mapping would cause, in one sentence each; empty if there are none.
    public let losses: [String]
    /// The findings about the store on the way back that cost no data.
    public let findings: [Finding]
    /// The losses of the migrations to the store's version. Only a backup has what was lost.
    public let earlierLosses: [EarlierLoss]
    /// The newest sound backup of the older version, if only a backup restores it.
    public private(set) var backup: StoreBackup?
    /// The changes since that backup, by entity.
    public private(set) var writtenSince: [Change] = []
    /// The name of the run in the store's history; nil if nothing was changed.
    public let run: String?
    /// The backup of the state before; nil if nothing was changed.
    public let saved: StoreBackup?

    init(_ downgrade: StoreDowngrade, _ outcome: MigrationOutcome?) {
        (from, to, losses, findings) = (downgrade.from, downgrade.to, downgrade.losses, downgrade.findings)
        earlierLosses = downgrade.earlierLosses.map {
            EarlierLoss(
                run: $0.run.run, losses: $0.losses, quarantined: $0.run.quarantined,
                backup: $0.backup.map(StoreBackup.init))
        }
        (run, saved) = (outcome?.run, outcome?.backup.map(StoreBackup.init))
        switch downgrade.way {
        case .none: way = .none
        case .mapping: way = .mapping
        case .leftovers: way = .leftovers
        case .impossible: way = .impossible
        case .backup(let newest, let changes):
            way = .backup
            backup = StoreBackup(newest)
            writtenSince = changes.map {
                Change(entityName: $0.entity, inserted: $0.inserted, updated: $0.updated, deleted: $0.deleted)
            }
        }
    }
}
