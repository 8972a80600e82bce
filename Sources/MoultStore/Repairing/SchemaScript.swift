import MoultModel
import MoultSQLite

/// The statements that fill the gaps of a store's tables.
///
/// Tables that are there keep their rows and columns: a missing column comes last in its table, as Core Data's own
/// in-place migration adds one.
package struct SchemaScript: Sendable {
    package let gaps: SchemaGaps
    package let fills: [ColumnFill]
    private let triggers: [Catalogue.Entry]
    /// By root entity, the table that has rows already.
    private let counted: [String: EntityTable]

    /// - Parameter layout: of the store with its gaps filled.
    package init(_ gaps: SchemaGaps, layout: StoreLayout, catalogue: Catalogue) {
        self.gaps = gaps
        fills = gaps.columns.map { ColumnFill($0, in: layout) }
        let present = layout.tables.filter { catalogue.table($0.name) != nil }
        counted = Dictionary(present.map { ($0.rootEntityName, $0) }, uniquingKeysWith: { first, _ in first })
        let writes = gaps.breaksReading || !gaps.history.isEmpty
        triggers = writes ? catalogue.entries.filter { $0.kind == .trigger && $0.sql != nil } : []
    }

    package var statements: [StoreScript.Statement] {
        let away = triggers.map(StoreScript.Statement.dropTrigger)
        let back = triggers.compactMap { StoreScript.Statement.putBack($0) }
        let new = gaps.triggers.map(StoreScript.Statement.createTrigger)
        return away + tables + gaps.history.statements + columns + indexes + back + new
    }

    private var tables: [StoreScript.Statement] {
        let numbers = gaps.numbers.map { row in
            // A row may have lost nothing but its name.
            StoreScript.Statement(
                .metadata, "Z_PRIMARYKEY",
                """
                INSERT INTO main.Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (\(row.number), \
                \(row.name.quotedLiteral), \(row.superNumber), \(counted[row.name]?.highestKeySQL ?? "0")) \
                ON CONFLICT (Z_ENT) DO UPDATE SET Z_NAME = excluded.Z_NAME, Z_SUPER = excluded.Z_SUPER, \
                Z_MAX = max(\(PrimaryKeyRow.highestSQL), excluded.Z_MAX)
                """, "Number the entity \(row.name) \(row.number).")
        }
        let tables = gaps.tables.map { StoreScript.Statement.createTable($0.name, $0.sql) }
        let joins = gaps.joinTables.map { StoreScript.Statement.createTable($0.name, $0.sql) }
        return numbers + tables + joins
    }

    private var columns: [StoreScript.Statement] {
        let added = gaps.columns.map { gap in
            StoreScript.Statement.addColumn(gap.column.name, gap.column.type, to: gap.table)
        }
        // All columns are there before one is computed from another.
        return added + fills.compactMap(fill)
    }

    private func fill(_ fill: ColumnFill) -> StoreScript.Statement? {
        let table = "main.\(fill.table.quotedName)"
        switch fill.value {
        case .unknown: return nil
        case .expression(let value):
            return .init(
                .update, fill.table,
                """
                UPDATE \(table) AS t SET \(fill.column.name.quotedName) = \(value) \
                WHERE t.Z_ENT IN (\(fill.numbers.sqlList))
                """, "Give the rows of \(fill.table) a value in \(fill.column.name).", rows: .unknown)
        case .places(let key):
            return StoreLowering.makeOrder(table: fill.table, order: fill.column.name, key: key)
        }
    }

    private var indexes: [StoreScript.Statement] {
        let gone = gaps.indexes.filter { gaps.differing.contains($0.name) }.map {
            StoreScript.Statement.dropIndex($0.name, of: $0.table, "Take the index \($0.name) away.")
        }
        return gone + gaps.indexes.map { .createIndex($0, rows: .unknown) } + gaps.virtualTables.flatMap(\.statements)
    }
}
