import MoultEngine
import MoultModel
import MoultPlan
import MoultReport
import MoultStore

extension StoreKeeper {
    /// Reads what is readable of the damaged store into a new one.
    ///
    /// - Parameter version: returns the store's version; nil for the one that the store names.
    package func salvage(
        into path: String, as version: ((ModelVersions) throws -> ModelVersion)? = nil,
        isCancelled: @escaping () -> Bool = { false }
    ) throws -> SalvageReport {
        try StoreProbe.checkKind(store, system)
        let versions = try knownVersions()
        let named = try version.flatMap { name in try versions.map(name) }
        return try StoreSalvage(named, among: versions, system: system).run(store, into: path, isCancelled: isCancelled)
    }

    /// Brings the store back to an older version, if every value has a place there; otherwise nothing is changed.
    ///
    /// - Parameters:
    ///   - answers: those that the way forward needed, and values for what the older version requires.
    ///   - noticed: receives the findings before anything is done.
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
            let outcome = try perform(migration, isRehearsal: isRehearsal, observer)
            return DowngradeReport(downgrade, outcome, unreadable: unreadable)
        case .none, .backup, .impossible: return DowngradeReport(downgrade, nil, unreadable: unreadable)
        }
    }
}
