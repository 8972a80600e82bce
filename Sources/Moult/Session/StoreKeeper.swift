import MoultBasics
import MoultEngine
import MoultModel
import MoultObjects

/// The use cases of one store that need no migration: its backups, its records, its checks and its repairs.
///
/// It is the only caller of the engine for them. Every interface makes one for each call, and prints or returns the
/// answer.
package struct StoreKeeper: Sendable {
    package let store: String
    package let options: RunOptions
    package let system: any System
    /// The files of the model, which a run keeps in its journal; nil if none is named.
    package var models: StoreRequest.Models?
    /// Returns the versions of the model; nil if none is known. Called only when they are needed.
    package let knownVersions: @Sendable () throws -> ModelVersions?
    /// Whether everything runs on one thread, so that a call makes the same calls in the same order each time.
    package var isSequential = false

    package init(
        _ store: String, _ options: RunOptions = RunOptions(), on system: any System = POSIXSystem(),
        versions: @escaping @Sendable () throws -> ModelVersions? = { nil }
    ) {
        (self.store, self.options, self.system, knownVersions) = (store, options, system, versions)
    }

    package var migrator: Migrator { options.migrator(on: system, isSequential: isSequential) }

    /// Returns the versions of the model, or else the store's own.
    package func versions() throws -> ModelVersions {
        if let versions = try knownVersions() { return versions }
        let own = try ModelVersion(ownOfStore: store)
        return ModelVersions(versions: [own], currentName: own.name)
    }

    /// Returns the store's version.
    func version() throws -> ModelVersion { try versions().version(ofStore: store) }

    /// Returns the name of the version of the store at a path; empty if unknown.
    package func knownVersionName(of path: String) -> String {
        (try? migrator.versionName(of: path, in: knownVersions)) ?? ""
    }

    /// Recovers a dead run before the store is changed; does nothing for a rehearsal.
    package func heal(unlessRehearsal isRehearsal: Bool) throws {
        if !isRehearsal { try migrator.recoverIfNeeded(store) }
    }

    /// Runs a migration, or only rehearses it; returns nil then.
    ///
    /// - Parameter work: the work that the migration does, for the journal of its run.
    package func perform(
        _ migration: Pass, _ work: StoreRequest.Work, to target: String? = nil, isRehearsal: Bool,
        _ observer: MigrationObserver
    ) throws -> MigrationOutcome? {
        guard isRehearsal else { return try run(migration, work, to: target, observer) }
        _ = try rehearse(migration, observer)
        return nil
    }

    private func run(
        _ migration: Pass, _ work: StoreRequest.Work, to target: String? = nil, rules: String? = nil,
        _ observer: MigrationObserver
    ) throws -> MigrationOutcome {
        let request = StoreRequest(store, to: target, work, options, models: models, rules: rules)
        return try request.keeping(migrator).run(migration, on: store, observer)
    }

    /// Rehearses a migration, which is refused for lack of space as the run itself is.
    private func rehearse(_ migration: Pass, _ observer: MigrationObserver) throws -> RehearsalOutcome {
        let migrator = migrator
        try migrator.needs(of: migration, on: store).space
            .check(for: migration.operation.work, offering: migration.ways(migrator.options), system)
        return try migrator.rehearse(migration, on: store, observer)
    }

    /// Performs the work that a deferred migration has left.
    ///
    /// - Throws: `budgetTooSmall` if the time is shorter than the longest task; what running one throws.
    package func finish(_ limit: CallLimit, _ observer: MigrationObserver) throws -> FinishReport {
        FinishReport(try migrator.finishDeferred(store, versions: knownVersions(), limit, observer))
    }

    /// Returns the status of the store relative to the versions of the model.
    package func status(aimingAt target: String? = nil) throws -> StoreStatus {
        try StoreStatus(of: store, in: versions(), target: target, migrator)
    }

    // MARK: - Backups

    /// Makes and verifies a backup.
    package func backUp(_ observer: MigrationObserver = .none) throws -> StoreBackup {
        let migrator = migrator
        let version = try migrator.versionName(of: store, in: knownVersions)
        return try migrator.backUp(store, version: version, for: .request, observer)
    }

    /// Whether there are any records next to the store. Does not open the store's file.
    package var hasRecords: Bool { get throws { try system.exists(StoreRecords(of: store, system).folder) } }

    /// Returns the backups; the store may be gone.
    package func backups() throws -> BackupListing { try BackupListing(migrator.backupFolders(of: store), of: store) }

    /// Returns the backup with that name or path.
    package func backup(named name: String) throws -> StoreBackup {
        try migrator.backupFolders(of: store).backup(named: name)
    }

    /// Verifies that a backup matches its manifest, reading its files from the drive.
    ///
    /// - Throws: `backupInvalid` with the difference.
    package func verify(_ backup: StoreBackup) throws {
        if let error = backup.error { throw error }
        try migrator.backups(of: store).verify(backup, fromDrive: true)
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

    /// Removes the backups that a policy does not keep, and returns them.
    ///
    /// - Throws: `fileNotFound` if there is neither a store nor any record of it.
    package func prune(_ policy: RetentionPolicy) throws -> [StoreBackup] {
        let migrator = migrator
        _ = try migrator.records(of: store)
        return try migrator.prune(store, policy)
    }

    /// Restores the named backup, or the backup of the last migration.
    package func rollback(to name: String? = nil, _ observer: MigrationObserver = .none) throws -> RollbackReport {
        let backup = try backup(named: name)
        let newer = try name == nil ? migrator.newerByHand(than: backup, of: store) : nil
        var report = try restore(backup, observer)
        report.newer = newer
        return report
    }

    /// Returns the backup to restore.
    ///
    /// - Throws: `backupNotFound`, which names a run that has not ended: it can be undone without a backup.
    private func backup(named name: String?) throws -> StoreBackup {
        do {
            return try migrator.backup(named: name, of: store, in: knownVersions)
        } catch var error as MigrationError where error.code == .backupNotFound && name == nil {
            guard let run = try? interrupted(), !run.isPaused else { throw error }
            error.message += " A run has not ended."
            error.advice = """
                \(run.finishing(isModelKnown: false)) finishes it. \(.makeBackup, .store(store)) undoes what it had not \
                committed, and begins nothing.
                """
            throw error
        }
    }

    /// Restores a backup in place of the store; the current state is backed up first.
    package func restore(_ backup: StoreBackup, _ observer: MigrationObserver = .none) throws -> RollbackReport {
        if let error = backup.error { throw error }
        return try migrator.rollback(store, to: backup, currentVersion: knownVersionName(of: store), observer)
    }

    /// Moves the store to another path, or ends a move there that was interrupted.
    ///
    /// - Parameter destination: the new path, or a folder in which the store keeps its name.
    package func move(to destination: String, _ observer: MigrationObserver = .none) throws -> MoveReport {
        let migrator = migrator
        return try migrator.move(
            store, to: destination, version: { try migrator.versionName(of: store, in: knownVersions) }, observer)
    }

    // MARK: - Records

    /// Recovers a run whose process died, and begins nothing.
    package func recover() throws -> RecoveryReport {
        let migrator = migrator
        let (run, leftOutside) = (try interrupted(), try migrator.leftOutside(store))
        let backups = try migrator.backups(of: store).folder
        let drafts = try migrator.leftovers(of: StoreRecords(of: store, system))
            .filter { Path.folder(of: $0) == backups }
        let outcome = try migrator.recover(store)
        let isMissing = try !system.exists(store)
        return RecoveryReport(
            outcome: outcome, run: run, isOfNewStore: isMissing && outcome == .undone, leftOutside: leftOutside,
            wasBackingUp: run == nil && !drafts.isEmpty)
    }

    /// Returns the history of the store, which may be gone.
    package func runs() throws -> RunListing {
        let contents = try RunHistory(migrator.records(of: store), system).contents()
        return RunListing(runs: contents.records, unreadable: contents.unreadable)
    }

    /// Returns the lines of the store's log, oldest first.
    package func log() throws -> [String] {
        try MigrationLog(migrator.records(of: store), system).read().split(separator: "\n").map(String.init)
    }

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
