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
        let backup = try invocation.migrator.backup(named: invocation[value: to], of: store) {
            try invocation.versionsIfKnown(console)
        }
        return try restore(backup, invocation, console)
    }

    private static let to = Option.value(
        "to", "BACKUP|VERSION",
        "The backup to restore: its name or path, or a version, whose newest backup is then restored.")

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
