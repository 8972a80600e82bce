import MoultBasics
import MoultSQLite

/// The gaps of a store with persistent history, in its history tables and in their counters in `Z_PRIMARYKEY`.
package struct HistoryGaps: Sendable, Equatable {
    /// A column that is missing from one of the tables.
    package struct Column: Sendable, Hashable {
        package let table: PersistentHistory.Table
        package let column: Catalogue.Column

        /// `TABLE.COLUMN`
        package var place: String { "\(table.name).\(column.name)" }
        /// The known value of the column in each row, as SQL; nil if unknown.
        package var value: String? { column.name == "Z_ENT" ? "\(table.number)" : nil }
        /// Whether the column can be added; SQLite cannot add a key to an existing table.
        package var canBeAdded: Bool { column.name != "Z_PK" }

        fileprivate var finding: Finding {
            Finding.missing(
                "The table \(table.name) of persistent history has no column \(column.name).", code: "column-missing",
                place)
        }
    }

    package var tables: [PersistentHistory.Table] = []
    package var columns: [Column] = []
    /// The tables whose counter is missing or below a key in use. Core Data itself adds the counter of an empty table.
    package var counters: [PersistentHistory.Table] = []

    package init() {}

    package init(_ history: PersistentHistory, in snapshot: StoreSnapshot) {
        guard snapshot.keepsHistory else { return }
        tables = history.tables.filter { snapshot.catalogue.table($0.name) == nil }
        columns = history.tables.filter { !tables.contains($0) }.flatMap { table in
            let present = Set((snapshot.columns[table.name] ?? []).map { $0.name.uppercased() })
            return table.columns.filter { !present.contains($0.name) }.map { Column(table: table, column: $0) }
        }
        counters = history.tables.filter { table in
            let row = snapshot.primaryKeyRows.first { $0.number == table.number && $0.name == table.entityName }
            guard let row else { return snapshot.historyKeys[table.name] != nil || tables.contains(table) }
            return row.isUncountable || row.max < snapshot.historyKeys[table.name] ?? 0
        }
    }

    package var isEmpty: Bool { tables.isEmpty && columns.isEmpty && counters.isEmpty }

    /// Returns whether the store has a table with all of its columns.
    package func isWhole(_ table: String) -> Bool {
        !tables.contains { $0.name == table } && !columns.contains { $0.table.name == table }
    }

    /// The findings for missing tables and columns. Counters are checked when a store is verified.
    var findings: [Finding] {
        tables.map { table in
            Finding.missing(
                "The table \(table.name) of persistent history, which the store keeps, is missing.",
                code: "table-missing", table.name)
        } + columns.filter(\.canBeAdded).map(\.finding) + lasting
    }

    /// The findings among these for gaps that no repair can fill.
    package var lasting: [Finding] {
        columns.filter { !$0.canBeAdded }.map { gap in
            var finding = gap.finding
            finding.remedy = "A key cannot be added to an existing table. Restore a backup."
            return finding
        }
    }

    /// - Throws: `storeCorrupted` for a gap that no migration can fill: a key, or a table whose name is taken by
    ///   another object.
    func requirePossible(in catalogue: Catalogue) throws {
        let taken = catalogue.strangers(named: Set(tables.map(\.name))).first
        guard let fault = lasting.first ?? taken.map(Finding.nameTaken) else { return }
        throw MigrationError(.storeCorrupted, fault.message, place: fault.place, remedy: fault.advice)
    }

    /// The findings of a migration about the gaps.
    var notes: [Finding] {
        let tables = tables.map { (place: $0.name, what: "The table \($0.name)") }
        let columns = columns.map { (place: $0.place, what: "The column \($0.column.name) of \($0.table.name)") }
        return (tables + columns).map { place, what in
            Finding(
                code: "history-missing", severity: .warning, place: place,
                message:
                    "\(what) of persistent history is missing. The migration creates it, without its former contents.",
                remedy: "An app that reads the history may miss changes. Restore a backup if that matters; otherwise "
                    + "\(.repair) removes references to nothing.")
        }
    }

    // MARK: - Filling the gaps

    /// Statements that create tables and columns, and then set the counters.
    package var statements: [StoreScript.Statement] {
        tables.map { .createTable($0.name, $0.sql) } + columns.filter(\.canBeAdded).flatMap(add) + counters.map(count)
    }

    private func add(_ gap: Column) -> [StoreScript.Statement] {
        let (table, name) = (gap.table.name, gap.column.name)
        let addition = StoreScript.Statement(
            .addColumn, table, "ALTER TABLE main.\(table) ADD COLUMN \(name) \(gap.column.declaredType)",
            "Add the column \(name) to \(table).")
        return [addition]
            + (gap.value.map { value in
                [
                    .init(
                        .update, table, "UPDATE main.\(table) SET \(name) = \(value)",
                        "Number the rows of \(table).", rows: .unknown)
                ]
            } ?? [])
    }

    /// Sets a counter to at least the highest key that any table of history refers to.
    private func count(_ table: PersistentHistory.Table) -> StoreScript.Statement {
        let highest = keys(of: table).map { "ifnull((SELECT max(\($0.column)) FROM main.\($0.table)), 0)" }
        return StoreScript.Statement(
            .metadata, "Z_PRIMARYKEY",
            """
            INSERT INTO main.Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) \
            VALUES (\(table.number), \(table.entityName.quotedLiteral), 0, max(\(highest.joined(separator: ", ")), 0)) \
            ON CONFLICT (Z_ENT) DO UPDATE SET Z_NAME = excluded.Z_NAME, \
            Z_MAX = max(\(PrimaryKeyRow.highestSQL), excluded.Z_MAX)
            """, "Number \(table.entityName) \(table.number), and count its keys.")
    }

    /// Returns the columns that contain keys of a table.
    private func keys(of table: PersistentHistory.Table) -> [(table: String, column: String)] {
        let others: [(String, String)] =
            switch table.name {
            case "ATRANSACTION": [("ACHANGE", "ZTRANSACTIONID")]
            case "ATRANSACTIONSTRING": PersistentHistory.references.map { ("ATRANSACTION", $0) }
            default: []
            }
        return [(table.name, "Z_PK")] + others
    }
}

extension StoreSnapshot {
    /// Whether the store keeps persistent history, according to its metadata, to a number in `Z_PRIMARYKEY`, or to an
    /// existing history table.
    package var keepsHistory: Bool {
        framework.hasPersistentHistory
            && (Self.historyTables.contains { catalogue.table($0) != nil }
                || metadata.entries[StoreMetadata.Key.historyHashes] != nil
                || primaryKeyRows.contains { 16_001...16_003 ~= $0.number })
    }
}
