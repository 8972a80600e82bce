import MoultBasics
import MoultEngine
import MoultModel
import MoultStore

/// The work that a migration defers, or the reasons why it defers none.
package struct DeferredWork: Sendable, Hashable {
    /// A deferred task: one transaction.
    package struct Task: Sendable, Hashable {
        let kind: String
        let name: String
        let table: String
        let columns: [String]
        let rows: Int64
        /// The size in bytes; nil if unknown.
        let bytes: Int64?
        let seconds: Double
        /// The effect of the task, in one sentence.
        package let sentence: String
    }

    /// The reasons why no work can be deferred; empty if some can.
    package let reasons: [String]
    /// Sentences about work that is not deferred although its time grows with the size of the store.
    let notes: [String]
    /// The deferred tasks.
    package let tasks: [Task]

    package var isPossible: Bool { reasons.isEmpty }

    package init(_ deferral: Deferral) {
        (reasons, notes, tasks) = (deferral.reasons, deferral.notes, deferral.tasks.map(Task.init))
    }
}

extension DeferredWork {
    package var document: JSONValue {
        [
            "possible": .bool(isPossible), "reasons": JSONValue(reasons), "notes": JSONValue(notes),
            "tasks": .array(tasks.map(\.document)), "longestUnit": .double(tasks.longestUnit),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        guard isPossible else {
            return ["Nothing can be deferred. Everything is done at once, on a copy:"]
                + reasons.map { "  \($0.printable)" }
        }
        let what = tasks.isEmpty ? "Done in place; nothing is deferred." : "Done in place; this is deferred:"
        return [what] + notes.map { "  at once: \($0.printable)" } + tasks.lines(style: style)
            + (tasks.isEmpty
                ? []
                : ["The longest piece that cannot be interrupted takes about \(Quantity.duration(tasks.longestUnit))."])
    }

    init?(_ json: JSONValue) {
        guard json["possible"] != nil else { return nil }
        reasons = json.texts("reasons")
        notes = json.texts("notes")
        tasks = json.list("tasks").map(Task.init)
    }
}

extension DeferredWork.Task {
    package init(_ task: DeferredTask) {
        self.init(
            kind: task.kind.rawValue, name: task.name, table: task.table, columns: task.columns, rows: task.rows,
            bytes: task.bytes, seconds: task.seconds, sentence: task.sentence)
    }

    package var document: JSONValue {
        [
            "kind": .string(kind), "name": .string(name), "table": .string(table), "columns": JSONValue(columns),
            "rows": .integer(rows), "bytes": bytes.map(JSONValue.integer) ?? .null, "seconds": .double(seconds),
            "sentence": .string(sentence),
        ]
    }

    fileprivate init(_ json: JSONValue) {
        self.init(
            kind: json.text("kind"), name: json.text("name"), table: json.text("table"),
            columns: json.texts("columns"), rows: json["rows"]?.integer ?? 0, bytes: json["bytes"]?.integer,
            seconds: json["seconds"]?.double ?? 0, sentence: json.text("sentence"))
    }
}

extension [DeferredWork.Task] {
    /// The time of the longest task in seconds.
    package var longestUnit: Double { map(\.seconds).max() ?? 0 }

    /// Returns a line for each task: its kind, rows, bytes and approximate time.
    package func lines(style: TextStyle) -> [String] {
        guard !isEmpty else { return [] }
        var table = TextTable([.left("  what waits"), .right("rows"), .right("bytes"), .right("about")])
        for task in self {
            table.add(
                "  " + task.sentence, Quantity.count(task.rows),
                task.bytes.map { Quantity.bytes($0) } ?? "", Quantity.duration(task.seconds))
        }
        return table.lines(style: style)
    }
}

// MARK: - Reading

extension JSONValue {
    /// Returns the elements of the member; empty if there is none.
    func list(_ key: String) -> [JSONValue] { self[key]?.array ?? [] }
    /// Returns the string of the member; empty if there is none.
    func text(_ key: String) -> String { self[key]?.string ?? "" }
    /// Returns the strings of the member; empty if there is none.
    func texts(_ key: String) -> [String] { list(key).compactMap(\.string) }
}

/// The result of a call that performs the work left by a deferred migration.
public struct FinishReport: Sendable {
    /// The finished tasks, in one sentence each.
    public var done: [String] { tasksDone.map(\.sentence) }
    /// The remaining tasks, in one sentence each.
    public var left: [String] { tasksLeft.map(\.sentence) }
    /// The backup made before values were dropped; nil if none was needed.
    public let backup: StoreBackup?
    /// The counted losses of the tasks.
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
