import MoultModel
import MoultObjects
import MoultSQLite
import MoultStore
import MoultSystem
import MoultTransform
import MoultVerify
import Synchronization

/// A store whose rows contradict each other, looked at, and the run that mends it: locked, backed up, done on a copy,
/// verified, one commit.
///
/// Nothing is deleted: an object that cannot stay goes to the quarantine, from where it can be put back.
package final class StoreRepair: Sendable {
    /// What was found before anything was done.
    package let found: RepairReport
    private let told = Mutex(RepairReport())
    private let version: ModelVersion
    private let rules: Set<RepairRule>
    /// Without symbolic links.
    private let store: String
    private let binding: BoundPlan.Binding
    private let system: any System

    /// Looks at the store without changing a byte.
    ///
    /// - Parameters:
    ///   - version: that of the store.
    ///   - rules: what is looked for; all by default.
    /// - Throws: `storeCorrupted` for damaged pages, which no repair of rows helps; `cloudKit` and `deferredWork` for a
    ///   store that must be left alone.
    package init(
        _ store: String, at version: ModelVersion, rules: Set<RepairRule> = Set(RepairRule.allCases),
        system: any System = POSIXSystem()
    ) throws {
        (self.store, binding, found) = try StoreProbe.read(store, system: system) { probe in
            try probe.connection.checkSoundness(place: probe.path)
            let snapshot = try StoreSnapshot(probe.connection)
            try PreparedMigration.refuse(snapshot, .init())
            let objects = try ObjectStore(
                over: probe.connection, model: version.model, external: ExternalStorage(store: probe.path),
                isReadOnly: true, on: system)
            let search = RepairSearch(probe.connection, objects)
            let findings = try RepairFaults(objects.layout, rules).all.map(search.finding)
            return (
                probe.path, BoundPlan.Binding(snapshot), RepairReport(findings: findings.filter { $0.count > 0 })
            )
        }
        self.version = version
        self.rules = rules
        self.system = system
    }

    /// What was found and what became of it, once the migration has run or was rehearsed.
    package var report: RepairReport { told.withLock { $0 } }

    /// Nil where nothing was found.
    package var migration: Migration? {
        guard !found.findings.isEmpty else { return nil }
        var migration = Migration(
            at: version, of: store, "repair", "The faults of the rows are mended.", system
        ) { [self] in try run($0, $1) }
        migration.precondition = { [binding, store] in try StoreVerification.requireUnchanged(binding, of: store, $0) }
        return migration
    }

    private func run(_ site: MigrationSite, _ model: ManagedObjectModel) throws {
        let objects = try ObjectStore(over: site.connection, model: model, external: site.external, on: site.system)
        let run = try RepairRun(site, objects)
        let report = try run.mend(RepairFaults(objects.layout, rules).all)
        told.withLock { $0 = report }
        try ChangeVerifier(site.connection, objects.layout).verify()
        try run.verifyCount(report)
    }
}

/// Counts what a fault has at one state of a store.
struct RepairSearch {
    private let connection: Connection
    private let objects: ObjectStore

    init(_ connection: Connection, _ objects: ObjectStore) {
        self.connection = connection
        self.objects = objects
    }

    func finding(_ fault: RepairFault) throws -> RepairReport.Finding {
        var finding = RepairReport.Finding(rule: fault.rule, place: fault.place, count: 0, keys: [])
        if case .rule(let rule) = fault.action {
            guard let found = try RuleCheck([rule], on: objects).run().first else { return finding }
            finding.count = found.count
            finding.keys = found.examples.prefix(RepairReport.Finding.keyLimit).map(\.id.key)
            return finding
        }
        try connection.forEachRow(fault.select) { row in
            finding.count += 1
            if finding.keys.count < RepairReport.Finding.keyLimit { finding.keys.append(row.integer(0)) }
        }
        return finding
    }
}
