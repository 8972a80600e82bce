import MoultSQLite
import MoultStore

/// The changes that a step of a mirror has written to the store that follows, counted.
package struct MirrorChanges: Sendable, Hashable {
    package var inserted: Int64 = 0
    package var updated: Int64 = 0
    package var deleted: Int64 = 0

    package var all: Int64 { inserted + updated + deleted }

    static func += (left: inout MirrorChanges, right: MirrorChanges) {
        left.inserted += right.inserted
        left.updated += right.updated
        left.deleted += right.deleted
    }
}

/// Makes the rows of the store that follows, `main` of the connection, those of the schema `fresh`, inside one
/// transaction of the caller's.
///
/// It is by keys and compares before it writes, so that doing it twice does nothing the second time.
struct MirrorApplication {
    private static let gone = "temp.moult_gone"
    let connection: Connection
    /// By table, what the rows add to its sum and take from it.
    private(set) var sums: [String: Int64]
    private(set) var changes = MirrorChanges()
    /// The files of external data that rows named which are gone, or are others now.
    private(set) var files: Set<String> = []

    init(_ connection: Connection, sums: [String: Int64]) throws {
        self.connection = connection
        self.sums = sums
        try connection.execute("CREATE TEMP TABLE IF NOT EXISTS moult_gone (a, b)")
    }

    /// Deletes what is gone or differs, inserts what is missing.
    mutating func apply(_ table: MirroredTable) throws {
        let name = table.name.quotedName
        try keep(table)
        let listed = try fill(table)
        var found = MirrorChanges()
        let isSame = table.key.map { "n.\($0.quotedName) = r.\($0.quotedName)" }.conditions(joinedBy: "AND")
        if listed > 0 {
            let isGone = "(\(keys(table, "r"))) IN (SELECT \(gone(table)) FROM \(Self.gone))"
            sums[table.name, default: 0] &-= try MirrorContents.sum(
                connection, table, from: "main.\(name) AS r WHERE \(isGone)")
            found.updated = try connection.integer("SELECT count(*) FROM fresh.\(name) AS r WHERE \(isGone)") ?? 0
            found.deleted = listed - found.updated
            files.formUnion(
                try ExternalStorage.names(in: connection, table.columns, of: "main.\(name) AS r WHERE (\(isGone))"))
            try connection.run("DELETE FROM main.\(name) AS r WHERE \(isGone)")
        }
        let isMissing = "NOT EXISTS (SELECT 1 FROM main.\(name) AS n WHERE \(isSame))"
        let added = "fresh.\(name) AS r WHERE \(isMissing)"
        let count = try connection.integer("SELECT count(*) FROM \(added)") ?? 0
        if count > 0 {
            sums[table.name, default: 0] &+= try MirrorContents.sum(connection, table, from: added)
            let columns = table.columns.map(\.quotedName).joined(separator: ", ")
            try connection.run("INSERT INTO main.\(name) (\(columns)) SELECT \(columns) FROM \(added)")
        }
        found.inserted = count - found.updated
        changes += found
    }

    /// The keys of the rows that go or become others.
    private func fill(_ table: MirroredTable) throws -> Int64 {
        let name = table.name.quotedName
        try connection.run("DELETE FROM \(Self.gone)")
        let isSame = table.key.map { "n.\($0.quotedName) = r.\($0.quotedName)" }.conditions(joinedBy: "AND")
        let rest = table.columns.filter { !table.key.contains($0) }
        let isEqual =
            rest.isEmpty
            ? ""
            : " AND (\(rest.map { "n.\($0.quotedName)" }.joined(separator: ", "))) IS "
                + "(\(rest.map { "r.\($0.quotedName)" }.joined(separator: ", ")))"
        let scope = table.scope ?? "1"
        try connection.run(
            """
            INSERT INTO \(Self.gone) (\(gone(table))) SELECT \(keys(table, "r")) FROM main.\(name) AS r \
            WHERE \(scope) AND NOT EXISTS (SELECT 1 FROM fresh.\(name) AS n WHERE \(isSame)\(isEqual))
            """)
        return connection.changes
    }

    /// Columns that nothing fills keep what they hold where the object is there already.
    private func keep(_ table: MirroredTable) throws {
        guard !table.kept.isEmpty else { return }
        let name = table.name.quotedName
        let values = table.kept.map { "\($0.quotedName) = o.\($0.quotedName)" }.joined(separator: ", ")
        try connection.run("UPDATE fresh.\(name) AS n SET \(values) FROM main.\(name) AS o WHERE o.Z_PK = n.Z_PK")
    }

    private func keys(_ table: MirroredTable, _ row: String) -> String {
        table.key.map { "\(row).\($0.quotedName)" }.joined(separator: ", ")
    }

    private func gone(_ table: MirroredTable) -> String { ["a", "b"].prefix(table.key.count).joined(separator: ", ") }
}

/// One table of the store that follows: which of its rows are kept in step, and by what they are known.
struct MirroredTable: Sendable {
    var name: String
    var columns: [String]
    /// The columns by which a row of both sides is the same.
    var key: [String]
    /// The columns that nothing of the other store fills; they keep what they hold.
    var kept: [String] = []
    /// A condition on a row `r` of the store that follows, in SQL: the rows that may differ; nil for all.
    var scope: String?
}

extension MirroredTable {
    /// - Parameter isListed: whether only listed objects are looked at, where the table allows it.
    init(_ table: PartialScript.Table, isListed: Bool, keepsUnfilled: Bool) {
        let numbers = table.numbers.map(String.init).joined(separator: ", ")
        let limits = isListed ? table.limits : nil
        var conditions = numbers.isEmpty ? [] : ["r.Z_ENT IN (\(numbers))"]
        if let limits {
            let listed = limits.map {
                PartialScript.isListed("r.\(name: $0.column)", of: $0.source, in: "fresh").inlined
            }
            conditions.append("(\(listed.isEmpty ? "0" : listed.conditions(joinedBy: "OR")))")
        }
        self.init(
            name: table.name, columns: table.columns, key: table.key, kept: keepsUnfilled ? table.unfilled : [],
            scope: conditions.isEmpty ? nil : conditions.conditions(joinedBy: "AND"))
    }

    /// Every table of objects and of pairs that a layout has.
    static func all(of layout: StoreLayout) -> [MirroredTable] {
        layout.tables.map { MirroredTable(name: $0.name, columns: $0.columns.map(\.name), key: ["Z_PK"]) }
            + layout.joinTables.map {
                MirroredTable(name: $0.name, columns: $0.columns.map(\.name), key: $0.keyColumns)
            }
    }
}

/// The data that a step has read, ready to be written.
struct MirrorStep {
    let means: MirrorMeans
    /// The database that holds the rows.
    let fresh: String
    let tables: [MirroredTable]
    let metadata: StoreMetadata
    let transaction: Int64?
    /// By table of the store that follows, the highest key that was handed out.
    let highestKeys: [(root: Int, highest: Int64)]
    /// The folders in which files of external data are looked for.
    let external: [ExternalStorage]
}
