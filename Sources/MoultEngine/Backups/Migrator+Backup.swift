import MoultModel
import MoultSQLite
import MoultStore
import MoultSystem

extension Migrator {
    /// Makes and verifies a backup; the store is not changed.
    ///
    /// A store that another process has open, and writes to, is backed up anyway: one state of it, through SQLite. What
    /// an earlier run left is recovered where no process has the store open.
    ///
    /// - Throws: `locked` while another run of Moult changes the store, or where a writer does not release it.
    package func backUp(
        _ store: String, version: String, for reason: StoreBackup.Manifest.Reason = .request,
        _ observer: MigrationObserver = .none
    ) throws -> StoreBackup {
        let path = try StoreProbe.checkFile(store, system)
        try Preflight.checkFile(path, system)
        let observer = observer.timed(
            by: RunEstimate(restoring: 0, over: try system.status(of: path)?.size ?? 0), system)
        let backup = try exclusively(path, version, reason, observer) ?? besideWriters(path, version, reason, observer)
        MigrationLog(Sidecar(store: path), system).append("Made the backup \(backup.name).")
        observer.report(.backup, 1, bytes: backup.manifest.size)
        return backup
    }

    /// Imports an exported backup, or a store that was copied by hand, as a backup of a store that may be gone.
    ///
    /// - Throws: `locked` while another run of Moult changes the store; as ``BackupFolder/take(_:version:wasClosed:)``.
    package func importBackup(
        _ path: String, for store: String, version: String = "", wasClosed: Bool = false
    ) throws -> StoreBackup {
        let sidecar = try sidecar(of: store)
        if try system.exists(sidecar.store) { try StoreProbe.checkKind(sidecar.store, system) }
        try sidecar.make(system)
        let owner = try RunOwner.take(sidecar, system)
        return try withExtendedLifetime(owner) {
            let folder = try backups(of: store)
            try folder.removeDrafts(of: sidecar)
            // Of a store that is gone the sidecar still knows who could read it.
            let rights: FileRights = try system.exists(sidecar.store) ? sidecar.rights : .like(sidecar.folder)
            let backup = try folder.take(path, version: version, wasClosed: wasClosed, rights)
            MigrationLog(sidecar, system).append("Imported the backup \(backup.name).")
            return backup
        }
    }

    /// Nil if somebody has the store open.
    private func exclusively(
        _ path: String, _ version: String, _ reason: StoreBackup.Manifest.Reason, _ observer: MigrationObserver
    ) throws -> StoreBackup? {
        let lock: StoreLock
        do {
            lock = try StoreLock(path, system, patience: min(options.patience, 250))
        } catch let error as MigrationError where error.code == .locked {
            return nil
        }
        defer { lock.release() }
        _ = try Recovery.heal(lock, system, keepsPaused: true)
        return try backups(of: path).make(of: lock, version: version, for: reason, observer)
    }

    /// Core Data writes a file before the row that names it is committed, and removes one after: the files of the state
    /// that is copied are there when it begins, and the copy counts once none of them went away in the meantime.
    private func besideWriters(
        _ path: String, _ version: String, _ reason: StoreBackup.Manifest.Reason, _ observer: MigrationObserver
    ) throws -> StoreBackup {
        let folder = try backups(of: path)
        let support = Sidecar(store: path).support
        for _ in 0..<5 {
            let before = try externalFiles(support)
            let lock = try StoreLock(reading: path, system, patience: max(options.patience, 5_000))
            let draft: BackupFolder.Draft
            do {
                defer { lock.release() }
                try folder.removeDrafts(of: lock.sidecar)
                let files = try before.union(externalFiles(support))
                draft = try folder.draft(
                    of: lock, version: version, for: reason, copyingExternalData: true, observer)
                let copied = try externalFiles(Path.join(draft.folder, Path.name(of: support)))
                guard files.isSubset(of: copied) else {
                    folder.discard(draft)
                    continue
                }
            } catch let error as MigrationError where error.code == .fileNotFound {
                continue
            }
            return try folder.proven(draft)
        }
        throw MigrationError(
            .locked, "Another process kept removing files of external data while they were copied.", place: path,
            remedy: "Close the app that uses the store, or try again when it is less busy.")
    }

    private func externalFiles(_ support: String) throws -> Set<String> {
        try system.exists(support) ? Set(system.files(below: support)) : []
    }
}
