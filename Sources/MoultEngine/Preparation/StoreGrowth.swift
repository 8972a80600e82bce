import MoultModel
import MoultPlan
import MoultStore

/// The amount by which a plan may enlarge a store, from its rows and its tables alone.
struct StoreGrowth: Sendable {
    let plan: BoundPlan
    /// The number of rows of each table, of either version.
    private let rows: [String: Double]
    /// The tables with an entity whose new number takes a byte more.
    private let widened: Set<String>
    /// The sources that the mappings give each attribute.
    private let given: [String: [AttributeSource]]

    init(plan: BoundPlan) {
        self.plan = plan
        var rows: [String: Double] = [:]
        for (entity, count) in plan.rowCounts {
            let tables = [plan.source, plan.destination].compactMap { $0.table(forEntity: entity)?.name }
            for table in Set(tables) { rows[table, default: 0] += Double(count) }
        }
        self.rows = rows
        // In a record, 0 and 1 take no byte, and numbers up to 127 take one.
        widened = Set(
            plan.source.entityNumbers.compactMap { name, old in
                guard let new = plan.destination.entityNumbers[name],
                    [1, 127, 32_767].contains(where: { old <= $0 && new > $0 })
                else { return nil }
                return plan.source.table(forEntity: name)?.name
            })
        given = Dictionary(grouping: plan.mapping.entityMappings.flatMap(\.attributes), by: \.key)
            .mapValues { $0.map(\.value) }
    }

    /// Returns the most bytes by which the store can grow, without the data that app code writes.
    ///
    /// The store itself reports its row counts, so the numbers can be arbitrarily large and must not cause a trap.
    func bytes(of state: StoreState) -> Int64 {
        let (pageSize, size) = (Double(state.pageSize), Double(state.size))
        let all = max(plan.rowCounts.values.reduce(0) { $0 + Double($1) }, 1)
        // The result of an expression, and a text in an index, are assumed to be as large as a whole row.
        let row = size / all
        let values = plan.destination.tables.reduce(0) { $0 + newValues(of: $1, row) }
        let inIndexes = newIndexes.reduce(0) { $0 + entries(of: $1, min(row, pageSize)) }
        // A row that grows by a byte in place splits every full page.
        let split =
            plan.source.tables.filter { widened.contains($0.name) }.reduce(0) { $0 + rows(of: $1) } / all * size / 2
        let fixed = (newObjects + 4) * pageSize + newTexts
        // Full pages are not filled to the last byte.
        return Int64(min((values + inIndexes + pairs) * 1.25 + split + fixed, 1e17))
    }

    private func rows(of table: EntityTable) -> Double { rows[table.name] ?? 0 }

    // MARK: - New values

    private func newValues(of table: EntityTable, _ row: Double) -> Double {
        let old = plan.source.table(named: table.name)?.columns ?? []
        let present = Set(old.map { "\($0.name) \($0.type)" })
        let new = table.columns.filter { !present.contains("\($0.name) \($0.type)") }
        return rows(of: table) * new.reduce(0) { $0 + width(of: $1, row) }
    }

    /// Returns the size of a value, including the type byte in the row's header.
    private func width(of column: EntityTable.Column, _ row: Double) -> Double {
        guard column.type == "VARCHAR" || column.type == "BLOB" else { return 10 }
        guard case .attribute(let entity, let name) = column.role,
            let attribute = plan.destination.model.entity(entity)?.attribute(name), attribute.derivation == nil
        else { return row + 4 }
        let given = (given[name] ?? []).map { source -> Double in
            switch source {
            // A number as text; a renamed attribute leaves its old column behind.
            case .attribute(_, let ifNil): max(24, ifNil.map(Self.length) ?? 0)
            case .constant(let value): value.map(Self.length) ?? 0
            case .expression: row
            }
        }
        return (given.max() ?? attribute.defaultValue.map(Self.length) ?? 0) + 4
    }

    private static func length(_ value: AttributeValue) -> Double { Double("\(value)".utf8.count) }

    // MARK: - New tables and indexes

    private var newIndexes: [IndexDefinition] {
        let present = Set(plan.source.indexes.map(\.sql))
        return plan.destination.indexes.filter { !present.contains($0.sql) }
    }

    /// Returns the size of an index's entries: the values of its columns, and the key.
    private func entries(of index: IndexDefinition, _ row: Double) -> Double {
        guard let table = plan.destination.table(named: index.table) else { return 0 }
        let names = Set(index.sql.sqlTokens.map(\.name))
        let columns = table.columns.filter { names.contains($0.name) }
        let isNumeric = columns.allSatisfy { $0.type != "VARCHAR" && $0.type != "BLOB" }
        return rows(of: table) * (isNumeric ? 10 * Double(columns.count) + 12 : row + 12)
    }

    /// The size of new pairs, each in its table and its index. Pairs that the relationship's old form had are not new.
    private var pairs: Double {
        let old = Set(plan.source.joinTables.map(\.sql))
        let most = plan.source.tables.map(rows).max() ?? 0
        return plan.destination.joinTables.reduce(0) { old.contains($1.sql) ? $0 : $0 + 48 * most }
    }

    /// The number of new tables and indexes, of at least a page each.
    private var newObjects: Double {
        func names(_ layout: StoreLayout) -> Set<String> {
            Set(layout.tables.map(\.name) + layout.joinTables.map(\.name) + layout.indexes.map(\.name))
        }
        // A join table has an index of its own.
        return Double(names(plan.destination).subtracting(names(plan.source)).count + plan.destination.joinTables.count)
    }

    /// The size of the model and the metadata, one value each, and of the catalogue.
    private var newTexts: Double {
        let texts = plan.destination.createStatements.reduce(0) { $0 + $1.utf8.count }
        return Double((plan.modelCache?.count ?? 0) + plan.metadata.propertyList.count + texts)
    }
}
