import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultPlan
import MoultSQLite
import MoultSession
import MoultStore
import MoultVerify

/// The way of a store back to an older version: the reverse mapping if no value would be lost, otherwise a backup of
/// that version, with a list of the changes since.
package struct StoreDowngrade: Sendable {
    package indirect enum Way: Sendable {
        /// The store already is of that version.
        case none
        /// The columns and tables that a deferred migration has left are used again, in the store itself, after a
        /// backup.
        case leftovers(Pass)
        /// The reverse mapping, which loses no value of the store.
        case mapping(Pass)
        /// Only a backup restores the older version.
        case backup(StoreBackup, since: [ChangedObjects])
        /// Data would be lost, and there is no sound backup either.
        case impossible
    }

    /// The name of the store's version, marked as the store's own if no version of the model matches.
    package let from: String
    package let to: String
    package let way: Way
    /// The reasons why a mapping would lose data, in sentences; empty if it would lose none.
    package let losses: [String]
    /// The findings about the store on the way back that involve no loss.
    package private(set) var findings: [Finding] = []
    /// The losses of the runs that led to the store's version. A reverse mapping cannot restore them.
    package let earlierLosses: [EarlierLosses]
    /// Whether the history next to the store covers the way to its version. Otherwise earlier losses are unknown.
    package let isWayForwardKnown: Bool

    /// Examines the store without changing a byte.
    ///
    /// - Parameters:
    ///   - versions: the versions that the older program knows; a store of any other version is read with the model
    ///     that it carries.
    ///   - target: the version to go back to; nil for the current one.
    ///   - answers: the answers that the way forward needed, and values that the older version requires.
    /// - Throws: `storeUnknown` if the store's model cannot be determined; `usage` if the store is older than the
    ///   target.
    package init(
        _ store: String, versions: ModelVersions, to target: String? = nil, answers: Answers = .none,
        migrator: Migrator = RunOptions().migrator()
    ) throws {
        let system = migrator.system
        let goal = versions.taking(target).versions[try versions.target(named: target)]
        to = goal.name
        let (source, snapshot) = try ReadOnlyStore.read(store, system: system) { probe in
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
            findings += undoing.findings
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
        // Offer only a backup that can be restored, and no older one in place of one that may be whole.
        let matching = try backups.list().last { try $0.manifest.versionHashes == hashes && backups.isWhole($0) }
        way =
            try matching.map { backup in
                let renamed = Self.renamedEntities(from: goal, to: source, versions, answers)
                return .backup(
                    backup, since: try ChangedObjects.all(in: store, since: backup, renamed: renamed, system))
            } ?? .impossible
    }

    /// Returns, by entity name in the older version, the entity's new name. An entity that was split, or merged into
    /// another, has none.
    private static func renamedEntities(
        from goal: ModelVersion, to source: ModelVersion, _ versions: ModelVersions, _ answers: Answers
    ) -> [String: String] {
        let known = versions.position(named: source.name) == nil ? ModelVersions(versions: [goal, source]) : versions
        guard let plan = try? MigrationPlan(known, from: goal.name, to: source.name, answers: answers) else {
            return [:]
        }
        var names = Dictionary(goal.model.entities.map { ($0.name, $0.name) }, uniquingKeysWith: { first, _ in first })
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
        let runs = RunHistory.inForce(try RunHistory(StoreRecords(store: try system.resolve(store)), system).records())
        let last = runs.last { $0.operation == .migrate }
        // A run cannot have recorded the name of a version that is not among these.
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

    /// A way back by a mapping, with the losses it would cause.
    struct Back {
        var migration: Pass?
        var losses: [String]
        var findings: [Finding] = []
    }

    /// Returns the reversed way forward. The mapping gives the correspondence; the rows show whether everything fits.
    static func mapped(
        _ store: String, from source: ModelVersion, to goal: ModelVersion, _ part: StorePart,
        _ versions: ModelVersions, _ answers: Answers, _ system: any System
    ) throws -> Back {
        do {
            let inferred = try InferredMapping(back: source, to: goal, in: versions, answers: answers)
            // A plan lists the store's version first, even if it is the newer one.
            let pair = ModelVersions(versions: [source, goal].map(\.underOneName))
            var stage = RegisteredStage(
                from: source.name, to: goal.name, name: "downgrade", sentence: "The store goes back.")
            stage.mapping = .success(try inferred.requireMapping(from: source.name, to: goal.name))
            stage.acceptedLosses = .all
            // Losses are checked below.
            var context = StoreSession.Context(pair, registered: [stage])
            (context.losses, context.part) = (.asTheVersionsSay(), part)
            var options = RunOptions()
            options.isExperimental = true
            let prepared = try StoreSession(
                StoreRequest(store, to: goal.name, .plan, options), context, on: system
            ).prepared
            guard let bound = prepared.bound else { return Back(losses: []) }
            let warnings = bound.rowFindings.filter { $0.severity > .note }
            let unfit = warnings.filter { $0.severity == .error || $0.code == "values-rounded" }
            // The older version gets such links from the newer one, and computes derived values.
            let lost = try bound.losses(prepared.options.choice).filter { !bound.isOfCopies($0, in: versions) }
            let losses =
                unfit.map { sentence($0, inferred.missing, from: source, to: goal) }
                + (try sentences(of: lost, in: bound.source, prepared.store, answers, system))
            guard losses.isEmpty, var migration = try prepared.migration() else { return Back(losses: losses) }
            migration.operation = .downgrade
            let dropped = lost.filter { $0.isWithoutData && !$0.isOfOwnIndex }
            return Back(migration: migration, losses: [], findings: warnings + dropped.compactMap(\.finding))
        } catch let error as MigrationError
            where [.question, .cannotInfer, .noPath, .dataConflict].contains(error.code)
        {
            return Back(losses: ["There is no reverse mapping: \(error.message)"])
        }
    }

    /// Returns a sentence about the finding that prevents the way back. If the older version requires a value, the
    /// sentence says how to give one.
    private static func sentence(
        _ finding: Finding, _ missing: [Refusal], from source: ModelVersion, to goal: ModelVersion
    ) -> String {
        let parts = finding.place.split(separator: ".", maxSplits: 1).map(String.init)
        guard finding.code == "required-missing", parts.count == 2, let entity = goal.model.entity(parts[0]),
            let declaring = goal.model.lineage(of: entity).first(where: { above in
                missing.contains { $0.place == "\(above.name).\(parts[1])" }
            })
        else { return finding.message }
        let answer = Answer(
            from: source.name, to: goal.name, entity: declaring.name, property: parts[1], is: .value, value: "…")
        return "\(finding.message) To give them one, answer: \(answer.json)"
    }

    // MARK: - Losses

    /// Returns the losses that matter to the older version. It has no use for history of things that it lacks; a link
    /// is stored at its other end, too; and an attribute with only the values that the way forward filled in needs no
    /// place. Indexes, triggers, views, and columns that are empty or generated hold no data: a warning names them, as on
    /// the way forward.
    static func sentences(
        of losses: [MigrationLoss], in layout: StoreLayout, _ store: String, _ answers: Answers, _ system: any System
    ) throws -> [String] {
        let real = losses.filter { loss in
            loss.kind != .history && loss.reason != .repeated && loss.count != 0 && !loss.isWithoutData
        }
        func mayBeFilled(_ loss: MigrationLoss) -> Bool { loss.kind == .values && loss.reason == .removed }
        guard real.contains(where: mayBeFilled) else { return real.map(\.sentence) }
        return try ReadOnlyStore.read(store, system: system) { probe in
            try real.filter { loss in
                try !mayBeFilled(loss) || !holdsOnlyFilled(loss, answers, probe.connection, layout)
            }.map(\.sentence)
        }
    }

    /// Whether a removed attribute holds nothing but its default value, or the value that an answer gave it.
    private static func holdsOnlyFilled(
        _ loss: MigrationLoss, _ answers: Answers, _ connection: Connection, _ layout: StoreLayout
    ) throws -> Bool {
        guard let entity = layout.model.entity(loss.entityName), let name = loss.propertyName,
            let attribute = layout.model.attribute(name, of: entity), let table = layout.table(for: entity)?.name,
            let column = layout.column(forAttribute: name, in: entity), let number = layout.entityNumbers[entity.name]
        else { return false }
        let lineage = layout.model.lineage(of: entity).map(\.name)
        let answered = answers.list.filter { $0.is == .value && $0.property == name && lineage.contains($0.entity) }
        let filled = ([attribute.defaultValue] + answered.map { $0.value(for: attribute) }).compactMap {
            $0?.stored(for: attribute)
        }
        guard !filled.isEmpty else { return false }
        let others = filled.map { _ in " AND \(column.quotedName) IS NOT ?" }.joined()
        return try connection.integer(
            "SELECT count(*) FROM \(table.quotedName) WHERE Z_ENT = \(number) "
                + "AND \(column.quotedName) IS NOT NULL\(others)", filled) == 0
    }
}

extension MigrationLoss {
    /// Whether the loss is an index with a name of Core Data's own.
    fileprivate var isOfOwnIndex: Bool { kind == .index && entityName.hasPrefix("Z") }
    fileprivate var isWithoutData: Bool { [.index, .trigger, .view, .column].contains(kind) }
}

extension ModelVersion {
    /// The version with a single name, the one that the store and the user know.
    fileprivate var underOneName: ModelVersion {
        var version = self
        version.names = [name]
        return version
    }
}

extension StoreDowngrade {
    /// Returns the way back while a deferred migration is pending: its mapping reversed, with the columns and tables
    /// that it has left; nil if nothing is pending, or if any of them is gone. As on any other way back, data that only
    /// the newer version has is lost, here when the deferred work is done.
    ///
    /// Links to objects deleted since are cleared, and objects inserted since get default values. A required property
    /// without a default fails when the migration runs.
    static func undoing(
        _ store: String, from source: ModelVersion, to goal: ModelVersion, _ versions: ModelVersions,
        _ answers: Answers, _ system: any System
    ) throws -> (migration: Pass, losses: [String], findings: [Finding])? {
        guard versions.position(named: source.name) != nil,
            let plan = try? MigrationPlan(versions, from: goal.name, to: source.name, answers: answers),
            plan.passes.count == 1, let pass = plan.passes.first, pass.steps.isEmpty,
            case .mapping(let mapping) = pass.work, let back = mapping.inverse(to: goal.model)
        else { return nil }
        let found = try ReadOnlyStore.read(store, system: system) {
            probe -> (bound: BoundPlan, losses: [MigrationLoss], path: String)? in
            let snapshot = try StoreSnapshot(probe.connection)
            guard snapshot.metadata.hasDeferredWork else { return nil }
            try snapshot.checkDeferredWork()
            func bound(isUndoing: Bool) throws -> BoundPlan {
                try BoundPlan(
                    back, from: source, to: goal, over: snapshot, connection: probe.connection, experimental: true,
                    defersWork: isUndoing, isUndoing: isUndoing)
            }
            let undoing = try bound(isUndoing: true)
            guard undoing.isDeferred else { return nil }
            // The older version gets these columns and tables back, although no property of the newer one explains
            // them.
            let counted = try bound(isUndoing: false).losses.filter {
                $0.reason != .unexplained && $0.reason != .conflict
            }
            return (undoing, counted + undoing.losses.filter { $0.reason == .conflict }, probe.path)
        }
        guard let (bound, losses, path) = found else { return nil }
        var migration = try Pass(bound, on: path, from: source.name, system: system)
        migration.operation = .downgrade
        migration.verification.checks.append(LaterRows(goal: goal))
        return (
            migration, try sentences(of: losses, in: bound.source, path, answers, system),
            bound.rowFindings.filter { $0.code == "derived-not-computed" }
        )
    }
}

/// The check that all rows written since a migration fit the older version.
private struct LaterRows: StoreCheck {
    let goal: ModelVersion

    var sentence: String { "Verify what was written since the migration." }

    /// - Throws: `dataConflict`.
    func check(_ connection: Connection) throws {
        let snapshot = try StoreSnapshot(connection)
        let layout = try StoreLayout(actual: snapshot, model: goal.held(by: snapshot.hashes).model)
        let verifier = StoreVerifier(connection, shape: StoreShape(layout, withObjects: false))
        guard let first = try verifier.rows().first(where: { $0.finding.severity == .error }) else { return }
        throw MigrationError(
            .dataConflict,
            "What was written since the migration has no place in \(goal.name). \(first.finding.message)",
            place: first.finding.place, remedy: "The store is unchanged. \(first.finding.advice)")
    }
}
