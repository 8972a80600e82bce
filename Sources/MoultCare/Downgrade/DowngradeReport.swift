import Moult
import MoultBasics
import MoultEngine
import MoultModel

/// The result of bringing a store back to an older version.
public struct DowngradeReport: Sendable {
    /// The way back; exactly one case applies.
    public enum Way: String, Sendable, Hashable, CaseIterable, Codable {
        /// The store already is of that version.
        case none
        /// The reverse mapping loses nothing.
        case mapping
        /// The columns and tables that a deferred migration has left in the store are used again.
        case leftovers
        /// Only a backup restores the older version.
        case backup
        /// Data would be lost, and there is no sound backup of that version.
        case impossible
    }

    /// The losses of one earlier run on the way to the store's version.
    public typealias EarlierLoss = EarlierLosses
    /// The changes to the objects of one entity since the backup, counted.
    public typealias Change = ChangedObjects

    private let downgrade: StoreDowngrade
    private let outcome: MigrationOutcome?
    /// The names of the backups whose manifest cannot be read.
    private let unreadable: [String]

    /// - Parameters:
    ///   - outcome: nil if nothing was changed.
    ///   - unreadable: the names of the backups whose manifest cannot be read.
    init(_ downgrade: StoreDowngrade, _ outcome: MigrationOutcome?, unreadable: [String]) {
        (self.downgrade, self.outcome, self.unreadable) = (downgrade, outcome, unreadable)
    }

    /// The name of the store's version before the downgrade.
    public var from: String { downgrade.from }
    /// The name of the older version.
    public var to: String { downgrade.to }
    /// The way in which the store goes back.
    public var way: Way {
        switch downgrade.way {
        case .none: .none
        case .mapping: .mapping
        case .leftovers: .leftovers
        case .backup: .backup
        case .impossible: .impossible
        }
    }
    /// The losses that going back by a mapping would cause, in one sentence each.
    public var losses: [String] { downgrade.losses }
    /// The findings about the store on the way back that involve no loss.
    public var findings: [Finding] { downgrade.findings }
    /// The losses of the migrations that led to the store's version. Only a backup has the lost data.
    public var earlierLosses: [EarlierLoss] { downgrade.earlierLosses }
    /// The newest sound backup of the older version, if only a backup restores it.
    public var backup: StoreBackup? { if case .backup(let backup, _) = downgrade.way { backup } else { nil } }
    /// The changes since that backup, by entity.
    public var writtenSince: [Change] { if case .backup(_, let since) = downgrade.way { since } else { [] } }
    /// The name of the run in the store's history; nil if nothing was changed.
    public var run: String? { outcome?.run }
    /// The backup of the store before the downgrade; nil if nothing was changed.
    public var saved: StoreBackup? { outcome?.backup }
    /// The names of the backups that the retention policy removed.
    public var prunedBackups: [String] { outcome?.pruned ?? [] }

    // MARK: - JSON

    package var document: JSONValue {
        var members: [JSONValue.Member] = [
            .init("format", 1), .init("from", .string(from)), .init("to", .string(to)),
            .init("losses", JSONValue(losses)), .init("earlierLosses", .array(earlierLosses.map { $0.document })),
            .init("wayForwardKnown", .bool(downgrade.isWayForwardKnown)),
            .init("findings", .array(findings.map(\.document))), .init("prunedBackups", JSONValue(prunedBackups)),
            .init("way", .string(way.rawValue)),
        ]
        if let backup {
            members += [
                .init("backup", .string(backup.name)), .init("writtenSince", .array(writtenSince.map(\.document))),
            ]
        }
        return .object(members)
    }
}

extension EarlierLosses {
    fileprivate var document: JSONValue {
        [
            "run": .string(run.run), "startedAt": .string(run.startTime), "from": .string(run.from),
            "to": .string(run.to), "losses": .array(losses.map(\.document)), "quarantined": .integer(quarantined),
            "backup": JSONValue(backup?.name), "backupStore": JSONValue(backup?.store),
            "restore": JSONValue(backup.map(\.restoring)), "show": JSONValue(backup.map(\.showing)),
        ]
    }
}

extension ChangedObjects {
    fileprivate var document: JSONValue {
        [
            "entity": .string(entityName), "inserted": .integer(inserted), "updated": .integer(updated),
            "deleted": .integer(deleted), "keys": .array(keys.map(JSONValue.integer)),
        ]
    }

    fileprivate var sentence: String {
        let parts = [(inserted, "new"), (updated, "changed"), (deleted, "deleted")].filter { $0.0 > 0 }
        let shown = keys.isEmpty ? "" : " (keys \(keys.map(String.init).joined(separator: ", "))…)"
        return "\(entityName): " + parts.map { "\($0.0) \($0.1)" }.joined(separator: ", ") + shown
    }
}

// MARK: - Text

extension DowngradeReport {
    package var lines: [String] {
        if way == .none { return ["The store is already of \(to)."] }
        return wayLines + earlierLines + prunedBackups.map(BackupFolder.removal)
    }

    private var wayLines: [String] {
        let isRehearsed = outcome == nil
        let lost = ["Going from \(from) to \(to) would lose something:"] + losses.map { "  \($0)" }
        switch downgrade.way {
        case .none: return []
        case .mapping:
            let dropped = findings.filter { $0.code == "object-dropped" }.map { "! \($0.message)" }
            let what = dropped.isEmpty ? (no: "nothing", No: "Nothing") : (no: "no data", No: "No data")
            return [
                isRehearsed
                    ? "Going back from \(from) to \(to) would lose \(what.no): rehearsed and verified on a copy."
                    : "The store is of \(to) again. \(what.No) was lost."
            ] + dropped
        case .leftovers:
            return [
                isRehearsed
                    ? "The leftovers of the deferred migration would restore \(to): rehearsed on a copy."
                    : "The store is of \(to) again, restored from the leftovers of the deferred migration."
            ]
        case .backup(let backup, let since):
            return lost + [
                "The backup \(backup.name) of \(backup.manifest.createdAt.iso8601) is of \(to). Written since:"
            ] + (since.isEmpty ? ["  nothing"] : since.map { "  \($0.sentence)" }) + [
                String(
                    advice: """
                        \(.downgrade, .to(to), .restore) restores it; the current state is kept as a backup.
                        """)
            ]
        case .impossible:
            let reason: Remedy =
                unreadable.isEmpty
                ? "There is no sound backup of \(to)."
                : "There is no backup of \(to) that can be read. Of \(unreadable.joined(separator: ", ")) the manifest "
                    + "cannot be read: \(.verifyBackups) says why."
            return lost + [
                String(advice: reason + " Use the newer program, or \(.dump) to extract what you need.")
            ]
        }
    }

    /// Lines about earlier losses, or a line that says that they are unknown.
    private var earlierLines: [String] {
        guard downgrade.isWayForwardKnown || !earlierLosses.isEmpty else {
            return [
                "It is not known whether the migration to \(from) lost anything: the store has no history of it."
            ]
        }
        return earlierLosses.flatMap(\.lines)
    }
}

extension EarlierLosses {
    fileprivate var lines: [String] {
        var lines: [String] = []
        if !losses.isEmpty {
            lines.append(
                "The migration from \(run.from) to \(run.to) at \(run.startTime) lost something that is still missing:")
            lines += losses.map { "  \($0.sentence.printable)" }
            if let backup, let error = backup.error {
                lines.append(
                    String(
                        advice: "The backup \(backup.name) of that time could not be read, and may be whole: "
                            + "\(error.message.printable) \(.verifyBackups) reads it again."))
            } else if let backup {
                lines += [
                    "The backup \(backup.name), of \(backup.version.printable), holds it. This prints its objects:",
                    "  \(backup.showing)",
                    "This restores the whole store of that time; the current one is kept as a backup:",
                    "  \(backup.restoring)",
                ]
            } else {
                lines.append("No sound backup of that time is left. Moult cannot restore it.")
            }
        }
        if quarantined > 0 {
            lines += [
                "The migration from \(run.from) to \(run.to) put \(Quantity.count(quarantined, "object")) into the quarantine:",
                String(advice: "  \(.restoreQuarantined, .run(run.run))"),
            ]
        }
        return lines
    }
}

extension StoreBackup {
    /// The command that restores the backup.
    fileprivate var restoring: String { String(advice: "\(.rollback, .to(name))") }
    /// The command that prints the objects of the backup.
    fileprivate var showing: String { String(advice: "\(.dump, .store(store))") }
}
