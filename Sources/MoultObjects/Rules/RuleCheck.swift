import MoultBasics
import MoultModel

/// A check of rules on a store, which it does not change.
package struct RuleCheck {
    package let rules: [ValidationRule]
    private let store: ObjectStore
    private let source: ((String) throws -> Int)?

    /// - Parameters:
    ///   - source: returns the number of objects of an entity, sub-entities included, in the store that this one was
    ///     made from; nil if there is none, and then rules that compare with it are not checked.
    ///   - place: the origin of the rules, for errors.
    /// - Throws: `usage` with every rule that does not fit the store's model or that the store cannot evaluate, before
    ///   any row is read.
    package init(
        _ rules: [ValidationRule], on store: ObjectStore, source: ((String) throws -> Int)? = nil,
        place: String = "the rules"
    ) throws {
        (self.rules, self.store, self.source) = (rules, store, source)
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

    /// Returns one finding for each rule, in their order, all from one state of the store.
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
            rule, count: count, examples: first.map { .init(id: $0, detail: details[$0] ?? "", hasValues: hasValues) })
    }
}

/// The result of checking one rule: the number of objects that break it, and the first of them.
package struct RuleFinding: Sendable, Hashable {
    /// An object that breaks the rule.
    package struct Example: Sendable, Hashable {
        package var id: ObjectID
        /// A description of the error, such as `postCount = 5, count:(posts) = 7`; empty if there is nothing to add.
        package var detail: String
        /// Whether the detail has values of the object, which are printed only on request.
        package var hasValues: Bool

        package init(id: ObjectID, detail: String, hasValues: Bool = false) {
            (self.id, self.detail, self.hasValues) = (id, detail, hasValues)
        }

        /// The detail if it has no values; otherwise an empty string.
        package var safeDetail: String { hasValues ? "" : detail }
    }

    package var rule: String
    package var severity: ValidationRule.Severity
    package var entityName: String
    package var sentence: String
    /// The number of objects that break the rule; for a minimum, the number of missing objects.
    package var count: Int64
    /// The first objects by key, at most ``exampleLimit``.
    package var examples: [Example]
    /// The reason why the rule could not be checked; nil if it was.
    package var obstacle: String?

    package static let exampleLimit = 5

    package init(_ rule: ValidationRule, count: Int64 = 0, examples: [Example] = [], obstacle: String? = nil) {
        self.rule = rule.name
        severity = rule.severity
        entityName = rule.entityName
        sentence = rule.sentence.isEmpty ? rule.kind.requirement(of: rule.entityName) : rule.sentence
        (self.count, self.examples, self.obstacle) = (count, examples, obstacle)
    }

    /// The finding with the values of objects, for callers that asked for them.
    package var showingValues: RuleFinding {
        var finding = self
        for position in finding.examples.indices { finding.examples[position].hasValues = false }
        return finding
    }

    package var isBroken: Bool { count > 0 }
}

extension [RuleFinding] {
    /// The broken rules that prevent the migration from continuing.
    package var errors: [RuleFinding] { filter { $0.isBroken && $0.severity == .error } }

    /// - Parameter moment: the time of the check, in words, such as "before the migration".
    /// - Throws: `rulesBroken` with every error among the findings and the first objects of each.
    package func refuseErrors(_ moment: String) throws {
        guard let first = errors.first else { return }
        let list = errors.map { finding in
            let objects = finding.examples.map { $0.safeDetail.isEmpty ? "\($0.id)" : "\($0.id) (\($0.safeDetail))" }
            let more = finding.count > Int64(objects.count) && !objects.isEmpty ? ", …" : ""
            let places = objects.isEmpty ? "" : ": " + objects.joined(separator: ", ") + more
            return "\(finding.rule): \(finding.sentence) Broken \(Quantity.count(finding.count, "time"))\(places)"
        }
        throw MigrationError(
            .rulesBroken, (["Rules of severity error are broken \(moment)."] + list).joined(separator: "\n"),
            place: first.examples.first?.id.description ?? first.entityName,
            remedy: "Correct the data, or apply the fixes of the rules. The store is unchanged.")
    }
}
