import MoultBasics
import MoultSQLite

/// The parts of the model that a store lacks, such as tables, columns and indexes.
package struct SchemaGaps: Sendable, Equatable {
    /// A column that is missing from one of the store's tables.
    package struct Column: Sendable, Hashable {
        package let table: String
        package let column: EntityTable.Column
        /// Whether the table is that of a relationship, whose pairs cannot be read without the column.
        package let isOfPairs: Bool

        package init(table: String, column: EntityTable.Column, isOfPairs: Bool = false) {
            (self.table, self.column, self.isOfPairs) = (table, column, isOfPairs)
        }
    }

    /// Entities without a row in `Z_PRIMARYKEY`, each with the number to assign.
    package var numbers: [PrimaryKeyRow] = []
    package var tables: [EntityTable] = []
    package var joinTables: [JoinTable] = []
    package var columns: [Column] = []
    /// Missing key columns of join tables, whose contents cannot be restored.
    package var keys: [Column] = []
    /// Objects that have the name of a missing table but are not tables.
    package var strangers: [Catalogue.Entry] = []
    package var indexes: [IndexDefinition] = []
    /// The names of those indexes that exist in the store with a different definition.
    package var differing: Set<String> = []
    package var history = HistoryGaps()
    /// The triggers, followed by the R-trees, of the missing tables and columns.
    package var triggers: [TriggerDefinition] = []
    package var virtualTables: [VirtualTable] = []

    package init() {}

    /// Whether parts must be created before objects can be read.
    package var breaksReading: Bool {
        !(numbers.isEmpty && tables.isEmpty && joinTables.isEmpty && columns.isEmpty && keys.isEmpty)
    }

    /// The names of the missing tables.
    package var tableNames: Set<String> { Set(tables.map(\.name) + joinTables.map(\.name)) }

    /// The gaps without the parts that the ``obstacles`` prevent from being created, and everything that depends on
    /// them. If the name of a history table is taken, no part of history is created.
    package var possible: SchemaGaps {
        let taken = Set(strangers.map { $0.name.uppercased() })
        func isTaken(_ table: String) -> Bool { taken.contains(table.uppercased()) }
        let lost = tableNames.filter(isTaken)
        func hasNoKey(_ sql: String) -> Bool { keys.contains { sql.names($0.table) && sql.names($0.column.name) } }
        var gaps = self
        (gaps.keys, gaps.strangers) = ([], [])
        gaps.tables.removeAll { isTaken($0.name) }
        gaps.joinTables.removeAll { isTaken($0.name) }
        gaps.indexes.removeAll { isTaken($0.table) || hasNoKey($0.sql) }
        gaps.triggers.removeAll { trigger in lost.contains { trigger.sql.names($0) } || hasNoKey(trigger.sql) }
        gaps.virtualTables.removeAll { table in !gaps.triggers.contains { $0.sql.names(table.name) } }
        if gaps.history.tables.contains(where: { isTaken($0.name) }) { gaps.history = HistoryGaps() }
        return gaps
    }

    /// - Throws: `storeCorrupted` if a table or an entity's number is missing.
    func requireTables() throws {
        guard let first = findings.first else { return }
        throw MigrationError(.storeCorrupted, first.message, place: first.place, remedy: first.advice)
    }

    /// Findings for missing tables, numbers and indexes. All are errors, except an index that only affects speed.
    package var findings: [Finding] {
        let unnumbered = numbers.map { row in
            Finding.missing(
                "The store has no number for the entity \(row.name).", code: "entity-number", "Z_PRIMARYKEY")
        }
        let lacking = tables.map { table in
            Finding.missing(
                "The table \(table.name) of the entity \(table.rootEntityName) is missing.", code: "table-missing",
                table.name)
        }
        let unjoined = joinTables.map { table in
            Finding.missing(
                "The table \(table.name) of \(table.owner.place) is missing.", code: "table-missing", table.name)
        }
        let unpaired = columns.filter(\.isOfPairs).map { gap in
            Finding.missing(
                "The table \(gap.table) has no column \(gap.column.name), which the model needs.",
                code: "column-missing", "\(gap.table).\(gap.column.name)")
        }
        return unnumbered + lacking + unjoined + unpaired + obstacles + history.findings + indexFindings
    }

    /// The findings that prevent a repair.
    package var obstacles: [Finding] {
        keys.map { gap in
            Finding(
                code: "column-missing", severity: .error, place: "\(gap.table).\(gap.column.name)",
                message: "The table \(gap.table) has no column \(gap.column.name), which held one end of each of its "
                    + "pairs.",
                remedy: "Restore a backup, or use \(.salvage) to copy every object into a new store, without these "
                    + "pairs.")
        }
            + strangers.map(Finding.nameTaken)
    }
}

extension Finding {
    /// Returns the finding for an object that is not a table but has the name of one of Core Data's tables.
    static func nameTaken(_ entry: Catalogue.Entry) -> Finding {
        Finding(
            code: "name-taken", severity: .error, place: entry.name,
            message: "The \(entry.kind.rawValue) \(entry.name) has the name of one of Core Data's tables.",
            remedy: "Drop the \(entry.kind.rawValue), or rename it; then run \(.repair), which "
                + "creates the table.")
    }
}

extension SchemaGaps {
    /// Findings for missing indexes, except those of missing tables.
    private var indexFindings: [Finding] {
        let tables = tableNames.union(history.tables.map(\.name))
        return indexes.filter { !tables.contains($0.table) }.map(finding)
    }

    private func finding(_ index: IndexDefinition) -> Finding {
        let isDiffering = differing.contains(index.name)
        let what =
            isDiffering
            ? "The index \(index.name) is not the one that the model defines"
            : "The index \(index.name) of the model is missing in the store"
        return Finding(
            code: isDiffering ? "index-differs" : "index-missing", severity: index.isUnique ? .error : .note,
            place: index.name, message: index.isUnique ? "\(what): nothing keeps its values unique." : "\(what).",
            remedy: "\(.repair) creates it\(index.isUnique ? ", if no value occurs twice" : "").")
    }
}

extension Finding {
    static let schemaRemedy: Remedy =
        "Name the model that made the store; otherwise run \(.repair), which creates what is missing, or restore a backup."

    static func missing(_ message: String, code: String, _ place: String) -> Finding {
        Finding(code: code, severity: .error, place: place, message: message, remedy: schemaRemedy)
    }
}

/// The columns of an index, and whether it is unique or partial, as SQLite itself reports them.
package struct IndexShape: Hashable {
    package struct Column: Hashable {
        /// The column's name; nil for an expression.
        package let name: String?
        let collation: String
        let isDescending: Bool
    }

    let isUnique: Bool
    let isPartial: Bool
    package let columns: [Column]
    /// The index's own SQL from its columns on, if it has an expression or a condition, which SQLite does not report.
    private let words: String?

    /// Creates the index in a separate database, on a table with the same SQL.
    ///
    /// - Parameters:
    ///   - table: the statement that creates its table.
    ///   - sql: the statement that creates the index.
    /// - Returns: nil if SQLite refuses it, as for a column that the table lacks.
    package init?(of name: String, _ sql: String, on table: String) throws {
        let memory = try Connection(":memory:", mode: .create)
        defer { memory.close() }
        do {
            // Run only the first statement of each text, as SQLite does, because the SQL comes from the store.
            try memory.run(table)
            try memory.run(sql)
        } catch {
            return nil
        }
        let found = try memory.rows(
            "SELECT l.\"unique\", l.partial FROM sqlite_master AS m, pragma_index_list(m.tbl_name) AS l "
                + "WHERE m.type = 'index' AND m.name = ?1 AND l.name = ?1", [.text(name)]
        ) { ($0.integer(0) != 0, $0.integer(1) != 0) }.first
        guard let found else { return nil }
        (isUnique, isPartial) = found
        columns = try memory.rows(
            "SELECT name, coll, \"desc\" FROM pragma_index_xinfo(?) WHERE key ORDER BY seqno", [.text(name)]
        ) { Column(name: $0.text(0), collation: $0.text(1) ?? "", isDescending: $0.integer(2) != 0) }
        let isReported = !isPartial && columns.allSatisfy { $0.name != nil }
        words = isReported ? nil : String(sql.drop { $0 != "(" }.filter { !$0.isWhitespace && $0 != "\"" })
    }

    /// Returns whether this index can replace the other: it covers all rows and starts with the same columns, or has
    /// exactly the same ones if values must be unique.
    func covers(_ other: IndexShape) -> Bool {
        guard !isPartial, !other.columns.isEmpty, other.columns.allSatisfy({ $0.name != nil }) else { return false }
        let (own, wanted) = (columns.map(\.name), other.columns.map(\.name))
        return other.isUnique ? isUnique && own == wanted : own.starts(with: wanted)
    }
}

extension SchemaGaps {
    /// Adds the indexes that the store lacks or has in another form, except those that another index can replace.
    mutating func addIndexes(_ wanted: [IndexDefinition], _ catalogue: Catalogue) throws {
        for index in wanted {
            let present = catalogue.index(index.name)
            guard present?.sql != index.sql else { continue }
            let table = catalogue.table(index.table)?.sql
            let shape = try table.flatMap { try IndexShape(of: index.name, index.sql, on: $0) }
            if let present {
                let actual = try table.flatMap { try IndexShape(of: index.name, present.sql ?? "", on: $0) }
                // If one of its columns is missing, only that is reported.
                guard present.tableName != index.table || shape != nil && actual != shape else { continue }
                indexes.append(index)
                differing.insert(index.name)
            } else if let shape, let table, try isCovered(shape, by: catalogue.indexes(of: index.table), on: table) {
                continue
            } else {
                indexes.append(index)
            }
        }
    }

    private func isCovered(_ shape: IndexShape, by others: [Catalogue.Entry], on table: String) throws -> Bool {
        try others.contains { other in
            guard let sql = other.sql else { return false }
            return try IndexShape(of: other.name, sql, on: table)?.covers(shape) == true
        }
    }
}
