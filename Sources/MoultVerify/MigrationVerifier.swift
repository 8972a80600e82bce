import MoultBasics
import MoultSQLite

/// Compares a migrated store with its original row by row: `main` with the attached schema `source`.
package struct MigrationVerifier {
    let connection: Connection
    package let expectation: MigrationExpectation

    package init(_ connection: Connection, expectation: MigrationExpectation) {
        self.connection = connection
        self.expectation = expectation
    }

    /// Verifies the numbers of rows, without comparing any values or pairs.
    package func verifyCounts() throws {
        var made: [Made: [(rows: MigrationExpectation.Entity, count: Int64)]] = [:]
        for rows in expectation.rows {
            let all = try counts("source", rows.sourceTable, rows.entities.map(\.sourceNumber))
            for entity in rows.entities {
                let count = entity.isPicked ? try picked(entity, rows) : all[entity.sourceNumber, default: 0]
                made[Made(table: rows.table, number: entity.number), default: []].append((entity, count))
            }
        }
        try verifyTotals(made)
    }

    // MARK: - Rows

    private struct Made: Hashable {
        let table: String
        let number: Int
    }

    /// Compares all rows, or those of the source with keys in a range.
    package func verify(_ rows: MigrationExpectation.Rows, keys: ClosedRange<Int64>? = nil) throws {
        let condition = keys.map { " AND s.Z_PK BETWEEN \($0.lowerBound) AND \($0.upperBound)" } ?? ""
        let differing = try connection.integer(comparison(rows, "count(*)") + condition) ?? 0
        if differing > 0 { throw try difference(rows, differing) }
    }

    /// Returns how many of the rows that a condition may have excluded exist.
    private func picked(_ entity: MigrationExpectation.Entity, _ rows: MigrationExpectation.Rows) throws -> Int64 {
        try connection.integer(
            """
            SELECT count(*) FROM source.\(rows.sourceTable.quotedName) AS s \
            JOIN main.\(rows.table.quotedName) AS d ON d.Z_PK = s.Z_PK + \(rows.keyShift) \
            WHERE s.Z_ENT = \(entity.sourceNumber) AND d.Z_ENT = \(entity.number)
            """) ?? 0
    }

    /// Verifies the total number of rows from all sources of an entity.
    private func verifyTotals(_ made: [Made: [(rows: MigrationExpectation.Entity, count: Int64)]]) throws {
        for (table, all) in Dictionary(grouping: made, by: \.key.table) {
            let counts = try self.counts("main", table, all.map(\.key.number))
            for (key, parts) in all {
                guard let entity = parts.first?.rows, !expectation.open.contains(entity.name) else { continue }
                let before = parts.reduce(0) { $0 + $1.count }
                let after = try counts[key.number, default: 0] - added(key.number)
                guard before != after else { continue }
                let names = parts.map(\.rows.sourceName).joined(separator: " and ")
                throw failure(
                    entity.name,
                    "\(names) had \(Quantity.count(before, "row")) and \(entity.name) has \(Quantity.count(after)).")
            }
        }
    }

    /// Returns a statement for the rows of the source without an equal row in the destination.
    private func comparison(_ rows: MigrationExpectation.Rows, _ result: String) throws -> String {
        let numbers = rows.entities.map { "\($0.sourceNumber)" }.joined(separator: ", ")
        let needed = rows.entities.filter { !$0.isPicked }.map { "\($0.sourceNumber)" }.joined(separator: ", ")
        let missing =
            needed.isEmpty
            ? "0"
            : rows.entities.allSatisfy { !$0.isPicked } ? "d.Z_PK IS NULL" : "d.Z_PK IS NULL AND s.Z_ENT IN (\(needed))"
        let differences = differences(rows).conditions(joinedBy: "OR")
        // An excluded row has nothing to compare.
        let different = missing == "d.Z_PK IS NULL" ? differences : "d.Z_PK IS NOT NULL AND (\(differences))"
        let untouched = try untouched
        return """
            SELECT \(result) FROM source.\(rows.sourceTable.quotedName) AS s \
            LEFT JOIN main.\(rows.table.quotedName) AS d ON \(join(rows)) \
            WHERE s.Z_ENT IN (\(numbers)) AND (\(missing) OR \(different))\(untouched)
            """
    }

    /// Returns the join with the destination's row by key. If conditions select rows, another row may have the key.
    private func join(_ rows: MigrationExpectation.Rows) -> String {
        let key = rows.keyShift == 0 ? "s.Z_PK" : "s.Z_PK + \(rows.keyShift)"
        let picked = rows.entities.filter(\.isPicked).map { "\($0.number)" }.joined(separator: ", ")
        return picked.isEmpty ? "d.Z_PK = \(key)" : "d.Z_PK = \(key) AND d.Z_ENT IN (\(picked))"
    }

    private func differences(_ rows: MigrationExpectation.Rows) -> [String] {
        let moved = rows.entities.map { "WHEN \($0.sourceNumber) THEN \($0.number)" }.joined(separator: " ")
        let isRenumbered = rows.entities.contains { $0.sourceNumber != $0.number }
        var conditions = [isRenumbered ? "d.Z_ENT IS NOT (CASE s.Z_ENT \(moved) END)" : "d.Z_ENT IS NOT s.Z_ENT"]
        let hasAlternatives = rows.entities.contains { !$0.alternatives.isEmpty }
        let first = Set(hasAlternatives ? [] : rows.entities.first?.columns ?? [])
        let everywhere = rows.entities.dropFirst().reduce(first) {
            $0.intersection($1.columns)
        }
        conditions += everywhere.sorted { $0.destination < $1.destination }.map(difference)
        for entity in rows.entities {
            guard entity.alternatives.isEmpty else {
                let others = ([entity.columns] + entity.alternatives).map { columns in
                    "(" + columns.map(difference).conditions(joinedBy: "OR") + ")"
                }
                conditions.append("(s.Z_ENT = \(entity.sourceNumber) AND \(others.conditions(joinedBy: "AND")))")
                continue
            }
            let own = entity.columns.filter { !everywhere.contains($0) }
            guard !own.isEmpty else { continue }
            let any = own.map(difference).conditions(joinedBy: "OR")
            conditions.append("(s.Z_ENT = \(entity.sourceNumber) AND (\(any)))")
        }
        return conditions
    }

    private func difference(_ column: MigrationExpectation.Column) -> String {
        let old = "s.\(column.source.quotedName)"
        let expected = column.ifNil.map { "COALESCE(\(old), \($0))" } ?? old
        return "d.\(column.destination.quotedName) IS NOT \(expected)"
    }

    /// Returns an error with the first row and column that differ.
    private func difference(_ rows: MigrationExpectation.Rows, _ count: Int64) throws -> MigrationError {
        let key = try connection.integer(comparison(rows, "s.Z_PK") + " ORDER BY s.Z_PK LIMIT 1") ?? 0
        for entity in rows.entities where entity.alternatives.isEmpty {
            for column in entity.columns {
                let differs = try connection.integer(
                    """
                    SELECT count(*) FROM source.\(rows.sourceTable.quotedName) AS s \
                    JOIN main.\(rows.table.quotedName) AS d ON \(join(rows)) \
                    WHERE s.Z_PK = ? AND s.Z_ENT = \(entity.sourceNumber) AND \(difference(column))
                    """, [.integer(key)])
                if differs == 1 {
                    return failure(
                        "\(entity.name) \(key)",
                        "\(Quantity.count(count, "row")) of \(rows.table) changed; the first differs in \(column.destination)."
                    )
                }
            }
        }
        return failure(
            "\(rows.table) \(key)",
            "\(Quantity.count(count, "row")) of \(rows.sourceTable) \(count == 1 ? "is" : "are") missing in \(rows.table)."
        )
    }

    /// Compares the app's own columns in every remaining row; a table that stays keeps its row numbers.
    package func verify(_ own: MigrationExpectation.Own) throws {
        let differences = own.columns.map { "d.\($0.quotedName) IS NOT s.\($0.quotedName)" }
        let changed = try connection.integer(
            """
            SELECT count(*) FROM source.\(own.table.quotedName) AS s JOIN main.\(own.table.quotedName) AS d \
            ON d.rowid = s.rowid WHERE \(differences.conditions(joinedBy: "OR"))
            """)
        if let changed, changed > 0 {
            let columns = own.columns.joined(separator: ", ")
            throw failure(own.table, "\(Quantity.count(changed, "row")) of \(own.table) changed in \(columns).")
        }
    }

    // MARK: - Pairs

    package func verify(_ pairs: MigrationExpectation.Pairs) throws {
        let (source, destination) = (pairs.source, pairs.destination)
        let before = [old(destination.owner, pairs.ownerShifts), old(destination.destination, pairs.destinationShifts)]
        let wasNot = Lookup.misses(before, [source.owner, source.destination], in: "source.\(source.table.quotedName)")
        let invented = try connection.integer("SELECT count(*) FROM \(all(destination, "main")) AND \(wasNot)")
        if let invented, invented > 0 {
            throw failure(
                pairs.place,
                "\(Quantity.count(invented, "link")) of \(pairs.place) \(invented == 1 ? "was" : "were") not there before."
            )
        }
        guard !pairs.isLossy else { return }
        let owner = new(source.owner, pairs.ownerShifts)
        let other = new(source.destination, pairs.destinationShifts)
        let isNot = Lookup.misses(
            [owner, other], [destination.owner, destination.destination], in: "main.\(destination.table.quotedName)")
        // Look up the ends for each pair, with `+`: do not let SQLite look up the pairs from a list of ends.
        let lost = try connection.integer(
            """
            SELECT count(*) FROM \(all(source, "source")) \
            AND +\(owner) IN (SELECT Z_PK FROM main.\(pairs.ownerTable.quotedName)) \
            AND +\(other) IN (SELECT Z_PK FROM main.\(pairs.destinationTable.quotedName)) AND \(isNot)
            """)
        if let lost, lost > 0 {
            throw failure(
                pairs.place, "\(Quantity.count(lost, "link")) of \(pairs.place) \(lost == 1 ? "is" : "are") gone.")
        }
    }

    private func all(_ place: MigrationExpectation.Pairs.Place, _ schema: String) -> String {
        """
        \(schema).\(place.table.quotedName) AS p WHERE p.\(place.owner.quotedName) IS NOT NULL \
        AND p.\(place.destination.quotedName) IS NOT NULL
        """
    }

    /// Returns the destination key of the object whose source key is in a column of `p`.
    private func new(_ column: String, _ shifts: MigrationExpectation.Pairs.KeyShifts?) -> String {
        key(column, "+", shifts?.bySource, "source", shifts?.sourceTable)
    }

    /// Returns the source key of the object whose destination key is in a column of `p`.
    private func old(_ column: String, _ shifts: MigrationExpectation.Pairs.KeyShifts?) -> String {
        key(column, "-", shifts?.byDestination, "main", shifts?.table)
    }

    private func key(
        _ column: String, _ sign: String, _ shifts: [Int: Int64]?, _ schema: String, _ table: String?
    ) -> String {
        let key = "p.\(column.quotedName)"
        guard let shifts, let table else { return key }
        // A key of a missing or removed object becomes NULL.
        let cases = shifts.sorted { $0.key < $1.key }.map { " WHEN \($0.key) THEN \($0.value)" }.joined()
        let number = "(SELECT o.Z_ENT FROM \(schema).\(table.quotedName) AS o WHERE o.Z_PK = \(key))"
        return "(\(key) \(sign) CASE \(number)\(cases) END)"
    }

    // MARK: - Words

    /// Returns the numbers of rows by entity number, from one pass over the table.
    private func counts(_ schema: String, _ table: String, _ numbers: [Int]) throws -> [Int: Int64] {
        let list = numbers.map(String.init).joined(separator: ", ")
        // Rows of a single entity need no sorting.
        let select = numbers.count == 1 ? "SELECT \(list), count(*)" : "SELECT Z_ENT, count(*)"
        let group = numbers.count == 1 ? "" : " GROUP BY Z_ENT"
        var counts: [Int: Int64] = [:]
        try connection.forEachRow(
            "\(select) FROM \(schema).\(table.quotedName) WHERE Z_ENT IN (\(list))\(group)"
        ) { counts[Int(clamping: $0.integer(0))] = $0.integer(1) }
        return counts
    }

    private func failure(_ place: String, _ message: String) -> MigrationError {
        MigrationError(
            .verificationFailed, message, place: place,
            remedy: "The store was left as it is. Report this as a bug, with the plan.")
    }

    /// Whether migration policies have written rows with statements. A temporary table lists these rows, with the flag
    /// `made` for those that were added.
    private var hasPolicyRows: Bool {
        get throws {
            try connection.hasTable("moult_policy_rows", in: "temp")
        }
    }

    /// The condition that no policy has changed the row `d`.
    var untouched: String {
        get throws {
            guard try hasPolicyRows else { return "" }
            return """
                 AND NOT EXISTS (SELECT 1 FROM temp.moult_policy_rows AS w WHERE w.entity = d.Z_ENT AND w.key = d.Z_PK)
                """
        }
    }

    /// Returns the number of rows of an entity that policies have added.
    func added(_ number: Int) throws -> Int64 {
        guard try hasPolicyRows else { return 0 }
        return try connection.integer(
            "SELECT count(*) FROM temp.moult_policy_rows WHERE entity = ? AND made", [.integer(Int64(number))]) ?? 0
    }
}
