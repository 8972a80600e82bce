import MoultModel
import MoultPlan
import MoultStore

/// The amount by which a plan may enlarge a store, from its rows and its tables alone.
struct StoreGrowth: Sendable {
    let plan: BoundPlan
    /// The number of rows of each table, of either version.
    private let rows: [String: Double]
    /// The tables that stay, and whose rows get new values.
    private let updated: Set<String>
    /// The values that the mappings give the attributes of each name.
    private let given: [String: Given]
    /// The mappings to each entity.
    private let mappings: [String?: [ResolvedEntityMapping]]

    /// The number of rows of the largest old table.
    private let largestTable: Double

    /// The sources of all attributes of one name.
    private struct Given {
        /// Whether all of them are NULL.
        var isNull = true
        var hasExpression = false
        /// The size of the largest value of the others.
        var length = 0.0

        mutating func add(_ source: AttributeSource) {
            if source != .constant(nil) { isNull = false }
            switch source {
            // A number as text; a renamed attribute leaves its old column behind.
            case .attribute(_, let ifNil): length = max(length, 24, ifNil.map(StoreGrowth.length) ?? 0)
            case .constant(let value): length = max(length, value.map(StoreGrowth.length) ?? 0)
            case .expression: hasExpression = true
            }
        }
    }

    init(plan: BoundPlan, _ script: StoreScript) {
        self.plan = plan
        var rows: [String: Double] = [:]
        for (entity, count) in plan.rowCounts {
            let tables = [plan.source, plan.destination].compactMap { $0.table(forEntity: entity)?.name }
            for table in Set(tables) { rows[table, default: 0] += Double(count) }
        }
        self.rows = rows
        let made = Set(script.statements.filter { $0.kind == .createTable }.map(\.table))
        updated = Set(script.statements.filter { $0.kind == .update && $0.rows != 0 }.map(\.table)).subtracting(made)
        mappings = Dictionary(grouping: plan.mapping.entityMappings, by: \.destinationEntityName)
        var given: [String: Given] = [:]
        for (name, source) in plan.mapping.entityMappings.lazy.flatMap(\.attributes) {
            given[name, default: Given()].add(source)
        }
        self.given = given
        largestTable = plan.source.tables.map { rows[$0.name] ?? 0 }.max() ?? 0
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
        // Rows that grow in place split full pages, which are then not as full: SQLite makes four pages of three. In
        // tables of all sizes of rows, this took 13 % at most. A table may have larger rows than the others.
        let grown = plan.source.tables.filter { updated.contains($0.name) }.reduce(0) { $0 + rows(of: $1) }
        let split = min(3 * grown / all, 1) * size / 7
        // A new entity number may take more bytes in each record.
        let fixed = (newObjects + 4) * pageSize + newTexts + (isRenumbered ? 2 * all : 0)
        // Full pages are not filled to the last byte.
        return Int64(min((values + inIndexes + pairs) * 1.25 + split + fixed, 1e17))
    }

    /// Returns the most bytes that a script sorts at once, for one index; nil if the size of an index is unknown, because
    /// it holds texts or pairs.
    func sorted(by script: StoreScript) -> Int64? {
        var most = 0.0
        for statement in script.statements where statement.kind == .createIndex {
            if let pairs = newPairs(of: statement.table) {
                most = max(most, 24 * pairs)
                continue
            }
            let indexes = plan.destination.indexes(of: statement.table)
            let areNumeric = indexes.allSatisfy { form(of: $0, in: plan.destination) != nil }
            guard !indexes.isEmpty, areNumeric else { return nil }
            most = indexes.reduce(most) { max($0, entries(of: $1, 0)) }
        }
        // Runs are merged through a buffer of their own.
        return Int64(min(most * 1.1, 1e17))
    }

    /// Returns the most pairs in a join table that relationships of another form fill; nil for any other table.
    private func newPairs(of table: String) -> Double? {
        plan.source.joinTables.isEmpty && plan.destination.joinTable(named: table) != nil ? largestTable : nil
    }

    /// Returns the most pages that a script changes in the store itself; nil if it writes rows or frees pages, which are
    /// overwritten then.
    func changedPages(by script: StoreScript, of state: StoreState) -> Int64? {
        let frees: Set<StoreScript.Statement.Kind> = [.dropTable, .dropIndex]
        guard !script.writesRows, !script.statements.contains(where: { frees.contains($0.kind) }) else { return nil }
        let (pageSize, texts) = (max(Double(state.pageSize), 1), 4 * newTexts)
        // The catalogue, the metadata, the counters, and the map of the pages that the store gains.
        return Int64(min((Double(bytes(of: state)) + texts) / pageSize * 1.01 + 64, 1e13))
    }

    private func rows(of table: EntityTable) -> Double { rows[table.name] ?? 0 }

    private var isRenumbered: Bool {
        plan.source.entityNumbers.contains { name, old in
            plan.destination.entityNumbers[name].map { $0 > old } ?? false
        }
    }

    // MARK: - New values

    private func newValues(of table: EntityTable, _ row: Double) -> Double {
        let old = plan.source.table(named: table.name)?.columns ?? []
        let present = Set(old.map { "\($0.name) \($0.type)" })
        let new = table.columns.filter { !present.contains("\($0.name) \($0.type)") }
        var used: Set<String> = []
        return rows(of: table)
            * new.reduce(0) { sum, column in
                guard let carried = carried(column), used.insert(carried.column).inserted else {
                    return sum + width(of: column, row)
                }
                return sum + carried.filling
            }
    }

    /// Returns the old column whose values become those of a column, under another name or in another table, and the
    /// size of the value that NULLs get. The old column goes with its table, or is renamed.
    private func carried(_ column: EntityTable.Column) -> (column: String, filling: Double)? {
        func found(_ old: String?, in table: EntityTable?, _ filling: Double = 0) -> (String, Double)? {
            guard let old, let type = table?.columns.first(where: { $0.name == old })?.type, type == column.type else {
                return nil
            }
            return ("\(table?.name ?? "").\(old)", filling)
        }
        func mapping(_ entity: String) -> (ResolvedEntityMapping, EntityDescription, EntityTable)? {
            guard let all = mappings[entity], all.count == 1, let only = all.first,
                let old = only.sourceEntityName.flatMap(plan.source.model.entity),
                let table = plan.source.table(for: old)
            else { return nil }
            return (only, old, table)
        }
        func relationship(_ entity: String, _ name: String) -> (RelationshipDescription, String, EntityTable)? {
            guard let (mapping, old, table) = mapping(entity),
                case .relationship(let from)? = mapping.relationships[name],
                let relationship = plan.source.model.relationship(from, of: old),
                let declaring = plan.source.model.declaringEntity(of: from, in: old)?.name
            else { return nil }
            return (relationship, declaring, table)
        }
        switch column.role {
        case .primaryKey, .entity, .optimisticLock: return (column.name, 0)
        case .attribute(let entity, let name):
            guard let (mapping, old, table) = mapping(entity),
                case .attribute(let from, let ifNil)? = mapping.attributes[name]
            else { return nil }
            return found(plan.source.column(forAttribute: from, in: old), in: table, ifNil.map(Self.length) ?? 0)
        case .toOne(let entity, let name):
            return relationship(entity, name).flatMap { relationship, declaring, table in
                found(table.column(.toOne(entity: declaring, name: relationship.name)), in: table)
            }
        case .toOneEntity(let entity, let name):
            return relationship(entity, name).flatMap { relationship, declaring, table in
                found(table.column(.toOneEntity(entity: declaring, name: relationship.name)), in: table)
            }
        case .order(let entity, let name):
            return relationship(entity, name).flatMap { relationship, declaring, table in
                found(table.column(.order(entity: declaring, name: relationship.name)), in: table)
            }
        default: return nil
        }
    }

    /// Returns the size of a value, including the type byte in the row's header.
    private func width(of column: EntityTable.Column, _ row: Double) -> Double {
        if case .toOneEntity = column.role { return 4 }
        if case .attribute(_, let name) = column.role, given[name]?.isNull == true { return 1 }
        guard column.type == "VARCHAR" || column.type == "BLOB" else { return 10 }
        guard case .attribute(let entity, let name) = column.role,
            let attribute = plan.destination.model.entity(entity)?.attribute(name), attribute.derivation == nil
        else { return row + 4 }
        guard let given = given[name] else { return (attribute.defaultValue.map(Self.length) ?? 0) + 4 }
        return max(given.length, given.hasExpression ? row : 0) + 4
    }

    private static func length(_ value: AttributeValue) -> Double { Double("\(value)".utf8.count) }

    // MARK: - New tables and indexes

    /// The indexes that the old store lacks, but for those in place of one as large that is dropped.
    private var newIndexes: [IndexDefinition] {
        let (old, new) = (plan.source.indexes, plan.destination.indexes)
        let (present, wanted) = (Set(old.map(\.sql)), Set(new.map(\.sql)))
        var dropped = Dictionary(
            grouping: old.filter { !wanted.contains($0.sql) }.compactMap { form(of: $0, in: plan.source) }, by: \.self
        ).mapValues(\.count)
        return new.filter { index in
            guard !present.contains(index.sql) else { return false }
            guard let form = form(of: index, in: plan.destination), let left = dropped[form], left > 0 else {
                return true
            }
            dropped[form] = left - 1
            return false
        }
    }

    /// Returns a text that is equal for indexes of the same table whose entries take the same space: those of numbers.
    private func form(of index: IndexDefinition, in layout: StoreLayout) -> String? {
        guard let table = layout.table(named: index.table) else { return nil }
        let names = Set(index.sql.sqlTokens.map(\.name))
        let columns = table.columns.filter { names.contains($0.name) }
        guard !columns.isEmpty, columns.allSatisfy({ $0.type != "VARCHAR" && $0.type != "BLOB" }) else { return nil }
        return "\(table.rootEntityName) \(columns.count)"
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
        let most = largestTable
        return plan.destination.joinTables.reduce(0) { old.contains($1.sql) || !isFilled($1) ? $0 : $0 + 48 * most }
    }

    /// Whether a join table may get pairs: one of its relationships has a source.
    private func isFilled(_ join: JoinTable) -> Bool {
        let model = plan.destination.model
        let owner = join.owner
        let inverse = model.entity(owner.entity)?.relationship(owner.name).flatMap { relationship in
            relationship.inverseName.map { (relationship.destinationEntityName, $0) }
        }
        return ([(owner.entity, owner.name)] + [inverse].compactMap { $0 }).contains { entity, name in
            guard let declaring = model.entity(entity) else { return false }
            return ([declaring] + model.descendants(of: declaring)).contains { made in
                mappings[made.name]?.contains { ($0.relationships[name] ?? .empty) != .empty } == true
            }
        }
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
