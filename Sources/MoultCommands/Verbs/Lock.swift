import MoultTools

extension Verb {
    static let lock = Verb(
        "lock", "Pin every version of a model in moult.lock, so that a released one cannot change unnoticed.",
        discussion: """
            Run it when you release a version, and commit moult.lock. The file also records the order of the versions
            and the current one. If a locked version has changed, the command is refused. If that version was never
            released, --again locks it again.
            An app's own tool that provides the model keeps the lock in the folder in which the tool runs.
            With --check nothing is written, and the exit code is 1 if the model and the lock differ.
            """,
        operands: [.model],
        options: [
            .checking("the model and the lock file differ, or if there is no lock file", before: "Write nothing. "),
            again, .order,
        ],
        examples: ["moult lock Forum.xcdatamodeld", "moult lock Forum.xcdatamodeld --check"]
    ) { invocation, console in
        let bundle = try invocation.operandBundle(console)
        let report =
            try invocation[.check]
            ? LockReport(checking: bundle) : LockReport(locking: bundle, again: invocation[again])
        console.print(report)
        return report.findings.isEmpty ? .done : .findings
    }

    private static let again = Option.flag("again", "Lock a version again even if it has changed since it was locked.")
}

extension Option {
    static let check = checking("there is something to report")

    /// `--check` of a verb that says when it exits with 1.
    static func checking(_ condition: String, before: String = "") -> Option {
        flag("check", "\(before)Exit with 1 if \(condition).")
    }
}
