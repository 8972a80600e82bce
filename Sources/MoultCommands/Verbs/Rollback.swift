import MoultEngine
import MoultModel
import MoultReport
import MoultSystem

extension Verb {
    static let rollback = Verb(
        "rollback", "Put back the store as it was before: the backup of the last migration, or the one that is named.",
        discussion: """
            The backup is proven first, and the present state is backed up before it goes. The restored store's rows are
            counted against the backup's manifest.
            """,
        operands: [.store], options: [to, .model, .order, .backups],
        examples: ["moult rollback forum.sqlite", "moult rollback forum.sqlite --to Forum"]
    ) { invocation, console in
        let store = try invocation.required(Operand.store)
        return try restore(try backup(of: store, invocation), invocation, console)
    }

    private static let to = Option.value("to", "BACKUP|VERSION", "A backup, or a version: the newest backup of it.")

    /// The backup that `--to` names, by its own name or as the newest of a version; else the one that the last
    /// migration made, else the newest.
    private static func backup(of store: String, _ invocation: Invocation) throws -> StoreBackup {
        let folder = try invocation.migrator.backups(of: store)
        let all = try folder.list()
        guard let wanted = invocation[value: to] else {
            let migrations = try invocation.runs(of: store).filter { $0.operation == .migrate && $0.result == .done }
            try checkHasBackup(migrations.last, store)
            let last = migrations.last?.backup.flatMap { name in all.first { $0.name == name } }
            return try last ?? folder.newest()
        }
        if wanted.contains("/") || all.contains(where: { $0.name == wanted }) {
            return try folder.backup(named: wanted)
        }
        return try folder.newest(ofVersion: wanted)
    }

    /// A deferred migration makes no backup, for nothing is gone before its work is done; an older one would take back
    /// more than it.
    private static func checkHasBackup(_ last: RunRecord?, _ store: String) throws {
        guard let last, last.backup == nil, Migrator().hasDeferredWork(store) else { return }
        throw MigrationError(
            .deferredWork, "The last migration has made no backup: what it left is still in the store.", place: store,
            remedy: "Use moult downgrade --to \(last.from), or name a backup with --to.")
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
            if let folder = outcome.setAside { lines.append("What was there could not be read; it lies in \(folder).") }
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
