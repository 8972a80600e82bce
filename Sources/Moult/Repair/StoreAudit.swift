import MoultBasics
import MoultEngine
import MoultModel
import MoultObjects
import MoultSQLite
import MoultStore
import MoultVerify

/// Every fault of a store, found by reading it without changing a byte.
package struct StoreAudit: Sendable {
    package private(set) var findings: [Finding]
    /// Objects by entity, without those of its sub-entities.
    package let rowCounts: [String: Int64]
    /// The indexes that do not match their tables; nil if the caller has checked the pages.
    let indexFaults: [IndexFault]?
    /// The rules whose faults the audit has looked for and not found.
    let settled: Set<RepairRule>

    package var isSound: Bool { !findings.contains(where: \.isFault) }

    /// - Parameters:
    ///   - model: the model of the store's version.
    ///   - version: the version that the store had when it was looked up; nil to skip this check.
    ///   - full: whether to also look for reference cycles.
    ///   - withValues: whether findings include the values of the rows that they name.
    /// - Throws: `locked` if another process has migrated the store since its version was looked up; what reading an
    ///   unusable file throws.
    package init(
        _ store: String, model: ManagedObjectModel, requiring version: ModelVersion? = nil, full: Bool = false,
        withValues: Bool = false, system: any System = POSIXSystem()
    ) throws {
        self = try ReadOnlyStore.read(store, system: system) { probe in
            if let version, let hashes = try StoreMetadata(from: probe.connection).hashes,
                ModelVersions(versions: [version]).position(matching: hashes) == nil
            {
                throw ReadOnlyStore.disturbed(probe.path)
            }
            var audit = try Self(
                probe.connection, ExternalStorage(store: probe.path), model: model, full: full, withValues: withValues,
                on: system)
            if audit.findings.contains(where: { $0.code == "damaged-page" }), let foreign = probe.foreignSideFile {
                throw foreign
            }
            audit.findings += try DamagedSideFiles.findings(beside: probe.path, system)
            audit.findings += try Self.unnamedFiles(probe, system)
            // Where the probe is connected to the file itself, reading it would drop the probe's lock.
            guard probe.way != .readOnly else { return audit }
            audit.findings += try MissingLog.findings(of: probe.path, system)
            audit.findings += try WriteAheadLog.findings(beside: probe.path, system).filter { $0.severity == .error }
            return audit
        }
    }

    /// - Parameters:
    ///   - connection: a connection with the store as its schema `main`, which is only read.
    ///   - checksPages: whether to check pages and indexes; false if the caller has found no fault in them.
    init(
        _ connection: Connection, _ external: ExternalStorage, model: ManagedObjectModel, full: Bool = false,
        withValues: Bool = false, checksPages: Bool = true, on system: any System
    ) throws {
        let snapshot = try StoreSnapshot(connection)
        let model = try ModelVersion(names: [""], model: model).held(by: snapshot.hashes).model
        var gaps = SchemaGaps()
        let completed = try StoreLayout(completing: snapshot, model: model, gaps: &gaps)
        guard !gaps.breaksReading else {
            // The rows cannot be read while parts are missing.
            findings = snapshot.findings + completed.findings
            rowCounts = try Self.rowCounts(snapshot, completed, without: gaps, over: connection)
            (indexFaults, settled) = (nil, [])
            return
        }
        let layout = try StoreLayout(actual: snapshot, model: model)
        var shape = StoreShape(layout, withObjects: false)
        shape.history = StoreShape.history(of: layout).filter { gaps.history.isWhole($0.table) }
        let verifier = StoreVerifier(connection, shape: shape, withValues: withValues, trustsIndexes: true)
        let identity = Self.identity(snapshot)
        // Rows are looked up through indexes, so check these first.
        let rows = try TableSizes.metered(over: connection)
        let pages =
            try checksPages ? WorkMeter.each(upTo: 0.4, [(rows, { [try verifier.pagesAndIndexes()] })]).first : nil
        var found = pages?.findings ?? []
        // Damaged pages make all further results doubtful, and may stop the reading.
        let readsRows = found.isEmpty
        let counts = full || !snapshot.metadata.hasDeferredWork
        if readsRows {
            var pieces: [WorkMeter.Piece<Finding>] = [(1, { try verifier.structure() })]
            pieces += StoreVerifier.RowCheck.allCases.map { check in
                (
                    rows,
                    {
                        try verifier.rows(check) { name in
                            try StoreVerification.isPlainName(name) && external.holds(name, on: system)
                        }.map(\.finding)
                    }
                )
            }
            pieces += [
                (rows, { try verifier.history().map(\.finding) }),
                (1, { try external.strangers(on: system).map(Self.strangeFile) }),
                (2 * rows, { try ValueVerifier(connection, layout, withValues: withValues).findings() }),
                (rows, { try EnumAudit(layout: layout, connection: connection, withValues: withValues).findings() }),
            ]
            // Values that deferred work has yet to compute are no fault.
            if counts {
                pieces.append((rows, { try Self.wrongCounts(connection, layout, gaps.history) }))
            }
            // Without an identifier its objects cannot be read.
            if full, identity == nil {
                pieces.append((rows, { try Self.cycles(connection, external, layout, gaps.history, system) }))
            }
            found = try WorkMeter.each(pieces)
        }
        indexFaults = pages?.indexes
        settled = readsRows ? Self.settled(by: found, counts: counts) : []
        // The gaps describe missing indexes better: another index may replace one.
        findings =
            snapshot.findings + [identity].compactMap { $0 }
            + layout.findings.filter { $0.code != "index-missing" } + gaps.findings + found
        rowCounts = try snapshot.rowCounts(in: layout, over: connection)
    }

    /// Returns the rules for whose faults the rows were searched, without those that repair one of the findings.
    private static func settled(by found: [Finding], counts: Bool) -> Set<RepairRule> {
        var rules: Set<RepairRule> = [
            .history, .numbers, .dangling, .inverses, .duplicates, .orphans, .keyCounters,
        ]
        if counts { rules.insert(.counts) }
        return found.reduce(into: rules) { rules, finding in
            rules.subtract(RepairRule.repairing[finding.code] ?? [])
            // A required value may be a relationship.
            if finding.code == "required-missing" { rules.remove(.orphans) }
        }
    }

    /// Returns the finding about a store whose identifier is not one; nil for any other store.
    private static func identity(_ snapshot: StoreSnapshot) -> Finding? {
        do {
            _ = try snapshot.metadata.identifier(place: "Z_METADATA.Z_UUID")
            return nil
        } catch {
            return Finding(
                code: "uuid-invalid", severity: .error, place: error.place, message: error.message,
                remedy: MigrationError.damagedStoreRemedy)
        }
    }

    /// Returns the derived counts that are wrong.
    private static func wrongCounts(
        _ connection: Connection, _ layout: StoreLayout, _ gaps: HistoryGaps
    ) throws -> [Finding] {
        try found([.counts], RepairSearch(connection, nil), layout, gaps) { fault in
            Finding(
                code: "derived-count", severity: .error, place: fault.place,
                message: "\(Quantity.count(fault.count, "object")) with a \(fault.place) that is not the number of the "
                    + "related objects.", remedy: "\(.repair) counts the objects again.")
        }
    }

    /// Returns notes about objects that are their own ancestors. Core Data saves a cycle; only the app knows whether it
    /// is valid.
    private static func cycles(
        _ connection: Connection, _ external: ExternalStorage, _ layout: StoreLayout, _ gaps: HistoryGaps,
        _ system: any System
    ) throws -> [Finding] {
        let objects = try ObjectStore(
            over: connection, model: layout.model, external: external, isReadOnly: true, on: system)
        return try found([.cycles], RepairSearch(connection, objects), layout, gaps) { fault in
            Finding(
                code: "reference-cycle", severity: .note, place: fault.place,
                message:
                    "\(Quantity.count(fault.count, "object")) on cycles of \(fault.place), whose objects are their "
                    + "own ancestors.", remedy: "\(.repair) cuts one link of each cycle.")
        }
    }

    private static func found(
        _ rules: Set<RepairRule>, _ search: RepairSearch, _ layout: StoreLayout, _ gaps: HistoryGaps,
        _ finding: (RepairReport.Fault) -> Finding
    ) throws -> [Finding] {
        try RepairFaults(layout, rules, gaps).all.map(search.finding).filter { $0.count > 0 }.map { fault in
            var finding = finding(fault)
            finding.keys = fault.keys
            return finding
        }
    }

    /// Returns notes about unnamed files, which only take up space.
    private static func unnamedFiles(_ probe: ReadOnlyStore, _ system: any System) throws -> [Finding] {
        let external = ExternalStorage(store: probe.path)
        let unnamed = try external.unnamed(in: probe.connection, of: probe.path, on: system)
        guard !unnamed.names.isEmpty else { return [] }
        let files = Quantity.count(
            unnamed.names.count, "file of external data is", plural: "files of external data are")
        return [
            Finding(
                code: unnamedFilesCode, severity: .note, place: external.folder,
                message: "\(files) named by no row: \(Quantity.bytes(unnamed.bytes)).",
                remedy:
                    "\(.repair, .only(["external-files"])) moves them away, into the store's .moult folder. Nothing is "
                    + "deleted.")
        ]
    }

    package static let unnamedFilesCode = "external-files-unnamed"

    private static func strangeFile(_ path: String) -> Finding {
        Finding(
            code: "external-file-strange", severity: .error, place: path,
            message: "The store's external data contains something that is not a plain file: \(Path.name(of: path)).",
            remedy: "Replace it with the file itself, or remove it. Moult follows no links and reads no pipes.")
    }

    private static func rowCounts(
        _ snapshot: StoreSnapshot, _ layout: StoreLayout, without gaps: SchemaGaps, over connection: Connection
    ) throws -> [String: Int64] {
        let missing = gaps.tableNames
        let present = StoreLayout(
            model: layout.model, level: layout.level, entityNumbers: layout.entityNumbers,
            tables: layout.tables.filter { !missing.contains($0.name) }, joinTables: [])
        return try snapshot.rowCounts(in: present, over: connection)
    }
}

/// The enums of one entity. SwiftData keeps an enum with raw values in a column of its own name, and any other in one
/// column for each case; the column in use holds its own name.
struct EnumAudit {
    let layout: StoreLayout
    let connection: Connection
    /// Whether findings include the values in the columns.
    let withValues: Bool

    /// Returns findings about rows whose enum has no case, more than one, or a text that is not the name of a case. The
    /// model does not list an enum's raw values.
    func findings() throws -> [Finding] {
        try layout.model.entities.flatMap { entity in
            try entity.attributes.filter(\.isEnum).compactMap { try finding($0, of: entity) }
        }
    }

    private func finding(_ attribute: AttributeDescription, of entity: EntityDescription) throws -> Finding? {
        let names = attribute.leaves.map(\.name)
        let columns = names.compactMap { layout.column(forAttribute: $0, in: entity)?.quotedName }
        guard columns.count == names.count, !columns.isEmpty, let table = layout.table(for: entity) else { return nil }
        let cases = attribute.elements.map(\.name)
        let hasCases = attribute.userInfo[AttributeDescription.enumCasesKey] == cases.joined(separator: ",")
        // The columns of other enums have an unknown form.
        guard hasCases || cases == [attribute.name] else { return nil }
        let used = columns.map { "(\($0) IS NOT NULL)" }.joined(separator: " + ")
        if hasCases {
            let wrong = ["\(used) > 1"] + zip(columns, cases).map { "\($0) <> \($1.quotedLiteral)" }
            if let fault = try finding(
                attribute, of: entity, in: table, columns, wrong.conditions(joinedBy: "OR"), .error)
            {
                return fault
            }
        }
        // Core Data permits this, as after a migration that added the enum, but the app's code cannot read it.
        return attribute.isOptional ? nil : try finding(attribute, of: entity, in: table, columns, "\(used) = 0", .note)
    }

    private func finding(
        _ attribute: AttributeDescription, of entity: EntityDescription, in table: EntityTable, _ columns: [String],
        _ fault: String, _ severity: Finding.Severity
    ) throws -> Finding? {
        let numbers = layout.numbers(ofEntityAndDescendants: entity).map(String.init).joined(separator: ", ")
        let rows = "\(table.name.quotedName) WHERE Z_ENT IN (\(numbers)) AND (\(fault))"
        guard let count = try connection.integer("SELECT count(*) FROM \(rows)"), count > 0 else { return nil }
        var finding = Finding(
            code: "enum-without-case", severity: severity, place: "\(entity.name).\(attribute.name)",
            message:
                "\(Quantity.count(count, "object of \(entity.name) has", plural: "objects of \(entity.name) have")) no "
                + "\(severity == .error ? "valid " : "")case for \(attribute.name).",
            remedy: "Set \(attribute.name) of these objects in the app."
                + (withValues ? "" : " \(.validate, .values) prints what is stored."))
        let stored = columns.map { "substr(quote(\($0)), 1, 200)" }.joined(separator: " || ', ' || ")
        try connection.forEachRow(
            "SELECT Z_PK, \(withValues ? stored : "NULL") FROM \(rows) ORDER BY Z_PK LIMIT \(Finding.keyLimit)"
        ) { row in
            finding.keys.append(row.integer(0))
            if withValues { finding.values.append("\(row.integer(0)): \(row.text(1) ?? "NULL")") }
        }
        return finding
    }
}
