import MoultModel
import MoultSQLite
import MoultStore
import MoultSystem

extension Migrator {
    /// Makes and verifies a backup of a store that is open, in this process or another: SQLite copies it next to those
    /// who read, and those who write wait in the meantime. Only connections touch the file, so that no locks are
    /// lost.
    ///
    /// - Throws: `locked` if another run of Moult has the store, or somebody does not end writing.
    package func backUpOpen(_ store: String, _ observer: MigrationObserver = .none) throws -> StoreBackup {
        let path = try system.resolve(store)
        let sidecar = Sidecar(store: path)
        try sidecar.make(system)
        let right = try RunOwner.take(sidecar, system)
        return try withExtendedLifetime(right) {
            // A connection that writes cannot be copied from: one keeps the others from writing, and one reads.
            let guardian = try Connection(path, mode: .readWrite, busyTimeout: options.patience)
            defer { guardian.close() }
            try guardian.execute("BEGIN IMMEDIATE")
            defer { _ = try? guardian.execute("ROLLBACK") }
            let reader = try Connection(path, mode: .readOnly, busyTimeout: options.patience)
            defer { reader.close() }
            let version = try StoreSnapshot(reader).metadata.versionIdentifiers.first ?? ""
            let folder = try backups(of: path)
            try folder.removeDrafts(of: sidecar)
            let backup = try folder.proven(
                folder.draft(
                    of: reader, named: Path.name(of: path), beside: path, version: version, for: .request,
                    copyingExternalData: true, .like(path), observer))
            MigrationLog(sidecar, system).append("Made the backup \(backup.name) of the open store.")
            return backup
        }
    }
}
