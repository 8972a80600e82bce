import MoultEngine
import MoultObjects

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
            try keeper(of: store).validate(rulesToCheck, full: full, withValues: withValues, comparedWith: source)
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

    /// Repairs a store: missing tables, columns and indexes, and rows that contradict each other. It works as a migration
    /// does. No object is deleted: what cannot stay goes to the quarantine.
    ///
    /// The report's errors: `storeCorrupted` for damaged pages, for which there is `salvage(_:into:as:)` of MoultCare;
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

    /// The objects that runs took out of a store, oldest first. The store may be gone.
    ///
    /// - Parameters:
    ///   - store: the store's path.
    ///   - limit: how many to return at most.
    /// - Throws: `fileNotFound` if there is neither a store nor anything that Moult keeps of it; `locked` while a run
    ///   writes to the quarantine.
    public func quarantine(of store: String, limit: Int = 1_000) async throws -> [QuarantinedObject] {
        try await onThread { _ in try keeper(of: store).quarantine(limit: limit).objects }
    }

    /// Puts objects from the quarantine back into their store, where they fit the version that it has now: with their key
    /// if that is free, and with their links if their destinations exist. It works as a migration does. What does not fit
    /// stays in the quarantine.
    ///
    /// The report's errors: `usage` if the quarantine has no such object; `dataConflict` if none of them fits;
    /// `storeUnknown`, `cloudKit`, `deferredWork`, `locked`, `insufficientStorage`.
    ///
    /// - Parameters:
    ///   - store: the store's path.
    ///   - objects: which objects.
    ///   - isRehearsal: whether to do everything on a copy that is not kept.
    ///   - options: how the store is changed.
    public func restore(
        quarantined objects: QuarantineSelection, of store: String, isRehearsal: Bool = false,
        options: RunOptions = RunOptions()
    ) -> StoreTask<RestorationReport> {
        task("quarantine", store) { observer, _ in
            try keeper(of: store, options).restore(quarantined: objects, isRehearsal: isRehearsal, observer)
        }
    }
}
