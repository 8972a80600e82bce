import MoultEngine
import MoultModel
import MoultPlan
import MoultSQLite
import MoultStore
import MoultSystem

extension MirroredStore {
    /// Brings the store that follows up to date, and compares it with what a fresh migration of the other gives, value
    /// by value.
    ///
    /// Both are of one moment of the store that is followed, which apps may write to in the meantime. Nothing is put
    /// right.
    package func verify() throws -> MirrorVerification {
        let route = try route()
        return try locked { try withWorkFolder { try verify(route, in: $0) } }
    }

    func verify(_ route: MirrorRoute, in folder: String) throws -> MirrorVerification {
        let (still, fresh) = (Path.join(folder, "still"), try freshPath(for: route, in: folder))
        try requireFile(route.replica)
        try copy(route.primary, besideDataOf: route.primary, to: still)
        try checkPrimary(snapshot(of: still), route)
        try copy(still, besideDataOf: route.primary, to: fresh)
        try migrate(fresh, by: route)
        var outcome: MirrorSync?
        var obstacle: String?
        do {
            outcome = try follow(
                route, reading: still, in: folder, all: record.comparesAll, overwriting: false, fresh: fresh)
        } catch let error as MigrationError where error.code == .mirrorDiverged {
            obstacle = error.message
        }
        var result = try compare(route, fresh, with: still)
        (result.outcome, result.obstacle) = (outcome, obstacle)
        return result
    }

    private func compare(_ route: MirrorRoute, _ fresh: String, with still: String) throws -> MirrorVerification {
        let comparison = try MirrorComparison(fresh: fresh, replica: route.replica)
        defer { comparison.connection.close() }
        let connection = comparison.connection
        watch(connection)
        try connection.checkSoundness(schema: "replica", place: route.replica)
        var differences: [MirrorVerification.Difference] = []
        var rows: Int64 = 0
        for table in try tables(of: route, fresh, with: still) {
            rows += try connection.integer("SELECT count(*) FROM main.\(table.name.quotedName)") ?? 0
            if let found = try comparison.difference(
                in: table.name, columns: table.columns, numbers: table.numbers)
            {
                differences.append(found)
            }
        }
        let others =
            try (route.keepsUnfilled ? [] : comparison.catalogueDifferences())
            + metadataDifferences(connection, route) + highestKeyDifferences(connection)
        return MirrorVerification(
            outcome: nil, obstacle: nil, differences: differences, others: others, rows: rows)
    }

    /// Returns the tables and columns that both have to agree on: all that a fresh migration makes; on the way back
    /// what the mapping fills.
    private func tables(of route: MirrorRoute, _ fresh: String, with still: String) throws -> [(
        name: String, columns: [String], numbers: [Int]
    )] {
        let connection = try Connection(fresh, mode: .readOnly)
        defer { connection.close() }
        if route.keepsUnfilled {
            let (script, reason) = try script(of: route, over: snapshot(of: still))
            guard let script else { throw cannotGoBack(reason ?? "") }
            return script.tables.map { table in
                (table.name, table.columns.filter { !table.unfilled.contains($0) }, table.numbers)
            }
        }
        let layout = try StoreLayout(actual: StoreSnapshot(connection), model: route.to.model)
        let history = try PartialScript.historyTables.map { (name: $0, columns: try connection.columns(of: $0)) }
        return MirroredTable.all(of: layout).map { ($0.name, $0.columns, []) }
            + history.filter { !$0.columns.isEmpty }.map { ($0.name, $0.columns.map(\.name), []) }
    }

    private func metadataDifferences(_ connection: Connection, _ route: MirrorRoute) throws -> [String] {
        let (fresh, replica) = (
            try StoreMetadata(from: connection), try StoreMetadata(from: connection, schema: "replica")
        )
        var keys = Set(fresh.entries.keys).union(replica.entries.keys).filter {
            fresh.entries[$0] != replica.entries[$0]
        }
        keys.remove(MirrorMark.key)
        // The first store's own words for its version stay, such as the framework that made it.
        if route.keepsUnfilled { keys = keys.filter { !StoreMetadata.Key.all.contains($0) } }
        return (fresh.uuid == replica.uuid ? [] : ["Z_UUID"]) + keys.sorted()
    }

    /// Keys that were handed out are never handed out again, so the store that follows may be ahead in this alone.
    private func highestKeyDifferences(_ connection: Connection) throws -> [String] {
        try connection.rows(
            """
            SELECT f.Z_NAME FROM main.Z_PRIMARYKEY AS f JOIN replica.Z_PRIMARYKEY AS r ON r.Z_ENT = f.Z_ENT \
            WHERE CAST(r.Z_MAX AS INTEGER) < CAST(f.Z_MAX AS INTEGER) OR (f.Z_NAME IS NOT r.Z_NAME AND f.Z_ENT < 16000) ORDER BY 1
            """
        ) { "Z_PRIMARYKEY \($0.text(0) ?? "")" }
    }
}
