import MoultEngine
import MoultModel

/// The result of a call that does the work left by a deferred migration.
public struct FinishReport: Sendable {
    /// The tasks that were done, in one sentence each.
    public var done: [String] { tasksDone.map(\.sentence) }
    /// The tasks that are still to be done.
    public var left: [String] { tasksLeft.map(\.sentence) }
    /// The backup that was made before values were dropped; nil if none was needed.
    public let backup: StoreBackup?
    /// The losses that the tasks have caused, counted.
    public let losses: [MigrationLoss]
    /// The time that the call took.
    public var duration: Duration { .seconds(seconds) }
    /// Whether nothing is left.
    public var isFinished: Bool { tasksLeft.isEmpty }

    private let tasksDone: [DeferredWork.Task]
    private let tasksLeft: [DeferredWork.Task]
    private let seconds: Double

    init(_ outcome: DeferredOutcome) {
        tasksDone = outcome.done.map(DeferredWork.Task.init)
        tasksLeft = outcome.left.map(DeferredWork.Task.init)
        (backup, losses, seconds) = (outcome.backup, outcome.losses, outcome.seconds)
    }

    package var document: JSONValue {
        [
            "format": 1, "finished": .bool(isFinished), "done": .array(tasksDone.map(\.document)),
            "left": .array(tasksLeft.map(\.document)), "longestUnit": .double(tasksLeft.longestUnit),
            "losses": .array(losses.map(\.document)), "backup": JSONValue(backup?.name), "seconds": .double(seconds),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        var lines = done.map { style.green("Done: ") + $0.printable }
        lines += losses.map { "\(style.red("!")) \($0.sentence.printable)" }
        if let backup { lines.append("What was there is kept as the backup \(backup.name).") }
        guard isFinished else { return lines + tasksLeft.lines(style: style) }
        return lines + [
            done.isEmpty
                ? "There is no deferred work in this store."
                : "All deferred work is done: \(Quantity.duration(seconds))."
        ]
    }
}
