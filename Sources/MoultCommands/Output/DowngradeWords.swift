import MoultCare
import MoultEngine
import MoultModel
import MoultReport

/// The text that `moult downgrade` prints.
struct DowngradeWords {
    private let downgrade: StoreDowngrade
    private let model: String?
    private let console: Console
    /// The names of the backups that the retention policy let go.
    var pruned: [String] = []

    /// The names of the backups whose manifest cannot be read.
    private let unreadable: [String]

    private var from: String { downgrade.from }
    private var to: String { downgrade.to }
    private var losses: [String] { downgrade.losses }

    init(_ downgrade: StoreDowngrade, _ invocation: Invocation, _ console: Console) {
        (self.downgrade, self.console, model) = (downgrade, console, invocation[value: .model])
        let folder = (try? invocation.required(Operand.store)).flatMap { try? invocation.migrator.backups(of: $0) }
        unreadable = (try? folder?.contents().unreadable.map(\.name)) ?? []
    }

    // MARK: - JSON

    var document: JSONValue {
        var members: [JSONValue.Member] = [
            .init("format", 1), .init("from", .string(from)), .init("to", .string(to)),
            .init("losses", JSONValue(losses)),
            .init("earlierLosses", .array(downgrade.earlierLosses.map(document))),
            .init("wayForwardKnown", .bool(downgrade.isWayForwardKnown)),
            .init("findings", .array(downgrade.findings.map(\.document))),
            .init("prunedBackups", JSONValue(pruned)),
        ]
        switch downgrade.way {
        case .none: members.append(.init("way", "none"))
        case .mapping: members.append(.init("way", "mapping"))
        case .leftovers: members.append(.init("way", "leftovers"))
        case .impossible: members.append(.init("way", "impossible"))
        case .backup(let backup, let since):
            members += [
                .init("way", "backup"), .init("backup", .string(backup.name)),
                .init("writtenSince", .array(since.map(\.document))),
            ]
        }
        return .object(members)
    }

    private func document(_ earlier: EarlierLosses) -> JSONValue {
        [
            "run": .string(earlier.run.run), "startedAt": .string(earlier.run.startedAt),
            "from": .string(earlier.run.from), "to": .string(earlier.run.to),
            "losses": .array(earlier.losses.map(\.document)), "quarantined": .integer(earlier.run.quarantined),
            "backup": JSONValue(earlier.backup?.name), "backupStore": JSONValue(earlier.backup?.store),
            "restore": JSONValue(earlier.backup.map(restoring)),
            "show": JSONValue(earlier.backup.map(showing)),
        ]
    }

    // MARK: - Text

    func lines(isRehearsed: Bool) -> [String] {
        way(isRehearsed: isRehearsed) + earlier + pruned.map(BackupFolder.removal)
    }

    private func way(isRehearsed: Bool) -> [String] {
        switch downgrade.way {
        case .none: return []
        case .mapping:
            let dropped = downgrade.findings.filter { $0.code == "object-dropped" }.map { "! \($0.message)" }
            let what = dropped.isEmpty ? (no: "nothing", No: "Nothing") : (no: "no data", No: "No data")
            return [
                isRehearsed
                    ? "Going back from \(from) to \(to) would lose \(what.no): rehearsed and verified on a copy."
                    : "The store is of \(to) again. \(what.No) was lost."
            ] + dropped
        case .leftovers:
            return isRehearsed
                ? ["The leftovers of the deferred migration would restore \(to): rehearsed on a copy."]
                : ["The store is of \(to) again, restored from the leftovers of the deferred migration."]
        case .backup(let backup, let since):
            return ["Going from \(from) to \(to) would lose something:"] + losses.map { "  \($0)" } + [
                "The backup \(backup.name) of \(backup.manifest.createdAt.iso8601) is of \(to). Written since:"
            ] + (since.isEmpty ? ["  nothing"] : since.map { "  \($0.sentence)" }) + [
                console.advised(
                    "moult downgrade --to \(to.shellQuoted) --restore restores it; the current state is kept as a backup."
                )
            ]
        case .impossible:
            return ["Going from \(from) to \(to) would lose something:"] + losses.map { "  \($0)" } + [
                console.advised(
                    (unreadable.isEmpty
                        ? "There is no sound backup of \(to)."
                        : "There is no backup of \(to) that can be read. Of "
                            + "\(unreadable.joined(separator: ", ")) the manifest cannot be read: "
                            + "moult backup verify says why.")
                        + " Use the newer program, or moult dump to extract what you need."
                )
            ]
        }
    }

    /// Lines about earlier losses, or a line that says that nothing is known of them.
    private var earlier: [String] {
        if case .none = downgrade.way { return [] }
        guard downgrade.isWayForwardKnown || !downgrade.earlierLosses.isEmpty else {
            return [
                "It is not known whether the migration to \(from) lost anything: the store has no history of it."
            ]
        }
        return downgrade.earlierLosses.flatMap(lines)
    }

    private func lines(_ earlier: EarlierLosses) -> [String] {
        let run = earlier.run
        var lines: [String] = []
        if !earlier.losses.isEmpty {
            lines.append(
                "The migration from \(run.from) to \(run.to) at \(run.startedAt) lost something that is still missing:")
            lines += earlier.losses.map { "  \($0.sentence.printable)" }
            if let backup = earlier.backup {
                lines += [
                    "The backup \(backup.name), of \(backup.manifest.version.printable), holds it. This prints its objects:",
                    "  \(showing(backup))",
                    "This restores the whole store of that time; the current one is kept as a backup:",
                    "  \(restoring(backup))",
                ]
            } else {
                lines.append("No sound backup of that time is left. Moult cannot restore it.")
            }
        }
        if run.quarantined > 0 {
            lines += [
                "The migration from \(run.from) to \(run.to) put \(Quantity.count(run.quarantined, "object")) into the quarantine:",
                console.advised("  moult quarantine restore --run \(run.run.shellQuoted)"),
            ]
        }
        return lines
    }

    // MARK: - Commands

    private func restoring(_ backup: StoreBackup) -> String {
        console.advised("moult rollback --to \(backup.name.shellQuoted)")
    }

    private func showing(_ backup: StoreBackup) -> String {
        "moult dump \(backup.store.shellQuoted)" + (model.map { " --model \($0.shellQuoted)" } ?? "")
    }
}

extension ChangedObjects {
    fileprivate var document: JSONValue {
        [
            "entity": .string(entity), "inserted": .integer(inserted), "updated": .integer(updated),
            "deleted": .integer(deleted), "keys": .array(keys.map(JSONValue.integer)),
        ]
    }

    fileprivate var sentence: String {
        let parts = [(inserted, "new"), (updated, "changed"), (deleted, "deleted")].filter { $0.0 > 0 }
        let shown = keys.isEmpty ? "" : " (keys \(keys.map(String.init).joined(separator: ", "))…)"
        return "\(entity): " + parts.map { "\($0.0) \($0.1)" }.joined(separator: ", ") + shown
    }
}
