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

    /// Returns the sidecar of a store, the folder that Moult keeps next to it; the store itself may be gone, or
    /// damaged.
    func sidecar(of store: String) throws -> Sidecar { try migrator.records(of: store) }

    /// Returns the folders of a store's backups; the store may be gone.
    func backupFolders(of store: String) throws -> [BackupFolder] { try migrator.backupFolders(of: store) }

    /// Returns the runs that were made on a store, oldest first.
    func runs(of store: String) throws -> [RunRecord] { try migrator.runs(of: store) }

    /// The name of a store's version: in the model that `--model` names, otherwise what its backups or its metadata say;
    /// empty where that is not known.
    func versionName(of store: String, _ console: Console) throws -> String {
        try migrator.versionName(of: store) { try versionsIfKnown(console) }
    }

    /// The same, and empty for a store that cannot be read.
    func knownVersionName(of store: String, _ console: Console) -> String {
        (try? versionName(of: store, console)) ?? ""
    }
}
