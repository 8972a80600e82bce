import MoultBasics
import MoultModel
import MoultObjects
import MoultPlan
import MoultSQLite
import MoultStore

extension PreparedMigration {
    private func rules(_ moment: ValidationRule.Moment) -> [ValidationRule] {
        options.registry.rules.filter { $0.when.contains(moment) }
    }

    private func isMended(_ rules: [ValidationRule]) -> Bool {
        options.registry.appliesFixes && rules.contains { $0.fix != nil }
    }

    /// Refuses rules that do not fit the model of their version, before any change.
    func checkRules() throws {
        guard !options.registry.rules.isEmpty else { return }
        var before = RuleModelCheck(plan.from.model)
        try before.check(rules(.before), place: "the rules before the migration")
        var after = RuleModelCheck(plan.to.model)
        try after.check(rules(.after), place: "the rules after the migration")
        var faults = RuleFaults()
        for rule in options.registry.rules {
            for case .afterStep(let name) in rule.when {
                guard let pass = plan.passes.first(where: { $0.steps.contains { $0.name == name } }) else {
                    // Another stop may have the step, and the whole path was checked.
                    if !options.isStop { faults.add(rule.name, "The plan has no step \(name).") }
                    continue
                }
                var check = RuleModelCheck(pass.newer.model)
                try check.check([rule], place: "the rules after the step \(name)")
            }
        }
        try faults.check(place: "the rules")
    }

    /// Returns the first pass with the rules before the migration, which are checked under the lock.
    func withRulesBefore(_ migration: Pass, _ bound: BoundPlan) -> Pass {
        guard !options.registry.rules.isEmpty else { return migration }
        var migration = migration
        migration.ruleLog = ruleLog
        migration.preconditions.append(rulesBefore(bound, rules(.before)))
        return migration
    }

    /// Returns a separate pass that repairs violations of the rules before the migration; the first pass is bound to
    /// its result. Returns nil if nothing is repaired.
    func mendingBefore(_ bound: BoundPlan, _ ledger: LossAccounting) -> Pass? {
        let before = rules(.before)
        guard isMended(before) else { return nil }
        var mending = Pass.mending(before, Self.before, at: plan.from, of: store, ruleLog, system)
        mending.allowsLargeQuarantine = options.registry.allowsLargeQuarantine
        mending.to = plan.to.name
        mending.preconditions = [
            UnchangedStore(binding: bound.binding, store: store), rulesBefore(bound, []),
        ]
        mending.ledger = ledger
        mending.keptCopies = keptCopies
        mending.span = 0...0
        mending.next = next(after: -1)
        return mending
    }

    private static let before = "before the migration"

    private func rulesBefore(_ bound: BoundPlan, _ rules: [ValidationRule]) -> RulesBefore {
        RulesBefore(
            run: RuleRun(rules: rules, moment: Self.before, model: bound.source.model, log: ruleLog),
            counted: Set(options.registry.rules.compactMap(\.countedSourceEntityName)), store: store, system: system)
    }

    /// Adds the rules checked after the steps of a pass, and after the last pass.
    func addRules(to migration: inout Pass, of bound: BoundPlan, isLast: Bool) {
        guard !options.registry.rules.isEmpty else { return }
        migration.ruleLog = ruleLog
        migration.allowsLargeQuarantine = options.registry.allowsLargeQuarantine
        let model = bound.target.model
        migration.steps = migration.steps.map { withRules(after: $0, model) }
        let after = rules(.after)
        guard isLast, !after.isEmpty else { return }
        let run = RuleRun(rules: after, moment: "after the migration", model: model, log: ruleLog)
        guard isMended(after) else {
            migration.rules = run
            return
        }
        var mending = Pass.mending(after, run.moment, at: plan.to, of: store, ruleLog, system)
        mending.allowsLargeQuarantine = options.registry.allowsLargeQuarantine
        mending.span = 1...1
        migration.next = .fixed(mending)
    }

    private func withRules(after step: Pass.Step, _ model: ManagedObjectModel) -> Pass.Step {
        let rules = rules(.afterStep(step.name))
        guard !rules.isEmpty else { return step }
        var step = step
        step.rules = RuleRun(
            rules: rules, moment: "after the step \(step.name)", model: model, log: ruleLog,
            appliesFixes: isMended(rules))
        return step
    }
}

extension Pass {
    /// Creates a pass that keeps the version and repairs the objects, so that the store stays as sound as it was.
    ///
    /// - Parameters:
    ///   - version: the version of the store, which the rules were checked against.
    ///   - store: the resolved path of the store.
    package static func mending(
        _ rules: [ValidationRule], _ moment: String, at version: ModelVersion, of store: String, _ log: RuleLog,
        _ system: any System
    ) -> Pass {
        let version = KeptVersion(version: version, store: store, system: system)
        var mending = Pass(
            at: version, "fixes", "The fixes of the rules are applied.",
            RuleFixes(rules: rules, moment: moment, version: version, log: log))
        mending.ruleLog = log
        return mending
    }
}

extension [ValidationRule] {
    /// Returns the rules for one of several commits: rules before the migration belong to the first, rules after it to
    /// the last.
    func atStop(_ number: Int, of count: Int) -> [ValidationRule] {
        compactMap { rule in
            var rule = rule
            if number > 0 { rule.when.remove(.before) }
            if number < count - 1 { rule.when.remove(.after) }
            return rule.when.isEmpty ? nil : rule
        }
    }
}

extension ValidationRule {
    /// The entity whose objects the rule counts in the source.
    package var countedSourceEntityName: String? {
        guard case .minimumOfSource(let minimum) = kind else { return nil }
        return minimum.sourceEntityName ?? entityName
    }
}

extension ObjectStore {
    /// Returns the number of objects of each entity, including its sub-entities; 0 for an entity that the store does
    /// not hold.
    package func counts(of entityNames: Set<String>) throws -> [String: Int] {
        try entityNames.reduce(into: [:]) { counts, name in
            counts[name] = shape(of: name) == nil ? 0 : try count(ObjectFetch(entityName: name))
        }
    }
}
