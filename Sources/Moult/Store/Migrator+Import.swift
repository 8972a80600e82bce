import MoultBasics
import MoultEngine
import MoultSQLite
import MoultStore

extension Migrator {
    /// Imports an exported backup, or a store that was copied by hand, as a backup of a store that may be gone.
    ///
    /// - Throws: `locked` while another Moult run changes the store; what ``BackupFolder/take(_:version:wasClosed:)``
    ///   throws.
    package func importBackup(
        _ path: String, for store: String, version: String = "", wasClosed: Bool = false
    ) throws -> StoreBackup {
        let sidecar = try sidecar(of: store)
        if try system.exists(sidecar.store) { try ReadOnlyStore.checkKind(sidecar.store, system) }
        try sidecar.make(system)
        let owner = try RunOwner.take(sidecar, system)
        return try withExtendedLifetime(owner) {
            let folder = try backups(of: store)
            try folder.removeDrafts(of: sidecar)
            // For a missing store, the sidecar still has its file rights.
            let rights: FileRights = try system.exists(sidecar.store) ? sidecar.rights : .like(sidecar.folder)
            let backup = try folder.take(path, version: version, wasClosed: wasClosed, rights)
            MigrationLog(sidecar, system).append("Imported the backup \(backup.name).")
            return backup
        }
    }
}
