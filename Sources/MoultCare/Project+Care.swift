import Moult
import MoultEngine
import MoultModel
import MoultPlan
import MoultSession
import MoultStore

extension Project {
    /// Brings a store back to an older version. If every value of the store has a place there, the store is migrated
    /// back. Otherwise nothing is changed, and the report names the losses and the newest backup of that version, which
    /// ``restore(_:to:options:)`` restores.
    ///
    /// The report's errors: `usage` for a version that is newer than the store's; `storeUnknown`, `noPath`, `locked`,
    /// `insufficientStorage`; and `cancelled`, `migrationFailed`, `verificationFailed`, which leave the store
    /// unchanged.
    ///
    /// - Parameters:
    ///   - store: the store's path.
    ///   - version: the name of the older version; nil for the current one.
    ///   - isRehearsal: whether to work on a temporary copy.
    ///   - options: the options of the change.
    public func downgrade(
        _ store: String, to version: String? = nil, isRehearsal: Bool = false, options: RunOptions = RunOptions()
    ) -> StoreTask<DowngradeReport> {
        task("downgrade", store) { observer, _ in
            try keeper(of: store, options).downgrade(
                to: version, answers: { try answers(for: $0, store) }, isRehearsal: isRehearsal, observer)
        }
    }

    /// Diagnoses a store: what is wrong, why, and which command helps. It examines its files, the programs that have it
    /// open, unfinished runs, pages, version, the next migration, free space, rows and backups. Nothing is changed.
    ///
    /// - Parameters:
    ///   - store: the store's path.
    ///   - version: the name of the version to migrate to; nil for the current one.
    ///   - options: the options that locate the backups.
    /// - Throws: the errors of reading the models again. A check that could not be done is a finding.
    public func diagnose(
        _ store: String, aimingAt version: String? = nil, options: RunOptions = RunOptions()
    ) async throws -> DiagnosisReport {
        try await onThread { _ in
            DiagnosisReport(StoreDiagnosis(store, try context(for: store), to: version, options: options))
        }
    }

    /// Reads the readable parts of a damaged store into a new one. The damaged store is not changed.
    ///
    /// - Parameters:
    ///   - store: the store's path.
    ///   - path: the new store; nothing may exist there.
    ///   - version: the name of the store's version; nil for the one that the store's metadata or the model inside it
    ///     names, otherwise for the one that places the most rows (the report's `reason`).
    /// - Throws: `usage` if the path is taken, `locked`, `notAStore`, `cancelled`; then nothing is made.
    public func salvage(_ store: String, into path: String, as version: String? = nil) async throws -> SalvageReport {
        try await onThread { isCancelled in
            try keeper(of: store).salvage(
                into: path, as: version.map { name in { $0.versions[try $0.target(named: name)] } },
                isCancelled: isCancelled)
        }
    }
}

extension StoreKeeper {
    /// Reads the readable parts of the damaged store into a new one.
    ///
    /// - Parameter version: returns the store's version; nil for the one that the store names.
    package func salvage(
        into path: String, as version: ((ModelVersions) throws -> ModelVersion)? = nil,
        isCancelled: @escaping () -> Bool = { false }
    ) throws -> SalvageReport {
        try ReadOnlyStore.checkKind(store, system)
        let versions = try knownVersions()
        let named = try version.flatMap { name in try versions.map(name) }
        return try StoreSalvage(named, among: versions, system: system).run(store, into: path, isCancelled: isCancelled)
    }

    /// Brings the store back to an older version, if every value has a place there; otherwise nothing is changed.
    ///
    /// - Parameters:
    ///   - answers: the answers that the way forward needed, and values that the older version requires.
    ///   - noticed: receives the findings before anything is changed.
    package func downgrade(
        to target: String? = nil, answers: (ModelVersions) throws -> Answers, isRehearsal: Bool,
        _ observer: MigrationObserver = .none, noticed: ([Finding]) -> Void = { _ in }
    ) throws -> DowngradeReport {
        let migrator = migrator
        try heal(unlessRehearsal: isRehearsal)
        let versions = try versions()
        let downgrade = try StoreDowngrade(
            store, versions: versions, to: target, answers: answers(versions), migrator: migrator)
        noticed(downgrade.findings)
        let unreadable = (try? migrator.backups(of: store).contents().unreadable.map(\.name)) ?? []
        switch downgrade.way {
        case .mapping(let migration), .leftovers(let migration):
            let outcome = try perform(
                migration, .downgrade, to: migration.to, isRehearsal: isRehearsal, observer)
            return DowngradeReport(downgrade, outcome, unreadable: unreadable)
        case .none, .backup, .impossible: return DowngradeReport(downgrade, nil, unreadable: unreadable)
        }
    }
}
