import MoultBasics
import MoultSQLite

/// The gaps of a store that keeps persistent history, in its tables and in their counters in `Z_PRIMARYKEY`.
package struct HistoryGaps: Sendable, Equatable {
    /// A column that one of the tables lacks.
    package struct Column: Sendable, Hashable {
        package let table: PersistentHistory.Table
        package let column: Catalogue.Column

        /// `TABLE.COLUMN`
        package var place: String { "\(table.name).\(column.name)" }
        /// The known value of the column in each row, as SQL; nil where it is not known.
        package var value: String? { column.name == "Z_ENT" ? "\(table.number)" : nil }
        /// SQLite adds no key to a table that is there.
        package var canBeAdded: Bool { column.name != "Z_PK" }

        fileprivate var finding: Finding {
            Finding.missing(
                "The table \(table.name) of persistent history has no column \(column.name).", code: "column-missing",
                place)
        }
    }

    package var tables: [PersistentHistory.Table] = []
    package var columns: [Column] = []
    /// The tables whose counter is missing or below a key that is taken. Core Data numbers a table that is empty when it
    /// needs to.
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

    /// Whether the store has a table with every column of it.
    package func isWhole(_ table: String) -> Bool {
        !tables.contains { $0.name == table } && !columns.contains { $0.table.name == table }
    }

    /// One for each missing table and column; the counters are read by whoever verifies a store.
    var findings: [Finding] {
        tables.map { table in
            Finding.missing(
                "The table \(table.name) of persistent history, which the store keeps, is missing.",
                code: "table-missing", table.name)
        } + columns.filter(\.canBeAdded).map(\.finding) + lasting
    }

    /// Of these findings, those of what no repair can make.
    package var lasting: [Finding] {
        columns.filter { !$0.canBeAdded }.map { gap in
            var finding = gap.finding
            finding.remedy = "A key cannot be added to an existing table. Restore a backup."
            return finding
        }
    }

    /// - Throws: `storeCorrupted` for what no migration can make: a key, or a table whose name something else has.
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

    // MARK: - Filling them

    /// Makes tables and columns, then sets the counters.
    var statements: [StoreScript.Statement] {
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

    /// A counter stands above every key that another table of history names.
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

    /// The columns that hold keys of a table.
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
    /// Whether the metadata say so, or `Z_PRIMARYKEY` numbers a table of history, or there is one.
    package var keepsHistory: Bool {
        framework.hasPersistentHistory
            && (Self.historyTables.contains { catalogue.table($0) != nil }
                || metadata.entries[StoreMetadata.Key.historyHashes] != nil
                || primaryKeyRows.contains { 16_001...16_003 ~= $0.number })
    }
}
