import MoultEngine
import MoultModel
import MoultReport

extension Verb {
    static let downgrade = Verb(
        "downgrade", "Bring a store that is ahead back to an older version.",
        discussion: """
            Where every value of the store has a place in the older version, it is migrated back: backed up, on a copy,
            verified. Where something would be lost that is refused, with what; then the newest backup of that version is
            named, with what was written since, and --restore puts it back. What the way forward lost is printed too, with
            the backup that holds it and the command that brings it back. While the work of a deferred migration is
            pending, what it has left takes its place again. --dry-run changes nothing. A store of a
            version that the model does not have is read with the model that it carries.
            """,
        operands: [.store], options: [target, .model, .answers, restores, .dryRun, .backups, .order],
        examples: ["moult downgrade forum.sqlite --to Forum --model Forum.xcdatamodeld --dry-run"]
    ) { invocation, console in
        let store = try invocation.required(Operand.store)
        let migrator = invocation.migrator
        try invocation.heal(store)
        let versions = try invocation.versions(console)
        let downgrade = try StoreDowngrade(
            store, versions: versions, to: invocation[value: target],
            answers: try invocation.answers(for: versions, console), migrator: migrator)
        let words = DowngradeWords(downgrade, invocation, console)
        switch downgrade.way {
        case .none:
            console.print(words.document) { _ in ["The store is of \(downgrade.to) already."] }
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
            console.print(words.document) { _ in words.lines(isRehearsed: invocation[.dryRun]) }
            return .done
        case .backup(let backup, _) where invocation[restores] && !invocation[.dryRun]:
            console.say(words.lines(isRehearsed: false).joined(separator: "\n"))
            return try restore(backup, invocation, console)
        case .backup, .impossible:
            console.print(words.document) { _ in words.lines(isRehearsed: true) }
            return .refused
        }
    }

    private static let target = Option.value("to", "VERSION", "The older version; the current one by default.")
    private static let restores = Option.flag(
        "restore", "Put the backup back where only that helps; the present state is backed up first.")
}
