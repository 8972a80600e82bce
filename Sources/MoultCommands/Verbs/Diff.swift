import MoultModel
import MoultReport

extension Verb {
    static let diff = Verb(
        "diff", "Print the differences between two versions of a model, one sentence per change.",
        discussion: """
            OLD and NEW are paths of models (a bundle stands for its current version), or with --model names of
            versions. Changes that do not change the version hash, which Core Data does not notice, are listed
            separately. Exits with 0; with --check, 1 if anything differs.
            """,
        operands: [old, new], options: [.model, .check, .answers, .order],
        examples: [
            "moult diff Forum \"Forum 3\" --model Forum.xcdatamodeld",
            "moult diff Forum.xcdatamodeld Forum.xcdatamodeld",
        ]
    ) { invocation, console in
        let (older, newer) = try versions(invocation, console)
        let diff = try DiffReport(from: older, to: newer, answers: try invocation.answers())
        console.print(diff.document) { diff.lines(style: $0) }
        return invocation[.check] && !diff.isEmpty ? .findings : .done
    }

    private static let old = Operand("OLD", "The older version: a model's path, or with --model a version's name.")
    private static let new = Operand("NEW", "The newer version, likewise.")
    private static func versions(
        _ invocation: Invocation, _ console: Console
    ) throws -> (ModelVersion, ModelVersion) {
        let names = (try invocation.required(old), try invocation.required(new))
        if let versions = try invocation.versionsIfKnown(console) {
            return try (
                invocation.version(named: names.0, in: versions), invocation.version(named: names.1, in: versions)
            )
        }
        let current = { (path: String) in
            try invocation.version(Verb.version, in: try invocation.versions(at: path, console))
        }
        return try (current(names.0), current(names.1))
    }
}
