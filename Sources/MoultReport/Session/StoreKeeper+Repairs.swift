import MoultEngine
import MoultModel
import MoultStore
import MoultTransform

extension StoreKeeper {
    /// Restores objects from the quarantine, where they fit the version that the store has now.
    package func restore(
        quarantined objects: QuarantineSelection, isRehearsal: Bool, _ observer: MigrationObserver = .none
    ) throws -> RestorationReport {
        try heal(unlessRehearsal: isRehearsal)
        let version = try version()
        // Nothing is left to do, as opposed to an object that is not there.
        if objects == .all, try Quarantine(migrator.records(of: store), system).newest() == nil {
            return RestorationReport(RestorationResult(), nil)
        }
        let restoration = try Restoration(
            of: objects.numbers, run: objects.run, into: store, at: version, system: system)
        let outcome = try perform(restoration.migration, isRehearsal: isRehearsal, observer)
        return RestorationReport(restoration.report, outcome)
    }

    /// Repairs tables, columns, indexes, history and rows.
    package func repair(
        _ rules: Set<RepairRule>, isRehearsal: Bool, _ observer: MigrationObserver = .none
    ) throws -> RepairReport {
        try heal(unlessRehearsal: isRehearsal)
        let repair = try StoreRepair(store, at: try version(), rules: rules, system: system)
        var report = repair.found
        report.isRehearsal = isRehearsal
        guard var migration = repair.migration else { return report }
        migration.allowsLargeQuarantine = options.allowsLargeQuarantine
        let outcome = try perform(migration, isRehearsal: isRehearsal, observer)
        report = repair.report
        (report.isRehearsal, report.isAttempted) = (isRehearsal, true)
        (report.outcome, report.leavesRows) = (outcome, repair.leavesRows)
        return report
    }

    /// Reads the whole store, checks rules, and applies their fixes if that is asked for.
    package func validate(
        _ check: RulesToCheck, full: Bool = false, withValues: Bool = false, comparedWith source: String? = nil,
        fixing: Bool = false, isRehearsal: Bool = false, _ observer: MigrationObserver = .none
    ) throws -> ValidationReport {
        if fixing { try heal(unlessRehearsal: isRehearsal) }
        let versions = try versions()
        let version = try versions.version(ofStore: store)
        let compared = try source.map { (path: $0, version: try versions.version(ofStore: $0)) }
        // What does not fit the model is said before the store is read.
        var names = RuleModelCheck(version.model)
        try names.check(check.rules, place: check.place)
        let audit = try StoreAudit(
            store, model: version.model, requiring: version, full: full, withValues: withValues, system: system)
        let ruled = try RuleAudit(
            store, check.rules, version: version, source: compared, place: check.place, system: system)
        let findings = withValues ? ruled.findings.map(\.showingValues) : ruled.findings
        var report = ValidationReport(version.name, audit, rules: findings)
        if fixing { report.fixes = try fix(ruled, isRehearsal: isRehearsal, observer) }
        if withValues { report.fixes = report.fixes?.showingValues }
        return report
    }

    /// Applies the fixes of the rules that do not hold, without reading the rest of the store.
    package func applyFixes(
        _ check: RulesToCheck, isRehearsal: Bool, _ observer: MigrationObserver = .none
    ) throws -> FixReport {
        try heal(unlessRehearsal: isRehearsal)
        let audit = try RuleAudit(store, check.rules, version: try version(), place: check.place, system: system)
        return try fix(audit, isRehearsal: isRehearsal, observer) ?? FixReport(left: audit.findings)
    }

    /// - Returns: nil if there is nothing to fix.
    private func fix(_ audit: RuleAudit, isRehearsal: Bool, _ observer: MigrationObserver) throws -> FixReport? {
        guard var migration = try audit.mending() else { return nil }
        migration.allowsLargeQuarantine = options.allowsLargeQuarantine
        if isRehearsal {
            let outcome = try migrator.rehearse(migration, on: store, observer)
            return FixReport(outcome.rules, quarantined: outcome.quarantined, nil)
        }
        let outcome = try migrator.run(migration, on: store, observer)
        return FixReport(outcome.rules, quarantined: outcome.quarantined, outcome)
    }
}

/// The rules to check in a store, and where they came from.
package struct RulesToCheck: Sendable {
    package var rules: [ValidationRule]
    package var place: String

    package init(_ rules: [ValidationRule], from place: String = "the rules of the app") {
        (self.rules, self.place) = (rules, place)
    }
}

/// Objects of a quarantine.
public enum QuarantineSelection: Sendable, Hashable {
    /// Every object.
    case all
    /// The objects with these numbers (`QuarantinedObject.id`).
    case objects([Int64])
    /// The objects that one run has removed, by the run's name.
    case run(String)

    fileprivate var numbers: [Int64]? { if case .objects(let numbers) = self { numbers } else { nil } }
    fileprivate var run: String? { if case .run(let name) = self { name } else { nil } }
}
