import MoultEngine
import MoultSQLite
import MoultStore
import MoultSystem

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A column whose values an app's code rebuilds in each run, such as the time of the migration or a new identifier: two
/// runs from the same store leave others.
package struct ChangingColumn: Sendable, Hashable, Comparable {
    package var table: String
    package var name: String

    package var place: String { "\(table).\(name)" }

    package static func < (left: ChangingColumn, right: ChangingColumn) -> Bool { left.place < right.place }

    /// The sentence about them in a report.
    package static func sentence(_ columns: Set<ChangingColumn>) -> String? {
        guard !columns.isEmpty else { return nil }
        let places = columns.sorted().map(\.place).joined(separator: ", ")
        return
            "Two undisturbed runs left different values in \(places). There, only whether a row has a value is "
            + "compared."
    }

    /// The columns in which two runs of one migration differ. Where they differ in their tables or in the number of
    /// rows, no column says so: these are compared in any case.
    package static func all(between first: RunValues, and second: RunValues) -> Set<ChangingColumn> {
        var found: Set<ChangingColumn> = []
        for (table, one) in first.tables {
            guard let other = second.tables[table], one.columns == other.columns, one.rows.count == other.rows.count
            else { continue }
            for (left, right) in zip(one.rows, other.rows) where left != right {
                for (place, name) in one.columns.enumerated() where left[place] != right[place] {
                    found.insert(ChangingColumn(table: table, name: name))
                }
            }
        }
        // What makes a row an object is never the app's to choose.
        return found.filter { !["Z_PK", "Z_ENT", "Z_OPT"].contains($0.name) }
    }
}

/// The values that a run has left, by table in the order of the rows.
package struct RunValues: Sendable {
    struct Table: Sendable {
        let columns: [String]
        var rows: [[String]] = []
    }

    private(set) var tables: [String: Table] = [:]

    /// Between two runs, so that times which an app keeps in whole seconds differ too.
    static func pause() { usleep(1_050_000) }

    /// - Parameters:
    ///   - store: closed; it is not touched.
    ///   - scratch: a folder for a copy, emptied before.
    package init(of store: String, scratch: String) throws {
        let system = POSIXSystem()
        try system.removeTree(scratch)
        try system.makeFolder(scratch)
        let connection = try Connection(LogicalState.copy(store, to: scratch, system), mode: .readWrite)
        defer { connection.close() }
        try connection.registerCoreDataStubs()
        let externalData = Sidecar.externalData(of: store)
        for entry in try connection.catalogue().tables {
            guard let sql = entry.sql, !sql.uppercased().hasPrefix("CREATE VIRTUAL") else { continue }
            var table = Table(columns: try connection.columns(of: entry.name).map(\.name))
            try connection.forEachRow("SELECT * FROM \(entry.name.quotedName)") { row in
                table.rows.append(try row.row.map { try LogicalState.text(of: $0, externalData, system) })
            }
            tables[entry.name] = table
        }
    }
}
