import Moult
import MoultBasics

extension Verb {
    static let move = Verb(
        "move", "Move a store to another path, with everything that belongs to it.",
        discussion: """
            The external data, the history of runs, the quarantine and the earlier backups come along. A verified backup
            stays at the old path, with a record of where the store went: moult rollback with the old path restores the
            store there, and any other command says where it is. The store is refused if another process has it open.

            On one volume the store's file is renamed: at every moment exactly one of the two paths is the store. On
            another volume a compared copy gets the new path before the old file is removed. If the command is
            interrupted, the same command again ends the move, and so does the next command for either path.
            """,
        operands: [.store, destination], options: [.model, .order, .backups, .events],
        examples: ["moult move forum.sqlite moved.sqlite"]
    ) { invocation, console in
        let destination = try invocation.required(destination)
        let keeper = try invocation.keeper { try invocation.versionsIfKnown(console) }
        let report = try ProgressDisplay.during(console) { try keeper.move(to: destination, $0) }
        return console.print(report.document) { report.lines(style: $0) }
    }

    private static let destination = Operand(
        "DESTINATION", "The new path, at which nothing may exist; or a folder, in which the store keeps its name.")
}
