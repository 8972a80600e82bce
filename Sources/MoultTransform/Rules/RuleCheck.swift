import MoultModel
import MoultObjects

/// Checks rules on a store; nothing of the store is changed.
package struct RuleCheck {
    package let rules: [ValidationRule]
    private let store: ObjectStore
    private let source: ((String) throws -> Int)?

    /// - Parameters:
    ///   - source: how many objects of an entity, sub-entities included, the store had that this one was made from; nil
    ///     where there is none, and rules that compare with it are not checked.
    ///   - place: where the rules came from, for errors.
    /// - Throws: `usage` with everything in the rules that does not fit the store's model or cannot be asked of the
    ///   store, before a row is read.
    package init(
        _ rules: [ValidationRule], on store: ObjectStore, source: ((String) throws -> Int)? = nil,
        place: String = "the rules"
    ) throws {
        self.rules = rules
        self.store = store
        self.source = source
        var names = RuleModelCheck(store.model)
        try names.check(rules, place: place)
        var faults = RuleFaults()
        for rule in rules {
            do {
                try RuleViolations(store: store).compile(rule)
            } catch let error as MigrationError {
                faults.add(rule.name, error.message)
            }
        }
        try faults.check(place: place)
    }

    /// One finding for each rule, in their order, all over one state of the store.
    package func run() throws -> [RuleFinding] { try store.reading { try rules.map(finding) } }

    private func finding(_ rule: ValidationRule) throws -> RuleFinding {
        let violations = RuleViolations(store: store)
        if case .minimumOfSource = rule.kind, source == nil {
            return RuleFinding(rule, obstacle: "There is no source to compare with.")
        }
        if let missing = try violations.missing(rule, source: source) { return RuleFinding(rule, count: missing) }
        var count: Int64 = 0
        var first: [ObjectID] = []
        try violations.forEachObject(breaking: rule) { id in
            count += 1
            if first.count < RuleFinding.exampleLimit { first.append(id) }
        }
        let details = try violations.details(rule, of: first)
        // A cycle is reported by its keys.
        let hasValues = if case .noCycle = rule.kind { false } else { true }
        return RuleFinding(
            rule, count: count,
            examples: first.map { .init(id: $0, detail: details[$0] ?? "", hasValues: hasValues) })
    }
}
