import MoultBasics

/// A b-tree of a database, and what the schema says of its entries.
struct CheckedTree {
    /// The direction and the collation of a column of an index's key.
    struct KeyColumn {
        var isDescending: Bool
        var collation: Collation
    }

    /// An order of texts (sqlite.org/datatype3.html, 7).
    enum Collation {
        case binary, nocase, rtrim
        /// A collation of the app's own. Also NOCASE and RTRIM in a database in UTF-16: they compare characters, not
        /// the stored bytes.
        case unknown

        init(_ name: String, encoding: Int) {
            switch name.uppercased() {
            case "BINARY": self = .binary
            case "NOCASE" where encoding < 2: self = .nocase
            case "RTRIM" where encoding < 2: self = .rtrim
            default: self = .unknown
            }
        }
    }

    /// The kinds of values that may not fit a column.
    enum Doubt {
        static let null: UInt8 = 1
        static let number: UInt8 = 2
        static let text: UInt8 = 4
        /// A serial type that no record has (the SQLite file format, section 2.1).
        static let reserved: UInt8 = 8
    }

    let name: String
    let table: String
    let root: Int
    /// Whether the entries are the rows of the table. Every index that is not partial has as many.
    let hasRows: Bool
    var isPartial = false
    /// The doubtful values (``Doubt``) of each column, in the order of a record.
    var doubts: [UInt8] = []
    /// The possible numbers of columns in a record. A row older than a column lacks it.
    var columns = 0...Int.max
    /// The columns that are compared, in this order; empty if the key is a rowid.
    var keyColumns: [KeyColumn] = []

    /// Whether the key is a rowid.
    var isTable: Bool { keyColumns.isEmpty }
}

/// The b-trees of a database, as SQLite reads its schema.
struct CheckedSchema {
    private(set) var trees: [CheckedTree]
    /// The tables that have more rules than ``CheckedTree`` knows: those with a CHECK constraint, STRICT or a virtual
    /// generated column, and virtual tables.
    private(set) var unchecked: Set<String> = []

    /// Nil if the catalogue does not fit SQLite's reading of its statements.
    ///
    /// - Parameter encoding: 1 for UTF-8, 2 and 3 for UTF-16.
    /// - Throws: SQLite's error for a schema that it cannot read.
    init?(_ connection: Connection, encoding: Int) throws {
        let (number, text) = (CheckedTree.Doubt.number, CheckedTree.Doubt.text)
        let own = CheckedTree(
            name: "sqlite_master", table: "sqlite_master", root: 1, hasRows: true,
            doubts: [number, number, number, text, number])
        trees = [own]
        let rows = try connection.rows(
            "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_master ORDER BY rowid"
        ) { row in
            let texts = [0, 1, 2, 4].map { row.text($0) ?? "" }
            return (kind: texts[0], name: texts[1], table: texts[2], sql: texts[3], root: row.value(3))
        }
        let columns = try Self.columns(connection)
        var indexes = try Self.indexes(connection, encoding: encoding)
        let names = Set(rows.filter { $0.kind == "index" }.map(\.name))
        // Without the collation, SQLite refuses the table.
        unchecked.formUnion(indexes.filter { $0.value.values.contains(where: \.isOfApp) }.keys)
        for row in rows {
            let root = row.root.integer.flatMap { Int(exactly: $0) } ?? 0
            switch row.kind {
            case "view" where root == 0, "trigger" where root == 0: continue
            case "table" where root == 0 && row.sql.uppercased().hasPrefix("CREATE VIRTUAL"):
                unchecked.insert(row.name)
            case "table" where root > 1:
                guard let columns = columns[row.name] else { return nil }
                // The rows of a table WITHOUT ROWID are its primary key's index, which the catalogue does not name.
                let key = indexes[row.name]?.first { $0.value.isOfKey && !names.contains($0.key) }
                if let key { indexes[row.name]?[key.key] = nil }
                let hasKeyIndex = indexes[row.name]?.contains { $0.value.isOfKey } ?? false
                trees.append(Self.table(row.name, root, columns, key?.value, hasKeyIndex: hasKeyIndex))
                if columns.contains(where: \.isVirtual) || Self.hasRules(row.sql) { unchecked.insert(row.name) }
            case "index" where root > 1:
                guard let index = indexes[row.table]?.removeValue(forKey: row.name) else { return nil }
                trees.append(
                    CheckedTree(
                        name: row.name, table: row.table, root: root, hasRows: false, isPartial: index.isPartial,
                        columns: index.fields.count...index.fields.count, keyColumns: index.fields.map(\.order)))
            default: return nil
            }
        }
        guard indexes.values.allSatisfy(\.isEmpty) else { return nil }
    }

    /// Whether a table is STRICT, or has a CHECK constraint, which SQLite reads only in a database that can be written.
    private static func hasRules(_ sql: String) -> Bool {
        let capitals = sql.uppercased()
        // A name may contain these words.
        guard capitals.contains("CHECK") || capitals.contains("STRICT") else { return false }
        return sql.sqlTokens.contains { $0.word == "CHECK" || $0.word == "STRICT" }
    }

    // MARK: - What SQLite tells

    private struct Column {
        let number: Int
        /// The doubtful values; none for the rowid.
        let doubts: UInt8
        let isVirtual: Bool
        /// Whether a row that lacks the column has NULL where none may be, as far as its default tells.
        let isRequired: Bool
        let isInteger: Bool
        let isKey: Bool
    }

    private struct Index {
        typealias Field = (column: Int, isKey: Bool, order: CheckedTree.KeyColumn)
        let isOfKey: Bool
        let isPartial: Bool
        /// Whether a column has a collation of the app's own.
        var isOfApp = false
        /// The columns of an entry, with the rowid or the rest of the key at the end.
        var fields: [Field] = []
    }

    private static func columns(_ connection: Connection) throws -> [String: [Column]] {
        var columns: [String: [Column]] = [:]
        try connection.forEachRow(
            """
            SELECT m.name, x.cid, x.type, x."notnull", x.dflt_value, x.pk, x.hidden
            FROM sqlite_master AS m, pragma_table_xinfo(m.name) AS x
            WHERE m.type = 'table' AND m.rootpage > 1 ORDER BY m.rowid, x.cid
            """
        ) { row in
            let (type, isNotNull) = (row.text(2) ?? "", row.integer(3) != 0)
            let ofType =
                switch ColumnAffinity(declaredType: type) {
                case .blob: UInt8(0)
                case .text: CheckedTree.Doubt.number
                case .integer, .real, .numeric: CheckedTree.Doubt.text
                }
            // An expression in parentheses may be NULL.
            let standard = row.text(4)?.uppercased() ?? "NULL"
            columns[row.text(0) ?? "", default: []].append(
                Column(
                    number: Int(row.integer(1)), doubts: ofType | (isNotNull ? CheckedTree.Doubt.null : 0),
                    isVirtual: row.integer(6) == 2,
                    isRequired: isNotNull && (standard.contains("NULL") || standard.hasPrefix("(")),
                    isInteger: type.uppercased() == "INTEGER", isKey: row.integer(5) != 0))
        }
        return columns
    }

    /// Returns the indexes of each table by their names.
    private static func indexes(_ connection: Connection, encoding: Int) throws -> [String: [String: Index]] {
        var indexes: [String: [String: Index]] = [:]
        try connection.forEachRow(
            """
            SELECT m.name, i.name, i.origin, i.partial, x.cid, x."desc", x.coll, x.key
            FROM sqlite_master AS m, pragma_index_list(m.name) AS i, pragma_index_xinfo(i.name) AS x
            WHERE m.type = 'table' AND m.rootpage > 1 ORDER BY m.rowid, i.seq, x.seqno
            """
        ) { row in
            let index = Index(isOfKey: row.text(2) == "pk", isPartial: row.integer(3) != 0)
            let collation = CheckedTree.Collation(row.text(6) ?? "BINARY", encoding: encoding)
            let order = CheckedTree.KeyColumn(isDescending: row.integer(5) != 0, collation: collation)
            indexes[row.text(0) ?? "", default: [:]][row.text(1) ?? "", default: index].fields.append(
                (Int(row.integer(4)), row.integer(7) != 0, order))
            if let name = row.text(6)?.uppercased(), !["BINARY", "NOCASE", "RTRIM"].contains(name) {
                indexes[row.text(0) ?? "", default: [:]][row.text(1) ?? "", default: index].isOfApp = true
            }
        }
        return indexes
    }

    /// - Parameters:
    ///   - key: the index that is the table, if it is WITHOUT ROWID.
    ///   - hasKeyIndex: whether the primary key has an index, so that no column is the rowid.
    private static func table(
        _ name: String, _ root: Int, _ columns: [Column], _ key: Index?, hasKeyIndex: Bool
    ) -> CheckedTree {
        var stored = columns.filter { !$0.isVirtual }
        if let key { stored = key.fields.compactMap { field in columns.first { $0.number == field.column } } }
        let keys = stored.filter(\.isKey)
        let rowid = key == nil && !hasKeyIndex && keys.count == 1 && keys[0].isInteger ? keys[0].number : nil
        let least = stored.lastIndex { $0.isRequired && $0.number != rowid }.map { $0 + 1 } ?? 0
        let order = key?.fields.filter(\.isKey).map(\.order) ?? []
        return CheckedTree(
            name: name, table: name, root: root, hasRows: true,
            doubts: stored.map { $0.number == rowid ? 0 : $0.doubts }, columns: max(least, order.count)...Int.max,
            keyColumns: order)
    }
}
