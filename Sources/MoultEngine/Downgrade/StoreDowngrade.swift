import MoultModel
import MoultPlan
import MoultSQLite
import MoultStore
import MoultSystem

/// The way of a store back to an older version: by a mapping in the other direction where no value would be lost, else
/// by the backup that was made before the store left that version, with what was written since.
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

    /// What the store calls its version, or `the store's own model` where no version of the model is that one.
    package let from: String
    package let to: String
    package let way: Way
    /// Why a mapping would lose something, in sentences; empty where it would not.
    package let losses: [String]

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
        let goal = versions.versions[try versions.target(named: target)]
        to = goal.name
        let source = try StoreProbe.read(store, system: system) { try Self.version(of: $0, in: versions) }
        from = source.name
        guard !source.hashes.isCompatible(with: goal.hashes) else {
            (way, losses) = (.none, [])
            return
        }
        try Self.checkIsAhead(source, goal, in: versions, store)
        if let undoing = try Self.undoing(store, from: source, to: goal, versions, answers, system) {
            (way, losses) = (.leftovers(undoing), [])
            return
        }
        do {
            // In a plan the store's version is the first of two, whatever their age.
            let prepared = try PreparedMigration(
                store, versions: ModelVersions(versions: [source, goal]), to: goal.name,
                options: .init(isExperimental: true), system: system)
            let losses = try Self.losses(of: prepared, source)
            if losses.isEmpty, let migration = try prepared.migration() {
                (way, self.losses) = (.mapping(migration), [])
                return
            }
            self.losses = losses
        } catch let error as MigrationError
            where [.question, .cannotInfer, .noPath, .dataConflict].contains(error.code)
        {
            losses = ["There is no mapping back: \(error.message)"]
        }
        let hashes = goal.hashes.entities.mapValues(\.base64)
        let backups = try migrator.backups(of: store)
        // Only one that can be restored is an offer.
        let matching = try backups.list().last { backup in
            backup.manifest.versionHashes == hashes && (try? backups.verify(backup)) != nil
        }
        way =
            try matching.map { .backup($0, since: try ChangedObjects.all(in: store, since: $0, system)) } ?? .impossible
    }

    private static func version(of probe: StoreProbe, in versions: ModelVersions) throws -> ModelVersion {
        try StoreSnapshot(probe.connection).version(in: versions)
    }

    private static func checkIsAhead(
        _ source: ModelVersion, _ goal: ModelVersion, in versions: ModelVersions, _ store: String
    ) throws {
        guard let position = versions.position(matching: source.hashes),
            let target = versions.position(matching: goal.hashes), position < target
        else { return }
        throw MigrationError(
            .usage, "The store is of \(source.name), which is older than \(goal.name).", place: store,
            remedy: "Use moult migrate to go forward.")
    }

    // MARK: - What would be lost

    private static func losses(of prepared: PreparedMigration, _ source: ModelVersion) throws -> [String] {
        guard let bound = prepared.bound else { return [] }
        return try bound.findings.filter { $0.severity > .note }.compactMap { finding in
            if finding.code == "values-dropped", try holdsOnlyDefaults(finding.place, prepared.store, bound.source) {
                return nil
            }
            return finding.message
        }
    }

    /// Whether an attribute that goes holds nothing but what a migration had filled in.
    private static func holdsOnlyDefaults(_ place: String, _ store: String, _ layout: StoreLayout) throws -> Bool {
        let parts = place.split(separator: ".", maxSplits: 1).map(String.init)
        guard parts.count == 2, let entity = layout.model.entity(parts[0]),
            let attribute = layout.model.attribute(parts[1], of: entity), let value = attribute.defaultValue?.stored,
            let table = layout.table(for: entity)?.name,
            let column = layout.column(forAttribute: parts[1], in: entity)
        else { return false }
        let numbers = layout.numbers(ofEntityAndDescendants: entity).map(String.init).joined(separator: ", ")
        return try StoreProbe.read(store) { probe in
            try probe.connection.integer(
                """
                SELECT count(*) FROM \(table.quotedName) WHERE Z_ENT IN (\(numbers)) \
                AND \(column.quotedName) IS NOT NULL AND \(column.quotedName) IS NOT ?
                """, [value]) == 0
        }
    }
}
