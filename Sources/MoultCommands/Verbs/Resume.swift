import MoultModel
import MoultReport
import MoultSystem
import MoultTools

extension Verb {
    static let resume = Verb(
        "resume", "Finish an interrupted run: recover the store and, with --model, complete the migration.",
        discussion: """
            Without --model the store is only recovered: a run that died after its commit is completed, and one that
            died before it is undone. Leftover files are removed. With --model, the store is then migrated, unless it
            already is of the new version. STORE may also be the new store of an interrupted moult migrate --into. If
            that file does not exist yet, what is left of the run is removed.
            """,
        operands: [.store], options: migrateOptions,
        examples: ["moult resume forum.sqlite", "moult resume forum.sqlite --model Forum.xcdatamodeld"]
    ) { invocation, console in
        let report = try invocation.keeper().recover()
        if !report.isOfNewStore, invocation[value: .model] != nil || invocation.registry.models != nil {
            return try migrate(invocation, console)
        }
        console.print(report.document) { report.lines(style: $0) }
        return .done
    }
}
