import MoultBasics
import MoultSQLite
import MoultStore

/// Finds the changes to the store that is followed, at one moment, and converts them to the other version in a separate
/// database.
struct ChangeReader {
    /// `main` is a database that starts empty, `source` the store that is followed, `replica` the one that follows.
    let connection: Connection
    let script: PartialScript
    let mark: MirrorMark
    private(set) var means = MirrorMeans.comparison
    /// The last transaction at the moment of reading; nil without history.
    private(set) var transaction: Int64?
    /// The number of listed objects.
    private(set) var listed: Int64 = 0

    init(_ connection: Connection, _ script: PartialScript, _ mark: MirrorMark) {
        (self.connection, self.script, self.mark) = (connection, script, mark)
    }

    /// Lists the changed objects.
    ///
    /// - Parameter all: compare everything.
    /// - Throws: `mirrorDiverged` if the store that follows is ahead.
    mutating func list(all: Bool) throws {
        try connection.execute(PartialScript.makeKeys)
        transaction = try connection.lastTransaction(schema: "source")
        guard !all else { return }
        if try canReadHistory() {
            means = .history
            try listFromHistory()
        } else {
            means = .scan
            try scan()
        }
        listed = try connection.integer("SELECT count(*) FROM main.\(PartialScript.keys)") ?? 0
    }

    // MARK: - From history

    /// Whether all transactions since the mark are still there, and the one at the mark is the same in both stores.
    private func canReadHistory() throws -> Bool {
        guard let last = transaction, let known = mark.transaction,
            try connection.lastTransaction(schema: "replica") != nil
        else { return false }
        guard known <= last else {
            throw Self.ahead("It has the transaction \(known), but the store that it follows ends with \(last).")
        }
        let times = try ["source", "replica"].map { schema in
            try connection.rows("SELECT ZTIMESTAMP FROM \(schema).ATRANSACTION WHERE Z_PK = ?", [.integer(known)]) {
                $0.value(0)
            }.first
        }
        if let one = times[0], let other = times[1], one != other {
            throw Self.ahead("The transaction \(known) differs between the stores: they diverged before it.")
        }
        guard known < last else { return true }
        let first = try connection.integer(
            "SELECT min(Z_PK) FROM source.ATRANSACTION WHERE Z_PK > ?", [.integer(known)])
        return first == known + 1
    }

    private func listFromHistory() throws {
        guard let known = mark.transaction else { return }
        for source in script.sources {
            try connection.run(
                """
                INSERT OR IGNORE INTO main.\(PartialScript.keys) \
                SELECT \(source.table.quotedLiteral), ZENTITYPK FROM source.ACHANGE \
                WHERE ZTRANSACTIONID > ? AND ZENTITY IN (\(source.numbers.sqlList)) AND ZENTITYPK IS NOT NULL
                """, [.integer(known)])
            try listNew(source)
        }
    }

    /// Lists the objects with keys higher than any that the store that follows has used. They are new, even if no
    /// history recorded their insertion.
    private func listNew(_ source: PartialScript.Source) throws {
        let own = "source.\(source.table.quotedName)"
        let highest = """
            max(ifnull((SELECT \(PrimaryKeyRow.highestSQL) FROM replica.Z_PRIMARYKEY \
            WHERE Z_ENT = \(source.destinationRootNumber)), 0), \
            ifnull((SELECT max(Z_PK) FROM replica.\(source.destination.quotedName)), 0))
            """
        try connection.run(
            """
            INSERT OR IGNORE INTO main.\(PartialScript.keys) SELECT ?, Z_PK FROM \(own) \
            WHERE Z_PK > \(highest) AND Z_ENT IN (\(source.numbers.sqlList))
            """, [.text(source.table)])
    }

    // MARK: - By a scan

    /// Compares lock counters: each row carries the counter of the row it was made from, so the two stores show the
    /// changes.
    private func scan() throws {
        for source in script.sources {
            let (own, other) = ("source.\(source.table.quotedName)", "replica.\(source.destination.quotedName)")
            let (numbers, otherNumbers) = (source.numbers.sqlList, source.destinationNumbers.sqlList)
            let newer = try connection.integer(
                """
                SELECT m.Z_PK FROM \(other) AS m JOIN \(own) AS s ON s.Z_PK = m.Z_PK \
                WHERE s.Z_ENT IN (\(numbers)) AND m.Z_OPT > s.Z_OPT LIMIT 1
                """)
            if let newer { throw Self.ahead("Its object \(newer) in \(source.destination) has a higher lock counter.") }
            let unknown = try connection.integer(
                """
                SELECT max(m.Z_PK) FROM \(other) AS m WHERE m.Z_ENT IN (\(otherNumbers)) AND m.Z_PK > \
                (SELECT \(PrimaryKeyRow.highestSQL) FROM source.Z_PRIMARYKEY WHERE Z_ENT = \(source.rootNumber))
                """)
            if let unknown {
                throw Self.ahead("Its object \(unknown) in \(source.destination) does not exist in the other store.")
            }
            try connection.run(
                """
                INSERT OR IGNORE INTO main.\(PartialScript.keys) SELECT ?1, s.Z_PK FROM \(own) AS s \
                LEFT JOIN \(other) AS m ON m.Z_PK = s.Z_PK \
                WHERE s.Z_ENT IN (\(numbers)) AND (m.Z_PK IS NULL OR m.Z_OPT IS NOT s.Z_OPT)
                """, [.text(source.table)])
            try connection.run(
                """
                INSERT OR IGNORE INTO main.\(PartialScript.keys) SELECT ?1, m.Z_PK FROM \(other) AS m \
                WHERE m.Z_ENT IN (\(otherNumbers)) AND NOT EXISTS \
                (SELECT 1 FROM \(own) AS s WHERE s.Z_PK = m.Z_PK AND s.Z_ENT IN (\(numbers)))
                """, [.text(source.table)])
        }
    }

    static func ahead(_ fact: String) -> MigrationError {
        MigrationError(
            .mirrorDiverged, "The store that follows is ahead of the one that it follows. \(fact)", place: fact,
            remedy:
                "The store may have been restored to an older state. \(.syncMirror, .overwrite) makes the other "
                + "one follow it; \(.stopMirror) keeps both unchanged.")
    }

    // MARK: - Making the rows

    /// Makes the rows of the listed objects, and of the tables that are always made in full.
    ///
    /// - Returns: the tables with rows, each with the rows that may differ.
    func makeRows(keepsUnfilled: Bool) throws -> [MirroredTable] {
        var made: [MirroredTable] = []
        for table in script.tables {
            // Rows of join tables have no lock counter.
            let isListed = table.limits != nil && (means == .history || (means == .scan && !table.numbers.isEmpty))
            if isListed, listed == 0 { continue }
            for statement in script.statements(for: table, listed: isListed) { try connection.run(statement.sql) }
            made.append(MirroredTable(table, isListed: isListed, keepsUnfilled: keepsUnfilled))
        }
        return made + (try makeHistory())
    }

    /// Copies history as a migration does: adds the new transactions, and removes those that the store has pruned.
    private func makeHistory() throws -> [MirroredTable] {
        guard transaction != nil, try connection.lastTransaction(schema: "replica") != nil else { return [] }
        // New transactions alone are enough only if the earlier ones are already there.
        let known = means == .history ? mark.transaction ?? 0 : 0
        for statement in script.history(after: known) { try connection.run(statement.sql) }
        let first = try connection.integer("SELECT min(Z_PK) FROM source.ATRANSACTION") ?? (transaction ?? 0) &+ 1
        return try PartialScript.historyTables.compactMap { name in
            let columns = try connection.columns(of: name, schema: "main").map(\.name)
            guard !columns.isEmpty else { return nil }
            let number = name == "ACHANGE" ? "ZTRANSACTIONID" : "Z_PK"
            let isPart = name != "ATRANSACTIONSTRING"
            return MirroredTable(
                name: name, columns: columns, key: ["Z_PK"],
                scope: isPart ? "(r.\(number) > \(known) OR r.\(number) < \(first))" : nil)
        }
    }
}
