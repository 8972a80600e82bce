import MoultBasics

/// The contents of `sqlite_master`, in its own order.
package struct Catalogue: Sendable, Equatable {
    package enum Kind: String, Sendable, Hashable { case table, index, trigger, view }

    /// One row of `sqlite_master`.
    package struct Entry: Sendable, Hashable {
        package var kind: Kind
        package var name: String
        /// The table that an index or trigger belongs to; a table's own name.
        package var tableName: String
        /// The SQL text; nil for an index that SQLite created for a constraint.
        package var sql: String?

        package init(kind: Kind, name: String, tableName: String, sql: String?) {
            (self.kind, self.name, self.tableName, self.sql) = (kind, name, tableName, sql)
        }

        // SQLite writes the first words in capitals (https://sqlite.org/schematab.html). A tool that edits the schema
        // may not.

        package var isVirtual: Bool { kind == .table && begins(with: "CREATE VIRTUAL TABLE") }
        package var isUnique: Bool { kind == .index && begins(with: "CREATE UNIQUE INDEX") }

        /// The text of a table as SQLite itself writes it: `CREATE TABLE `, then the name from the catalogue. Nil if
        /// the text already has this form, or is not an ordinary table.
        ///
        /// SQLite relies on these first words to add a column (`ALTER TABLE`), and on the name to drop or rename the
        /// table. A tool that edits the schema may have written them differently, which SQLite still reads.
        package var respelled: String? {
            guard kind == .table, let sql, !isVirtual else { return nil }
            let tokens = sql.sqlTokens
            guard tokens.prefix(2).map(\.word) == ["CREATE", "TABLE"], let given = tokens.dropFirst(2).first,
                let next = tokens.dropFirst(3).first, next.text == "("
            else { return nil }
            let begins = sql.utf8.starts(with: "CREATE TABLE ".utf8) || sql.utf8.starts(with: "create table ".utf8)
            let isInPlace = sql.utf8.distance(from: sql.utf8.startIndex, to: given.range.lowerBound) == 13
            if begins, isInPlace, given.name == name { return nil }
            return "CREATE TABLE \(name.quotedName) \(sql[next.range.lowerBound...])"
        }

        /// - Parameter words: the words in capitals.
        private func begins(with words: String) -> Bool {
            guard let sql, sql.utf8.count >= words.utf8.count else { return false }
            return zip(sql.utf8, words.utf8).allSatisfy { byte, capital in
                byte == capital || byte == capital | 0x20 && capital >= UInt8(ascii: "A")
            }
        }
    }

    /// One column of a table, in the table's order.
    package struct Column: Sendable, Hashable {
        package var name: String
        /// The declared type; empty if there is none.
        package var declaredType: String
        package var isNotNull: Bool
        /// The default value as SQL.
        package var defaultValue: String?
        /// The column's position in the primary key, counted from 1; 0 if it is not part of it.
        package var primaryKeyPosition: Int

        package init(
            name: String, declaredType: String, isNotNull: Bool = false, defaultValue: String? = nil,
            primaryKeyPosition: Int = 0
        ) {
            (self.name, self.declaredType, self.isNotNull) = (name, declaredType, isNotNull)
            (self.defaultValue, self.primaryKeyPosition) = (defaultValue, primaryKeyPosition)
        }
    }

    package let entries: [Entry]
    package let tables: [Entry]
    private let places: [String: Int]
    private let indexesByTable = Once<[String: [Entry]]>()
    private let indexesByName = Once<[String: Entry]>()

    package init(entries: [Entry]) {
        self.entries = entries
        tables = entries.filter { $0.kind == .table }
        places = Dictionary(tables.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    package func table(_ name: String) -> Entry? { places[name].map { tables[$0] } }

    private var indexes: [Entry] { entries.filter { $0.kind == .index } }

    package func index(_ name: String) -> Entry? {
        indexesByName.value {
            Dictionary(indexes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        }[name]
    }

    /// Returns the position of a table among all tables; nil if there is no such table.
    package func place(ofTable name: String) -> Int? { places[name] }

    /// Returns the indexes of a table in the order of the catalogue.
    package func indexes(of table: String) -> [Entry] {
        indexesByTable.value { Dictionary(grouping: indexes, by: \.tableName) }[table] ?? []
    }
}

extension Connection {
    package func catalogue(schema: String = "main") throws -> Catalogue {
        let sql = "SELECT type, name, tbl_name, sql FROM \(schema.quotedName).sqlite_master ORDER BY rowid"
        let entries = try rows(sql) { row in
            Catalogue.Kind(rawValue: row.text(0) ?? "").map {
                Catalogue.Entry(kind: $0, name: row.text(1) ?? "", tableName: row.text(2) ?? "", sql: row.text(3))
            }
        }
        return Catalogue(entries: entries.compactMap { $0 })
    }

    /// Returns whether a schema has a table or a view of exactly this name, without reading the rest of the catalogue.
    package func hasTable(_ name: String, in schema: String = "main") throws -> Bool {
        let sql = "SELECT count(*) FROM \(schema.quotedName).sqlite_master WHERE name = ?"
        return try integer(sql, [.text(name)]) == 1
    }

    /// Returns the columns of a table in order; empty if there is no such table.
    package func columns(of table: String, schema: String = "main") throws -> [Catalogue.Column] {
        try columns("pragma_table_info(?, ?)", [.text(table), .text(schema)])
    }

    /// Returns the columns stored in a row of a table in order, including stored generated columns.
    package func storedColumns(of table: String) throws -> [Catalogue.Column] {
        try columns("pragma_table_xinfo(?) WHERE hidden IN (0, 3)", [.text(table)])
    }

    private func columns(_ source: String, _ arguments: [SQLiteValue]) throws -> [Catalogue.Column] {
        try rows("SELECT name, type, \"notnull\", dflt_value, pk FROM \(source) ORDER BY cid", arguments) { row in
            Catalogue.Column(
                name: row.text(0) ?? "", declaredType: row.text(1) ?? "", isNotNull: row.integer(2) != 0,
                defaultValue: row.text(3), primaryKeyPosition: Int(row.integer(4)))
        }
    }
}
