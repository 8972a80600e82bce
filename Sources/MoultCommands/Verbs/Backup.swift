import Moult
import MoultModel
import MoultReport
import MoultSystem
import MoultTools

extension Verb {
    static let backup = Verb(
        "backup", "Make, list, verify, restore, export, import and prune backups of a store.",
        discussion: """
            A backup is a complete store in its own folder, with its original file names, made through SQLite and
            verified. A migration makes one before it changes the store; moult migrate --help names the exceptions.
            Without --backups, Moult looks next to the store and in the folders that earlier runs were given with
            --backups; prune looks only next to the store.
            """,
        subverbs: [
            createBackup, listBackups, verifyBackups, restoreBackup, exportBackup, importBackup, pruneBackups,
        ])

    private static let createBackup = Verb(
        "create", "Back up a store.",
        discussion: "An app may have the store open and write to it. The backup holds its state at one moment.",
        operands: [.store], options: [.model, .order, .backups],
        examples: ["moult backup create forum.sqlite --model Forum.xcdatamodeld"]
    ) { invocation, console in
        let keeper = try invocation.keeper { try invocation.versionsIfKnown(console) }
        let backup = try ProgressDisplay.during(console) { try keeper.backUp($0) }
        console.print(["format": 1, "backup": backup.document]) { _ in
            ["\(backup.name): \(Quantity.bytes(Int(clamping: backup.bytes))), verified."]
        }
        return .done
    }

    private static let listBackups = Verb(
        "list", "List the backups of a store, oldest first.", operands: [.store], options: [.backups],
        examples: ["moult backup list forum.sqlite"]
    ) { invocation, console in
        let backups = try invocation.keeper().backups()
        console.print(backups.document) { backups.lines(style: $0) }
        return .done
    }

    private static let verifyBackups = Verb(
        "verify", "Check that backups still match their manifests.",
        discussion: "Exits with 1 if one does not.", operands: [.store, name], options: [.backups],
        examples: ["moult backup verify forum.sqlite"]
    ) { invocation, console in
        let found = try invocation.keeper().verifyBackups(named: invocation[name])
        console.print(found.document) { found.lines(style: $0) }
        return found.isSound ? .done : .findings
    }

    private static let restoreBackup = Verb(
        "restore", "Restore a backup in place of the store; the current state is backed up first.",
        operands: [.store, Operand("BACKUP", "The backup's name or path.", completes: .nothing)],
        options: [.model, .order, .backups],
        examples: ["moult backup restore forum.sqlite \"$(moult backup list forum.sqlite | tail -1 | cut -d' ' -f1)\""]
    ) { invocation, console in
        let name = try invocation.required(Operand("BACKUP", ""))
        return try restore(invocation, console) { try $0.restore($0.backup(named: name), $1) }
    }

    private static let pruneBackups = Verb(
        "prune", "Remove old backups: keep all of the last week, then one per week up to a month.",
        discussion: """
            The newest sound backup is never removed. Without --keep-all, --keep-weekly and --minimum, the newest sound
            backup of each version, and the one that moult rollback would restore, are kept too: no newer backup holds
            what they hold.
            """,
        operands: [.store], options: [keepAll, keepWeekly, minimum, .backups],
        examples: ["moult backup prune forum.sqlite --keep-all 7 --keep-weekly 30 --minimum 3"]
    ) { invocation, console in
        let standard = RetentionPolicy()
        let isStandard = [keepAll, keepWeekly, minimum].allSatisfy { invocation[value: $0] == nil }
        let policy = RetentionPolicy(
            keepAllDays: try invocation.number(keepAll) ?? standard.keepAllDays,
            keepWeeklyDays: try invocation.number(keepWeekly) ?? standard.keepWeeklyDays,
            minimumCount: try invocation.number(minimum, atLeast: 1) ?? standard.minimumCount,
            keepsEachVersion: isStandard)
        let gone = try invocation.keeper().prune(policy)
        console.print(["format": 1, "removed": JSONValue(gone.map(\.name))]) { _ in
            gone.isEmpty ? ["Nothing was removed."] : gone.map { "Removed \($0.name)." }
        }
        return .done
    }

    private static let name = Operand(
        "BACKUP", "The backup's name or path; by default all backups.", isOptional: true, completes: .nothing)
    private static let keepAll = Option.value("keep-all", "DAYS", "Days to keep every backup; default 7.")
    private static let keepWeekly = Option.value("keep-weekly", "DAYS", "Days to keep one backup per week; default 30.")
    private static let minimum = Option.value("minimum", "N", "Number of backups to keep regardless of age; default 3.")
}

extension Option {
    package static let backups = value(
        "backups", "FOLDER", "The folder for backups; by default next to the store.", completes: .folders)
}
