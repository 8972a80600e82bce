import MoultModel
import MoultReport
import MoultTools

extension Verb {
    static let changelog = Verb(
        "changelog", "Print the history of a model in words, version by version, as Markdown.",
        discussion: """
            The newest version comes first. Changes that may lose data are marked. Redirect the output to a file to keep
            it with the model.
            """,
        operands: [.model], options: [.answers, .order],
        examples: [
            "moult changelog Forum.xcdatamodeld", "moult changelog Forum.xcdatamodeld --json",
        ]
    ) { invocation, console in
        let bundle = try invocation.operandBundle(console)
        console.say(bundle.findings)
        let versions = ModelVersions(oneByOne: bundle)
        let steps = try versions.steps(answers: try invocation.answers(for: versions, console))
        let report = ChangelogReport(versions, steps)
        console.print(report.document) { _ in report.lines.map(\.printable) }
        return .done
    }
}
