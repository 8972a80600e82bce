import MoultBasics
import MoultModel
import MoultObjects
import MoultSQLite
import MoultStore
import MoultVerify
import Synchronization

/// A store whose tables lack something or whose rows contradict each other, looked at, and the run that repairs it: locked,
/// backed up, done on a copy, verified, one commit.
///
/// Nothing is deleted: an object that cannot stay goes to the quarantine, from where it can be put back. Where tables or
/// columns are missing, these are made and the rows are left as they are: they are for the next repair.
package final class StoreRepair: Sendable {
    /// The findings before anything was done.
    package let found: RepairReport
    private let told = Mutex<RepairReport?>(nil)
    /// The catalogue before the rows are repaired.
    private let catalogue = Mutex<Catalogue?>(nil)
    private let version: ModelVersion
    private let rules: Set<RepairRule>
    /// Without symbolic links.
    private let store: String
    private let binding: BoundPlan.Binding
    private let schema: SchemaRepair
    /// Files of external data that no row names; none where they are not asked for.
    private let unnamed: ExternalStorage.Unnamed
    private let system: any System

    /// The indexes that do not match their tables.
    package var indexFaults: [IndexFault] { schema.faults }
    /// Whether tables or columns are missing, so that the rows were not looked at.
    package var leavesRows: Bool { schema.breaksReading }

    /// Looks at the store without changing a byte.
    ///
    /// - Parameters:
    ///   - version: that of the store.
    ///   - rules: what is looked for.
    /// - Throws: `storeCorrupted` for damaged pages, which no repair of rows helps; `cloudKit` and `deferredWork` for a
    ///   store that must be left alone.
    package init(
        _ store: String, at version: ModelVersion, rules: Set<RepairRule> = RepairRule.byDefault,
        system: any System = POSIXSystem()
    ) throws {
        (self.store, binding, schema, unnamed, found) = try StoreProbe.read(store, system: system) { probe in
            // An index that is the only evidence of rows is never made again.
            try probe.connection.checkPages(place: probe.path)
            let snapshot = try StoreSnapshot(probe.connection)
            // Another process may have migrated it since its version was looked up.
            guard ModelVersions(versions: [version]).position(matching: snapshot.hashes) != nil else {
                throw StoreProbe.disturbed(probe.path)
            }
            // Moving files away touches no row.
            if rules != [.externalFiles] { try PreparedMigration.refuseToChangeObjects(snapshot) }
            let version = try version.held(by: snapshot.hashes)
            let schema = try SchemaRepair(snapshot, model: version.model, rules, over: probe.connection)
            let rows =
                try schema.breaksReading
                ? [] : Self.rows(probe.connection, probe.path, version.model, rules, schema.history, system)
            let external = ExternalStorage(store: probe.path)
            let unnamed =
                try rules.contains(.externalFiles)
                ? external.unnamed(in: probe.connection, of: probe.path, on: system) : .init()
            var found = RepairReport(
                faults: schema.report.faults + schema.waiting.map(\.found) + rows + Self.finding(unnamed, external),
                remarks: try schema.report.remarks + DamagedSideFiles.findings(beside: probe.path, system))
            // By an index that does not match its table an audit finds what is not so.
            guard !schema.hasIndexFaults else {
                return (probe.path, BoundPlan.Binding(snapshot), schema, unnamed, found)
            }
            let audit = try StoreAudit(probe.connection, external, model: version.model, checksPages: false, on: system)
            found.remarks += found.remarks(of: audit, rules, handling: Set(found.faults.map(\.rule)))
            return (probe.path, BoundPlan.Binding(snapshot), schema, unnamed, found)
        }
        (self.version, self.rules, self.system) = (version, rules, system)
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

    private static func rows(
        _ connection: Connection, _ path: String, _ model: ManagedObjectModel, _ rules: Set<RepairRule>,
        _ history: HistoryGaps, _ system: any System
    ) throws -> [RepairReport.Fault] {
        let objects = try ObjectStore(
            over: connection, model: model, external: ExternalStorage(store: path), isReadOnly: true, on: system)
        let search = RepairSearch(connection, objects)
        return try RepairFaults(objects.layout, rules, history).all.map(search.finding).filter { $0.count > 0 }
    }

    /// The findings and their outcome, once the migration has run or was rehearsed.
    package var report: RepairReport {
        guard touchesStore else { return found }
        var report = told.withLock { $0 } ?? schema.report
        report.faults += found.faults.filter { $0.rule == .externalFiles }
        return report
    }

    /// Whether rows are at fault, or history is to be made.
    private var hasRows: Bool {
        found.faults.count { $0.rule != .externalFiles } > schema.report.faults.count || schema.makesHistory
    }

    /// Whether anything of the store itself is to be changed.
    private var touchesStore: Bool { hasRows || !schema.isEmpty }

    /// Nil where there is nothing to do.
    package var migration: Pass? {
        guard touchesStore || !unnamed.names.isEmpty else { return nil }
        var migration = Pass(from: version.name, to: version.name, verification: .none)
        if !touchesStore {
            // Nothing that a backup would hold is changed.
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
        guard !schema.isEmpty else { return migration }
        migration.script = StoreScript(statements: schema.statements)
        migration.verification = Verification(self)
        return migration
    }

    /// The version of the store, which the repair leaves as it is.
    var kept: KeptVersion { KeptVersion(version: version, store: store, system: system) }

    private func run(_ site: CodeContext, _ model: ManagedObjectModel) throws {
        let snapshot = try StoreSnapshot(site.connection)
        let gaps = HistoryGaps(PersistentHistory(of: try StoreLayout(actual: snapshot, model: model)), in: snapshot)
        // What is still missing of history cannot be made, or was not asked for.
        let objects = try ObjectStore(
            over: site.connection, model: model, external: site.external,
            keepsHistory: gaps.tables.isEmpty && gaps.columns.isEmpty, on: site.system)
        let run = try RepairRun(site, objects)
        let report = try run.mend(RepairFaults(objects.layout, rules, gaps).all)
        try QuarantineLimit.check(site, objects.layout)
        try ChangeVerifier(site.connection, objects.layout).verify()
        try run.verifyCount(report)
        let late = try schema.waiting.map { try $0.make(site.connection) }
        try tell(
            RepairReport(
                faults: schema.report.faults + late.flatMap(\.faults) + report.faults,
                remarks: schema.report.remarks + late.flatMap(\.remarks)),
            site.connection, site.external)
    }

    /// Keeps what became of the faults, with what an audit finds now.
    private func tell(_ report: RepairReport, _ connection: Connection, _ external: ExternalStorage) throws {
        var report = report
        let audit = try StoreAudit(connection, external, model: version.model, checksPages: false, on: system)
        let left = report.faults.filter { $0.left > 0 }
        report.remarks += report.remarks(of: audit, rules, handling: Set(left.map(\.rule)))
        told.withLock { [report] in $0 = report }
    }

    /// The digest of the catalogue that the steps have to leave: as it is now, where nothing but the indexes is new that
    /// waited for the rows.
    func digestWithoutWaiting(_ connection: Connection, _ digest: [UInt8]) throws -> [UInt8] {
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

/// Files of external data that no row named when they were looked for.
struct UnnamedFiles: Sendable {
    let files: ExternalStorage.Unnamed
    let system: any System

    /// Moves those that no row names now either to where a person may look at them.
    func moveAway(_ lock: StoreLock, _ run: String) throws {
        let (sidecar, external) = (lock.sidecar, ExternalStorage(store: lock.sidecar.store))
        let still = try external.unnamed(in: lock.connection, of: lock.sidecar.store, on: system)
        let names = Set(files.names).intersection(still.names)
        guard !names.isEmpty else { return }
        let folder = Path.join(sidecar.unnamedFiles, run)
        for path in [sidecar.unnamedFiles, folder] { try system.makeFolder(path, sidecar.rights) }
        for name in names {
            try system.rename(Path.join(external.folder, name), toUnused: Path.join(folder, name))
        }
        for path in [folder, sidecar.unnamedFiles, sidecar.folder, external.folder] { try system.synchronise(path) }
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

    func finding(_ fault: RepairFault) throws -> RepairReport.Fault {
        var finding = RepairReport.Fault(rule: fault.rule, place: fault.place, count: 0, keys: [])
        if case .rule(let rule) = fault.action {
            guard let found = try RuleCheck([rule], on: objects).run().first else { return finding }
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

/// A unique index that can be made once no value of its columns occurs twice.
struct WaitingIndex: Sendable {
    private let index: IndexDefinition
    /// Quoted.
    private let columns: [String]
    /// Whether the store has an index of that name on something else.
    private let isThere: Bool
    private let rows: Int64

    var name: String { index.name }

    /// - Parameters:
    ///   - table: the statement that made its table.
    ///   - rows: those of its table.
    /// - Returns: nil for one that is on no columns of the table.
    init?(_ index: IndexDefinition, on table: String?, isThere: Bool, rows: Int64) throws {
        let shape = try table.flatMap { try IndexShape(of: index.name, index.sql, on: $0) }
        columns = (shape?.columns ?? []).compactMap { $0.name?.quotedName }
        (self.index, self.isThere, self.rows) = (index, isThere, rows)
        if columns.isEmpty { return nil }
    }

    private var shared: String {
        let present = columns.map { "\($0) IS NOT NULL" }.conditions(joinedBy: "AND")
        let names = columns.joined(separator: ", ")
        return
            "SELECT \(names) FROM main.\(index.table.quotedName) WHERE \(present) GROUP BY \(names) HAVING count(*) > 1"
    }

    /// Returns the number of values that occur more than once.
    func doubles(_ connection: Connection) throws -> Int64 {
        try connection.integer("SELECT count(*) FROM (\(shared))") ?? 0
    }

    /// Makes the index where its values are unique now; else it stays as it is, which is remarked.
    func make(_ connection: Connection) throws -> RepairReport {
        var finding = found
        finding.left = try doubles(connection)
        guard finding.left == 0 else {
            return RepairReport(faults: [finding], remarks: [try remark(finding.left, repairsRows: false, connection)])
        }
        if isThere { try connection.run("DROP INDEX main.\(index.name.quotedName)") }
        try connection.run(index.sql)
        return RepairReport(faults: [finding])
    }

    /// As it is found, before anything is repaired.
    var found: RepairReport.Fault { .init(rule: .indexes, place: index.name, count: rows, keys: []) }

    /// - Parameter repairsRows: whether a repair of the rows can make the values unique.
    func remark(_ doubles: Int64, repairsRows: Bool, _ connection: Connection) throws -> Finding {
        let next: Remedy =
            repairsRows
            ? ", or let the repair of duplicates keep the first of each (\(option: .only(["duplicates"])))" : ""
        var finding = Finding(
            code: "not-unique", severity: .error, place: index.name,
            message: "The unique index \(index.name) cannot be made: "
                + "\(Quantity.count(doubles, "value occurs", plural: "values occur")) more than once.",
            remedy: "Merge or change the rows that share a value\(next); then run \(.repair) again.")
        finding.keys = try connection.rows(
            """
            SELECT Z_PK FROM main.\(index.table.quotedName) WHERE (\(columns.joined(separator: ", "))) IN (\(shared)) \
            ORDER BY Z_PK LIMIT \(Finding.keyLimit)
            """
        ) { $0.integer(0) }
        return finding
    }

    /// Whether the catalogue is what it was but for this index, which is as it was or as it should be.
    static func account(for waiting: [WaitingIndex], before: Catalogue, after: Catalogue) -> Bool {
        let wanted = Dictionary(waiting.map { ($0.name, $0.index.sql) }, uniquingKeysWith: { first, _ in first })
        func others(_ catalogue: Catalogue) -> Set<Catalogue.Entry> {
            Set(catalogue.entries.filter { $0.kind != .index || wanted[$0.name] == nil })
        }
        let old = Set(before.entries)
        return others(before) == others(after)
            && after.entries.allSatisfy { entry in
                guard entry.kind == .index, let sql = wanted[entry.name] else { return true }
                return entry.sql == sql || old.contains(entry)
            }
    }
}
