import MoultModel
import MoultSQLite
import MoultStore
import MoultSystem
import MoultVerify

/// Every fault of a store, found by reading it without changing a byte.
package struct StoreAudit: Sendable {
    package let findings: [Finding]
    /// Objects by entity, without those of its sub-entities.
    package let rowCounts: [String: Int64]

    package var isSound: Bool { !findings.contains { $0.severity > .note } }

    /// - Parameters:
    ///   - model: the model of the store's version.
    ///   - full: compare every index with its table too (`integrity_check`).
    ///   - withValues: whether findings have the values of the rows that they name.
    /// - Throws: what reading a file that is no usable store throws.
    package init(
        _ store: String, model: ManagedObjectModel, full: Bool = false, withValues: Bool = false,
        system: any System = POSIXSystem()
    ) throws {
        (findings, rowCounts) = try StoreProbe.read(store, system: system) { probe in
            let snapshot = try StoreSnapshot(probe.connection)
            var gaps = SchemaGaps()
            let completed = try StoreLayout(completing: snapshot, model: model, gaps: &gaps)
            guard !gaps.breaksReading else {
                // The rows are asked for what is missing.
                let counts = try Self.rowCounts(snapshot, completed, without: gaps, over: probe.connection)
                return (snapshot.findings + completed.findings, counts)
            }
            let layout = try StoreLayout(actual: snapshot, model: model)
            var shape = StoreShape(layout, withObjects: false)
            shape.history = StoreShape.history(of: layout).filter { gaps.history.isWhole($0.table) }
            let verifier = StoreVerifier(probe.connection, shape: shape, withValues: withValues)
            let external = ExternalStorage(store: probe.path)
            var findings = try verifier.pages(full: full)
            // Damaged pages make every further answer doubtful, and may end the reading.
            if findings.isEmpty {
                findings += try verifier.structure()
                findings += try verifier.rows { name in
                    try StoreVerification.isPlainName(name) && external.holds(name, on: system)
                }.map(\.finding)
                findings += try verifier.history().map(\.finding)
                findings += try external.strangers(on: system).map(Self.strangeFile)
                findings += try ValueVerifier(probe.connection, layout, withValues: withValues).findings()
                findings += try EnumAudit(layout: layout, connection: probe.connection, withValues: withValues)
                    .findings()
            }
            // Which indexes are missing the gaps say better: another index may replace one.
            let found = layout.findings.filter { $0.code != "index-missing" } + gaps.findings
            return (
                snapshot.findings + found + findings,
                try snapshot.rowCounts(in: layout, over: probe.connection)
            )
        }
    }

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
