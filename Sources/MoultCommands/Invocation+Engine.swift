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

    /// What Moult keeps beside a store; the store itself may be gone.
    func sidecar(of store: String) throws -> Sidecar {
        let system = POSIXSystem()
        if try system.exists(store) { return Sidecar(store: try system.resolve(store)) }
        let sidecar = Sidecar(store: Path.join(try system.resolve(Path.folder(of: store)), Path.name(of: store)))
        guard try system.exists(sidecar.folder) else {
            throw MigrationError(
                .fileNotFound, "There is no store at the path.", place: store, remedy: "Check the path.")
        }
        return sidecar
    }

    /// What was done to a store, oldest first.
    func runs(of store: String) throws -> [RunRecord] { try RunHistory(try sidecar(of: store)).records() }

    /// The name of a store's version: in the model that `--model` names, else what a backup of the same version was
    /// called, else what the store's metadata say; empty where nobody knows.
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
