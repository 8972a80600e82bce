import MoultModel
import MoultStore
import MoultSystem

extension Migrator {
    /// Recovers what a run that died left, before a store is looked at for another: what is found then is what is
    /// there, and where nothing is left to do, nothing of the dead run is left either.
    ///
    /// A store that another process has, or that cannot be written, stays as it is; what is done next refuses it.
    @discardableResult
    package func healed(_ store: String) throws -> RecoveryOutcome {
        guard try hasLeftovers(store) else { return .nothing }
        do {
            return try recover(store)
        } catch let error as MigrationError
            where [
                .locked, .readOnly, .hardLinked, .fileNotFound, .notAStore, .storeCorrupted, .metadataInvalid,
            ].contains(error.code)
        {
            return .nothing
        }
    }

    /// Whether a run that died, or one that is under way, has left anything but a migration that waits for its next call.
    package func hasLeftovers(_ store: String) throws -> Bool {
        let sidecar = try sidecar(of: store)
        guard try system.exists(sidecar.folder), try paused(store) == nil else { return false }
        if try system.exists(sidecar.journal) || Recovery.hasSpentJournal(sidecar, system) { return true }
        return try !leftovers(of: sidecar).isEmpty
    }

    /// Working folders, parts of records and unfinished backups.
    package func leftovers(of sidecar: Sidecar) throws -> [String] {
        guard try system.exists(sidecar.folder) else { return [] }
        let kept = MigrationCheckpoint.read(sidecar, system)
        let own = try system.list(sidecar.folder).filter { name in
            name.hasSuffix(".part")
                || name.hasPrefix("work-") && name != kept.map { Path.name(of: sidecar.work($0.run)) }
        }.map { Path.join(sidecar.folder, $0) }
        let backups = BackupFolder(options.backupFolder ?? sidecar.backups, system)
        return try own + backups.drafts(except: kept?.draft?.name)
    }

    /// The process that is changing the store now; nil if none is.
    ///
    /// - Returns: its number, nil if the system does not tell; and since when, where that is known.
    package func underWay(_ store: String) throws -> (process: Int32?, since: String?)? {
        let sidecar = try sidecar(of: store)
        guard try system.exists(sidecar.lock), try system.lock(sidecar.lock) == nil else { return nil }
        let owner = RunOwner(of: sidecar, system)
        return (owner.process, owner.since)
    }

    /// Whether the run that has not ended is known to have committed, so that what it put into the quarantine counts.
    package func hasCommitted(_ store: String) throws -> Bool {
        let sidecar = try sidecar(of: store)
        guard let journal = try? Journal.read(sidecar, system), journal.state == .committing,
            journal.restoredUUID == nil, try system.exists(store)
        else { return false }
        return try StoreProbe.read(store, system: system) { try Recovery.isNew(StoreState($0.connection), journal) }
    }
}
