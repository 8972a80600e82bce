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
                .left("backup"), .left("version"), .left("made"), .left("for"), .right("size"),
                .right("rows of all tables"),
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
            "newer": JSONValue(newer?.name), "setAside": JSONValue(setAside), "seconds": .double(seconds),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        let version = restored.version.isEmpty ? "" : " (\(restored.version.printable))"
        var lines = ["Restored \(restored.name)\(version) in \(Quantity.duration(seconds))."]
        if let saved { lines.append("What was there, with every later change, is kept as the backup \(saved.name).") }
        if let setAside { lines.append("What was there could not be read. It is in \(setAside).") }
        if let newer {
            lines.append(
                String(
                    advice: """
                        The backup \(newer.name) is newer, and no migration made it: \
                        \(.rollback, .to(newer.name)) restores it.
                        """))
        }
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
            .left("started"), .left("what"), .left("from"), .left("to"), .left("result"),
            .right("rows touched"), .right("time"), .left("backup"),
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
    /// The run; nil if there was none, or if nothing is known of it.
    let run: InterruptedRun?
    /// Whether the run was making a new store, of which nothing is left.
    package let isOfNewStore: Bool
    /// A sentence about effects that code may have had outside the store; nil for none.
    package let leftOutside: String?
    /// Whether an unfinished backup of no run was removed.
    let wasBackingUp: Bool

    package var document: JSONValue {
        [
            "format": 1, "recovery": .string(outcome.rawValue), "next": JSONValue(again.map { $0.text() }),
        ]
    }

    /// The use case that does the work again; nil if nothing is left to do, or if its settings are not known.
    private var again: Remedy? {
        switch outcome {
        case .nothing: wasBackingUp ? "\(.makeBackup)" : nil
        case .undone: isOfNewStore ? nil : run?.again
        case .replaced: run?.again ?? "\(.rollback)"
        case .completed: nil
        }
    }

    package func lines(style: TextStyle) -> [String] {
        let work = run?.work ?? "The run"
        switch outcome {
        case .undone where isOfNewStore:
            return ["The new store was not finished. What was left of it is removed. Run the same command again."]
        case .nothing where wasBackingUp:
            return ["No run was left unfinished. An unfinished backup is removed."] + next("To make the backup")
        case .nothing: return ["No run was left unfinished."]
        case .undone:
            let next = next("To begin it again")
            return ["\(work) had not committed. The store is unchanged."]
                + (next.isEmpty ? ["Run the same command again."] : next) + (leftOutside.map { [$0.printable] } ?? [])
        case .replaced:
            return ["The run was to restore a backup, but another store is there now. It is unchanged."]
                + next("To restore the backup, after a backup of the current store")
        case .completed: return ["\(work) had committed: the store is the new one."]
        }
    }

    /// Returns the words and the command that follows them, each on a line of its own.
    private func next(_ words: String) -> [String] {
        again.map { ["\(words):", "  \($0)"] } ?? []
    }
}

/// The result of finishing a run that had not ended.
public struct ResumeReport: Sendable, CustomStringConvertible {
    /// The outcome of the recovery.
    public let recovery: RecoveryOutcome
    /// The migration that was finished; nil if the run was other work, or if the migration could not be begun here.
    public let migration: MigrationReport?
    private let report: RecoveryReport?

    /// The outcome, and what does the work again if it was undone.
    public var description: String {
        migration?.description ?? report?.lines(style: .plain).joined(separator: "\n") ?? ""
    }

    package init(_ report: RecoveryReport) { (recovery, migration, self.report) = (report.outcome, nil, report) }

    package init(_ report: MigrationReport) { (recovery, migration, self.report) = (report.recovery, report, nil) }
}
