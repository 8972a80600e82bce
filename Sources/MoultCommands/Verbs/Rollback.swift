import Moult
import MoultModel
import MoultReport
import MoultSystem
import MoultTools

extension Verb {
    static let rollback = Verb(
        "rollback", "Restore the backup of the last migration, or the one that you name.",
        discussion: """
            The backup is verified first, and the current state is backed up. The rows of the restored store are counted
            and compared with the manifest. Without --backups, Moult looks next to the store and in the folders that its
            history names.
            """,
        operands: [.store], options: [to, .model, .order, .backups],
        examples: ["moult rollback forum.sqlite", "moult rollback forum.sqlite --to Forum"]
    ) { invocation, console in
        let name = invocation[value: to]
        return try restore(invocation, console) { try $0.rollback(to: name, $1) }
    }

    private static let to = Option.value(
        "to", "BACKUP|VERSION",
        "The backup to restore: its name or path, or a version, whose newest backup is then restored.")

    /// Runs a rollback and prints what it has done.
    static func restore(
        _ invocation: Invocation, _ console: Console,
        _ body: (StoreKeeper, MigrationObserver) throws -> RollbackReport
    ) throws -> ExitCode {
        let keeper = try invocation.keeper { try invocation.versionsIfKnown(console) }
        let report = try ProgressDisplay.during(console) { try body(keeper, $0) }
        console.print(report.document) { report.lines(style: $0) }
        return .done
    }
}
