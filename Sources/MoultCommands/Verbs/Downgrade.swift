import MoultCare
import MoultEngine
import MoultModel
import MoultReport

extension Verb {
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
        let store = try invocation.required(Operand.store)
        try invocation.requireModel()
        let migrator = invocation.migrator
        try invocation.heal(store)
        let versions = try invocation.versions(console)
        let downgrade = try StoreDowngrade(
            store, versions: versions, to: invocation[value: target],
            answers: try invocation.answers(for: versions, console), migrator: migrator)
        var words = DowngradeWords(downgrade, invocation, console)
        console.say(downgrade.findings)
        switch downgrade.way {
        case .none:
            console.print(words.document) { _ in ["The store is already of \(downgrade.to)."] }
            return .done
        case .mapping(let migration), .leftovers(let migration):
            let progress = ProgressDisplay(console)
            defer { progress.end() }
            if invocation[.dryRun] {
                _ = try migrator.rehearse(migration, on: store, progress.observer)
            } else {
                words.pruned = try migrator.run(migration, on: store, progress.observer).pruned
            }
            progress.end()
            console.print(words.document) { [words] _ in words.lines(isRehearsed: invocation[.dryRun]) }
            return .done
        case .backup(let backup, _) where invocation[restores] && !invocation[.dryRun]:
            console.say(words.lines(isRehearsed: false).joined(separator: "\n"))
            return try restore(backup, invocation, console)
        case .backup, .impossible:
            console.print(words.document) { _ in words.lines(isRehearsed: true) }
            return .refused
        }
    }

    private static let target = Option.value(
        "to", "VERSION",
        "The version to go back to; by default the model's current version, or the newest if none is marked as "
            + "current.")
    private static let restores = Option.flag(
        "restore", "Restore the backup if nothing else helps; the current state is backed up first.")
}
