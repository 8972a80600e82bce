import MoultBasics
import MoultSQLite

/// Compares a store after adding missing tables, columns and indexes with the original: `main` with the attached schema
/// `source`.
///
/// Everything in the original must be unchanged, and only the requested objects may be new.
package struct SchemaRepairVerifier {
    /// An added column.
    package struct Column: Sendable, Equatable {
        package var table: String
        package var name: String
        package var type: String
        /// The entity numbers of the rows that have a value in the column.
        package var numbers: [Int]
        /// The SQL expression for the value in row `t`; nil for NULL.
        package var value: String?
        /// The key column of the list, for a column of positions in ordered lists.
        package var listKey: String?

        package init(
            table: String, name: String, type: String, numbers: [Int], value: String? = nil, listKey: String? = nil
        ) {
            (self.table, self.name, self.type) = (table, name, type)
            (self.numbers, self.value, self.listKey) = (numbers, value, listKey)
        }
    }

    let connection: Connection
    /// The new tables, indexes and triggers, each with its SQL.
    let objects: [StoreShape.Object]
    let columns: [Column]
    /// The numbers of the entities now in `Z_PRIMARYKEY`.
    let numbers: [Int]
    /// The removed indexes.
    let gone: [String]

    package init(
        _ connection: Connection, objects: [StoreShape.Object], columns: [Column], numbers: [Int], gone: [String] = []
    ) {
        (self.gone, self.connection, self.objects) = (gone, connection, objects)
        (self.columns, self.numbers) = (columns, numbers)
    }

    /// - Throws: `verificationFailed` if anything differs that was not requested.
    package func verify() throws {
        let (before, after) = try (connection.catalogue(schema: "source"), connection.catalogue())
        try verifyObjects(before, after)
        for table in before.tables where !isVirtual(table.name, before) {
            try verifyColumns(of: table.name)
            try verifyRows(of: table.name)
        }
        for column in columns { try verifyValues(column) }
        for object in objects where object.kind == "table" && !object.sql.hasPrefix("CREATE VIRTUAL") {
            let rows = try connection.integer("SELECT count(*) FROM main.\(object.name.quotedName)") ?? 0
            try refuse(rows > 0, object.name, "the new table has \(Quantity.count(rows, "row"))")
        }
    }

    // MARK: - The catalogue

    private func verifyObjects(_ before: Catalogue, _ after: Catalogue) throws {
        let now = Dictionary(after.entries.map { (key($0), $0.sql) }, uniquingKeysWith: { first, _ in first })
        // An altered entry is compared with its requested SQL instead.
        let altered = Set(columns.map { "table \($0.table)" } + objects.map { "\($0.kind) \($0.name)" })
        for entry in before.entries where !altered.contains(key(entry)) {
            if entry.kind == .index, gone.contains(entry.name) { continue }
            try refuse(now[key(entry)] != .some(entry.sql), entry.name, "the \(entry.kind.rawValue) is not as it was")
        }
        let wanted = Dictionary(objects.map { ("\($0.kind) \($0.name)", $0.sql) }, uniquingKeysWith: { one, _ in one })
        for (name, sql) in wanted { try refuse(now[name] != .some(sql), name, "it was not made as it was asked for") }
        let old = Set(before.entries.map(key))
        for entry in after.entries where !old.contains(key(entry)) && wanted[key(entry)] == nil {
            try refuse(!isPart(entry), entry.name, "the \(entry.kind.rawValue) is new")
        }
    }

    private func key(_ entry: Catalogue.Entry) -> String { "\(entry.kind.rawValue) \(entry.name)" }

    /// Returns whether SQLite made the entry itself for a new table: the index of its key, or the tables of an R-tree.
    private func isPart(_ entry: Catalogue.Entry) -> Bool {
        objects.contains { object in
            guard object.kind == "table" else { return false }
            let isRTree = object.sql.hasPrefix("CREATE VIRTUAL") && entry.kind == .table
            return entry.name.hasPrefix("sqlite_autoindex_\(object.name)_")
                || isRTree && entry.name.hasPrefix("\(object.name)_")
        }
    }

    /// Returns whether a table is virtual. Its rows are stored in tables of their own, and its module may be
    /// unavailable here.
    private func isVirtual(_ table: String, _ catalogue: Catalogue) -> Bool {
        catalogue.table(table)?.isVirtual == true
    }

    /// Verifies that the old columns are unchanged and that the new ones follow them.
    private func verifyColumns(of table: String) throws {
        let (before, after) = try (connection.columns(of: table, schema: "source"), connection.columns(of: table))
        let added = columns.filter { $0.table == table }.map { Catalogue.Column(name: $0.name, declaredType: $0.type) }
        try refuse(after != before + added, table, "its columns are not the old ones and those that it lacked")
    }

    // MARK: - Rows

    private func verifyRows(of table: String) throws {
        let names = try connection.columns(of: table, schema: "source").map(\.name)
        let list = names.map(\.quotedName).joined(separator: ", ")
        let condition =
            table == "Z_PRIMARYKEY" && !numbers.isEmpty
            ? " WHERE Z_ENT NOT IN (\(numbers.map(String.init).joined(separator: ", ")))" : ""
        let name = table.quotedName
        let counts = try ["source", "main"].map {
            try connection.integer("SELECT count(*) FROM \($0).\(name) NOT INDEXED\(condition)") ?? 0
        }
        try refuse(
            counts[0] != counts[1], table,
            "it had \(Quantity.count(counts[0], "row")) and has \(Quantity.count(counts[1]))")
        let differing: String
        if names.contains("Z_PK") {
            let columns = names.map { "d.\($0.quotedName) IS NOT s.\($0.quotedName)" }.conditions(joinedBy: "OR")
            differing = """
                SELECT 1 FROM source.\(name) AS s NOT INDEXED LEFT JOIN main.\(name) AS d ON d.Z_PK = s.Z_PK \
                WHERE d.Z_PK IS NULL OR \(columns)
                """
        } else {
            differing =
                "SELECT \(list) FROM source.\(name) NOT INDEXED\(condition) EXCEPT SELECT \(list) FROM main.\(name)"
        }
        let count = try connection.integer("SELECT count(*) FROM (\(differing))") ?? 0
        try refuse(count > 0, table, "\(Quantity.count(count, "row is", plural: "rows are")) not as before")
    }

    private func verifyValues(_ column: Column) throws {
        let (name, table) = ("t.\(column.name.quotedName)", "main.\(column.table.quotedName)")
        let list = column.numbers.map(String.init).joined(separator: ", ")
        let wrong: String
        if let key = column.listKey?.quotedName {
            // Each object of a list has its own position.
            wrong = """
                SELECT count(*) - count(DISTINCT \(name)) FROM \(table) AS t WHERE t.\(key) IS NOT NULL \
                GROUP BY t.\(key) HAVING count(*) > count(DISTINCT \(name))
                """
        } else {
            let value = column.value.map { "CASE WHEN t.Z_ENT IN (\(list)) THEN \($0) END" } ?? "NULL"
            // The column's declared type may convert a number to another kind of number.
            wrong = "SELECT 1 FROM \(table) AS t WHERE \(name) IS NOT \(value)"
        }
        let count = try connection.integer("SELECT count(*) FROM (\(wrong))") ?? 0
        try refuse(
            count > 0, "\(column.table).\(column.name)",
            "\(Quantity.count(count, "row has", plural: "rows have")) another value than the model's")
    }

    private func refuse(_ isWrong: Bool, _ place: String, _ what: String) throws {
        guard isWrong else { return }
        throw MigrationError(
            .verificationFailed, "What was missing was not made as it should be: of \(place), \(what).", place: place,
            remedy: "The store is unchanged. Report this as a bug, with the model.")
    }
}

/// Compares a rebuilt table with the old one, while both exist.
package struct RebuildVerifier {
    package struct Column: Sendable {
        let name: String
        let origin: String
        let numbers: [Int]?

        /// - Parameters:
        ///   - origin: the name of the column in the old table.
        ///   - numbers: the entity numbers of the rows that have the column; nil for all.
        package init(_ name: String, origin: String, numbers: [Int]?) {
            (self.name, self.origin, self.numbers) = (name, origin, numbers)
        }
    }

    let connection: Connection
    let table: String
    let keys: [Column]
    let columns: [Column]
    private let rows: String

    /// - Parameter left: the SQL condition for rows `s` of the old table that the new one lacks; nil for none.
    package init(
        _ connection: Connection, table: String, old: String, keys: [Column], columns: [Column],
        without left: String? = nil
    ) {
        rows = "main.\(old.quotedName) AS s" + (left.map { " WHERE NOT (\($0))" } ?? "")
        (self.connection, self.table, self.keys, self.columns) = (connection, table, keys, columns)
    }

    /// - Throws: `verificationFailed` if a row is missing, is surplus, or has a different value.
    package func verify() throws {
        let counts = try [rows, "main.\(table.quotedName)"].map {
            try connection.integer("SELECT count(*) FROM \($0)") ?? 0
        }
        guard counts[0] == counts[1] else {
            throw failure("The old table had \(Quantity.count(counts[0], "row")) and the new one has \(counts[1]).")
        }
        let join = keys.map { "d.\($0.name.quotedName) = s.\($0.origin.quotedName)" }.conditions(joinedBy: "AND")
        let missing = keys.map { "d.\($0.name.quotedName) IS NULL" }
        let differing = try connection.integer(
            """
            SELECT count(*) FROM (SELECT s.* FROM \(rows)) AS s LEFT JOIN main.\(table.quotedName) AS d ON \(join) \
            WHERE \((missing + columns.map(difference)).conditions(joinedBy: "OR"))
            """)
        guard let differing, differing > 0 else { return }
        throw failure("\(differing) of its \(Quantity.count(counts[0], "row")) are missing or have another value.")
    }

    /// Returns the condition for a wrong value: it must be unchanged for entities with the column, and NULL for others.
    private func difference(_ column: Column) -> String {
        let (new, old) = ("d.\(column.name.quotedName)", "s.\(column.origin.quotedName)")
        guard let numbers = column.numbers else { return "\(new) IS NOT \(old)" }
        let list = numbers.map(String.init).joined(separator: ", ")
        return "(s.Z_ENT IN (\(list)) AND \(new) IS NOT \(old)) OR (s.Z_ENT NOT IN (\(list)) AND \(new) IS NOT NULL)"
    }

    private func failure(_ message: String) -> MigrationError {
        MigrationError(
            .verificationFailed, "The table \(table) was not made anew as it should be. \(message)", place: table,
            remedy: "This task changed nothing. Report this as a bug, with the model.")
    }
}
