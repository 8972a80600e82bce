import MoultModel
import MoultModelFiles
import MoultPlan
import MoultSQLite

/// A mapping bound to one store: what it costs there, what its rows say about it, and what the store must still be
/// when it runs.
package struct BoundPlan: Sendable {
    /// What the store looked like when the plan was made; a plan that is run later is refused where it has changed.
    package struct Binding: Sendable, Hashable {
        package var storeUUID: String
        /// The checksum of the store's version hashes.
        package var checksum: [UInt8]
        /// SHA-256 of `sqlite_master`.
        package var catalogueDigest: [UInt8]
        package var framework: Int

        package init(storeUUID: String, checksum: [UInt8], catalogueDigest: [UInt8], framework: Int) {
            self.storeUUID = storeUUID
            self.checksum = checksum
            self.catalogueDigest = catalogueDigest
            self.framework = framework
        }

        package init(_ snapshot: StoreSnapshot) {
            self.init(
                storeUUID: snapshot.metadata.uuid, checksum: snapshot.metadata.hashes?.checksum ?? [],
                catalogueDigest: snapshot.catalogueDigest, framework: snapshot.framework.number)
        }
    }

    package let mapping: ResolvedMapping
    package let target: ModelVersion
    package let binding: Binding
    /// Objects by source entity, without those of its sub-entities.
    package let rowCounts: [String: Int64]
    /// What the rows say: values that would be lost, with counts; severity `error` stands in the way.
    package let findings: [Finding]
    /// What is added to the keys of an entity mapping's objects, for each of the mapping's.
    package let keyShifts: [Int64]
    /// The store as it is, and a fresh store of the target version.
    package let source: StoreLayout
    package let destination: StoreLayout
    package let metadata: StoreMetadata
    package let modelCache: [UInt8]?
    let catalogue: Catalogue
    /// By table of the source, the highest key ever handed out there.
    let highestKeys: [String: Int64]
    /// Pairs of places of entity mappings whose conditions no object fulfils both.
    let disjoint: Set<[Int]>

    /// - Parameters:
    ///   - mapping: from the version that made the store to `target`.
    ///   - source: the version that made the store.
    ///   - snapshot: the store, read over `connection`.
    ///   - experimental: write version hashes that are not certain.
    /// - Throws: `unsupported` where the hashes of the target are not certain, or where it lacks the configuration
    ///   that the store was opened with.
    package init(
        _ mapping: ResolvedMapping, from source: ModelVersion, to target: ModelVersion, over snapshot: StoreSnapshot,
        connection: Connection, experimental: Bool = false
    ) throws {
        // The model in the store is the whole one, whatever part of it the store holds.
        modelCache = try Self.modelCache(of: target.model, framework: snapshot.framework)
        var (mapping, source, target) = (mapping, source, target)
        if let hashes = snapshot.metadata.hashes, !source.hashes.isCompatible(with: hashes),
            let configuration = source.configuration(matching: hashes)
        {
            source = try source.restricted(to: configuration.name)
            target = try target.restricted(to: configuration.name)
            mapping = mapping.restricted(from: source.model, to: target.model)
        }
        if let reason = target.hashes.uncertain.values.min(), !experimental {
            throw MigrationError(
                .unsupported, "The version hash of the target is not certain: \(reason).", place: target.name,
                remedy: "Pass --experimental to write Moult's best guess, which Core Data may refuse to open.")
        }
        self.mapping = mapping
        self.target = target
        binding = Binding(snapshot)
        self.source = try StoreLayout(actual: snapshot, model: source.model)
        destination = try StoreLayout(
            model: target.model, framework: snapshot.framework.number, history: snapshot.hasHistory)
        catalogue = snapshot.catalogue
        var metadata = snapshot.metadata
        metadata.setVersion(target, level: snapshot.framework)
        self.metadata = metadata
        rowCounts = try snapshot.rowCounts(in: self.source, over: connection)
        highestKeys = try snapshot.highestKeys(in: self.source, over: connection)
        disjoint = try StoreLowering.disjoint(mapping, from: self.source, to: destination, over: connection)
        let lowering = try StoreLowering(
            source: self.source, destination: destination, mapping: mapping, catalogue: catalogue,
            rowCounts: rowCounts, highestKeys: highestKeys, disjoint: disjoint)
        keyShifts = mapping.entityMappings.indices.map { position in
            lowering.carriers.first { $0.position == position }?.shift ?? 0
        }
        findings = try self.source.findings + destination.findings + lowering.findings(over: connection)
    }

    /// Nil where the store has none, or where Core Data's way to archive the model is not known; NULL is legal there
    /// (STORE_FORMAT 2), a cache of the old version is not.
    private static func modelCache(of model: ManagedObjectModel, framework: FrameworkLevel) throws -> [UInt8]? {
        guard framework.hasModelCache else { return nil }
        do {
            return try model.modelCache()
        } catch let error as MigrationError where error.code == .unsupported {
            return nil
        }
    }

    /// Whether every object keeps its key and becomes one object.
    package var keepsKeys: Bool { keyShifts.allSatisfy { $0 == 0 } }

    var lowering: StoreLowering {
        get throws {
            try StoreLowering(
                source: source, destination: destination, mapping: mapping, catalogue: catalogue, rowCounts: rowCounts,
                highestKeys: highestKeys, disjoint: disjoint)
        }
    }

    /// What stands in the way, as one error; nil where nothing does.
    package var obstacle: MigrationError? {
        let errors = findings.filter { $0.severity == .error }
        guard let first = errors.first else { return nil }
        let all = errors.map { "\($0.place): \($0.message)" }.joined(separator: " ")
        return MigrationError(
            .dataConflict, "The store's rows do not fit the new version. \(all)", place: first.place,
            remedy: first.remedy)
    }
}

extension StoreSnapshot {
    /// By table, the highest key that was ever handed out there, whatever Z_PRIMARYKEY has forgotten.
    fileprivate func highestKeys(in layout: StoreLayout, over connection: Connection) throws -> [String: Int64] {
        var highest: [String: Int64] = [:]
        for table in layout.tables {
            let known = primaryKeyRows.first { $0.name == table.rootEntityName }?.max ?? 0
            let used = try connection.integer("SELECT max(Z_PK) FROM main.\(table.name.quotedName)") ?? 0
            highest[table.name] = max(known, used)
        }
        return highest
    }
}

extension StoreScript {
    /// Lowers a bound plan to statements: on a copy of the store, or on the store itself.
    ///
    /// - Throws: `unsupported` where the plan cannot run in place, with every reason.
    package init(_ plan: BoundPlan, inPlace: Bool = false) throws {
        let lowering = try plan.lowering
        let metadata = plan.metadata.propertyList
        self =
            inPlace
            ? try InPlaceLowering(lowering).script(metadata: metadata, modelCache: plan.modelCache)
            : try lowering.script(metadata: metadata, modelCache: plan.modelCache)
    }
}
