import MoultModel
import MoultReport
import MoultTools

extension Verb {
    static let finish = Verb(
        "finish", "Do the deferred work of a migration: drop columns and tables, reorder columns, create indexes.",
        discussion: """
            Each task is one transaction of the store. If the call is interrupted, each task is complete or not started,
            and the next call continues. Before the first task that drops values the store is backed up, unless you give
            --frugal. Until that task has run, moult downgrade brings the older version back. Without --model, the model
            inside the store is used.
            """,
        operands: [.store], options: [.model, one, .budget, .frugal, .backups, .order, .events],
        examples: ["moult finish forum.sqlite --one", "moult finish forum.sqlite --budget 5s"]
    ) { invocation, console in
        let keeper = try invocation.keeper { try invocation.versionsIfKnown(console) }
        let budget = try invocation.seconds(.budget)
        guard !(invocation[one] && budget != nil) else {
            throw invocation.wrong("--one and --budget exclude each other.")
        }
        let limit = budget.map(DeferredLimit.seconds) ?? (invocation[one] ? .one : .all)
        let report = try ProgressDisplay.during(console) { try keeper.finish(limit, $0) }
        console.print(report.document) { report.lines(style: $0) }
        return .done
    }

    private static let one = Option.flag("one", "Do the next task only.")
}

extension Option {
    static let budget = value("budget", "TIME", "The time that the call may take, such as 5s or 250ms.")
}

extension Invocation {
    /// A time such as `5s`, `250ms`, `2m` or `1.5`, in seconds; nil if the option was not given.
    ///
    /// - Throws: `usage` for what is no time. What is too short is the engine's to refuse.
    func seconds(_ option: Option) throws -> Double? {
        guard let text = self[value: option] else { return nil }
        for (suffix, factor) in [("ms", 0.001), ("min", 60), ("m", 60), ("s", 1), ("h", 3600), ("", 1)]
        where text.hasSuffix(suffix) {
            guard let number = Double(text.dropLast(suffix.count)), number.isFinite else { continue }
            return number * factor
        }
        throw wrong("--\(option.name) is \(text), which is not a time: write 5s, 250ms or 2min.")
    }
}
