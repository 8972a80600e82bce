import MoultEngine
import MoultModel
import MoultReport

extension Verb {
    static let downgrade = Verb(
        "downgrade", "Bring a store that is ahead back to an older version.",
        discussion: """
            Where every value of the store has a place in the older version, it is migrated back: backed up, on a copy,
            verified. Where something would be lost that is refused, with what; then the newest backup of that version is
            named, with what was written since, and --restore puts it back. While the work of a deferred migration is
            pending, what it has left takes its place again. --dry-run changes nothing. A store of a
            version that the model does not have is read with the model that it carries.
            """,
        operands: [.store], options: [target, .model, .answers, restores, .dryRun, .backups, .order],
        examples: ["moult downgrade forum.sqlite --to Forum --model Forum.xcdatamodeld --dry-run"]
    ) { invocation, console in
        let store = try invocation.required(Operand.store)
        let migrator = invocation.migrator
        let downgrade = try StoreDowngrade(
            store, versions: try invocation.versions(console), to: invocation[value: target],
            answers: try invocation.answers(), migrator: migrator)
        switch downgrade.way {
        case .none:
            console.print(downgrade.document) { _ in ["The store is of \(downgrade.to) already."] }
            return .done
        case .mapping(let migration), .leftovers(let migration):
            let progress = ProgressDisplay(console)
            defer { progress.end() }
            if invocation[.dryRun] {
                _ = try migrator.rehearse(migration, on: store, progress.observer)
            } else {
                _ = try migrator.run(migration, on: store, progress.observer)
            }
            progress.end()
            console.print(downgrade.document) { _ in downgrade.lines(isRehearsed: invocation[.dryRun]) }
            return .done
        case .backup(let backup, _) where invocation[restores] && !invocation[.dryRun]:
            console.say(downgrade.lines(isRehearsed: false).joined(separator: "\n"))
            return try restore(backup, invocation, console)
        case .backup, .impossible:
            console.print(downgrade.document) { _ in downgrade.lines(isRehearsed: true) }
            return .refused
        }
    }

    private static let target = Option.value("to", "VERSION", "The older version; the current one by default.")
    private static let restores = Option.flag(
        "restore", "Put the backup back where only that helps; the present state is backed up first.")
}

extension StoreDowngrade {
    fileprivate var document: JSONValue {
        var members: [JSONValue.Member] = [
            .init("format", 1), .init("from", .string(from)), .init("to", .string(to)),
            .init("losses", JSONValue(losses)),
        ]
        switch way {
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

    fileprivate func lines(isRehearsed: Bool) -> [String] {
        switch way {
        case .none: return []
        case .mapping:
            return isRehearsed
                ? ["Nothing would be lost on the way from \(from) to \(to): rehearsed and verified on a copy."]
                : ["The store is of \(to) again, and nothing of it was lost."]
        case .leftovers:
            return isRehearsed
                ? ["What the deferred migration has left would bring \(to) back: rehearsed on a copy."]
                : ["The store is of \(to) again: what the deferred migration had left is in its place."]
        case .backup(let backup, let since):
            return ["Going from \(from) to \(to) would lose something:"] + losses.map { "  \($0)" } + [
                "The backup \(backup.name) of \(backup.manifest.createdAt.iso8601) is of \(to). Written since:"
            ] + (since.isEmpty ? ["  nothing"] : since.map { "  \($0.sentence)" }) + [
                "moult downgrade --restore puts it back; the present state is kept as a backup."
            ]
        case .impossible:
            return ["Going from \(from) to \(to) would lose something:"] + losses.map { "  \($0)" } + [
                "There is no sound backup of \(to). Use the newer program, or moult dump to take out what is needed."
            ]
        }
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
