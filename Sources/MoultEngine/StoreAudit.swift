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
    /// - Throws: what reading a file that is no usable store throws.
    package init(
        _ store: String, model: ManagedObjectModel, full: Bool = false, system: any System = POSIXSystem()
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
            let verifier = StoreVerifier(probe.connection, shape: StoreShape(layout, withObjects: false))
            let folder = Sidecar(store: probe.path).externalData
            var findings = try verifier.pages(full: full)
            // Damaged pages make every further answer doubtful, and may end the reading.
            if findings.isEmpty {
                findings += try verifier.structure()
                findings += try verifier.rows { name in
                    try StoreVerification.isPlainName(name) && system.exists(Path.join(folder, name))
                }.map(\.finding)
                findings += try EnumAudit(layout: layout, connection: probe.connection).findings()
            }
            return (
                snapshot.findings + layout.findings + findings,
                try snapshot.rowCounts(in: layout, over: probe.connection)
            )
        }
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
