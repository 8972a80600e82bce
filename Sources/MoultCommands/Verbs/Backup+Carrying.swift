import MoultModel
import MoultReport
import MoultTools

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
        console.print(["format": 1, "exported": backup.document, "path": .string(path)]) { _ in
            ["\(backup.name) is in \(path.printable), verified."]
        }
        return .done
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
        console.print(["format": 1, "backup": backup.document]) { _ in ["Imported \(backup.name), verified."] }
        return .done
    }

    private static let backupName = Operand("BACKUP", "The backup's name or path.", completes: .nothing)
    private static let wasClosed = Option.flag(
        "was-closed",
        "Accept a store without its WAL: the app had closed it before it was copied, so the WAL was empty.")
}
