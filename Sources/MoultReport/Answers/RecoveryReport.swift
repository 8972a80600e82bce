import MoultEngine
import MoultModel

/// The result of recovering a run whose process died.
package struct RecoveryReport: Sendable {
    package let outcome: RecoveryOutcome
    /// Whether the run was to make a new store, of which nothing is left.
    package let isOfNewStore: Bool
    /// A sentence about what code outside the store may have done; nil for none.
    package let leftOutside: String?

    package var document: JSONValue { ["format": 1, "recovery": .string(outcome.rawValue)] }

    package func lines(style: TextStyle) -> [String] {
        switch outcome {
        case .undone where isOfNewStore:
            ["The new store was not finished. What was left of it is removed. Run the same command again."]
        case .nothing: ["No run was left unfinished."]
        case .undone:
            ["The run had not committed. The store is unchanged. Run the same command again."]
                + (leftOutside.map { [$0.printable] } ?? [])
        case .replaced:
            [
                "The run was to restore a backup, but another store is there now. It is unchanged.",
                String(
                    advice: "Run \(.rollback) again to restore the backup; the current store is backed up first."),
            ]
        case .completed: ["The run had committed: the store is the new one."]
        }
    }
}
