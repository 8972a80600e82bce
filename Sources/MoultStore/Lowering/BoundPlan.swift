import MoultBasics
import MoultModel
import MoultPlan
import MoultSQLite

/// A mapping bound to one store, with its cost there, the findings from its rows, and the state that the store must
/// still have when the plan runs.
package final class BoundPlan: Sendable {
    /// The state of the store when the plan was made. A plan is refused if the store has changed since.
    package struct Binding: Sendable, Hashable {
        package var storeUUID: String
        /// The checksum of the store's version hashes.
        package var checksum: [UInt8]
        /// SHA-256 of `sqlite_master`.
        package var catalogueDigest: [UInt8]
        package var framework: Int

        package init(storeUUID: String, checksum: [UInt8], catalogueDigest: [UInt8], framework: Int) {
            (self.storeUUID, self.checksum) = (storeUUID, checksum)
            (self.catalogueDigest, self.framework) = (catalogueDigest, framework)
        }

        package init(_ snapshot: StoreSnapshot) {
            self.init(
                storeUUID: snapshot.metadata.uuid, checksum: snapshot.metadata.hashes?.checksum ?? [],
                catalogueDigest: snapshot.catalogueDigest, framework: snapshot.framework.number)
        }
    }

    /// The facts that require reading every row, kept by a migration that runs in several calls.
    package struct RowFacts: Sendable, Equatable {
        package var rowCounts: [String: Int64]
        package var disjoint: Set<[Int]>
        package var losses: [MigrationLoss]

        package init(rowCounts: [String: Int64], disjoint: Set<[Int]>, losses: [MigrationLoss] = []) {
            (self.rowCounts, self.disjoint, self.losses) = (rowCounts, disjoint, losses)
        }
    }

    package let target: ModelVersion
    package let binding: Binding
    /// The findings about the rows, without the losses; any of severity `error` prevents the migration.
    package let rowFindings: [Finding]
    /// The counted losses if every changed table is rebuilt. If work is deferred, they are not counted, because the
    /// data is kept for now.
    package let losses: [MigrationLoss]
    /// The numbers added to the keys of an entity mapping's objects, one for each entity mapping.
    package let keyShifts: [Int64]
    /// Whether a row belongs to no entity of its table; false if the rows were not counted.
    package let hasStrangers: Bool
    package let metadata: StoreMetadata
    package let modelCache: [UInt8]?
    /// The lowering that rebuilds every changed table.
    let lowering: StoreLowering
    /// The positions of pairs of entity mappings whose conditions no object can both meet.
    let disjoint: Set<[Int]>
    private let lowerings = OnceEach<StoreScript.Choice, StoreLowering>()
    /// The work that can be deferred; nil if deferral was not requested.
    package let deferral: Deferral?
    /// Whether objects that an earlier deferred migration has set aside are restored.
    let isUndoing: Bool

    /// Whether the store is changed in place and some work is deferred.
    package var isDeferred: Bool { deferral?.isPossible == true }

    /// Whether all slow work could be deferred, if this was requested, and nothing would be lost at once.
    package var canBeDeferred: Bool {
        guard deferral == nil, losses.allSatisfy({ [.rows, .values, .links, .order].contains($0.kind) }) else {
            return false
        }
        return Deferral(DeferredLowering(lowering, isUndoing: false), bytes: 0).isPossible
    }

    /// - Parameters:
    ///   - mapping: the mapping from the version that created the store to `target`.
    ///   - source: the version that created the store.
    ///   - snapshot: the store, read over `connection`.
    ///   - experimental: whether to write version hashes that are not certain.
    ///   - defersWork: whether to defer slow work. If all of it can be deferred, no row is read: row counts are
    ///     estimated, and losses are not counted, because the data is kept for now.
    ///   - isUndoing: whether objects that an earlier deferred migration has set aside are restored; with `defersWork`.
    ///   - known: the facts that an earlier plan found in the rows, which have not changed since. That plan had no
    ///     obstacles, and no row is read.
    ///   - makesHistory: whether to create missing parts of persistent history.
    ///   - keptKeys: by entity name, the highest key of an entity that an earlier state of the store had.
    ///   - part: the part of the model that the store should contain; nil for its current part.
    /// - Throws: `unsupported` if the hashes of the target are not certain, or if it lacks the configuration that the
    ///   store was opened with.
    package init(
        _ mapping: ResolvedMapping, from source: ModelVersion, to target: ModelVersion, over snapshot: StoreSnapshot,
        connection: Connection, experimental: Bool = false, defersWork: Bool = false, isUndoing: Bool = false,
        known: RowFacts? = nil, makesHistory: Bool = true, keptKeys: [String: Int64] = [:], as part: StorePart? = nil
    ) throws {
        self.isUndoing = isUndoing
        // The model in the store is always complete, even if the store contains only a part of it.
        modelCache = try Self.modelCache(of: target.wholeModel, framework: snapshot.framework)
        let whole = (mapping: mapping, target: target.wholeModel)
        var (mapping, source, target) = (mapping, source, target)
        if let hashes = snapshot.metadata.hashes {
            (source, target) = try source.parts(of: hashes, to: target, as: part)
            mapping = mapping.restricted(from: source.model, to: target.model)
        }
        if let reason = target.hashes.uncertain.values.min(), !experimental {
            throw MigrationError(
                .unsupported, "The version hash of the target is not certain: \(reason).", place: target.name,
                remedy: "Pass \(option: .experimental) to write Moult's best guess, which Core Data may refuse to open."
            )
        }
        self.target = target
        binding = Binding(snapshot)
        let old = try StoreLayout(actual: snapshot, model: source.model)
        try snapshot.requireExpectedCatalogue(for: source.model)
        let fresh = try StoreLayout(
            model: target.model, framework: snapshot.framework.number, history: snapshot.keepsHistory,
            keeping: PhysicalNames(of: old).carried(by: mapping, from: source.model, to: target.model))
        let renamed = RenamedColumns(mapping, from: old, to: fresh)
        let definitions = try KeptDefinitions(
            old, to: fresh, version: target.name,
            roots: KeptDefinitions.roots(mapping, from: source.model, to: target.model), renamed: renamed,
            isPending: snapshot.metadata.hasDeferredWork)
        let new = fresh.adding(definitions)
        let keptObjects = try UserSchemaObjects(
            snapshot.catalogue, from: old, to: new, losing: definitions.columns.map(\.place))
        let historyGaps = HistoryGaps(PersistentHistory(of: old), in: snapshot)
        if makesHistory { try historyGaps.requirePossible(in: snapshot.catalogue) }
        var metadata = snapshot.metadata
        metadata.setVersion(target, level: snapshot.framework)
        self.metadata = metadata
        let highestKeys = try snapshot.highestKeys(in: old, over: connection)
        let disjoint = try known?.disjoint ?? StoreLowering.disjoint(mapping, from: old, to: new, over: connection)
        self.disjoint = disjoint
        func lowering(_ rowCounts: [String: Int64]) throws -> StoreLowering {
            try StoreLowering(
                source: old, destination: new, mapping: mapping, catalogue: snapshot.catalogue, rowCounts: rowCounts,
                highestKeys: highestKeys, keptKeys: keptKeys, disjoint: disjoint, keeping: keptObjects,
                historyGaps: historyGaps, isPending: snapshot.metadata.hasDeferredWork)
        }
        let objects = try keptObjects.losses(to: target.name, over: connection).map(renamed.naming)
        // Omit findings that tables are unknown if the migration drops them.
        let dropped = Set(keptObjects.drops(.table))
        let told =
            old.findings.filter { $0.code != "table-unknown" || !dropped.contains($0.place) }
            + new.findings + keptObjects.findings(renamed)
            + snapshot.counterFindings(in: old, highestKeys) + historyGaps.notes
        if defersWork {
            let estimated = try snapshot.estimatedRowCounts(in: old, over: connection)
            let quick = try lowering(estimated)
            let deferral = Deferral(
                DeferredLowering(quick, isUndoing: isUndoing), bytes: try connection.integer(Self.sizeOfStore) ?? 0)
            self.deferral = deferral
            if deferral.isPossible {
                self.lowering = quick
                hasStrangers = false
                keyShifts = mapping.entityMappings.map { _ in 0 }
                rowFindings = told + quick.uncomputedValues(isEstimated: true, isUndoing: isUndoing)
                losses =
                    try mapping.leftBehind(from: source.model, to: target.model, version: target.name)
                    .filter { estimated[$0.entityName, default: 0] > 0 }
                    .map { $0.placed(by: whole.mapping, in: whole.target) }
                    + quick.orderLosses(to: target.name) + objects
                    + quick.historyLosses(to: target.name, over: connection)
                return
            }
        } else {
            deferral = nil
        }
        let (rowCounts, hasStrangers) =
            try known.map { ($0.rowCounts, false) } ?? snapshot.census(in: old, over: connection)
        self.hasStrangers = hasStrangers
        let all = try lowering(rowCounts)
        self.lowering = all
        let shifts = Dictionary(all.carriers.map { ($0.position, $0.shift) }, uniquingKeysWith: { first, _ in first })
        keyShifts = mapping.entityMappings.indices.map { shifts[$0] ?? 0 }
        if let known {
            (losses, rowFindings) = (known.losses, told)
        } else {
            let count = try LossCount(all, to: target.name, over: connection)
            losses =
                try count.losses().map { $0.placed(by: whole.mapping, in: whole.target) } + objects
                + definitions.losses + all.historyLosses(to: target.name, over: connection)
            rowFindings = try told + all.findings(count.contributions, over: connection)
        }
    }

    /// The findings about the rows, and the losses. If work is deferred, only immediate losses are included.
    package var findings: [Finding] { rowFindings + atOnce(losses).compactMap(\.finding) }

    /// Returns the same findings for one choice of how to change the tables.
    package func findings(_ choice: StoreScript.Choice) throws -> [Finding] {
        try rowFindings + atOnce(losses(choice)).compactMap(\.finding)
    }

    /// Returns the losses that occur in the run itself.
    fileprivate func atOnce(_ losses: [MigrationLoss]) -> [MigrationLoss] {
        isDeferred ? losses.filter { !$0.isPutOff } : losses
    }

    /// Returns the losses for one choice of how to change the tables. A table that is kept retains an app's additions,
    /// and a kept join table retains repeated links.
    package func losses(_ choice: StoreScript.Choice) throws -> [MigrationLoss] {
        guard choice != .normalised, !isDeferred else { return losses }
        let lowering = try lowering(choice)
        let (tables, joins) = (lowering.changes, lowering.joinChanges)
        let staying = Set(
            tables.filter { !$0.isRebuilt }.map(\.table.name) + joins.filter { !$0.isRebuilt }.map(\.table.name))
        let own = lowering.ownDefinitions
        return losses.filter { loss in
            switch (loss.kind, loss.reason) {
            case (.index, _), (.trigger, _), (.view, _), (.table, _): !lowering.keptObjects.keeps(loss.entityName)
            case (.constraint, .unexplained): !staying.contains(loss.entityName)
            case (_, .unexplained): own[loss.entityName]?.columns.contains(loss.propertyName ?? "") != true
            case (_, .repeated): joins.contains(where: \.isRebuilt)
            default: true
            }
        }
    }

    /// Whether a loss is of former copies of links that the target has, or of values that follow from others, in a
    /// column that a deferred migration has left.
    ///
    /// - Parameter versions: the versions that may have had the column.
    package func isOfCopies(_ loss: MigrationLoss, in versions: ModelVersions) -> Bool {
        guard loss.kind == .values, loss.reason == .unexplained, lowering.obstacle == .workIsPending,
            let column = loss.propertyName
        else { return false }
        return lowering.repeatsLinks(column, of: loss.entityName) || versions.derives(column)
    }

    /// The facts found in the rows.
    package var rowFacts: RowFacts { RowFacts(rowCounts: rowCounts, disjoint: disjoint, losses: losses) }

    /// Returns the content of the model cache. It is nil if the store has no cache, or if Core Data's archive format
    /// for the model is not known: Core Data accepts NULL, but not a cache of the old version.
    private static func modelCache(of model: ManagedObjectModel, framework: FrameworkLevel) throws -> [UInt8]? {
        guard framework.hasModelCache else { return nil }
        do {
            return try model.modelCache()
        } catch let error as MigrationError where error.code == .unsupported {
            return nil
        }
    }

    private static let sizeOfStore = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"

    /// Whether every object keeps its key and becomes exactly one object.
    package var keepsKeys: Bool { keyShifts.allSatisfy { $0 == 0 } }

    package var mapping: ResolvedMapping { lowering.mapping }
    /// The number of objects of each source entity, not counting sub-entities.
    package var rowCounts: [String: Int64] { lowering.rowCounts }
    /// The current store, followed by a new store of the target version.
    package var source: StoreLayout { lowering.source }
    package var destination: StoreLayout { lowering.destination }
    /// The store's foreign objects, and the decision which of them are kept.
    package var keptObjects: UserSchemaObjects { lowering.keptObjects }
    /// The statements that compute derived attributes, by their places (``StoreLowering/derivations``).
    package var derivations: [(place: String, statement: StoreScript.Statement)] { lowering.derivations }

    /// Returns how each table is changed for the new version; empty if work is deferred.
    package func tableWays(_ choice: StoreScript.Choice) throws -> [TableStrategy] {
        guard !isDeferred else { return [] }
        return try lowering(choice).ways()
    }

    fileprivate func lowering(_ choice: StoreScript.Choice) throws -> StoreLowering {
        try choice == .normalised ? lowering : lowerings.value(choice) { try lower(choice) }
    }

    private func lower(_ choice: StoreScript.Choice) throws -> StoreLowering {
        var lowering = lowering
        lowering.choice = choice
        lowering = lowering.cheapest()
        guard !keptObjects.dropped.isEmpty else { return lowering }
        // Objects that depend on an app's own column are kept with it, unless SQLite then cannot alter the table.
        let own = lowering.ownDefinitions
        var other = lowering
        other.keptObjects = try UserSchemaObjects(
            lowering.catalogue, from: source, to: destination.keeping(own), losing: keptObjects.lostColumns)
        return own.isEmpty || other.ownDefinitions != own ? lowering : other
    }

    /// The findings that prevent the migration, as one error; nil if there are none.
    package var obstacle: MigrationError? {
        let errors = rowFindings.filter { $0.severity == .error }
        guard let first = errors.first else { return nil }
        let all = errors.map { "\($0.place): \($0.message)" }.joined(separator: " ")
        return MigrationError(
            .dataConflict, "The store's rows do not fit the new version. \(all)", place: first.place,
            remedy: first.advice)
    }
}

extension StoreSnapshot {
    /// Returns the highest key ever assigned in each table, even if Z_PRIMARYKEY does not record it.
    fileprivate func highestKeys(in layout: StoreLayout, over connection: Connection) throws -> [String: Int64] {
        var highest: [String: Int64] = [:]
        for table in layout.tables {
            let known = primaryKeyRows.first { $0.name == table.rootEntityName }?.max ?? 0
            highest[table.name] = max(known, try connection.highestKey(of: table.name))
        }
        return highest
    }

    /// Returns an upper bound on each entity's number of objects without reading rows; zero exactly if there are none.
    fileprivate func estimatedRowCounts(in layout: StoreLayout, over connection: Connection) throws -> [String: Int64] {
        var counts: [String: Int64] = [:]
        for (name, number) in layout.entityNumbers {
            guard let table = layout.table(forEntity: name)?.name else { continue }
            let any = "SELECT EXISTS (SELECT 1 FROM main.\(table.quotedName) WHERE Z_ENT = \(number))"
            let isAlone = layout.numbers(inTable: table).count == 1
            // Only a table with several entities has the index that makes this query fast.
            let isEmpty = try !isAlone && connection.integer(any) == 0
            counts[name] = try isEmpty ? 0 : connection.highestKey(of: table)
        }
        return counts
    }
}

extension Connection {
    fileprivate func highestKey(of table: String) throws -> Int64 {
        try integer("SELECT max(Z_PK) FROM main.\(table.quotedName)") ?? 0
    }
}

extension StoreScript {
    /// Lowers a bound plan to statements on a copy of the store, or on the store itself. A plan with deferred work
    /// always runs on the store itself.
    ///
    /// - Throws: `unsupported` if the plan cannot run in place, with every reason.
    package init(_ plan: BoundPlan, _ choice: Choice = .normalised) throws {
        let lowering = try plan.lowering(choice)
        var metadata = plan.metadata
        if plan.isDeferred {
            let deferred = DeferredLowering(lowering, isUndoing: plan.isUndoing)
            metadata.hasDeferredWork = deferred.leavesWork
            self = deferred.script(metadata: metadata.propertyList, modelCache: plan.modelCache)
            needsBackup = isDeferred ? !plan.atOnce(plan.losses).isEmpty : true
        } else {
            // The work deferred by an earlier migration disappears together with its tables.
            metadata.hasDeferredWork = false
            self = try lowering.script(metadata: metadata.propertyList, modelCache: plan.modelCache)
        }
    }
}
