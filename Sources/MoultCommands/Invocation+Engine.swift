import MoultEngine
import MoultModel
import MoultPlan
import MoultReport
import MoultStore
import MoultSystem

extension Invocation {
    /// The engine with the options of the arguments.
    var migrator: Migrator { get throws { try runOptions().migrator() } }

    /// What is done with the verb's store without a migration.
    ///
    /// - Parameter versions: asked only where the versions of the model are needed.
    func keeper(_ versions: @escaping @Sendable () throws -> ModelVersions? = { nil }) throws -> StoreKeeper {
        StoreKeeper(try required(Operand.store), try runOptions(), versions: versions)
    }

    /// Recovers what a run that died left, for a verb that is about to change the store; a rehearsal changes nothing.
    func heal(_ store: String) throws {
        if !self[.dryRun] { try migrator.healed(store) }
    }

    /// Returns the folders of a store's backups; the store may be gone.
    func backupFolders(of store: String) throws -> [BackupFolder] { try migrator.backupFolders(of: store) }

    /// Returns the runs that were made on a store, oldest first.
    func runs(of store: String) throws -> [StoreRun] { try migrator.runs(of: store) }

    /// The name of a store's version: in the model that `--model` names, otherwise what its backups or its metadata say;
    /// empty where that is not known, and for a store that cannot be read.
    func knownVersionName(of store: String, _ console: Console) -> String {
        (try? migrator.versionName(of: store) { try versionsIfKnown(console) }) ?? ""
    }
}
