import MoultBasics
import MoultSQLite

/// Compares a store after fixes to some of its objects with the original: `main` with the attached schema `source`.
///
/// The fixing code records its intended changes in the temporary tables `moult_fixed` (table, key, property),
/// `moult_gone` and `moult_new` (table, key). For a pair, the key in `moult_gone` is its rowid. Everything else must be
/// unchanged.
package struct ChangeVerifier {
    /// The rows of a table's objects.
    package struct Table: Sendable, Equatable {
        package var name: String
        package var columns: [Column]

        package init(name: String, columns: [Column]) {
            self.name = name
            self.columns = columns
        }
    }

    package struct Column: Sendable, Equatable {
        package var name: String
        /// The property whose change may be recorded; nil for a column that never changes.
        package var property: String?
        /// The table that a key refers to. The key may become NULL when its object is deleted.
        package var destination: String?
        /// The key column that this column accompanies: the two change together.
        package var key: String?
        /// Whether the column holds the entity number of the object that the key refers to.
        package var isEntity: Bool
        /// Whether the column counts the writes of the row: it may grow when objects are written, but never decreases.
        package var grows: Bool

        package init(
            name: String, property: String? = nil, destination: String? = nil, key: String? = nil,
            isEntity: Bool = false, grows: Bool = false
        ) {
            (self.name, self.property, self.destination) = (name, property, destination)
            (self.key, self.isEntity, self.grows) = (key, isEntity, grows)
        }
    }

    /// The pairs of a many-to-many relationship.
    package struct Pairs: Sendable, Equatable {
        package var name: String
        /// The key columns, each with the table that it refers to.
        package var keys: [Column]
        /// The columns with the positions in ordered lists.
        package var orders: [String]

        package init(name: String, keys: [Column], orders: [String] = []) {
            (self.name, self.keys, self.orders) = (name, keys, orders)
        }
    }

    let connection: Connection
    let tables: [Table]
    let pairs: [Pairs]
    /// The tables that grow when objects are written: the history and the key counters.
    private let growing: Set<String>

    package init(_ connection: Connection, tables: [Table], pairs: [Pairs], growing: Set<String> = []) {
        (self.connection, self.tables, self.pairs, self.growing) = (connection, tables, pairs, growing)
    }

    /// - Throws: `verificationFailed` if anything differs that was not recorded.
    package func verify() throws {
        for table in tables { try verify(table) }
        let ends = ends
        for table in tables { try verifyCounter(of: table, ends) }
        for pairs in pairs { try verify(pairs) }
        let known = Set(tables.map(\.name) + pairs.map(\.name)).union(growing)
        let others = try connection.catalogue(schema: "source").tables.filter { !known.contains($0.name) }
        let virtual = others.filter(\.isVirtual).map(\.name)
        // A virtual table stores its rows in tables named after it, and triggers keep them in step with the objects.
        for other in others where !virtual.contains(where: { other.name == $0 || other.name.hasPrefix($0 + "_") }) {
            try verifySame(other.name)
        }
    }

    // MARK: - Objects

    private func verify(_ table: Table) throws {
        let name = table.name.quotedName
        try refuse(
            table.name, "rows are gone",
            """
            SELECT s.Z_PK FROM source.\(name) AS s WHERE NOT EXISTS (SELECT 1 FROM main.\(name) AS d WHERE d.Z_PK = s.Z_PK) \
            AND NOT \(isNoted("moult_gone", table.name, "s.Z_PK"))
            """)
        try refuse(
            table.name, "rows were to go and are there",
            "SELECT d.Z_PK FROM main.\(name) AS d WHERE \(isNoted("moult_gone", table.name, "d.Z_PK"))")
        try refuse(
            table.name, "rows are new",
            """
            SELECT d.Z_PK FROM main.\(name) AS d WHERE NOT EXISTS (SELECT 1 FROM source.\(name) AS s WHERE s.Z_PK = d.Z_PK) \
            AND NOT \(isNoted("moult_new", table.name, "d.Z_PK"))
            """)
        let rows = "source.\(name) AS s JOIN main.\(name) AS d ON d.Z_PK = s.Z_PK"
        for column in try differing(table, rows) {
            try refuse("\(table.name).\(column.name)", "values are others", select(column, table, rows))
            guard column.isEntity, let key = column.key?.quotedName, let destination = column.destination else {
                continue
            }
            try refuse(
                "\(table.name).\(column.name)", "numbers are not those of the objects that the rows lead to,",
                """
                SELECT d.Z_PK FROM \(rows) WHERE (d.\(key) IS NOT s.\(key) OR d.\(column.name.quotedName) IS NOT \
                s.\(column.name.quotedName)) AND d.\(column.name.quotedName) IS NOT \
                (SELECT t.Z_ENT FROM main.\(destination.quotedName) AS t WHERE t.Z_PK = d.\(key))
                """)
        }
    }

    /// Returns the columns in which any row differs, usually few, checking many columns in each pass over the rows.
    private func differing(_ table: Table, _ rows: String) throws -> [Column] {
        var found: [Column] = []
        for start in stride(from: 0, to: table.columns.count, by: Self.columnsAtOnce) {
            let part = table.columns[start..<min(start + Self.columnsAtOnce, table.columns.count)]
            let flags = part.map { "max(d.\($0.name.quotedName) IS NOT s.\($0.name.quotedName))" }
            try connection.forEachRow("SELECT \(flags.joined(separator: ", ")) FROM \(rows)") { row in
                found += part.enumerated().filter { row.integer($0.offset) == 1 }.map(\.element)
            }
        }
        return found
    }

    /// The number of columns in a pass. Each is named twice, and SQLite allows 2,000 columns in aggregates.
    private static let columnsAtOnce = 500

    private func select(_ column: Column, _ table: Table, _ rows: String) -> String {
        let name = column.name.quotedName
        if column.grows {
            let fell = "CAST(d.\(name) AS INTEGER) < CAST(s.\(name) AS INTEGER)"
            return "SELECT s.Z_PK FROM \(rows) WHERE d.\(name) IS NOT s.\(name) AND (\(fell) OR d.\(name) IS NULL)"
        }
        var allowed: [String] = []
        if let key = column.key?.quotedName { allowed.append("d.\(key) IS NOT s.\(key)") }
        if let property = column.property {
            allowed.append(
                """
                EXISTS (SELECT 1 FROM temp.moult_fixed AS f WHERE f.tbl = \(table.name.quotedLiteral) \
                AND f.key = s.Z_PK AND f.property = \(property.quotedLiteral))
                """)
        }
        if let destination = column.destination, !column.isEntity {
            allowed.append("(d.\(name) IS NULL AND \(isNoted("moult_gone", destination, "s.\(name)")))")
        }
        let condition = allowed.isEmpty ? "" : " AND NOT (\(allowed.conditions(joinedBy: "OR")))"
        return "SELECT s.Z_PK FROM \(rows) WHERE d.\(name) IS NOT s.\(name)\(condition)"
    }

    private func isNoted(_ notes: String, _ table: String, _ key: String) -> String {
        "EXISTS (SELECT 1 FROM temp.\(notes) AS n WHERE n.tbl = \(table.quotedLiteral) AND n.key = \(key))"
    }

    // MARK: - Pairs

    private func verify(_ pairs: Pairs) throws {
        let name = pairs.name.quotedName
        let (keys, columns) = (pairs.keys.map { "p.\($0.name.quotedName)" }, pairs.keys.map(\.name))
        let gone = pairs.keys.compactMap { key in
            key.destination.map { isNoted("moult_gone", $0, "p.\(key.name.quotedName)") }
        }
        let new = pairs.keys.compactMap { key in
            key.destination.map { isNoted("moult_new", $0, "p.\(key.name.quotedName)") }
        }
        // A pair without objects at its ends is recorded itself.
        let leaves = (gone + [isNoted("moult_gone", pairs.name, "p.rowid")]).conditions(joinedBy: "OR")
        let comes = new.isEmpty ? "0" : new.conditions(joinedBy: "OR")
        // A lookup never finds a pair that contains NULL.
        func differs(_ schema: String) -> String {
            let same = zip(keys, columns).map { "q.\($1.quotedName) IS \($0)" }.conditions(joinedBy: "AND")
            let hasNull = keys.map { "\($0) IS NULL" }.conditions(joinedBy: "OR")
            return "NOT ((\(hasNull)) AND EXISTS (SELECT 1 FROM \(schema).\(name) AS q WHERE \(same)))"
        }
        try refuse(
            pairs.name, "links are gone",
            """
            SELECT p.rowid FROM source.\(name) AS p WHERE \(Lookup.misses(keys, columns, in: "main.\(name)")) \
            AND \(differs("main")) AND NOT (\(leaves))
            """)
        try refuse(
            pairs.name, "links are new",
            """
            SELECT p.rowid FROM main.\(name) AS p WHERE \(Lookup.misses(keys, columns, in: "source.\(name)")) \
            AND \(differs("source")) AND NOT (\(comes))
            """)
        try verifyOrders(pairs)
    }

    /// Verifies the positions of the remaining pairs: every row must exist in the old store, unless its pair is new.
    private func verifyOrders(_ pairs: Pairs) throws {
        let name = pairs.name.quotedName
        for order in pairs.orders.map(\.quotedName) {
            let columns = (pairs.keys.map(\.name.quotedName) + [order]).joined(separator: ", ")
            let keys = pairs.keys.map(\.name.quotedName).joined(separator: ", ")
            try refuse(
                pairs.name, "places in ordered lists are others",
                """
                SELECT p.rowid FROM main.\(name) AS p WHERE (\(keys)) IN (SELECT \(keys) FROM source.\(name)) \
                AND (\(keys)) IN (SELECT \(keys) FROM (SELECT \(columns) FROM main.\(name) EXCEPT \
                SELECT \(columns) FROM source.\(name)))
                """)
        }
    }

    // MARK: - Other tables

    private func verifySame(_ table: String) throws {
        let name = table.quotedName
        for (one, other) in [("source", "main"), ("main", "source")] {
            try refuse(
                table, "rows are others",
                "SELECT 0 FROM (SELECT * FROM \(one).\(name) EXCEPT SELECT * FROM \(other).\(name))")
        }
    }

    func refuse(_ place: String, _ fault: String, _ select: String) throws {
        let count = try connection.integer("SELECT count(*) FROM (\(select))") ?? 0
        guard count > 0 else { return }
        let first = try connection.integer("\(select) LIMIT 1") ?? 0
        throw MigrationError(
            .verificationFailed, "\(count) \(fault) that no fix was to change.", place: "\(place) \(first)",
            remedy: "The store is unchanged. Report this as a bug, with the rules.")
    }

    /// Verifies the write counters. A counter may grow in a recorded row, in a row that differs otherwise, and in a row
    /// at the end of a link that was added, removed or changed. Any other row was written unnecessarily, and an app
    /// with the object in memory would see a conflict.
    ///
    /// - Parameter ends: the statements in ``ends``.
    func verifyCounter(of table: Table, _ ends: [String: [String]]) throws {
        guard let counter = table.columns.first(where: \.grows)?.name.quotedName else { return }
        let name = table.name.quotedName
        let same = table.columns.filter { !$0.grows }.map { "d.\($0.name.quotedName) IS s.\($0.name.quotedName)" }
        let suspects = """
            SELECT s.Z_PK FROM source.\(name) AS s JOIN main.\(name) AS d ON d.Z_PK = s.Z_PK WHERE \
            \((["d.\(counter) IS NOT s.\(counter)"] + same).conditions(joinedBy: "AND")) AND NOT EXISTS \
            (SELECT 1 FROM temp.moult_fixed AS f WHERE f.tbl = \(table.name.quotedLiteral) AND f.key = s.Z_PK)
            """
        guard try connection.value("\(suspects) LIMIT 1") != nil else { return }
        try connection.execute(
            """
            CREATE TEMP TABLE IF NOT EXISTS moult_end (key NOT NULL PRIMARY KEY);
            DELETE FROM temp.moult_end
            """)
        for rows in ends[table.name] ?? [] { try connection.run("INSERT OR IGNORE INTO temp.moult_end \(rows)") }
        try refuse(
            "\(table.name).\(counter)", "counters have grown in rows",
            "\(suspects) AND s.Z_PK NOT IN (SELECT key FROM temp.moult_end)")
    }

    /// For each table, statements that select its rows that a changed link refers to, before or after the change.
    var ends: [String: [String]] {
        var ends: [String: [String]] = [:]
        for table in tables {
            for column in table.columns where !column.isEntity {
                guard let destination = column.destination else { continue }
                let (owner, name) = (table.name.quotedName, column.name.quotedName)
                ends[destination, default: []] += Self.bothWays { one, other in
                    """
                    SELECT a.\(name) FROM \(one).\(owner) AS a LEFT JOIN \(other).\(owner) AS b ON b.Z_PK = a.Z_PK \
                    WHERE a.\(name) IS NOT NULL AND a.\(name) IS NOT b.\(name)
                    """
                }
            }
        }
        for pairs in pairs {
            let (name, keys) = (pairs.name.quotedName, pairs.keys.map(\.name.quotedName).joined(separator: ", "))
            for key in pairs.keys {
                guard let destination = key.destination else { continue }
                ends[destination, default: []] += Self.bothWays { one, other in
                    """
                    SELECT \(key.name.quotedName) FROM (SELECT \(keys) FROM \(one).\(name) EXCEPT \
                    SELECT \(keys) FROM \(other).\(name))
                    """
                }
            }
        }
        return ends
    }

    private static func bothWays(_ statement: (String, String) -> String) -> [String] {
        [statement("source", "main"), statement("main", "source")]
    }
}
