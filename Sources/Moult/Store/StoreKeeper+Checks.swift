import MoultBasics
import MoultEngine
import MoultModel
import MoultObjects
import MoultSession

// The use cases beyond those of a container: the status, moves, exports, the quarantine, repairs and checks of a store.

extension StoreKeeper {
    /// Returns the status of the store relative to the versions of the model.
    package func status(aimingAt target: String? = nil) throws -> StoreStatus {
        try StoreStatus(of: store, in: versions(), target: target, migrator)
    }

    /// Verifies the named backup, or every backup if no name is given.
    package func verifyBackups(named name: String? = nil) throws -> BackupVerification {
        let all = try name.map { [try backup(named: $0)] } ?? backups().backups
        let inOrder = all.filter { $0.error == nil } + all.filter { $0.error != nil }
        return BackupVerification(
            try WorkMeter.each(
                beats: 1,
                inOrder.map { backup in
                    (
                        backup.bytes,
                        {
                            do {
                                try verify(backup)
                                return [(backup.name, nil)]
                            } catch {
                                return [(backup.name, MigrationError(any: error))]
                            }
                        }
                    )
                }))
    }

    /// Copies a backup into a folder or an archive, verified before and after.
    package func export(_ backup: StoreBackup, to path: String) throws {
        if let error = backup.error { throw error }
        try migrator.backups(of: store).export(backup, to: path)
    }

    /// Imports an exported backup, or a store that was copied by hand; the store may be gone.
    package func importBackup(_ path: String, wasClosed: Bool) throws -> StoreBackup {
        try migrator.importBackup(path, for: store, version: knownVersionName(of: path), wasClosed: wasClosed)
    }

    /// Moves the store to another path, or ends a move there that was interrupted.
    ///
    /// - Parameter destination: the new path, or a folder in which the store keeps its name.
    package func move(to destination: String, _ observer: MigrationObserver = .none) throws -> MoveReport {
        let migrator = migrator
        return try migrator.move(
            store, to: destination, version: { try migrator.versionName(of: store, in: knownVersions) }, observer)
    }

    // MARK: - Checks and repairs

    /// Returns the objects that runs removed from the store, which may be gone.
    package func quarantine(limit: Int = 1_000) throws -> QuarantineListing {
        try QuarantineListing(migrator.quarantine(of: store), limit: limit)
    }

    /// Returns the quarantined object with that number, or the newest one; nil if there is none.
    package func quarantined(_ number: Int64? = nil) throws -> QuarantineEntry? {
        let quarantine = try migrator.quarantine(of: store)
        return try number.map { try quarantine.entry($0) } ?? quarantine.newest()
    }

    /// Restores objects from the quarantine that fit the store's present version.
    package func restore(
        quarantined objects: QuarantineSelection, isRehearsal: Bool, _ observer: MigrationObserver = .none
    ) throws -> RestorationReport {
        try heal(unlessRehearsal: isRehearsal)
        let version = try version()
        // An empty quarantine means that nothing is left to do; a missing object is an error.
        if objects == .all, try Quarantine(migrator.records(of: store), system).newest() == nil {
            return RestorationReport(RestorationResult(), nil)
        }
        let restoration = try Restoration(
            of: objects.numbers, run: objects.run, into: store, at: version, system: system)
        let outcome = try perform(
            restoration.migration, .putBack(objects.numbers, run: objects.run), isRehearsal: isRehearsal, observer)
        return RestorationReport(restoration.report, outcome)
    }

    /// Repairs tables, columns, indexes, history and rows.
    ///
    /// - Parameter limit: the date before which persistent history is deleted, if the rules include it.
    package func repair(
        _ rules: Set<RepairRule>, trimmingHistory limit: HistoryLimit? = nil, isRehearsal: Bool,
        _ observer: MigrationObserver = .none
    ) throws -> RepairReport {
        try heal(unlessRehearsal: isRehearsal)
        let repair = try StoreRepair(
            store, at: try version(), rules: rules, trimmingHistory: limit, accepting: options.acceptedLosses,
            system: system)
        var report = repair.found
        report.isRehearsal = isRehearsal
        guard var migration = repair.migration else { return report }
        migration.allowsLargeQuarantine = options.allowsLargeQuarantine
        let names = rules == RepairRule.byDefault ? [] : rules.map(\.rawValue).sorted()
        let rehearsal = try isRehearsal ? rehearse(migration, observer) : nil
        let outcome = try isRehearsal ? nil : run(migration, .repair(names, before: limit?.name), observer)
        report = repair.report
        (report.isRehearsal, report.isAttempted) = (isRehearsal, true)
        (report.outcome, report.leavesRows) = (outcome, repair.leavesRows)
        report.space = rehearsal?.space ?? outcome?.space ?? report.space
        report.spaceSentence = rehearsal.flatMap { SpaceRequirement.sentence($0.volumes, of: "The repair") }
        return report
    }

    /// Reads the whole store, checks rules, and applies their fixes if requested.
    package func validate(
        _ check: RulesToCheck, full: Bool = false, withValues: Bool = false, comparedWith source: String? = nil,
        fixing: Bool = false, isRehearsal: Bool = false, _ observer: MigrationObserver = .none
    ) throws -> ValidationReport {
        if fixing { try heal(unlessRehearsal: isRehearsal) }
        let versions = try versions()
        let version = try versions.version(ofStore: store)
        let compared = try source.map { (path: $0, version: try versions.version(ofStore: $0)) }
        // Report rules that do not fit the model before reading the store.
        var names = RuleModelCheck(version.model)
        try names.check(check.rules, place: check.place)
        func audited() throws -> StoreAudit {
            try StoreAudit(
                store, model: version.model, requiring: version, full: full, withValues: withValues, system: system)
        }
        let audit = try WorkMeter.part(upTo: check.rules.isEmpty ? 1 : 0.7) { try audited() }
        let ruled = try RuleAudit(
            store, check.rules, version: version, source: compared, place: check.place, system: system)
        let findings = withValues ? ruled.findings.map(\.showingValues) : ruled.findings
        var report = ValidationReport(version, audit, rules: findings)
        if fixing { report.fixes = try fix(ruled, check.file, isRehearsal: isRehearsal, observer) }
        if withValues { report.fixes = report.fixes?.showingValues }
        // The fixes may have ended what was found before them.
        if report.fixes?.run != nil { report.audit = try audited() }
        return report
    }

    /// Applies the fixes of the rules that do not hold, without reading the rest of the store.
    package func applyFixes(
        _ check: RulesToCheck, isRehearsal: Bool, _ observer: MigrationObserver = .none
    ) throws -> FixReport {
        try heal(unlessRehearsal: isRehearsal)
        let audit = try RuleAudit(store, check.rules, version: try version(), place: check.place, system: system)
        return try fix(audit, check.file, isRehearsal: isRehearsal, observer) ?? FixReport(left: audit.findings)
    }

    /// - Returns: nil if there is nothing to fix.
    private func fix(
        _ audit: RuleAudit, _ rules: String?, isRehearsal: Bool, _ observer: MigrationObserver
    ) throws -> FixReport? {
        guard var migration = try audit.mending() else { return nil }
        migration.allowsLargeQuarantine = options.allowsLargeQuarantine
        if isRehearsal {
            let outcome = try rehearse(migration, observer)
            return FixReport(outcome.rules, quarantined: outcome.quarantined, nil)
        }
        let outcome = try run(migration, .applyFixes, rules: rules, observer)
        return FixReport(outcome.rules, quarantined: outcome.quarantined, outcome)
    }
}

/// The rules to check in a store, and the place that they were read from.
package struct RulesToCheck: Sendable {
    package var rules: [ValidationRule]
    /// The file that they were read from; nil for rules of the app alone.
    package var file: String?
    package var place: String { file ?? "the rules of the app" }

    package init(_ rules: [ValidationRule], from file: String? = nil) { (self.rules, self.file) = (rules, file) }
}

/// A selection of objects in a quarantine.
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
