import MoultBasics
import MoultModel
import MoultPlan
import MoultSQLite
import MoultStore

/// One pass of migration policies on a working copy whose statements have run. It makes the instances, updates links to
/// objects that changed, makes the relationships, and lets the policies validate.
package struct PolicyRun {
    package var mapping: ResolvedMapping
    /// The models of the two versions, restricted to the store's configuration.
    package var from: ManagedObjectModel
    package var to: ManagedObjectModel
    package var registry: MigrationRegistry
    /// The files with the external data of both stores, including new files.
    package var external: ExternalStorage
    /// The number of source objects read, and of outcomes written, at a time.
    package var batchSize: Int
    package var system: any System
    /// The record of what the policies read and what the mappings carry over for them; nil if that is not recorded.
    package var reads: PropertyReads?
    /// The statements that compute derived attributes, by the attributes' places, each after those that it reads.
    package var derivations: [(place: String, statement: StoreScript.Statement)] = []
    /// Called once for each batch with the number of source objects done so far and a sentence; returning false cancels
    /// the migration.
    package var progress: (_ done: Int64, _ sentence: String) -> Bool

    package init(
        _ mapping: ResolvedMapping, from: ManagedObjectModel, to: ManagedObjectModel, registry: MigrationRegistry,
        external: ExternalStorage, batchSize: Int = 1_000, on system: any System = POSIXSystem(),
        progress: @escaping (_ done: Int64, _ sentence: String) -> Bool = { _, _ in true }
    ) {
        (self.mapping, self.from, self.to, self.registry, self.external) = (mapping, from, to, registry, external)
        self.batchSize = max(batchSize, 1)
        self.system = system
        self.progress = progress
    }

    /// Whether a mapping has policies at all.
    package static func isNeeded(for mapping: ResolvedMapping) -> Bool {
        mapping.entityMappings.contains { $0.policy != nil }
    }

    /// Runs the policies.
    ///
    /// - Parameters:
    ///   - connection: the working copy, with the unchanged store attached as `source`.
    ///   - source: the path of the unchanged store.
    /// - Returns: the numbers of source objects by outcome, for each entity mapping.
    /// - Throws: `policyFailed` with the entity mapping, object, property and value; `codeMissing`; `cancelled`. The
    ///   working copy is then unusable.
    package func run(on connection: Connection, source: String) throws -> [InstanceCounts] {
        try connection.withoutAppTriggers {
            try withStores(on: connection, source) { old, new in
                try new.writing {
                    let manager = try MigrationManager(
                        self, source: old, destination: new, connection: connection,
                        mappings: try runningMappings(new.layout))
                    defer { manager.end() }
                    return try run(manager)
                }
            }
        }
    }

    /// Runs the policies, or what an earlier call has left of them, piece by piece. ``PolicyNotes`` of the working copy
    /// remain, until ``PolicyNotes/forget(on:)`` drops them.
    ///
    /// - Throws: the same errors; what `pace` throws when the time is over; ``KeptPolicyState``. The working copy is as
    ///   the last complete piece has left it.
    package func run(on connection: Connection, source: String, within pace: any PolicyPace) throws -> PolicyRecord {
        let pieces = try PolicyPieces(on: connection, pace, batchSize: batchSize)
        return try withStores(on: connection, source) { old, new in
            let manager = try MigrationManager(
                self, source: old, destination: new, connection: connection,
                mappings: try runningMappings(new.layout), in: pieces)
            defer { manager.end() }
            _ = try run(manager)
            return PolicyRecord(manager)
        }
    }

    private func withStores<Result>(
        on connection: Connection, _ source: String, _ body: (_ old: ObjectStore, _ new: ObjectStore) throws -> Result
    ) throws -> Result {
        let reading = try Connection(source, mode: .immutable)
        defer { reading.close() }
        let old = try ObjectStore(
            over: reading, model: from, external: external, isReadOnly: true, keepsHistory: false, on: system)
        let new = try ObjectStore(over: connection, model: to, external: external, keepsHistory: false, on: system)
        return try body(old, new)
    }

    private func run(_ manager: MigrationManager) throws -> [InstanceCounts] {
        let ours = manager.mappings.filter { $0.policy != nil }
        for mapping in ours { try makeInstances(mapping, manager) }
        try manager.leadLinksOn()
        for mapping in ours { try makeRelationships(mapping, manager) }
        for mapping in ours { noteCarried(mapping) }
        for mapping in ours {
            try call(mapping, manager) { policy, written in
                try policy.performCustomValidation(forMapping: written, manager: manager)
            }
        }
        for mapping in ours {
            try call(mapping, manager) { policy, written in try policy.end(written, manager: manager) }
        }
        // The last calls may have made objects too.
        if let last = ours.last { try write(manager, last) }
        try derive(manager)
        return ours.map(\.counts)
    }

    /// Computes the derived attributes that no trigger has kept up to date while the policies ran.
    private func derive(_ manager: MigrationManager) throws {
        let open = Set(manager.destinationStore.findings.filter { $0.code == "derived-not-kept" }.map(\.place))
        for (place, statement) in derivations where open.contains(place) {
            let rows = try manager.connection.integer("SELECT max(Z_PK) FROM main.\(statement.table.quotedName)") ?? 0
            let seconds = CostModel.statement + Double(rows) * CostModel.update
            try manager.once(statement.sentence, seconds: seconds) { try manager.connection.run(statement.sql) }
        }
    }

    /// Records what a mapping carries over. Its expressions count only if the policy made objects with them, and the
    /// relationships that it alone fills only if the policy asked for them.
    private func noteCarried(_ mapping: RunningMapping) {
        guard let reads, mapping.mapping.sourceEntityName != nil else { return }
        var carried = mapping.mapping
        if !mapping.hasMadeInstances { carried.attributes = [:] }
        if !mapping.hasMadeRelationships {
            for name in mapping.ownRelationships { carried.relationships[name] = RelationshipSource.empty }
        }
        for place in carried.carried(from: from) { reads.noteCarried(place.property, of: place.entity) }
    }

    /// Writes everything that policies have made.
    func write(_ manager: MigrationManager, _ mapping: RunningMapping) throws {
        do { try manager.writeAll() } catch { throw PolicyFault(error, nil).error(mapping) }
    }

    /// Calls a policy outside the processing of source objects, and writes the changes that it makes.
    func call(
        _ mapping: RunningMapping, _ manager: MigrationManager,
        _ body: (EntityMigrationPolicy, EntityMapping) throws -> Void
    ) throws {
        guard let policy = mapping.policy else { return }
        manager.begin(mapping)
        try manager.once("Call the policy \(mapping.policyName) for the mapping \(mapping.entityMapping.name).") {
            do {
                try body(policy, mapping.entityMapping)
                try manager.throwFault()
                try manager.keepAssociations()
                try manager.writeWaiting()
            } catch {
                throw PolicyFault(error, nil).error(mapping)
            }
        }
    }

    // MARK: - Mappings

    /// Returns the mappings of the run, with one policy object for each name, however many mappings it serves.
    private func runningMappings(_ layout: StoreLayout) throws -> [RunningMapping] {
        var policies: [String: EntityMigrationPolicy] = [:]
        return try mapping.entityMappings.enumerated().map { position, mapping in
            let policy = try mapping.policy.map { name in
                if let known = policies[name] { return known }
                guard let make = registry.policies[name] else {
                    throw MigrationError.policyMissing(name, of: mapping.name)
                }
                let policy = make()
                policies[name] = policy
                return policy
            }
            let number = mapping.destinationEntityName.flatMap { layout.entityNumbers[$0] }
            return RunningMapping(
                mapping, at: position, policy: policy, destinationNumber: number.map(Int64.init),
                keepsKeys: keepsKeys(mapping, at: position))
        }
    }

    /// Whether objects keep the keys of their source objects: no other entity mapping can have used those keys in the
    /// table.
    private func keepsKeys(_ mapping: ResolvedEntityMapping, at position: Int) -> Bool {
        guard let root = self.root(of: mapping.destinationEntityName, in: to),
            let sourceRoot = self.root(of: mapping.sourceEntityName, in: from)
        else { return false }
        return !self.mapping.entityMappings.enumerated().contains { other, rival in
            guard other != position, self.root(of: rival.destinationEntityName, in: to) == root,
                rival.sourceEntityName != nil
            else { return false }
            // Statements run before policies, and policies run in order.
            let comesBefore = rival.policy == nil ? mapping.policy != nil : mapping.policy != nil && other < position
            let mayMeet =
                self.root(of: rival.sourceEntityName, in: from) != sourceRoot
                || rival.sourceEntityName == mapping.sourceEntityName
            return comesBefore && mayMeet
        }
    }

    func root(of name: String?, in model: ManagedObjectModel) -> String? {
        name.flatMap(model.entity).map { model.root(of: $0).name }
    }

    /// Returns the greatest key of the source objects that may become one of an entity's table; 0 if there are none.
    func reservedKey(for entity: DestinationEntity, _ manager: MigrationManager) throws -> Int64 {
        let root = entity.columns.root
        let roots = Set(
            mapping.entityMappings.compactMap { mapping in
                self.root(of: mapping.destinationEntityName, in: to) == root
                    ? self.root(of: mapping.sourceEntityName, in: from) : nil
            })
        return try roots.reduce(0) { highest, name in
            guard let columns = try? manager.sources.store.columns(of: name) else { return highest }
            let found = try manager.connection.integer(
                """
                SELECT max(ifnull((SELECT \(PrimaryKeyRow.highestSQL) FROM source.Z_PRIMARYKEY WHERE Z_ENT = ?), 0), \
                ifnull((SELECT max(Z_PK) FROM source.\(columns.table.quotedName)), 0))
                """, [.integer(columns.number)])
            return max(highest, found ?? 0)
        }
    }

    static let cancelled = MigrationError(
        .cancelled, "The migration was cancelled while policies ran. The store is unchanged.",
        remedy: "Run the command again when you want it done.")
}
