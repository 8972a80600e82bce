import MoultBasics
import MoultEngine
import MoultModel
import MoultObjects
import MoultSQLite
import MoultStore
import MoultVerify
import Synchronization

/// An examined store with missing schema parts or contradictory rows, and the run that repairs it: locked, backed up,
/// done on a copy, verified, one commit.
///
/// Nothing is deleted: an object that cannot stay is quarantined, and can be restored. Missing tables or columns are
/// made first, and the rows are left to the next repair.
package final class StoreRepair: Sendable, RepairedStore {
    /// The findings before the repair.
    package let found: RepairReport
    private let told = Mutex<RepairReport?>(nil)
    /// The catalogue before the rows are repaired.
    private let catalogue = Mutex<Catalogue?>(nil)
    private let version: ModelVersion
    private let rules: Set<RepairRule>
    /// The path without symbolic links.
    private let store: String
    private let binding: BoundPlan.Binding
    private let schema: SchemaRepair
    /// Files of external data that no row names; none if they are not looked for.
    private let unnamed: ExternalStorage.Unnamed
    /// The free pages to give back; nil if they stay.
    private let free: FreePages?
    /// The date before which persistent history is deleted.
    private let limit: HistoryLimit?
    private let acceptedLosses: AcceptedLosses
    private let system: any System

    /// Whether missing tables or columns keep the rows from being read.
    package var leavesRows: Bool { schema.breaksReading }

    /// Examines the store without changing a byte.
    ///
    /// - Parameters:
    ///   - version: the version of the store.
    ///   - rules: the faults to look for.
    ///   - limit: the date before which persistent history is deleted, if the rules include it.
    ///   - acceptedLosses: the relationships of which the repair may clear most references.
    ///   - known: an audit of the store, whose pages are sound; nil to make one.
    /// - Throws: `storeCorrupted` for damaged pages, which repairing rows cannot fix; `cloudKit` and `deferredWork` for
    ///   a store that must not be changed.
    package init(
        _ store: String, at version: ModelVersion, rules: Set<RepairRule> = RepairRule.byDefault,
        trimmingHistory limit: HistoryLimit? = nil, accepting acceptedLosses: AcceptedLosses = .none,
        knowing known: StoreAudit? = nil, system: any System = POSIXSystem()
    ) throws {
        (self.store, binding, schema, unnamed, free, found) = try ReadOnlyStore.read(store, system: system) { probe in
            // An index that is the only evidence of rows is never rebuilt.
            if known == nil {
                _ = try WorkMeter.part(upTo: 0.1) { try probe.connection.checkPages(place: probe.path) }
            }
            let snapshot = try StoreSnapshot(probe.connection)
            // Another process may have migrated the store since its version was looked up.
            guard ModelVersions(versions: [version]).position(matching: snapshot.hashes) != nil else {
                throw ReadOnlyStore.disturbed(probe.path)
            }
            if !rules.isSubset(of: RepairRule.keepingRows) { try PreparedMigration.refuseToChangeObjects(snapshot) }
            let version = try version.held(by: snapshot.hashes)
            let schema = try WorkMeter.part(upTo: 0.3) {
                try SchemaRepair(
                    snapshot, model: version.model, rules, over: probe.connection, knowing: known?.indexFaults)
            }
            let external = ExternalStorage(store: probe.path)
            // An audit through an index that does not match its table would report false findings.
            let audit = try WorkMeter.part(upTo: 0.9) {
                try schema.hasIndexFaults
                    ? nil
                    : known
                        ?? StoreAudit(probe.connection, external, model: version.model, checksPages: false, on: system)
            }
            let rows =
                try schema.breaksReading
                ? []
                : Self.rows(
                    probe.connection, probe.path, version.model, rules, without: audit?.settled ?? [], schema.history,
                    limit, system)
            let unnamed =
                try rules.contains(.externalFiles)
                ? external.unnamed(in: probe.connection, of: probe.path, on: system) : .init()
            let free = rules.contains(.space) ? FreePages(snapshot.file) : nil
            let isWorthwhile = free.map { $0.isWorthwhile || limit != nil && !rows.isEmpty } ?? false
            var found = RepairReport(
                faults: schema.report.faults + schema.waiting.map(\.found) + rows + Self.finding(unnamed, external)
                    + (free.map { isWorthwhile ? [Self.finding($0, probe.path)] : [] } ?? []),
                remarks: try schema.report.remarks + DamagedSideFiles.findings(beside: probe.path, system))
            if let audit { found.remarks += found.remarks(of: audit, rules, handling: Set(found.faults.map(\.rule))) }
            return (probe.path, BoundPlan.Binding(snapshot), schema, unnamed, isWorthwhile ? free : nil, found)
        }
        (self.version, self.rules, self.limit, self.system) = (version, rules, limit, system)
        self.acceptedLosses = acceptedLosses
    }

    private static func finding(_ free: FreePages, _ store: String) -> RepairReport.Fault {
        var finding = RepairReport.Fault(rule: .space, place: Path.name(of: store), count: free.count, keys: [])
        finding.bytes = free.bytes
        return finding
    }

    private static func finding(
        _ unnamed: ExternalStorage.Unnamed, _ external: ExternalStorage
    ) -> [RepairReport.Fault] {
        guard !unnamed.names.isEmpty else { return [] }
        var finding = RepairReport.Fault(
            rule: .externalFiles, place: Path.name(of: external.folder), count: Int64(unnamed.names.count), keys: [])
        finding.bytes = unnamed.bytes
        return [finding]
    }

    /// - Parameter settled: the rules whose faults an audit has not found. The history to delete is no fault.
    private static func rows(
        _ connection: Connection, _ path: String, _ model: ManagedObjectModel, _ rules: Set<RepairRule>,
        without settled: Set<RepairRule>, _ history: HistoryGaps, _ limit: HistoryLimit?, _ system: any System
    ) throws -> [RepairReport.Fault] {
        let rules = rules.subtracting(limit == nil ? settled : settled.subtracting([.history]))
        let size = try TableSizes.metered(over: connection)
        let objects = try ObjectStore(
            over: connection, model: model, external: ExternalStorage(store: path), isReadOnly: true, on: system)
        let search = RepairSearch(connection, objects)
        let faults = RepairFaults(objects.layout, rules, history, before: limit).all
        return try WorkMeter.each(faults.map { fault in (size, { [try search.finding(fault)] }) })
            .filter { $0.count > 0 }
    }

    /// The findings and their outcomes, once the migration has run or been rehearsed.
    package var report: RepairReport {
        guard touchesStore else { return found }
        var report = told.withLock { $0 } ?? schema.report
        report.faults += found.faults.filter { RepairRule.keepingRows.contains($0.rule) }
        return report
    }

    /// Whether rows are faulty, or history must be made.
    private var hasRows: Bool {
        found.faults.count { !RepairRule.keepingRows.contains($0.rule) } > schema.report.faults.count
            || schema.makesHistory
    }

    /// Whether the store itself must be changed.
    private var touchesStore: Bool { hasRows || !schema.isEmpty || free != nil }

    /// The run; nil if there is nothing to do.
    package var migration: Pass? {
        guard touchesStore || !unnamed.names.isEmpty else { return nil }
        var migration = Pass(from: version.name, to: version.name, verification: .none)
        if !touchesStore {
            // This changes nothing that a backup would contain.
            migration.script = StoreScript(statements: [], isInPlace: true)
            migration.script.needsBackup = false
        }
        if hasRows {
            migration = Pass(at: kept, "repair", "The faults of the rows are repaired.", self)
            migration.stepVerification = .repair(self)
        }
        migration.reason = .repair
        migration.operation = .repair
        migration.preconditions = [UnchangedStore(binding: binding, store: store)]
        if !unnamed.names.isEmpty { migration.unnamedFiles = UnnamedFiles(files: unnamed, system: system) }
        migration.freePages = free
        migration.newBytes = schema.newBytes
        guard !schema.isEmpty else { return migration }
        migration.script = StoreScript(statements: schema.statements)
        migration.verification = Verification(self)
        return migration
    }

    /// The version of the store, which the repair leaves as it is.
    package var kept: KeptVersion { KeptVersion(version: version, store: store, system: system) }

    private func run(_ site: CodeContext, _ model: ManagedObjectModel) throws {
        let snapshot = try StoreSnapshot(site.connection)
        let gaps = HistoryGaps(PersistentHistory(of: try StoreLayout(actual: snapshot, model: model)), in: snapshot)
        // The parts of history still missing cannot be made, or were not requested.
        let objects = try ObjectStore(
            over: site.connection, model: model, external: site.external,
            keepsHistory: gaps.tables.isEmpty && gaps.columns.isEmpty, on: site.system)
        let run = try RepairRun(site, objects)
        let faults = RepairFaults(objects.layout, rules, gaps, before: limit).all
        let report = try run.mend(faults)
        try QuarantineLimit.check(site, objects.layout)
        try ReferenceLimit.check(faults, report, site.connection, accepting: acceptedLosses)
        try ChangeVerifier(site.connection, objects.layout).verify()
        try run.verifyCount(report)
        let late = try schema.waiting.map { try $0.make(site.connection) }
        try tell(
            RepairReport(
                faults: schema.report.faults + late.flatMap(\.faults) + report.faults,
                remarks: schema.report.remarks + late.flatMap(\.remarks)),
            site.connection, site.external)
    }

    /// Stores the outcomes of the faults, with the findings of a new audit.
    private func tell(_ report: RepairReport, _ connection: Connection, _ external: ExternalStorage) throws {
        var report = report
        let audit = try StoreAudit(connection, external, model: version.model, checksPages: false, on: system)
        let left = report.faults.filter { $0.left > 0 }
        report.remarks += report.remarks(of: audit, rules, handling: Set(left.map(\.rule)))
        told.withLock { [report] in $0 = report }
    }

    /// Returns the catalogue digest to expect after the steps: the present one if only the waiting indexes are new.
    package func digestWithoutWaiting(_ connection: Connection, _ digest: [UInt8]) throws -> [UInt8] {
        let now = try connection.catalogue()
        guard let before = catalogue.withLock({ $0 }), before.digest == digest,
            WaitingIndex.account(for: schema.waiting, before: before, after: now)
        else { return digest }
        return now.digest
    }
}

extension StoreRepair: StepAction {
    package func execute(_ site: CodeContext) throws {
        let model = try kept.model(over: site.connection)
        try catalogue.withLock { $0 = try site.connection.catalogue() }
        try site.connection.withoutAppTriggers { try run(site, model) }
    }
}

extension StoreRepair: StoreCheck {
    package var sentence: String { Verification.sentence }

    /// Verifies the tables, columns and indexes that were made.
    package func check(_ connection: Connection) throws {
        try schema.verify(connection)
        if !hasRows { try tell(schema.report, connection, ExternalStorage(store: store)) }
    }
}

/// A search that counts the rows of a fault in one state of a store.
struct RepairSearch {
    private let connection: Connection
    private let objects: ObjectStore?

    /// - Parameter objects: the objects of the store; nil if no fault is that of a rule.
    init(_ connection: Connection, _ objects: ObjectStore?) {
        self.connection = connection
        self.objects = objects
    }

    func finding(_ fault: RepairFault) throws -> RepairReport.Fault {
        var finding = RepairReport.Fault(rule: fault.rule, place: fault.place, count: 0, keys: [])
        if case .trim = fault.action { finding.isTrimmed = true }
        if case .rule(let rule) = fault.action {
            guard let objects, let found = try RuleCheck([rule], on: objects).run().first else { return finding }
            finding.count = found.count
            finding.keys = found.examples.prefix(RepairReport.Fault.keyLimit).map(\.id.key)
            return finding
        }
        try connection.forEachRow(fault.select) { row in
            finding.count += 1
            if finding.keys.count < RepairReport.Fault.keyLimit { finding.keys.append(row.integer(0)) }
        }
        return finding
    }
}
