import MoultEngine
import MoultModel
import MoultReport

extension Verb {
    static let resume = Verb(
        "resume", "Finish what an interrupted run began: heal the store, and migrate it if it is still the old one.",
        discussion: """
            Without --model the store is healed only: a run that died after its commit is completed, one that died before
            it is undone, and what it left is removed.
            """,
        operands: [.store], options: migrateOptions,
        examples: ["moult resume forum.sqlite", "moult resume forum.sqlite --model Forum.xcdatamodeld"]
    ) { invocation, console in
        let store = try invocation.required(Operand.store)
        let leftOutside = try invocation.migrator.leftOutside(store)
        let outcome = try invocation.migrator.recover(store)
        if invocation[value: .model] != nil || invocation.registry.models != nil {
            return try migrate(invocation, console)
        }
        console.print(["format": 1, "recovery": .string(outcome.rawValue)]) { _ in
            switch outcome {
            case .nothing: ["No run was left unfinished."]
            case .undone:
                ["The run had not committed: the store is as it was. Run the same command again."]
                    + (leftOutside.map { [$0.printable] } ?? [])
            case .replaced:
                [
                    "The run was to restore a backup, and another store has been put in its place since: it is as it was.",
                    "Run moult rollback again for the backup; what is there is backed up first.",
                ]
            case .completed: ["The run had committed: the store is the new one."]
            }
        }
        return .done
    }
}
