import MoultModel
import MoultObjects
import MoultSQLite
import MoultStore
import MoultSystem
import MoultTransform
import MoultVerify
import Synchronization

/// A store whose tables lack something or whose rows contradict each other, looked at, and the run that mends it: locked,
/// backed up, done on a copy, verified, one commit.
///
/// Nothing is deleted: an object that cannot stay goes to the quarantine, from where it can be put back. Where tables or
/// columns are missing, these are made and the rows are left as they are: they are for the next repair.
package final class StoreRepair: Sendable {
    /// What was found before anything was done.
    package let found: RepairReport
    private let told = Mutex(RepairReport())
    private let version: ModelVersion
    private let rules: Set<RepairRule>
    /// Without symbolic links.
    private let store: String
    private let binding: BoundPlan.Binding
    private let schema: SchemaRepair
    private let system: any System

    /// Whether tables or columns are missing, so that the rows were not looked at.
    package var leavesRows: Bool { schema.breaksReading }

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
        let rows: [RepairReport.Finding]
        (self.store, binding, schema, rows) = try StoreProbe.read(store, system: system) { probe in
            try probe.connection.checkSoundness(place: probe.path)
            let snapshot = try StoreSnapshot(probe.connection)
            try PreparedMigration.refuse(snapshot, .init())
            let schema = try SchemaRepair(snapshot, model: version.model, rules, over: probe.connection)
            let rows =
                try schema.breaksReading ? [] : Self.rows(probe.connection, probe.path, version.model, rules, system)
            return (probe.path, BoundPlan.Binding(snapshot), schema, rows)
        }
        found = RepairReport(findings: schema.report.findings + rows, remarks: schema.report.remarks)
        self.version = version
        self.rules = rules
        self.system = system
    }

    private static func rows(
        _ connection: Connection, _ path: String, _ model: ManagedObjectModel, _ rules: Set<RepairRule>,
        _ system: any System
    ) throws -> [RepairReport.Finding] {
        let objects = try ObjectStore(
            over: connection, model: model, external: ExternalStorage(store: path), isReadOnly: true, on: system)
        let search = RepairSearch(connection, objects)
        return try RepairFaults(objects.layout, rules).all.map(search.finding).filter { $0.count > 0 }
    }

    /// What was found and what became of it, once the migration has run or was rehearsed.
    package var report: RepairReport {
        RepairReport(
            findings: schema.report.findings + told.withLock { $0.findings }, remarks: schema.report.remarks)
    }

    /// Nil where there is nothing to do.
    package var migration: Migration? {
        let hasRows = found.findings.count > schema.report.findings.count
        guard hasRows || !schema.isEmpty else { return nil }
        var migration = Migration(from: version.name, to: version.name, verify: { _ in })
        if hasRows {
            migration = Migration(
                at: version, of: store, "repair", "The faults of the rows are mended.", system
            ) { [self] in try run($0, $1) }
        }
        migration.reason = .repair
        migration.precondition = { [binding, store] in try StoreVerification.requireUnchanged(binding, of: store, $0) }
        guard !schema.isEmpty else { return migration }
        migration.script = StoreScript(statements: schema.statements)
        migration.verify = { [schema] in try schema.verify($0) }
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
