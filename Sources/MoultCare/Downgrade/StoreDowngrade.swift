import MoultEngine
import MoultModel
import MoultPlan
import MoultReport
import MoultSQLite
import MoultStore
import MoultSystem

/// The way of a store back to an older version: by the reverse mapping if no value would be lost, otherwise by the
/// backup from before the store left that version, with what was written since.
package struct StoreDowngrade: Sendable {
    package enum Way: Sendable {
        /// It is of that version already.
        case none
        /// The columns and tables that a deferred migration has left take their place again, in the store itself, after
        /// a backup.
        case leftovers(Migration)
        /// No value of the store is lost.
        case mapping(Migration)
        /// Only a backup brings it back.
        case backup(StoreBackup, since: [ChangedObjects])
        /// Not even that.
        case impossible
    }

    /// The name of the store's version, marked as the store's own where no version of the model is that one.
    package let from: String
    package let to: String
    package let way: Way
    /// The reasons why a mapping would lose something, in sentences; empty where it would not.
    package let losses: [String]
    /// The findings about the store on the way back that cost no data.
    package private(set) var findings: [Finding] = []
    /// The losses of the runs that led to the store's version: no way back by a mapping restores them.
    package let earlierLosses: [EarlierLosses]
    /// Whether the history next to the store tells how it came to its version; what was lost on the way is not known
    /// otherwise.
    package let isWayForwardKnown: Bool

    /// Looks at the store without changing a byte.
    ///
    /// - Parameters:
    ///   - versions: those that the older program knows; a store of a version that is not among them is read with the
    ///     model that it carries.
    ///   - target: the version to go back to; the current one when nil.
    ///   - answers: those that the way forward needed, and values for what the older version requires.
    /// - Throws: `storeUnknown` where nothing says what model the store has; `usage` where it is older than the target.
    package init(
        _ store: String, versions: ModelVersions, to target: String? = nil, answers: Answers = .none,
        migrator: Migrator = RunOptions().migrator()
    ) throws {
        let system = migrator.system
        let goal = versions.taking(target).versions[try versions.target(named: target)]
        to = goal.name
        let (source, snapshot) = try StoreProbe.read(store, system: system) { probe in
            let snapshot = try StoreSnapshot(probe.connection)
            return (try snapshot.version(in: versions), snapshot)
        }
        let held = snapshot.hashes
        from = source.name
        let configuration = versions.place(of: held)?.configuration
        let part = configuration.map(StorePart.configuration) ?? .whole
        let wanted = try goal.restricted(to: part).hashes
        let isSame = wanted.isCompatible(with: configuration == nil ? source.hashes : held)
        earlierLosses = isSame ? [] : try EarlierLosses.all(of: store, since: goal, in: versions, migrator)
        isWayForwardKnown = try Self.isWayForwardKnown(store, to: source, in: versions, system)
        guard !isSame else {
            (way, losses) = (.none, [])
            return
        }
        try Self.checkIsAhead(source, goal, in: versions, store)
        findings = snapshot.findings.filter { $0.severity == .warning }
        if let undoing = try Self.undoing(store, from: source, to: goal, versions, answers, system) {
            losses = undoing.losses
            if losses.isEmpty {
                way = .leftovers(undoing.migration)
                return
            }
        } else {
            let back = try Self.mapped(store, from: source, to: goal, part, versions, answers, system)
            losses = back.losses
            findings += back.findings
            if losses.isEmpty, let migration = back.migration {
                way = .mapping(migration)
                return
            }
        }
        let hashes = wanted.entities.mapValues(\.base64)
        let backups = try migrator.backups(of: store)
        // Only one that can be restored is an offer.
        let matching = try backups.list().last { backup in
            backup.manifest.versionHashes == hashes && (try? backups.verify(backup)) != nil
        }
        way =
            try matching.map { backup in
                let renamed = Self.renamedEntities(from: goal, to: source, versions, answers)
                return .backup(
                    backup, since: try ChangedObjects.all(in: store, since: backup, renamed: renamed, system))
            } ?? .impossible
    }

    /// By the names of the older version, what became of its entities on the way forward; of one that became several, or
    /// a part of another, nothing is known.
    private static func renamedEntities(
        from goal: ModelVersion, to source: ModelVersion, _ versions: ModelVersions, _ answers: Answers
    ) -> [String: String] {
        let known = versions.position(named: source.name) == nil ? ModelVersions(versions: [goal, source]) : versions
        guard let plan = try? MigrationPlan(known, from: goal.name, to: source.name, answers: answers) else {
            return [:]
        }
        var names = Dictionary(
            goal.model.entities.map { ($0.name, $0.name) }, uniquingKeysWith: { first, _ in first })
        for case .mapping(let mapping) in plan.passes.map(\.work) {
            let pairs = mapping.entityMappings.compactMap { mapping in
                mapping.sourceEntityName.flatMap { from in mapping.destinationEntityName.map { (from, $0) } }
            }
            let (from, to) = (Dictionary(grouping: pairs, by: \.0), Dictionary(grouping: pairs, by: \.1))
            names = names.compactMapValues { name in
                guard let became = from[name], became.count == 1, to[became[0].1]?.count == 1 else { return nil }
                return became[0].1
            }
        }
        return names
    }

    private static func isWayForwardKnown(
        _ store: String, to version: ModelVersion, in versions: ModelVersions, _ system: any System
    ) throws -> Bool {
        let runs = RunHistory.inForce(
            try RunHistory(Sidecar(store: try system.resolve(store)), system).records())
        let last = runs.last { $0.operation == .migrate }
        // A store of a version that is not among them has no name that a run could have told.
        return last.map { $0.to == version.name || versions.position(named: version.name) == nil } ?? false
    }

    private static func checkIsAhead(
        _ source: ModelVersion, _ goal: ModelVersion, in versions: ModelVersions, _ store: String
    ) throws {
        guard let position = versions.position(matching: source.hashes),
            let target = versions.position(matching: goal.hashes), position < target
        else { return }
        throw MigrationError(
            .usage, "The store is of \(source.name), which is older than \(goal.name).", place: store,
            remedy: "Use \(.migrate).")
    }
}
