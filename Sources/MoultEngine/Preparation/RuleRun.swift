import MoultBasics
import MoultModel
import MoultObjects
import MoultPlan
import MoultSQLite
import MoultStore
import MoultVerify
import Synchronization

/// Rules at one moment of a run: checked, and repaired if requested.
struct RuleRun: Sendable {
    let rules: [ValidationRule]
    /// The moment, such as `before the migration`.
    let moment: String
    let model: ManagedObjectModel
    let log: RuleLog
    /// Whether the fixes of the rules are applied.
    var appliesFixes = false

    var sentence: String {
        "\(appliesFixes ? "Apply the fixes of" : "Check") the rules \(moment): \(rules.map(\.name).joined(separator: ", "))"
    }

    /// Checks the rules on a working copy, or applies their fixes.
    func run(_ site: CodeContext) throws {
        guard !appliesFixes else { return try fix(site, isVerified: false) }
        try check(site.connection, external: site.external, on: site.system)
    }

    /// - Throws: `rulesBroken` if a rule of severity error does not hold.
    func check(_ connection: Connection, external: ExternalStorage, on system: any System) throws {
        let store = try ObjectStore(over: connection, model: model, external: external, on: system)
        let findings = try check(store).run()
        log.add(RuleReport(moment: moment, findings: findings))
        try findings.refuseErrors(moment)
    }

    /// Applies the fixes and checks their result; the schema `source` is the store's old state.
    ///
    /// - Throws: `rulesBroken` if a fix does not repair the violations of its rule, or breaks another rule;
    ///   `verificationFailed` if there are unintended changes; `quarantineTooLarge`.
    ///
    /// - Parameter isVerified: whether nothing else has changed the objects of this pass, so that a fix must explain
    ///   every difference.
    func fix(_ site: CodeContext, isVerified: Bool) throws {
        try site.connection.withoutAppTriggers { try fixRows(site, isVerified: isVerified) }
    }

    private func fixRows(_ site: CodeContext, isVerified: Bool) throws {
        let store = try ObjectStore(over: site.connection, model: model, external: site.external, on: site.system)
        let check = try check(store)
        let findings = try check.run()
        let fixing = try RuleFixing(store, site.connection) {
            guard !site.isCancelled() else { throw site.cancellation }
        }
        let fixes = try fixing.run(rules)
        try QuarantineLimit.check(site, store.layout)
        let remaining = try check.run()
        log.add(RuleReport(moment: moment, findings: findings, fixes: fixes, remaining: remaining))
        try refuseHarm(findings, remaining)
        if isVerified { try ChangeVerifier(site.connection, store.layout).verify() }
    }

    private func check(_ store: ObjectStore) throws -> RuleCheck {
        let counts = log.sourceCounts
        return try RuleCheck(rules, on: store, source: counts.isEmpty ? nil : { counts[$0] ?? 0 })
    }

    private func refuseHarm(_ before: [RuleFinding], _ after: [RuleFinding]) throws {
        for (rule, (old, new)) in zip(rules, zip(before, after)) {
            guard new.count > old.count || (rule.fix != nil && new.isBroken) else { continue }
            let objects = new.examples.map { "\($0.id)" }.joined(separator: ", ")
            throw MigrationError(
                .rulesBroken,
                "\(rule.name) was broken \(Quantity.count(old.count, "time")) before the fixes and is broken \(Quantity.count(new.count, "time")) after: "
                    + objects, place: new.examples.first?.id.description ?? rule.entityName,
                remedy: "Correct the fixes, or the order of the rules. The store is unchanged.")
        }
    }
}

/// The fixes of rules on a store that keeps its version.
struct RuleFixes: StepAction {
    let rules: [ValidationRule]
    let moment: String
    let version: KeptVersion
    let log: RuleLog

    func execute(_ site: CodeContext) throws {
        try RuleRun(rules: rules, moment: moment, model: version.model(over: site.connection), log: log)
            .fix(site, isVerified: true)
    }
}

/// The rules before a migration, and a count of the objects that later rules compare with.
struct RulesBefore: StoreCheck {
    let run: RuleRun
    /// The entities whose objects are counted.
    let counted: Set<String>
    /// The resolved path of the store.
    let store: String
    let system: any System

    var sentence: String { run.sentence }

    func check(_ connection: Connection) throws {
        let external = ExternalStorage(store: store)
        if !counted.isEmpty {
            let objects = try ObjectStore(over: connection, model: run.model, external: external, on: system)
            run.log.sourceCounts = try objects.counts(of: counted)
        }
        if !run.rules.isEmpty { try run.check(connection, external: external, on: system) }
    }
}

extension ChangeVerifier {
    /// Creates a shape of everything in a store of this layout except the counters of keys, the history, and values
    /// derived by triggers.
    package init(_ connection: Connection, _ layout: StoreLayout) {
        let tables = layout.tables.map { table in
            Table(name: table.name, columns: table.columns.compactMap { Self.column($0, of: table, layout) })
        }
        let pairs = layout.joinTables.map { join in
            Pairs(
                name: join.name, keys: join.columns.compactMap { Self.key($0, layout) },
                orders: join.columns.compactMap { if case .order = $0.role { $0.name } else { nil } })
        }
        self.init(
            connection, tables: tables, pairs: pairs,
            growing: ["Z_PRIMARYKEY", "ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"])
    }

    private static func column(_ column: EntityTable.Column, of table: EntityTable, _ layout: StoreLayout) -> Column? {
        func destination(_ entity: String, _ name: String) -> String? {
            let relationship = layout.model.entity(entity).flatMap { layout.model.relationship(name, of: $0) }
            return relationship.flatMap { layout.table(forEntity: $0.destinationEntityName)?.name }
        }
        switch column.role {
        case .primaryKey: return nil
        case .optimisticLock: return Column(name: column.name, grows: true)
        // A repair notes the change when it gives a row its number.
        case .entity: return Column(name: column.name, property: "Z_ENT")
        case .unknown: return Column(name: column.name)
        case .attribute(let entity, let name):
            let root = name.split(separator: ".").first.map(String.init) ?? name
            let attribute = layout.model.entity(entity).flatMap { layout.model.attribute(root, of: $0) }
            return attribute?.derivation == nil ? Column(name: column.name, property: name) : nil
        case .toOne(let entity, let name):
            return Column(name: column.name, property: name, destination: destination(entity, name))
        case .toOneEntity(let entity, let name):
            return Column(
                name: column.name, property: name, destination: destination(entity, name),
                key: table.column(.toOne(entity: entity, name: name)), isEntity: true)
        case .order(let entity, let name):
            return Column(name: column.name, property: name, key: table.column(.toOne(entity: entity, name: name)))
        case .inverselessToMany(let entity, let name):
            return Column(name: column.name, property: name, destination: layout.table(forEntity: entity)?.name)
        case .inverselessOrder(let entity, let name):
            return Column(
                name: column.name, property: name, key: table.column(.inverselessToMany(entity: entity, name: name)))
        }
    }

    private static func key(_ column: JoinTable.Column, _ layout: StoreLayout) -> Column? {
        switch column.role {
        case .source(let reference):
            return Column(name: column.name, destination: layout.table(forEntity: reference.entity)?.name)
        case .reflexiveDestination(let reference):
            let relationship = layout.model.entity(reference.entity)?.relationship(reference.name)
            return Column(
                name: column.name,
                destination: relationship.flatMap { layout.table(forEntity: $0.destinationEntityName)?.name })
        case .order, .unknown: return nil
        }
    }
}

/// The findings of rules and the changes made by their fixes, at one moment of a run.
package struct RuleReport: Sendable, Hashable {
    /// The moment, such as `before the migration`.
    package var moment: String
    package var findings: [RuleFinding]
    package var fixes: [RuleFixOutcome]
    /// The findings that remain after the fixes; empty if there were no fixes.
    package var remaining: [RuleFinding]

    package init(
        moment: String, findings: [RuleFinding], fixes: [RuleFixOutcome] = [], remaining: [RuleFinding] = []
    ) {
        self.moment = moment
        self.findings = findings
        self.fixes = fixes
        self.remaining = remaining
    }

    /// The findings that currently hold for the store.
    package var present: [RuleFinding] { fixes.isEmpty ? findings : remaining }
}

/// A collector for the reports of a run and the object counts of the source.
package final class RuleLog: Sendable {
    private struct State {
        var reports: [RuleReport] = []
        var sourceCounts: [String: Int] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    package var reports: [RuleReport] { state.withLock { $0.reports } }

    func add(_ report: RuleReport) {
        // A run that is rehearsed first, or restarted, reports the same again.
        state.withLock { state in
            state.reports.removeAll { $0.moment == report.moment }
            state.reports.append(report)
        }
    }

    /// The number of objects by entity, including sub-entities.
    var sourceCounts: [String: Int] {
        get { state.withLock { $0.sourceCounts } }
        set { state.withLock { $0.sourceCounts = newValue } }
    }
}

extension [RuleReport] {
    /// The number of objects that fixes have changed, deleted or made.
    package var fixed: Int64 { flatMap(\.fixes).reduce(0) { $0 + $1.changed + $1.deleted + $1.inserted } }
}

/// Rules checked on an existing store, without changing a byte of it.
package struct RuleAudit: Sendable {
    package let findings: [RuleFinding]
    private let rules: [ValidationRule]
    private let version: ModelVersion
    /// The path without symbolic links.
    private let store: String
    private let binding: BoundPlan.Binding
    private let refusal: MigrationError?
    private let log = RuleLog()
    private let system: any System

    /// - Parameters:
    ///   - version: the version of the store.
    ///   - source: a store whose object counts are compared, and its version.
    ///   - place: the origin of the rules, for errors.
    /// - Throws: `usage` with everything that does not fit the model, before a row is read; what reading the store
    ///   throws.
    package init(
        _ store: String, _ rules: [ValidationRule], version: ModelVersion,
        source: (path: String, version: ModelVersion)? = nil, place: String = "the rules",
        system: any System = POSIXSystem()
    ) throws {
        var names = RuleModelCheck(version.model)
        try names.check(rules, place: place)
        let counted = Set(rules.compactMap(\.countedSourceEntityName))
        let counts = try source.map { source in
            try ReadOnlyStore.read(source.path, system: system) { probe in
                try ObjectStore(probing: probe, source.version, on: system).counts(of: counted)
            }
        }
        (self.store, findings, binding, refusal) = try ReadOnlyStore.read(store, system: system) { probe in
            let snapshot = try StoreSnapshot(probe.connection)
            let refusal = Result { try PreparedMigration.refuseToChangeObjects(snapshot) }
            let binding = BoundPlan.Binding(snapshot)
            // Other checks decide whether its objects can be read.
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

    /// Returns the run that repairs the violations found; nil if no broken rule has a fix.
    ///
    /// - Throws: `cloudKit` and `deferredWork` for a store that must not be changed.
    package func mending() throws -> Pass? {
        let isMendable = zip(rules, findings).contains { $0.fix != nil && $1.isBroken }
        guard isMendable else { return nil }
        if let refusal { throw refusal }
        var mending = Pass.mending(rules, "now", at: version, of: store, log, system)
        mending.operation = .validate
        mending.preconditions = [UnchangedStore(binding: binding, store: store)]
        return mending
    }
}

extension ObjectStore {
    fileprivate convenience init(probing probe: ReadOnlyStore, _ version: ModelVersion, on system: any System) throws {
        try self.init(
            over: probe.connection, model: version.model, external: ExternalStorage(store: probe.path), on: system)
    }
}

extension Result where Failure == any Error {
    fileprivate var failure: MigrationError? {
        if case .failure(let error) = self { error as? MigrationError } else { nil }
    }
}
