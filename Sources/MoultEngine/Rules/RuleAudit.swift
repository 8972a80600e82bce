import MoultModel
import MoultObjects
import MoultPlan
import MoultSQLite
import MoultStore
import MoultSystem
import MoultTransform

/// Rules checked on a store as it stands, without changing a byte of it.
package struct RuleAudit: Sendable {
    package let findings: [RuleFinding]
    private let rules: [ValidationRule]
    private let version: ModelVersion
    /// Without symbolic links.
    private let store: String
    private let binding: BoundPlan.Binding
    private let refusal: MigrationError?
    private let log = RuleLog()
    private let system: any System

    /// - Parameters:
    ///   - version: that of the store.
    ///   - source: a store to compare numbers of objects with, and its version.
    ///   - place: where the rules came from, for errors.
    /// - Throws: `usage` with all that does not fit the model, before a row is read; what reading the store throws.
    package init(
        _ store: String, _ rules: [ValidationRule], version: ModelVersion,
        source: (path: String, version: ModelVersion)? = nil, place: String = "the rules",
        system: any System = POSIXSystem()
    ) throws {
        var names = RuleModelCheck(version.model)
        try names.check(rules, place: place)
        let counted = Set(rules.compactMap(\.countedSourceEntityName))
        let counts = try source.map { source in
            try StoreProbe.read(source.path, system: system) { probe in
                try ObjectStore(probing: probe, source.version, on: system).counts(of: counted)
            }
        }
        (self.store, findings, binding, refusal) = try StoreProbe.read(store, system: system) { probe in
            let snapshot = try StoreSnapshot(probe.connection)
            let refusal = Result { try PreparedMigration.refuseToChangeObjects(snapshot) }
            let binding = BoundPlan.Binding(snapshot)
            // Whether its objects can be read is for others to say.
            guard !rules.isEmpty else { return (probe.path, [], binding, refusal.failure) }
            let objects = try ObjectStore(probing: probe, version, on: system)
            let check = try RuleCheck(
                rules, on: objects, source: counts.map { counts in { counts[$0] ?? 0 } }, place: place)
            return (probe.path, try check.run(), binding, refusal.failure)
        }
        log.sourceCounts = counts ?? [:]
        self.rules = rules
        self.version = version
        self.system = system
    }

    /// The run that repairs what the rules have found; nil if no broken rule has a fix.
    ///
    /// - Throws: `cloudKit` and `deferredWork` for a store that must be left alone.
    package func mending() throws -> Migration? {
        let isMendable = zip(rules, findings).contains { $0.fix != nil && $1.isBroken }
        guard isMendable else { return nil }
        if let refusal { throw refusal }
        var mending = Migration.mending(rules, "now", at: version, of: store, log, system)
        mending.operation = .validate
        mending.precondition = { [binding, store] in try StoreVerification.requireUnchanged(binding, of: store, $0) }
        return mending
    }
}

extension ObjectStore {
    fileprivate convenience init(probing probe: StoreProbe, _ version: ModelVersion, on system: any System) throws {
        try self.init(
            over: probe.connection, model: version.model, external: ExternalStorage(store: probe.path), on: system)
    }
}

extension Result where Failure == any Error {
    fileprivate var failure: MigrationError? {
        if case .failure(let error) = self { error as? MigrationError } else { nil }
    }
}
