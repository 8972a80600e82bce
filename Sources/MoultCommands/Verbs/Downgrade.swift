import MoultModel
import MoultReport
import MoultTools

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
        try invocation.requireModel()
        let keeper = try invocation.keeper { try invocation.versions(console) }
        let report = try ProgressDisplay.during(console) {
            try keeper.downgrade(
                to: invocation[value: target], answers: { try invocation.answers(for: $0, console) },
                isRehearsal: invocation[.dryRun], $0, noticed: console.say)
        }
        if let backup = report.backup, invocation[restores], !invocation[.dryRun] {
            console.say(report.lines.joined(separator: "\n"))
            return try restore(invocation, console) { try $0.restore(backup, $1) }
        }
        console.print(report.document) { _ in report.lines }
        return [.backup, .impossible].contains(report.way) ? .refused : .done
    }

    private static let target = Option.value(
        "to", "VERSION",
        "The version to go back to; by default the model's current version, or the newest if none is marked as "
            + "current.")
    private static let restores = Option.flag(
        "restore", "Restore the backup if nothing else helps; the current state is backed up first.")
}
