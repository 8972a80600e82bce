import MoultSQLite
import MoultStore

/// The number of rows that a sync has changed in the store that follows.
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

/// Makes the rows of the store that follows (`main`) equal to those of the schema `fresh`, inside a transaction that
/// the caller has open.
///
/// Rows are matched by key and compared before they are written, so a second run changes nothing.
struct MirrorApplication {
    private static let gone = "temp.moult_gone"
    let connection: Connection
    /// By table, the sum over its rows, kept up to date with each change.
    private(set) var sums: [String: Int64]
    private(set) var changes = MirrorChanges()
    /// The files of external data that only deleted or replaced rows referred to.
    private(set) var files: Set<String> = []

    init(_ connection: Connection, sums: [String: Int64]) throws {
        self.connection = connection
        self.sums = sums
        try connection.execute("CREATE TEMP TABLE IF NOT EXISTS moult_gone (a, b)")
    }

    /// Deletes the rows that are gone or differ, then inserts those that are missing.
    mutating func apply(_ table: MirroredTable) throws {
        let name = table.name.quotedName
        try keep(table)
        try keepFiles(of: table)
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

    /// Lists the keys of the rows to delete or replace.
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

    /// Copies the values of unfilled columns from existing rows, so that they stay as they are, and leaves out a value
    /// where the other store has its stand-in.
    private func keep(_ table: MirroredTable) throws {
        let name = table.name.quotedName
        var cases: [String: [String]] = [:]
        for kept in table.kept {
            let column = kept.column.quotedName
            cases[column, default: []].append("WHEN n.Z_ENT IN (\(kept.numbers.sqlList)) THEN o.\(column)")
        }
        for standIn in table.standIns {
            let column = standIn.column.quotedName
            cases[column, default: []].append(
                "WHEN n.Z_ENT = \(standIn.number) AND o.\(column) IS NULL AND n.\(column) IS \(standIn.value) THEN NULL"
            )
        }
        guard !cases.isEmpty else { return }
        let values = cases.sorted { $0.key < $1.key }.map { column, cases in
            "\(column) = CASE \(cases.joined(separator: " ")) ELSE n.\(column) END"
        }.joined(separator: ", ")
        try connection.run("UPDATE fresh.\(name) AS n SET \(values) FROM main.\(name) AS o WHERE o.Z_PK = n.Z_PK")
    }

    /// Leaves a value in the file in which the other store has it, where the new row has the same value itself.
    private func keepFiles(of table: MirroredTable) throws {
        let name = table.name.quotedName
        for column in table.external.map(\.quotedName) {
            try connection.run(
                """
                UPDATE fresh.\(name) AS n SET \(column) = moult_kept(o.\(column), n.\(column)) FROM main.\(name) AS o \
                WHERE o.Z_PK = n.Z_PK AND substr(o.\(column), 1, 1) = x'02' AND substr(n.\(column), 1, 1) = x'01'
                """)
        }
    }

    private func keys(_ table: MirroredTable, _ row: String) -> String {
        table.key.map { "\(row).\($0.quotedName)" }.joined(separator: ", ")
    }

    private func gone(_ table: MirroredTable) -> String { ["a", "b"].prefix(table.key.count).joined(separator: ", ") }
}

/// One table of the store that follows: the rows to keep in step, and their key.
struct MirroredTable: Sendable {
    var name: String
    var columns: [String]
    /// The columns that identify a row in both stores.
    var key: [String]
    /// The columns that the other store does not fill in the rows of some entities; they keep their values there.
    var kept: [PartialScript.Unfilled] = []
    /// The values that the other store has for none.
    var standIns: [StandIn] = []
    /// The columns whose values stay in files that have them; empty if each row is as a migration makes it.
    var external: [String] = []
    /// An SQL condition on a row `r` of the store that follows, which selects the rows that may differ; nil for all.
    var scope: String?
}

extension MirroredTable {
    /// - Parameter isListed: whether to compare only listed objects, where the table allows it.
    init(_ table: PartialScript.Table, isListed: Bool, keepsUnfilled: Bool) {
        let numbers = table.numbers.map(String.init).joined(separator: ", ")
        let limits = isListed ? table.limits : nil
        var conditions = numbers.isEmpty ? [] : ["r.Z_ENT IN (\(numbers))"]
        if let limits {
            let listed = limits.map {
                StoreLowering.isListed("r.\(name: $0.column)", of: $0.source, in: "fresh").inlined
            }
            conditions.append("(\(listed.isEmpty ? "0" : listed.conditions(joinedBy: "OR")))")
        }
        self.init(
            name: table.name, columns: table.columns, key: table.key, kept: keepsUnfilled ? table.unfilled : [],
            scope: conditions.isEmpty ? nil : conditions.conditions(joinedBy: "AND"))
    }

    /// Returns every table of objects and every join table of a layout.
    static func all(of layout: StoreLayout) -> [MirroredTable] {
        layout.tables.map { MirroredTable(name: $0.name, columns: $0.columns.map(\.name), key: ["Z_PK"]) }
            + layout.joinTables.map {
                MirroredTable(name: $0.name, columns: $0.columns.map(\.name), key: $0.keyColumns)
            }
    }
}

/// A value that the rows of one entity have where the store that follows has none: the default of an attribute that the
/// other version requires, or that this one requires and an object lacks.
struct StandIn: Sendable, Hashable {
    let table: String
    let column: String
    /// The number of the entity.
    let number: Int
    /// The value in SQL.
    let value: String
    /// Whether the store that follows may keep none. Otherwise a sync of the object writes the value.
    let isOptional: Bool
}

/// The data that a step has read, ready to be written.
struct MirrorStep {
    let means: MirrorMeans
    /// The database that holds the rows.
    let fresh: String
    let tables: [MirroredTable]
    let metadata: StoreMetadata
    let transaction: Int64?
    /// By table of the store that follows, the highest key ever assigned.
    let highestKeys: [(root: Int, highest: Int64)]
    /// The folders to search for files of external data.
    let external: [ExternalStorage]
}
