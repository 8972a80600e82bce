import MoultModel
import MoultStore

extension DeferredTask {
    package var document: JSONValue {
        [
            "kind": .string(kind.rawValue), "name": .string(name), "table": .string(table),
            "columns": JSONValue(columns), "rows": .integer(rows), "bytes": bytes.map(JSONValue.integer) ?? .null,
            "seconds": .double(seconds), "sentence": .string(sentence),
        ]
    }
}

extension [DeferredTask] {
    /// A line for each: what, rows, bytes and about how long.
    package func lines(style: TextStyle) -> [String] {
        guard !isEmpty else { return [] }
        var table = TextTable([.left("  what waits"), .right("rows"), .right("bytes"), .right("about")])
        for task in self {
            table.add(
                "  " + task.sentence, Quantity.count(Int(clamping: task.rows)),
                task.bytes.map { Quantity.bytes(Int(clamping: $0)) } ?? "", Quantity.duration(task.seconds))
        }
        return table.lines(style: style)
    }
}

extension Deferral {
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
}
