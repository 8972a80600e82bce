import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore

/// The comparison of a mirror's store with a fresh migration.
public struct MirrorVerification: Sendable, Hashable {
    /// A table in which rows differ.
    public struct Difference: Sendable, Hashable {
        /// The table's name.
        public package(set) var table: String
        /// Rows that only the fresh migration has, or has with other values.
        public package(set) var missing: Int64
        /// Rows that only the store that follows has, or has with other values.
        public package(set) var surplus: Int64
        /// The first keys of the differing rows.
        public package(set) var keys: [Int64]
    }

    /// The result of the sync before the comparison; nil if the store that follows could not be brought up to date.
    package var outcome: MirrorSync?
    /// The reason why the store that follows could not be brought up to date; nil if it could.
    public package(set) var obstacle: String?
    /// The tables in which rows differ.
    public package(set) var differences: [Difference]
    /// Other things that differ: tables, indexes, keys of the metadata.
    public package(set) var others: [String]
    /// Rows of the fresh migration that were compared.
    public package(set) var rows: Int64

    /// Whether nothing differs and the comparison was possible.
    public var isEqual: Bool { obstacle == nil && differences.isEmpty && others.isEmpty }

    package var document: JSONValue {
        [
            "format": 1, "equal": .bool(isEqual), "rows": .integer(rows), "obstacle": JSONValue(obstacle),
            "differences": .array(
                differences.map { difference in
                    [
                        "table": .string(difference.table), "missing": .integer(difference.missing),
                        "surplus": .integer(difference.surplus), "keys": .array(difference.keys.map(JSONValue.integer)),
                    ]
                }), "others": JSONValue(others),
        ]
    }

    package var lines: [String] {
        if isEqual {
            return ["Equal: \(Quantity.count(rows, "row")) compared, value by value, with a fresh migration."]
        }
        return (obstacle.map { ["Not brought up to date: \($0)"] } ?? [])
            + differences.map { difference in
                "\(difference.table): \(Quantity.count(difference.missing, "row")) only in a fresh migration, "
                    + "\(Quantity.count(difference.surplus)) only in the store that follows; keys "
                    + difference.keys.map(String.init).joined(separator: ", ")
            } + others.map { "\($0) differs." }
    }
}

/// The full comparison of a mirror's store with a fresh migration: every value of every row, both ways. It shares no
/// code with the sync and uses neither listed keys nor counters.
struct MirrorComparison {
    /// `main` is the fresh migration, `replica` the store that follows.
    let connection: Connection

    private static let keyLimit = 10

    init(fresh: String, replica: String, on system: any System) throws {
        // With write access, the last connection to close removes the WAL.
        connection = try MirroredStore.open(fresh)
        try connection.attach(replica, as: "replica", mode: .readWrite)
        // A file that the followed store itself lacks is not the mirror's fault.
        let (made, own) = (ExternalStorage(store: fresh), ExternalStorage(store: replica))
        for (schema, folders) in [("main", [made, own]), ("replica", [own])] {
            try connection.register(ExternalStorage.values("moult_value_\(schema)", in: folders, on: system))
        }
    }

    /// - Parameters:
    ///   - columns: the columns to compare.
    ///   - numbers: the entity numbers of the rows; empty for all rows.
    ///   - standIns: the values that are equal to none.
    ///   - external: the columns whose values are compared wherever they are, in the row or in a file.
    func difference(
        in table: String, columns: [String], numbers: [Int], _ standIns: [StandIn], external: [String]
    ) throws -> MirrorVerification.Difference? {
        let condition = numbers.isEmpty ? "" : " WHERE Z_ENT IN (\(numbers.map(String.init).joined(separator: ", ")))"
        func value(_ column: String, _ schema: String) -> String {
            let (name, own) = (column.quotedName, standIns.filter { $0.table == table && $0.column == column })
            let cases = own.map { "WHEN \($0.number) THEN \($0.value)" }.joined(separator: " ")
            let cell = own.isEmpty ? name : "ifnull(\(name), CASE Z_ENT \(cases) END)"
            return (external.contains(column) ? "moult_value_\(schema)(\(cell))" : cell) + " AS \(name)"
        }
        func rows(_ schema: String) -> String {
            let list = columns.map { value($0, schema) }.joined(separator: ", ")
            return "SELECT \(list) FROM \(schema).\(table.quotedName)\(condition)"
        }
        let only = [("main", "replica"), ("replica", "main")].map { "\(rows($0.0)) EXCEPT \(rows($0.1))" }
        let counts = try only.map { try connection.integer("SELECT count(*) FROM (\($0))") ?? 0 }
        // EXCEPT compares sets, so duplicate rows show only in the counts.
        let sizes = try ["main", "replica"].map { try connection.integer("SELECT count(*) FROM (\(rows($0)))") ?? 0 }
        guard counts != [0, 0] || sizes[0] != sizes[1] else { return nil }
        let key = (columns.contains("Z_PK") ? "Z_PK" : columns.first ?? "").quotedName
        let keys = try connection.rows(
            "SELECT DISTINCT \(key) FROM (SELECT * FROM (\(only[0])) UNION SELECT * FROM (\(only[1]))) "
                + "ORDER BY 1 LIMIT \(Self.keyLimit)"
        ) { $0.integer(0) }
        return .init(table: table, missing: counts[0], surplus: counts[1], keys: keys)
    }

    /// The tables, indexes and triggers that only one of the two has, by name.
    func catalogueDifferences() throws -> [String] {
        let (fresh, replica) = (try connection.catalogue(), try connection.catalogue(schema: "replica"))
        return Set(fresh.entries).symmetricDifference(replica.entries).map(\.name).sorted()
    }
}

extension MirroredStore {
    /// Brings the store that follows up to date, and compares it value by value with a fresh migration of the other.
    ///
    /// Both show the same moment of the store that is followed; apps may write to it in the meantime. Nothing is
    /// repaired.
    package func verify() throws -> MirrorVerification {
        let route = try route()
        return try locked { try withWorkFolder { try verify(route, in: $0) } }
    }

    func verify(_ route: MirrorMapping, in folder: String) throws -> MirrorVerification {
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
            // A store of another version has no rows to compare with.
            guard try snapshot(of: route.replica).hashes.isCompatible(with: route.to.hashes) else { throw error }
            obstacle = error.message
        }
        var result = try compare(route, fresh, with: still)
        (result.outcome, result.obstacle) = (outcome, obstacle)
        return result
    }

    private func compare(_ route: MirrorMapping, _ fresh: String, with still: String) throws -> MirrorVerification {
        let comparison = try MirrorComparison(fresh: fresh, replica: route.replica, on: system)
        defer { comparison.connection.close() }
        let connection = comparison.connection
        watch(connection)
        try connection.checkSoundness(schema: "replica", place: route.replica)
        var differences: [MirrorVerification.Difference] = []
        var rows: Int64 = 0
        let tables = try tables(of: route, fresh, with: still)
        let layout = try replicaLayout(route)
        let standIns = standIns(of: route, in: layout)
        WorkMeter.expect(pieces: tables.count)
        var counted: Set<String> = []
        for table in tables {
            defer { WorkMeter.current?.advance() }
            if counted.insert(table.name).inserted {
                rows += try connection.integer("SELECT count(*) FROM main.\(table.name.quotedName)") ?? 0
            }
            let found = try comparison.difference(
                in: table.name, columns: table.columns, numbers: table.numbers, standIns,
                external: layout.externalColumns(of: table.name))
            if let found { differences.append(found) }
        }
        let others =
            try (route.keepsUnfilled ? [] : comparison.catalogueDifferences())
            + metadataDifferences(connection, route) + highestKeyDifferences(connection)
        return MirrorVerification(outcome: nil, obstacle: nil, differences: differences, others: others, rows: rows)
    }

    /// Returns the tables and columns in which both stores must agree: everything that a fresh migration makes, or, on
    /// the way back, only the columns that the mapping fills.
    private func tables(of route: MirrorMapping, _ fresh: String, with still: String) throws -> [(
        name: String, columns: [String], numbers: [Int]
    )] {
        let connection = try Connection(fresh, mode: .readOnly)
        defer { connection.close() }
        if route.keepsUnfilled {
            let (script, reason) = try script(of: route, over: snapshot(of: still))
            guard let script else { throw cannotGoBack(reason ?? "") }
            let layout = try replicaLayout(route)
            return script.tables.flatMap { table -> [(name: String, columns: [String], numbers: [Int])] in
                if let join = layout.joinTable(named: table.name) { return [(join.name, join.comparedColumns, [])] }
                // The rows of different entities may agree in different columns.
                let groups = Dictionary(grouping: table.numbers) { number in
                    table.columns.filter { column in
                        !table.unfilled.contains { $0.column == column && $0.numbers.contains(number) }
                    }
                }
                return groups.sorted { $0.value[0] < $1.value[0] }.map { (table.name, $0.key, $0.value) }
            }
        }
        let layout = try StoreLayout(actual: StoreSnapshot(connection), model: route.to.model)
        let history = try PartialScript.historyTables.map { (name: $0, columns: try connection.columns(of: $0)) }
        return layout.tables.map { ($0.name, $0.columns.map(\.name), []) }
            + layout.joinTables.map { ($0.name, $0.comparedColumns, []) }
            + history.filter { !$0.columns.isEmpty }.map { ($0.name, $0.columns.map(\.name), []) }
    }

    private func metadataDifferences(_ connection: Connection, _ route: MirrorMapping) throws -> [String] {
        let (fresh, replica) = (
            try StoreMetadata(from: connection), try StoreMetadata(from: connection, schema: "replica")
        )
        var keys = Set(fresh.entries.keys).union(replica.entries.keys).filter {
            fresh.entries[$0] != replica.entries[$0]
        }
        keys.remove(MirrorMark.key)
        // The first store keeps the metadata of its own version, such as the framework that made it.
        if route.keepsUnfilled { keys = keys.filter { !StoreMetadata.Key.all.contains($0) } }
        return (fresh.uuid == replica.uuid ? [] : ["Z_UUID"]) + keys.sorted()
    }

    /// Compares the key counters. Keys are never reused, so here alone the store that follows may be ahead.
    private func highestKeyDifferences(_ connection: Connection) throws -> [String] {
        try connection.rows(
            """
            SELECT f.Z_NAME FROM main.Z_PRIMARYKEY AS f JOIN replica.Z_PRIMARYKEY AS r ON r.Z_ENT = f.Z_ENT \
            WHERE CAST(r.Z_MAX AS INTEGER) < CAST(f.Z_MAX AS INTEGER) OR (f.Z_NAME IS NOT r.Z_NAME AND f.Z_ENT < 16000) ORDER BY 1
            """
        ) { "Z_PRIMARYKEY \($0.text(0) ?? "")" }
    }
}

extension JoinTable {
    /// The columns without that of an order that a relationship had in an earlier version. Like Core Data, a migration
    /// leaves it in the table; no version reads it, and a sync does not fill it.
    fileprivate var comparedColumns: [String] {
        columns.filter { $0.role != .unknown || !$0.name.hasPrefix("Z_FOK_") }.map(\.name)
    }
}
