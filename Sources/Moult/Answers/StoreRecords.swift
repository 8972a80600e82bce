import MoultBasics
import MoultEngine
import MoultModel

/// The backups of a store, oldest first, including unusable ones.
package struct BackupListing: Sendable {
    package let backups: [StoreBackup]
    /// The standard folder for the store's backups; backups elsewhere were made with other options.
    private let standardFolder: String?

    package init(_ folders: [BackupFolder], of store: String) throws {
        backups = try folders.all(of: store)
        standardFolder = folders.first?.folder
    }

    package var readable: [StoreBackup] { backups.filter { $0.error == nil } }
    package var unreadable: [StoreBackup] { backups.filter { $0.error != nil } }

    package var document: JSONValue {
        ["format": 1, "backups": .array(readable.map(\.document)), "unreadable": JSONValue(unreadable.map(\.name))]
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
                Quantity.bytes(backup.bytes), Quantity.count(backup.rowCount), Path.folder(of: backup.folder))
        }
        return table.lines(style: style) + others
    }
}

extension StoreBackup {
    /// The total number of rows in all tables.
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

/// The result of verifying backups: those that match their manifests, and the errors of the others.
package struct BackupVerification: Sendable {
    /// Each backup that was verified, with its error; nil if it is sound.
    package let checked: [(name: String, error: MigrationError?)]

    package init(_ checked: [(name: String, error: MigrationError?)]) { self.checked = checked }

    package var isSound: Bool { checked.allSatisfy { $0.error == nil } }

    package var document: JSONValue {
        let backups = checked.map { name, error in
            JSONValue.object(
                [.init("name", .string(name)), .init("sound", .bool(error == nil))]
                    + (error.map { [.init("error", $0.document["error"] ?? .null)] } ?? []))
        }
        return ["format": 1, "backups": .array(backups)]
    }

    package func lines(style: TextStyle) -> [String] {
        if checked.isEmpty { return ["There are no backups."] }
        return checked.flatMap { name, error in
            error.map { ["\(style.red("damaged")) \(name)"] + $0.lines(style: style) }
                ?? ["\(style.green("sound")) \(name)"]
        }
    }
}

extension RollbackReport {
    package var document: JSONValue {
        [
            "format": 1, "run": .string(run), "restored": restored.document, "saved": saved?.document ?? .null,
            "setAside": JSONValue(setAside), "seconds": .double(seconds),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        let version = restored.version.isEmpty ? "" : " (\(restored.version.printable))"
        var lines = ["Restored \(restored.name)\(version) in \(Quantity.duration(seconds))."]
        if let saved { lines.append("What was there is kept as the backup \(saved.name).") }
        if let setAside { lines.append("What was there could not be read. It is in \(setAside).") }
        return lines
    }
}

extension MoveReport {
    package var document: JSONValue {
        [
            "format": 1, "outcome": .string(outcome.rawValue), "run": .string(run), "to": .string(destination),
            "backup": backup?.document ?? .null, "bytes": .integer(bytes), "seconds": .double(seconds),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        let place = destination.printable
        guard outcome == .moved else { return ["The store has already been moved to \(place)."] }
        var lines = ["Moved the store to \(place) in \(Quantity.duration(seconds)), verified."]
        if let backup { lines.append("The backup \(backup.name) is kept at the old place.") }
        if let untidied { lines.append("The next call tidies up the old place. \(untidied.message)") }
        return lines
    }
}

/// The runs on a store, oldest first, and the unreadable part of its history.
package struct RunListing: Sendable {
    package let runs: [StoreRun]
    package let unreadable: RunHistory.Unreadable?

    package var document: JSONValue {
        ["format": 1, "runs": .array(runs.map(\.document)), "unreadable": JSONValue(unreadable?.count ?? 0)]
    }

    package func lines(style: TextStyle) -> [String] {
        let warnings =
            unreadable.map {
                [style.red(String(advice: "\($0.sentence) \(.log) prints what is known in words."))]
            } ?? []
        if runs.isEmpty { return unreadable == nil ? ["There are no runs of this store yet."] : warnings }
        var table = TextTable([
            .left("started"), .left("what"), .left("from"), .left("to"), .left("result"), .right("rows"),
            .right("time"), .left("backup"),
        ])
        for run in runs {
            table.add(
                run.startTime, run.operation.verb, run.from, run.to, run.result.rawValue,
                Quantity.count(run.rows), Quantity.duration(run.seconds), run.backup ?? "")
        }
        let losses = runs.flatMap { run in
            run.losses.map { "\(style.red("!")) \(run.startTime) \($0.sentence.printable)" }
        }
        let removals = runs.flatMap { run in
            run.removed.map { "\(run.startTime) \(BackupFolder.removal(of: $0))".printable }
        }
        let remarks = losses + removals
        return warnings + table.lines(style: style) + (remarks.isEmpty ? [] : [""]) + remarks
    }
}

extension StoreRun.Operation {
    /// The command for the operation, as a person types it.
    fileprivate var verb: String {
        switch self {
        case .validate: String(advice: "validate \(option: .fix)")
        case .quarantine: "quarantine restore"
        case .migrate, .rollback, .finish, .repair, .downgrade, .move: rawValue
        }
    }
}

extension StoreRun {
    package var document: JSONValue {
        [
            "run": .string(run), "operation": .string(operation.rawValue), "result": .string(result.rawValue),
            "from": .string(from), "to": .string(to), "startedAt": .string(startTime), "endedAt": .string(endTime),
            "seconds": .double(seconds), "rows": .integer(rows), "bytes": .integer(bytes), "backup": JSONValue(backup),
            "backups": JSONValue(backups), "error": JSONValue(error), "quarantined": .integer(quarantined),
            "fixed": .integer(fixed), "losses": .array(losses.map(\.document)), "removedBackups": JSONValue(removed),
        ]
    }
}

/// The result of recovering a run whose process died.
package struct RecoveryReport: Sendable {
    package let outcome: RecoveryOutcome
    /// Whether the run was making a new store, of which nothing is left.
    package let isOfNewStore: Bool
    /// A sentence about effects that code may have had outside the store; nil for none.
    package let leftOutside: String?

    package var document: JSONValue { ["format": 1, "recovery": .string(outcome.rawValue)] }

    package func lines(style: TextStyle) -> [String] {
        switch outcome {
        case .undone where isOfNewStore:
            ["The new store was not finished. What was left of it is removed. Run the same command again."]
        case .nothing: ["No run was left unfinished."]
        case .undone:
            ["The run had not committed. The store is unchanged. Run the same command again."]
                + (leftOutside.map { [$0.printable] } ?? [])
        case .replaced:
            [
                "The run was to restore a backup, but another store is there now. It is unchanged.",
                String(advice: "Run \(.rollback) again to restore the backup; the current store is backed up first."),
            ]
        case .completed: ["The run had committed: the store is the new one."]
        }
    }
}
