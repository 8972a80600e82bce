import MoultModel
import MoultStore
import MoultSystem

/// Recovery of a restore that died where no sound store was (``StoreReplacement``).
extension Recovery {
    /// Undoes a restore that died before its commit, where SQLite has nothing to lock. One that had committed has left a
    /// sound store, which ``heal(_:_:keepsPaused:)`` is for.
    ///
    /// Whoever calls it holds the lock of the sidecar.
    ///
    /// - Parameter condition: of the store; it stays what it is.
    static func healUnsound(_ sidecar: Sidecar, _ condition: StoreCondition, _ system: any System) throws -> Outcome {
        if case .sound = condition { return .nothing }
        guard let journal = try readJournal(sidecar, system), journal.operation == .rollback else {
            // Of a run on a store that is no more.
            try removeLeftovers(sidecar, BackupFolder(sidecar.backups, system), system)
            return .nothing
        }
        return try conclude(journal, .undone, size: 0, sidecar, system)
    }

    /// Returns the outcome of a restore, judged by what it has left at the path.
    static func outcome(of condition: StoreCondition, _ journal: Journal) -> Outcome {
        guard case .sound(let uuid) = condition else { return .undone }
        return uuid == journal.restoredUUID ? .completed : .replaced
    }

    /// Puts back or keeps the files that a restore has set aside. They lie in its working folder until its outcome is
    /// known.
    static func settleAside(_ journal: Journal, _ outcome: Outcome, _ sidecar: Sidecar, _ system: any System) throws {
        guard journal.restoredUUID != nil else { return }
        let aside = sidecar.aside(journal.run)
        guard try system.exists(aside) else { return }
        guard outcome == .undone else { return try keepAside(journal.run, sidecar, system) }
        // Of a store that is there these are copies. Side files of one that was gone were moved.
        let name = Path.name(of: sidecar.store)
        if try system.exists(Path.join(aside, name)) { return }
        for suffix in StoreProbe.sideFileSuffixes {
            let (kept, path) = (Path.join(aside, name) + suffix, sidecar.store + suffix)
            guard try system.exists(kept) else { continue }
            // What another process has made there since is its own.
            do {
                try system.rename(kept, toUnused: path)
            } catch let error as MigrationError where error.code == .usage {
                continue
            }
        }
        try system.synchronise(Path.folder(of: sidecar.store))
    }

    /// Gives what was set aside its lasting place.
    static func keepAside(_ run: String, _ sidecar: Sidecar, _ system: any System) throws {
        guard try system.exists(sidecar.aside(run)) else { return }
        try system.makeFolder(sidecar.damaged)
        try system.synchronise(sidecar.folder)
        try system.rename(sidecar.aside(run), to: sidecar.setAside(run))
        try system.synchronise(sidecar.damaged)
    }
}

extension Sidecar {
    /// Returns the folder where a restore puts the files that were at the path, until it has committed.
    func aside(_ run: String) -> String { Path.join(work(run), "damaged") }

    /// Returns the folder where the files that were at the path of a store are kept once a backup has taken its place.
    func setAside(_ run: String) -> String { Path.join(damaged, run) }
}
