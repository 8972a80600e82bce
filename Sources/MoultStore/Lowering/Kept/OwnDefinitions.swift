import MoultSQLite

/// The definitions that an app has added to a table of Core Data's that stays: columns that the model does not know,
/// and constraints.
package struct OwnDefinitions: Sendable, Equatable {
    /// Columns whose values stay.
    package private(set) var columns: [String] = []
    /// The text of the table with them; nil where it is that of a new store.
    package private(set) var sql: String?

    init() {}

    /// Nil where SQLite may not change the table as it stands, or where a constraint may refuse what is written.
    ///
    /// - Parameters:
    ///   - writesColumns: whether columns are dropped or renamed, or get new values.
    ///   - used: the columns of the old table that become columns of the model.
    init?(_ old: EntityTable, becoming table: EntityTable, writesColumns: Bool, overwriting used: Set<String>) {
        guard let before = TableDefinition(old.sql), let fresh = TableDefinition(table.sql), before.options.isEmpty,
            // A generated column stays only where it works with the new version.
            before.parts.filter(\.isGenerated).allSatisfy({ part in
                fresh.parts.contains { $0.isGenerated && $0.columnInCapitals == part.columnInCapitals }
            })
        else { return nil }
        let key = old.column(.primaryKey)?.uppercased()
        let isPlain = before.parts.allSatisfy { part in
            part.column != nil
                && (part.isGenerated || part.words == (part.columnInCapitals == key ? ["PRIMARY", "KEY"] : []))
        }
        guard isPlain || !writesColumns else { return nil }
        columns = old.columns.filter { $0.role == .unknown && !used.contains($0.name) }.map(\.name)
        let own = isPlain ? before.parts.filter { $0.column.map(columns.contains) == true } : before.parts
        guard !own.isEmpty else { return }
        // They stand in place of the definitions of a new store, or beside them.
        let names = Set(own.compactMap(\.columnInCapitals))
        let others = fresh.parts.filter { $0.columnInCapitals.map { !names.contains($0) } == true }
        sql = "CREATE TABLE \(table.name.quotedName) (\((others + own).map(\.text).joined(separator: ", ")))"
    }

    /// Nil where the old table lacks something of the new one.
    init?(_ old: JoinTable, becoming table: JoinTable) {
        guard let before = TableDefinition(old.sql), let fresh = TableDefinition(table.sql),
            before.options == fresh.options,
            Set(before.parts.map(\.meaning)).isSuperset(of: fresh.parts.map(\.meaning)),
            before.parts.allSatisfy({ $0.column != nil || fresh.parts.map(\.meaning).contains($0.meaning) })
        else { return nil }
        columns = old.columns.filter { $0.role == .unknown }.map(\.name)
        sql = old.sql
    }
}

extension TableDefinition.Part {
    /// SQLite's names ignore case.
    fileprivate var columnInCapitals: String? { column?.uppercased() }
}

extension StoreLayout {
    /// The same tables with what an app has added to them.
    func keeping(_ own: [String: OwnDefinitions]) -> StoreLayout {
        with(
            tables: tables.map { table in
                EntityTable(
                    name: table.name, rootEntityName: table.rootEntityName, columns: table.columns,
                    constraints: table.constraints, sql: own[table.name]?.sql ?? table.sql)
            },
            joinTables: joinTables.map { join in
                JoinTable(
                    name: join.name, owner: join.owner, columns: join.columns, sql: own[join.name]?.sql ?? join.sql)
            })
    }
}
