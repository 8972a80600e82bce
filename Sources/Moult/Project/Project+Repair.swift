import MoultEngine
import MoultObjects
import MoultSession

extension Project {
    /// Reads a whole store and reports every fault, and the rules of the app that do not hold. Does not change the
    /// store.
    ///
    /// - Parameters:
    ///   - store: the store's path.
    ///   - full: whether to also look for reference cycles.
    ///   - withValues: whether findings include the values of the faulty rows.
    ///   - source: the path of a store, such as a backup, whose object counts rules compare with; nil for none.
    /// - Throws: `storeUnknown` for a store of none of the versions; `usage` for a rule that does not fit the model;
    ///   what reading an unusable file throws.
    public func validate(
        _ store: String, full: Bool = false, withValues: Bool = false, comparedWith source: String? = nil
    ) async throws -> ValidationReport {
        try await onThread { _ in
            try keeper(of: store).validate(rulesToCheck, full: full, withValues: withValues, comparedWith: source)
        }
    }

    /// The rules from added files, and those that the app checks after a migration.
    private var rulesToCheck: RulesToCheck {
        RulesToCheck(registry.rules.filter { $0.when.contains(.after) || rulesOfFiles.contains($0.name) })
    }

    /// Applies the fixes of the rules that do not hold, which change data. Works like a migration.
    ///
    /// The report's errors: `storeUnknown`, `usage` for a rule that does not fit the model, `quarantineTooLarge`,
    /// `rulesBroken` if a rule of severity error does not hold afterwards; `locked`, `insufficientStorage`.
    ///
    /// - Parameters:
    ///   - store: the store's path.
    ///   - isRehearsal: whether to do everything on a copy that is not kept.
    ///   - options: the options for changing the store.
    public func applyFixes(
        to store: String, isRehearsal: Bool = false, options: RunOptions = RunOptions()
    ) -> StoreTask<FixReport> {
        task("validate", store) { observer, _ in
            try keeper(of: store, options).applyFixes(rulesToCheck, isRehearsal: isRehearsal, observer)
        }
    }

    /// Repairs a store: missing tables, columns and indexes, and rows that contradict each other. Works like a
    /// migration. Deletes no object: an object that cannot stay is quarantined.
    ///
    /// The report's errors: `storeCorrupted` for damaged pages, which `salvage(_:into:as:)` of MoultCare can read;
    /// `lossNotAccepted` if most references of a relationship would be cleared; `quarantineTooLarge`, `storeUnknown`,
    /// `locked`, `insufficientStorage`.
    ///
    /// - Parameters:
    ///   - store: the store's path.
    ///   - rules: the faults to look for; by default all but cycles and one-sided relationships, which Core Data
    ///     allows.
    ///   - isRehearsal: whether to do everything on a copy that is not kept.
    ///   - options: the options for changing the store.
    public func repair(
        _ store: String, only rules: Set<RepairRule> = RepairRule.byDefault, isRehearsal: Bool = false,
        options: RunOptions = RunOptions()
    ) -> StoreTask<RepairReport> {
        task("repair", store) { observer, _ in
            try keeper(of: store, options).repair(rules, isRehearsal: isRehearsal, observer)
        }
    }

    /// Deletes the persistent history of a store before a date, and works like a migration. The newest transaction stays.
    /// A reader whose token is older gets the error `historyTokenExpired`, and has to read the objects anew; so choose a
    /// date that every reader has passed.
    ///
    /// The report's errors: those of ``repair(_:only:isRehearsal:options:)``; `cloudKit` for a store that is mirrored,
    /// whose history CloudKit reads.
    ///
    /// - Parameters:
    ///   - store: the store's path.
    ///   - seconds: the date, in seconds since 2001-01-01 00:00:00 UTC (`Date.timeIntervalSinceReferenceDate`).
    ///   - givesBackSpace: whether to make the file smaller by its free pages.
    ///   - isRehearsal: whether to do everything on a copy that is not kept.
    ///   - options: the options for changing the store.
    public func trimHistory(
        of store: String, before seconds: Double, givingBackSpace givesBackSpace: Bool = true,
        isRehearsal: Bool = false, options: RunOptions = RunOptions()
    ) -> StoreTask<RepairReport> {
        let rules: Set<RepairRule> = givesBackSpace ? [.history, .space] : [.history]
        let limit = HistoryLimit(seconds: seconds)
        return task("repair", store) { observer, _ in
            try keeper(of: store, options).repair(rules, trimmingHistory: limit, isRehearsal: isRehearsal, observer)
        }
    }

    /// Returns the objects that runs removed from a store, oldest first. The store may be gone.
    ///
    /// - Parameters:
    ///   - store: the store's path.
    ///   - limit: the most objects to return.
    /// - Throws: `fileNotFound` if there is neither a store nor any record of it; `locked` while a run writes to the
    ///   quarantine.
    public func quarantine(of store: String, limit: Int = 1_000) async throws -> [QuarantinedObject] {
        try await onThread { _ in try keeper(of: store).quarantine(limit: limit).objects }
    }

    /// Restores objects from the quarantine that fit the store's present version: with their key if it is free, and
    /// with their links if the destinations exist. Works like a migration. Objects that do not fit stay in the
    /// quarantine.
    ///
    /// The report's errors: `usage` if the quarantine has no such object; `dataConflict` if none of them fits;
    /// `storeUnknown`, `cloudKit`, `deferredWork`, `locked`, `insufficientStorage`.
    ///
    /// - Parameters:
    ///   - store: the store's path.
    ///   - objects: the objects to restore.
    ///   - isRehearsal: whether to do everything on a copy that is not kept.
    ///   - options: the options for changing the store.
    public func restore(
        quarantined objects: QuarantineSelection, of store: String, isRehearsal: Bool = false,
        options: RunOptions = RunOptions()
    ) -> StoreTask<RestorationReport> {
        task("quarantine", store) { observer, _ in
            try keeper(of: store, options).restore(quarantined: objects, isRehearsal: isRehearsal, observer)
        }
    }
}
