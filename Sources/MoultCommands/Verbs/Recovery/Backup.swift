import Moult
import MoultBasics
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
        subverbs: [createBackup, listBackups, verifyBackups, restoreBackup, exportBackup, importBackup, pruneBackups])

    private static let createBackup = Verb(
        "create", "Back up a store.",
        discussion: "An app may have the store open and write to it. The backup holds its state at one moment.",
        operands: [.store], options: [.model, .order, .backups, .events],
        examples: ["moult backup create forum.sqlite --model Forum.xcdatamodeld"]
    ) { invocation, console in
        let keeper = try invocation.keeper { try invocation.versionsIfKnown(console) }
        let backup = try ProgressDisplay.during(console) { try keeper.backUp($0) }
        return console.print(["format": 1, "backup": backup.document]) { _ in
            ["\(backup.name): \(Quantity.bytes(backup.bytes)), verified."]
        }
    }

    private static let listBackups = Verb(
        "list", "List the backups of a store, oldest first.", operands: [.store], options: [.backups],
        examples: ["moult backup list forum.sqlite"]
    ) { invocation, console in
        let backups = try invocation.keeper().backups()
        return console.print(backups.document) { backups.lines(style: $0) }
    }

    private static let verifyBackups = Verb(
        "verify", "Check that backups still match their manifests.", discussion: "Exits with 1 if one does not.",
        operands: [.store, name], options: [.backups, .events], examples: ["moult backup verify forum.sqlite"]
    ) { invocation, console in
        let found = try invocation.keeper().verifyBackups(named: invocation[name])
        console.print(found.document) { found.lines(style: $0) }
        return found.isSound ? .done : .findings
    }

    private static let restoreBackup = Verb(
        "restore", "Restore a backup in place of the store; the current state is backed up first.",
        operands: [.store, Operand("BACKUP", "The backup's name or path.", completes: .nothing)],
        options: [.model, .order, .backups, .events],
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
        return console.print(["format": 1, "removed": JSONValue(gone.map(\.name))]) { _ in
            gone.isEmpty ? ["Nothing was removed."] : gone.map { "Removed \($0.name)." }
        }
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

extension Verb {
    static let exportBackup = Verb(
        "export", "Export a backup into a folder or an archive, and verify the result.",
        discussion: """
            If the path ends with .tar, the result is an archive that any tar can read; otherwise it is a folder. The
            backup is verified before it is copied, and the copy before it gets its name.
            """,
        operands: [.store, backupName, Operand("PATH", "The result; nothing may exist there.")], options: [.backups],
        examples: [
            "moult backup export forum.sqlite \"$(moult backup list forum.sqlite | tail -1 | cut -d' ' -f1)\" forum.tar"
        ]
    ) { invocation, console in
        let keeper = try invocation.keeper()
        let backup = try keeper.backup(named: try invocation.required(backupName))
        let path = try invocation.required(Operand("PATH", ""))
        try keeper.export(backup, to: path)
        return console.print(["format": 1, "exported": backup.document, "path": .string(path)]) { _ in
            ["\(backup.name) is in \(path.printable), verified."]
        }
    }

    static let importBackup = Verb(
        "import", "Import an exported backup, or a store that was copied by hand.",
        discussion: """
            A store in WAL mode must be imported with its WAL (the file that ends with -wal). The main file alone is
            refused, unless you give --was-closed. It is also refused if the WAL next to it belongs to another state of
            the store. In both cases rows would be missing, although SQLite reports no error.
            """,
        operands: [.store, Operand("PATH", "An exported folder or archive (.tar), or a store's file.")],
        options: [wasClosed, .model, .order, .backups],
        examples: ["moult backup import forum.sqlite ./forum.sqlite --was-closed"]
    ) { invocation, console in
        let keeper = try invocation.keeper { try invocation.versionsIfKnown(console) }
        let backup = try keeper.importBackup(
            try invocation.required(Operand("PATH", "")), wasClosed: invocation[wasClosed])
        return console.print(["format": 1, "backup": backup.document]) { _ in ["Imported \(backup.name), verified."] }
    }

    private static let backupName = Operand("BACKUP", "The backup's name or path.", completes: .nothing)
    private static let wasClosed = Option.flag(
        "was-closed",
        "Accept a store without its WAL: the app had closed it before it was copied, so the WAL was empty.")

    static let rollback = Verb(
        "rollback", "Restore the backup of the last migration, or the one that you name.",
        discussion: """
            The backup is verified first, and the current state is backed up. The rows of the restored store are counted
            and compared with the manifest. A backup that was made by hand or imported is restored only if you name it; a
            newer one is named in the answer. Without --backups, Moult looks next to the store and in the folders that its
            history names.
            """,
        operands: [.store, wanted], options: [to, .model, .order, .backups, .events],
        examples: ["moult rollback forum.sqlite", "moult rollback forum.sqlite Forum"]
    ) { invocation, console in
        if let name = invocation[wanted], let other = invocation[value: to], name != other {
            throw invocation.wrong("\(name) and --to \(other) exclude each other: only one backup can be restored.")
        }
        let name = invocation[wanted] ?? invocation[value: to]
        return try restore(invocation, console) { try $0.rollback(to: name, $1) }
    }

    private static let wanted = Operand(
        "BACKUP",
        "The backup to restore: its name or path, or a version, whose newest backup is then restored. By default, that "
            + "of the last run that changed the store.", isOptional: true, completes: .nothing)
    private static let to = Option.value("to", "BACKUP", "The same as BACKUP.")

    /// Runs a rollback and prints its report.
    static func restore(
        _ invocation: Invocation, _ console: Console, _ body: (StoreKeeper, MigrationObserver) throws -> RollbackReport
    ) throws -> ExitCode {
        let keeper = try invocation.keeper { try invocation.versionsIfKnown(console) }
        let report = try ProgressDisplay.during(console) { try body(keeper, $0) }
        return console.print(report.document) { report.lines(style: $0) }
    }

    static let downgrade = Verb(
        "downgrade", "Bring a store back to an older version.",
        discussion: """
            If every value of the store has a place in the older version, the store is migrated back: backed up, changed
            on a copy, verified. If something would be lost, the downgrade is refused. The message lists the losses, the
            newest backup of the older version, and what was written since that backup. --restore restores that backup.
            The renaming identifiers and answers of the way forward tell what becomes of what. If the older version
            requires a value that the objects do not have, an answer gives one: moult answer MODEL --from NEWER --to
            OLDER --set PLACE=value:VALUE. Data that the migration to the newer version lost is listed too, with the backup that holds it and the
            command that restores that backup. While the work of a deferred migration is pending, the older version is
            restored from the data still in the store. --dry-run changes nothing. If the model does not have the store's
            version, the model inside the store is used.
            """,
        operands: [.store], options: [target, .model, .answers, restores, .dryRun, .backups, .order],
        examples: ["moult downgrade forum.sqlite --to Forum --model Forum.xcdatamodeld --dry-run"]
    ) { invocation, console in
        try invocation.requireModel()
        let keeper = try invocation.keeper { try invocation.versions(console) }
        let report = try ProgressDisplay.during(console) {
            try keeper.downgrade(
                to: invocation[value: target], answers: { try invocation.answers(for: $0, console) },
                isRehearsal: invocation[.dryRun], $0, noticed: console.say)
        }
        if let backup = report.backup, invocation[restores], !invocation[.dryRun] {
            console.say(report.lines.joined(separator: "\n"))
            return try restore(invocation, console) { try $0.restore(backup, $1) }
        }
        console.print(report.document) { _ in report.lines }
        return [.backup, .impossible].contains(report.way) ? .refused : .done
    }

    private static let target = Option.value(
        "to", "VERSION",
        "The version to go back to; by default the model's current version, or the newest if none is marked as "
            + "current.")
    private static let restores = Option.flag(
        "restore", "Restore the backup if nothing else helps; the current state is backed up first.")
}
