extension StoreLayout {
    /// Every statement that makes a new store's tables, indexes and triggers, in the order of Core Data's catalogue.
    package var createStatements: [String] {
        let joins = Dictionary(grouping: joinTables) { join in
            model.entity(join.owner.entity).flatMap { table(for: $0)?.name } ?? ""
        }
        let groups = tables.map { table in
            [(name: table.name, sql: table.sql)] + (joins[table.name] ?? []).map { (name: $0.name, sql: $0.sql) }
        }
        let all = groups.flatMap { $0.map(\.sql) }
        let indexing = indexes.map(\.sql) + virtualTables.map(\.sql)
        let history = hasHistory ? PersistentHistory(of: self).createStatements : []
        switch level.catalogueOrder {
        case .coreTablesFirst:
            return coreTables + tablesWithIndexes(groups) + virtualTables.map(\.sql) + triggers.map(\.sql) + history
        case .indexesAfterEachTable:
            return tablesWithIndexes(groups) + virtualTables.map(\.sql) + triggers.map(\.sql) + coreTables + history
        case .coreTablesBeforeIndexes:
            return all + coreTables + indexing + triggers.map(\.sql) + history
        case .coreTablesLast:
            return all + indexing + triggers.map(\.sql) + coreTables + history
        }
    }

    private func tablesWithIndexes(_ groups: [[(name: String, sql: String)]]) -> [String] {
        let byTable = Dictionary(grouping: indexes, by: \.table)
        return groups.flatMap { $0.flatMap { table in [table.sql] + (byTable[table.name] ?? []).map(\.sql) } }
    }

    /// The tables every store has, in the same words in every version.
    private var coreTables: [String] {
        let always = [
            "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
            "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
        ]
        return level.hasModelCache ? always + ["CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)"] : always
    }

    /// The rows of `Z_PRIMARYKEY` in a store without objects, history's included where it has any.
    package var primaryKeyRows: [PrimaryKeyRow] {
        let own = entityNumbers.map { name, number in
            let parent = model.entity(name)?.superentityName.flatMap { entityNumbers[$0] }
            return PrimaryKeyRow(number: number, name: name, superNumber: parent ?? 0, max: 0)
        }
        return own.sorted { $0.number < $1.number } + (hasHistory ? PersistentHistory(of: self).primaryKeyRows : [])
    }
}
