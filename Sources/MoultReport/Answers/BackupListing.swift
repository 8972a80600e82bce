import MoultEngine
import MoultModel
import MoultSystem

/// The backups of a store, oldest first, those that cannot be used among them.
package struct BackupListing: Sendable {
    package let backups: [StoreBackup]
    /// The folder for the store's backups; others were made with other options.
    private let standardFolder: String?

    package init(_ folders: [BackupFolder], of store: String) throws {
        backups = try folders.all(of: store)
        standardFolder = folders.first?.folder
    }

    package var readable: [StoreBackup] { backups.filter { $0.error == nil } }
    package var unreadable: [StoreBackup] { backups.filter { $0.error != nil } }

    package var document: JSONValue {
        [
            "format": 1, "backups": .array(readable.map(\.document)), "unreadable": JSONValue(unreadable.map(\.name)),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        let others = unreadable.flatMap { backup in
            ["\(style.red("unreadable")) \(backup.name)"] + (backup.error?.lines(style: style) ?? [])
        }
        let backups = readable
        if backups.isEmpty { return others.isEmpty ? ["There are no backups."] : others }
        let isElsewhere = backups.contains { Path.folder(of: $0.folder) != standardFolder }
        var table = TextTable(
            [
                .left("backup"), .left("version"), .left("made"), .left("for"), .right("size"), .right("rows"),
            ] + (isElsewhere ? [.left("folder")] : []))
        for backup in backups {
            table.add(
                backup.name, backup.version, backup.manifest.createdAt.iso8601, backup.reason ?? "",
                Quantity.bytes(Int(clamping: backup.bytes)), Quantity.count(Int(clamping: backup.rowCount)),
                Path.folder(of: backup.folder))
        }
        return table.lines(style: style) + others
    }
}

extension StoreBackup {
    /// The rows of all tables together.
    package var rowCount: Int64 { rows.values.reduce(0, +) }

    package var document: JSONValue {
        [
            "name": .string(name), "folder": .string(folder), "version": .string(version),
            "createdAt": .string(manifest.createdAt.iso8601WithMilliseconds), "size": .integer(bytes),
            "rows": .integer(rowCount), "uuid": .string(manifest.uuid), "sha256": .string(sha256),
            "externalFiles": JSONValue(externalFiles), "reason": JSONValue(reason), "tool": .string(manifest.tool),
        ]
    }
}
