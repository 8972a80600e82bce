import MoultModel

/// The changes that the fix of one rule has made.
package struct RuleFixOutcome: Sendable, Hashable {
    package var rule: String
    /// ``ValidationRule/Fix/word``
    package var fix: String
    /// Objects with other values than before.
    package var changed: Int64 = 0
    /// Objects that are gone, with those that delete rules took along.
    package var deleted: Int64 = 0
    /// Objects that lie in the quarantine.
    package var quarantined: Int64 = 0
    /// Default objects that were made.
    package var inserted: Int64 = 0
    /// The first objects, each with what became of it.
    package var examples: [RuleFinding.Example] = []

    package init(rule: String, fix: String) {
        self.rule = rule
        self.fix = fix
    }
}

extension RuleFixOutcome {
    /// With the values of objects, for whoever asked to see them.
    package var showingValues: RuleFixOutcome {
        var outcome = self
        for position in outcome.examples.indices { outcome.examples[position].hasValues = false }
        return outcome
    }
}
