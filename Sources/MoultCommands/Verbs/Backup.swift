import MoultEngine
import MoultModel
import MoultReport
import MoultSystem

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
        let store = try invocation.required(Operand.store)
        let version = try invocation.versionName(of: store, console)
        let progress = ProgressDisplay(console)
        defer { progress.end() }
        let backup = try invocation.migrator.backUp(store, version: version, for: .request, progress.observer)
        progress.end()
        console.print(["format": 1, "backup": backup.document]) { _ in
            ["\(backup.name): \(Quantity.bytes(Int(clamping: backup.manifest.size))), verified."]
        }
        return .done
    }

    private static let listBackups = Verb(
        "list", "List the backups of a store, oldest first.", operands: [.store], options: [.backups],
        examples: ["moult backup list forum.sqlite"]
    ) { invocation, console in
        let folders = try invocation.backupFolders(of: try invocation.required(Operand.store))
        let (backups, unreadable) = try folders.contents()
        let document: JSONValue = [
            "format": 1, "backups": .array(backups.map(\.document)), "unreadable": JSONValue(unreadable.map(\.name)),
        ]
        console.print(document) { style in
            let others = unreadable.flatMap { ["\(style.red("unreadable")) \($0.name)"] + $0.error.lines(style: style) }
            if backups.isEmpty { return others.isEmpty ? ["There are no backups."] : others }
            let isElsewhere = backups.contains { Path.folder(of: $0.folder) != folders.first?.folder }
            var table = TextTable(
                [
                    .left("backup"), .left("version"), .left("made"), .left("for"), .right("size"), .right("rows"),
                ] + (isElsewhere ? [.left("folder")] : []))
            for backup in backups {
                table.add(
                    backup.name, backup.manifest.version, backup.manifest.createdAt.iso8601,
                    backup.manifest.reason?.rawValue ?? "",
                    Quantity.bytes(Int(clamping: backup.manifest.size)), Quantity.count(Int(clamping: backup.rowCount)),
                    Path.folder(of: backup.folder))
            }
            return table.lines(style: style) + others
        }
        return .done
    }

    private static let verifyBackups = Verb(
        "verify", "Check that backups still match their manifests.",
        discussion: "Exits with 1 if one does not.", operands: [.store, name], options: [.backups],
        examples: ["moult backup verify forum.sqlite"]
    ) { invocation, console in
        let store = try invocation.required(Operand.store)
        let (folders, folder) = (try invocation.backupFolders(of: store), try invocation.migrator.backups(of: store))
        let (backups, unreadable) =
            try invocation[name].map { ([try folders.backup(named: $0)], []) } ?? folders.contents()
        var checked = backups.map { backup in
            (
                backup.name,
                Result { try folder.verify(backup, fromDrive: true) }.mapError { $0 as? MigrationError ?? .unknown($0) }
                    .failure
            )
        }
        checked += unreadable.map { ($0.name, $0.error) }
        let documents = checked.map { backup, error in
            JSONValue.object(
                [.init("name", .string(backup)), .init("sound", .bool(error == nil))]
                    + (error.map { [.init("error", $0.document["error"] ?? .null)] } ?? []))
        }
        console.print(["format": 1, "backups": .array(documents)]) { style in
            checked.isEmpty
                ? ["There are no backups."]
                : checked.flatMap { backup, error in
                    error.map { ["\(style.red("damaged")) \(backup)"] + $0.lines(style: style) }
                        ?? ["\(style.green("sound")) \(backup)"]
                }
        }
        return checked.allSatisfy { $0.1 == nil } ? .done : .findings
    }

    private static let restoreBackup = Verb(
        "restore", "Restore a backup in place of the store; the current state is backed up first.",
        operands: [.store, Operand("BACKUP", "The backup's name or path.", completes: .nothing)],
        options: [.model, .order, .backups],
        examples: ["moult backup restore forum.sqlite \"$(moult backup list forum.sqlite | tail -1 | cut -d' ' -f1)\""]
    ) { invocation, console in
        let store = try invocation.required(Operand.store)
        let name = try invocation.required(Operand("BACKUP", ""))
        let backup = try invocation.backupFolders(of: store).backup(named: name)
        return try restore(backup, invocation, console)
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
        let store = try invocation.required(Operand.store)
        _ = try invocation.backupFolders(of: store)
        let gone = try invocation.migrator.prune(store, policy)
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

extension StoreBackup {
    var rowCount: Int64 { manifest.rows.values.reduce(0, +) }

    var document: JSONValue {
        [
            "name": .string(name), "folder": .string(folder), "version": .string(manifest.version),
            "createdAt": .string(manifest.createdAt.iso8601WithMilliseconds), "size": .integer(manifest.size),
            "rows": .integer(rowCount), "uuid": .string(manifest.uuid), "sha256": .string(manifest.sha256),
            "externalFiles": JSONValue(manifest.externalFiles.count),
            "reason": JSONValue(manifest.reason?.rawValue), "tool": .string(manifest.tool),
        ]
    }
}

extension MigrationError {
    static func unknown(_ error: any Error) -> MigrationError {
        MigrationError(
            .internal, "Moult failed in an unknown way.", remedy: "Please report this.",
            cause: String(describing: error))
    }
}

extension Result {
    var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
