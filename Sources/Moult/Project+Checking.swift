import MoultCare
import MoultEngine
import MoultModel
import MoultReport
import MoultTransform

extension Project {
    /// Reads a whole store and reports every fault, and the rules of the app that do not hold. The store is not changed.
    ///
    /// - Parameters:
    ///   - store: the store's path.
    ///   - full: whether to look for cycles and wrong derived counts, too.
    ///   - withValues: whether findings have what the faulty rows hold.
    ///   - source: the path of a store, such as a backup, that rules compare the numbers of objects with; nil for none.
    /// - Throws: `storeUnknown` for a store of none of the versions; `usage` for a rule that does not fit the model; what
    ///   reading a file that is no usable store throws.
    public func validate(
        _ store: String, full: Bool = false, withValues: Bool = false, comparedWith source: String? = nil
    ) async throws -> ValidationReport {
        try await onThread { _ in
            try keeper(of: store).validate(
                rulesToCheck, full: full, withValues: withValues, comparedWith: source)
        }
    }

    /// The rules of the files that were added, and those that the app checks after a migration.
    private var rulesToCheck: RulesToCheck {
        RulesToCheck(registry.rules.filter { $0.when.contains(.after) || rulesOfFiles.contains($0.name) })
    }

    /// Applies the fixes of the rules that do not hold, which change data. It works as a migration does.
    ///
    /// The report's errors: `storeUnknown`, `usage` for a rule that does not fit the model, `quarantineTooLarge`,
    /// `rulesBroken` if a rule of severity error does not hold afterwards; `locked`, `insufficientStorage`.
    ///
    /// - Parameters:
    ///   - store: the store's path.
    ///   - isRehearsal: whether to do everything on a copy that is not kept.
    ///   - options: how the store is changed.
    public func applyFixes(
        to store: String, isRehearsal: Bool = false, options: RunOptions = RunOptions()
    ) -> StoreTask<FixReport> {
        task("validate", store) { observer, _ in
            try keeper(of: store, options).applyFixes(rulesToCheck, isRehearsal: isRehearsal, observer)
        }
    }

    /// Says what is wrong with a store, why, and which command helps: its files, the programs that have it open, runs
    /// that did not end, pages, version, the migration to come, free space, rows and backups. Nothing is changed.
    ///
    /// - Parameters:
    ///   - store: the store's path.
    ///   - version: the name of the version to migrate to; nil for the current one.
    ///   - options: where backups are.
    /// - Throws: what reading the models again throws. What cannot be examined is a finding.
    public func diagnose(
        _ store: String, aimingAt version: String? = nil, options: RunOptions = RunOptions()
    ) async throws -> DiagnosisReport {
        try await onThread { _ in
            DiagnosisReport(StoreDiagnosis(store, try context(for: store), to: version, options: options))
        }
    }

    /// Repairs a store: missing tables, columns and indexes, and rows that contradict each other. It works as a migration
    /// does. No object is deleted: what cannot stay goes to the quarantine.
    ///
    /// The report's errors: `storeCorrupted` for damaged pages, for which there is ``salvage(_:into:as:)``;
    /// `quarantineTooLarge`, `storeUnknown`, `locked`, `insufficientStorage`.
    ///
    /// - Parameters:
    ///   - store: the store's path.
    ///   - rules: what is looked for; by default all but cycles and one-sided relationships, which Core Data allows.
    ///   - isRehearsal: whether to do everything on a copy that is not kept.
    ///   - options: how the store is changed.
    public func repair(
        _ store: String, only rules: Set<RepairRule> = RepairRule.byDefault, isRehearsal: Bool = false,
        options: RunOptions = RunOptions()
    ) -> StoreTask<RepairReport> {
        task("repair", store) { observer, _ in
            try keeper(of: store, options).repair(rules, isRehearsal: isRehearsal, observer)
        }
    }

    /// Reads what is readable of a damaged store into a new one. The damaged store is not changed.
    ///
    /// - Parameters:
    ///   - store: the store's path.
    ///   - path: the new store; nothing may exist there.
    ///   - version: the name of the store's version; nil for the one that the store's metadata or the model inside it
    ///     name, otherwise for the one that places the most rows (its `reason`).
    /// - Throws: `usage` if the path is taken, `locked`, `notAStore`, `cancelled`; then nothing is made.
    public func salvage(_ store: String, into path: String, as version: String? = nil) async throws -> SalvageReport {
        try await onThread { isCancelled in
            try keeper(of: store).salvage(
                into: path, as: version.map { name in { $0.versions[try $0.target(named: name)] } },
                isCancelled: isCancelled)
        }
    }
}
