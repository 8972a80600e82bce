import MoultEngine
import MoultModel
import MoultPlan
import MoultSQLite
import MoultStore
import MoultSystem

/// How a store goes back to an older version: by the reverse mapping if no value would be lost, otherwise by the backup
/// from before the store left that version, with what was written since.
package struct StoreDowngrade: Sendable {
    package enum Way: Sendable {
        /// It is of that version already.
        case none
        /// What a deferred migration has left takes its place again, in the store itself, after a backup.
        case leftovers(Migration)
        /// No value of the store is lost.
        case mapping(Migration)
        /// Only a backup brings it back.
        case backup(StoreBackup, since: [ChangedObjects])
        /// Not even that.
        case impossible
    }

    /// What the store calls its version, as the store's own where no version of the model is that one.
    package let from: String
    package let to: String
    package let way: Way
    /// Why a mapping would lose something, in sentences; empty where it would not.
    package let losses: [String]
    /// What the runs that led to the store's version lost: no way back by a mapping returns it.
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
    ///   - answers: those that the way forward needed.
    /// - Throws: `storeUnknown` where nothing says what model the store has; `usage` where it is older than the target.
    package init(
        _ store: String, versions: ModelVersions, to target: String? = nil, answers: Answers = .none,
        migrator: Migrator = Migrator()
    ) throws {
        let system = migrator.system
        let goal = versions.taking(target).versions[try versions.target(named: target)]
        to = goal.name
        let (source, held) = try StoreProbe.read(store, system: system) { try Self.version(of: $0, in: versions) }
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
        if var undoing = try Self.undoing(store, from: source, to: goal, versions, answers, system) {
            undoing.operation = .downgrade
            (way, losses) = (.leftovers(undoing), [])
            return
        }
        do {
            // What is lost is looked at below.
            var options = PreparedMigration.Options(losses: .asTheVersionsSay(), isExperimental: true)
            options.part = part
            // In a plan the store's version is the first of two, whatever their age.
            let prepared = try PreparedMigration(
                store, versions: ModelVersions(versions: [source, goal]), to: goal.name, options: options,
                system: system)
            let losses = try Self.renamed(from: source, to: goal, versions, answers) + Self.losses(of: prepared, source)
            if losses.isEmpty, var migration = try prepared.migration() {
                migration.operation = .downgrade
                (way, self.losses) = (.mapping(migration), [])
                return
            }
            self.losses = losses
        } catch let error as MigrationError
            where [.question, .cannotInfer, .noPath, .dataConflict].contains(error.code)
        {
            losses = ["There is no reverse mapping: \(error.message)"]
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

    /// Why the reverse mapping would mix up what the way forward has renamed: it goes by the names and identifiers of the
    /// two versions alone, and one of them may have a name that meant something else in the other. Empty if it would not.
    private static func renamed(
        from source: ModelVersion, to goal: ModelVersion, _ versions: ModelVersions, _ answers: Answers
    ) throws -> [String] {
        guard let newer = versions.position(matching: source.hashes),
            let older = versions.position(matching: goal.hashes)
        else { return [] }
        let way = try Correspondence(versions, from: newer, to: older, answers: answers)
        let byName = try Correspondence(from: source, to: goal)
        func sentence(_ place: String, _ now: String) -> String {
            "There is no reverse mapping: \(place) of \(goal.name) is \(now) of \(source.name), and the names say otherwise."
        }
        return goal.model.entities.flatMap { entity -> [String] in
            guard let now = way.entitySources[entity.name] else { return [] }
            guard byName.entitySources[entity.name] == now else { return [sentence(entity.name, now)] }
            let (sources, named) = (way.propertySources[entity.name] ?? [:], byName.propertySources[entity.name] ?? [:])
            return sources.sorted { $0.key < $1.key }.filter { named[$0.key] != $0.value }
                .map { sentence("\(entity.name).\($0.key)", "\(now).\($0.value)") }
        }
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

    private static func version(
        of probe: StoreProbe, in versions: ModelVersions
    ) throws -> (ModelVersion, VersionHashes) {
        let snapshot = try StoreSnapshot(probe.connection)
        return (try snapshot.version(in: versions), snapshot.hashes)
    }

    private static func checkIsAhead(
        _ source: ModelVersion, _ goal: ModelVersion, in versions: ModelVersions, _ store: String
    ) throws {
        guard let position = versions.position(matching: source.hashes),
            let target = versions.position(matching: goal.hashes), position < target
        else { return }
        throw MigrationError(
            .usage, "The store is of \(source.name), which is older than \(goal.name).", place: store,
            remedy: "Use moult migrate.")
    }

    // MARK: - What would be lost

    private static func losses(of prepared: PreparedMigration, _ source: ModelVersion) throws -> [String] {
        guard let bound = prepared.bound else { return [] }
        // The history of what the older version does not have is of no use to it, and a link is there once as well.
        let harmless: Set = ["history-dropped", "links-repeated"]
        let findings = try bound.findings(prepared.options.choice).filter {
            $0.severity > .note && !harmless.contains($0.code)
        }
        guard findings.contains(where: { $0.code == "values-dropped" }) else { return findings.map(\.message) }
        return try StoreProbe.read(prepared.store) { probe in
            try findings.filter { finding in
                try finding.code != "values-dropped"
                    || !holdsOnlyDefaults(finding.place, probe.connection, bound.source)
            }.map(\.message)
        }
    }

    /// Whether an attribute that goes holds nothing but what a migration had filled in.
    private static func holdsOnlyDefaults(_ place: String, _ connection: Connection, _ layout: StoreLayout) throws
        -> Bool
    {
        let parts = place.split(separator: ".", maxSplits: 1).map(String.init)
        guard parts.count == 2, let entity = layout.model.entity(parts[0]),
            let attribute = layout.model.attribute(parts[1], of: entity), let value = attribute.defaultValue?.stored,
            let table = layout.table(for: entity)?.name,
            let column = layout.column(forAttribute: parts[1], in: entity)
        else { return false }
        let numbers = layout.numbers(ofEntityAndDescendants: entity).map(String.init).joined(separator: ", ")
        return try connection.integer(
            """
            SELECT count(*) FROM \(table.quotedName) WHERE Z_ENT IN (\(numbers)) \
            AND \(column.quotedName) IS NOT NULL AND \(column.quotedName) IS NOT ?
            """, [value]) == 0
    }
}
