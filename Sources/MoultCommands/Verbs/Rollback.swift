import MoultEngine
import MoultModel
import MoultReport
import MoultSystem

extension Verb {
    static let rollback = Verb(
        "rollback", "Restore the backup of the last migration, or the one that you name.",
        discussion: """
            The backup is verified first, and the current state is backed up. The rows of the restored store are counted
            and compared with the manifest. Without --backups, Moult looks next to the store and in the folders that its
            history names.
            """,
        operands: [.store], options: [to, .model, .order, .backups],
        examples: ["moult rollback forum.sqlite", "moult rollback forum.sqlite --to Forum"]
    ) { invocation, console in
        let store = try invocation.required(Operand.store)
        return try restore(try backup(of: store, invocation, console), invocation, console)
    }

    private static let to = Option.value("to", "BACKUP|VERSION", "A backup, or a version for its newest backup.")

    /// The backup that `--to` names, by its own name or as the newest of a version; otherwise the one that the last run
    /// has made which changed the store, otherwise the newest.
    private static func backup(of store: String, _ invocation: Invocation, _ console: Console) throws -> StoreBackup {
        let folders = try invocation.backupFolders(of: store)
        let all = try folders.flatMap { try $0.list() }
        guard let wanted = invocation[value: to] else {
            let runs = try invocation.runs(of: store).filter {
                ![.rollback, .finish].contains($0.operation) && [.done, .recovered].contains($0.result)
            }
            try checkHasBackup(runs.last, store)
            let last = runs.last?.backup.flatMap { name in all.first { $0.name == name } }
            if let backup = last ?? newest(all) { return backup }
            throw noBackup("There is no backup of this store.", in: folders)
        }
        if wanted.contains("/") { return try folders.backup(named: wanted) }
        if let named = all.last(where: { $0.name == wanted }) { return named }
        // A backup whose version had no name when it was made is known by its hashes.
        let hashes = try? invocation.versionsIfKnown(console)?.versions.first { $0.names.contains(wanted) }?
            .hashes.entities.mapValues(\.base64)
        let matching = all.filter { backup in
            backup.manifest.version == wanted || hashes.map { $0 == backup.manifest.versionHashes } == true
        }
        if let backup = newest(matching) { return backup }
        throw noBackup("There is no backup \(wanted), and no backup of a version of that name.", in: folders)
    }

    private static func newest(_ backups: [StoreBackup]) -> StoreBackup? {
        backups.max { $0.manifest.createdAt < $1.manifest.createdAt }
    }

    private static func noBackup(_ message: String, in folders: [BackupFolder]) -> MigrationError {
        MigrationError(
            .backupNotFound, message, place: folders.map(\.folder).joined(separator: ", "),
            remedy: "moult backup list shows the backups. If they are elsewhere, name their folder with --backups.")
    }

    /// A deferred migration makes no backup, for nothing is gone before its work is done; an older one would take back
    /// more than it.
    private static func checkHasBackup(_ last: RunRecord?, _ store: String) throws {
        guard let last, last.backup == nil, Migrator().hasDeferredWork(store) else { return }
        throw MigrationError(
            .deferredWork, "The last migration made no backup: what it would drop is still in the store.", place: store,
            remedy: "Use moult downgrade --to \(last.from.shellQuoted), or name a backup with --to.")
    }

    static func restore(_ backup: StoreBackup, _ invocation: Invocation, _ console: Console) throws -> ExitCode {
        let store = try invocation.required(Operand.store)
        let progress = ProgressDisplay(console)
        defer { progress.end() }
        let outcome = try invocation.migrator.rollback(
            store, to: backup, currentVersion: invocation.knownVersionName(of: store, console), progress.observer)
        progress.end()
        console.print(outcome.document) { _ in
            let version = backup.manifest.version.isEmpty ? "" : " (\(backup.manifest.version.printable))"
            var lines = ["Restored \(backup.name)\(version) in \(Quantity.duration(outcome.seconds))."]
            if let saved = outcome.saved { lines.append("What was there is kept as the backup \(saved.name).") }
            if let folder = outcome.setAside { lines.append("What was there could not be read. It is in \(folder).") }
            return lines
        }
        return .done
    }
}

extension RollbackOutcome {
    var document: JSONValue {
        [
            "format": 1, "run": .string(run), "restored": restored.document, "saved": saved?.document ?? .null,
            "setAside": JSONValue(setAside), "seconds": .double(seconds),
        ]
    }
}
