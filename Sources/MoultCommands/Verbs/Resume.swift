import MoultEngine
import MoultModel
import MoultReport
import MoultSystem

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
        let store = try invocation.required(Operand.store)
        let leftOutside = try invocation.migrator.leftOutside(store)
        let outcome = try invocation.migrator.recover(store)
        let isMissing = try !POSIXSystem().exists(store)
        if isMissing, outcome == .undone {
            console.print(["format": 1, "recovery": .string(outcome.rawValue)]) { _ in
                ["The new store was not finished. What was left of it is removed. Run the same command again."]
            }
            return .done
        }
        if invocation[value: .model] != nil || invocation.registry.models != nil {
            return try migrate(invocation, console)
        }
        console.print(["format": 1, "recovery": .string(outcome.rawValue)]) { _ in
            switch outcome {
            case .nothing: ["No run was left unfinished."]
            case .undone:
                ["The run had not committed. The store is unchanged. Run the same command again."]
                    + (leftOutside.map { [$0.printable] } ?? [])
            case .replaced:
                [
                    "The run was to restore a backup, but another store is there now. It is unchanged.",
                    "Run moult rollback again to restore the backup; the current store is backed up first.",
                ]
            case .completed: ["The run had committed: the store is the new one."]
            }
        }
        return .done
    }
}
