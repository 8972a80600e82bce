import MoultEngine
import MoultModel
import MoultPlan
import MoultStore
import MoultSystem

extension Invocation {
    /// The engine, with the options that verbs have in common.
    var migrator: Migrator {
        var options = MigrationOptions(backupFolder: self[value: .backups], isFrugal: self[.frugal])
        if self[.again] { options.maximumAttempts = .max }
        return Migrator(options: options)
    }

    /// Recovers what a run that died left, for a verb that is about to change the store; a rehearsal changes nothing.
    func heal(_ store: String) throws {
        if !self[.dryRun] { try migrator.healed(store) }
    }

    /// What Moult keeps next to a store; the store itself may be gone, or damaged.
    ///
    /// - Throws: `fileNotFound` and `notAStore` if nothing is kept, no folder of backups is named, and no store is at
    ///   the path.
    func sidecar(of store: String) throws -> Sidecar {
        let system = POSIXSystem()
        let sidecar = try Sidecar(of: store, system)
        guard self[value: .backups] == nil, try !system.exists(sidecar.folder) else { return sidecar }
        do {
            _ = try StoreProbe.checkFile(store, system)
        } catch let error as MigrationError where error.code == .storeCorrupted {
            // Nothing was kept of it.
        }
        return sidecar
    }

    /// Where the backups of a store are: the folder that `--backups` names; otherwise the one next to the store, and
    /// those that its history names. The store may be gone.
    func backupFolders(of store: String) throws -> [BackupFolder] {
        let runs = try runs(of: store)
        let standard = try migrator.backups(of: store)
        guard self[value: .backups] == nil else { return [standard] }
        let known = Set(runs.compactMap(\.backups)).subtracting([standard.folder])
        return [standard] + known.sorted().map { BackupFolder($0) }
    }

    /// What was done to a store, oldest first.
    func runs(of store: String) throws -> [RunRecord] { try RunHistory(try sidecar(of: store)).records() }

    /// The name of a store's version: in the model that `--model` names, otherwise what a backup of the same version
    /// was called, otherwise what the store's metadata say; empty where nobody knows.
    func versionName(of store: String, _ console: Console) throws -> String {
        let snapshot = try StoreProbe.read(store) { try StoreSnapshot($0.connection) }
        if let versions = try versionsIfKnown(console) {
            let identifiers = snapshot.metadata.versionIdentifiers
            if let position = versions.position(matching: snapshot.hashes, identifiers: identifiers) {
                return versions.versions[position].name
            }
        }
        let hashes = snapshot.hashes.entities.mapValues(\.base64)
        if let known = try migrator.backups(of: store).list().last(where: { $0.manifest.versionHashes == hashes }) {
            return known.manifest.version
        }
        return snapshot.metadata.versionIdentifiers.first { !$0.isEmpty } ?? ""
    }

    /// The same, and empty for a store that cannot be read.
    func knownVersionName(of store: String, _ console: Console) -> String {
        (try? versionName(of: store, console)) ?? ""
    }
}
