import MoultModel
import MoultPlan
import MoultSQLite

/// Lowers a mapping to statements on the store itself, for changes that touch only the catalogue: columns and tables
/// that are added, columns that are renamed. Its time does not grow with the rows.
///
/// What it leaves is what Core Data's own in-place migration leaves: new columns at the end of their table, indexes
/// under their old names.
struct InPlaceLowering {
    let lowering: StoreLowering
    /// Why the mapping cannot be run in place; empty where it can.
    private(set) var obstacles: [String] = []
    private var statements: [StoreScript.Statement] = []
    /// By table, the new name of each column that gets another.
    private var renamedColumns: [String: [String: String]] = [:]

    init(_ lowering: StoreLowering) throws {
        self.lowering = lowering
        checkEntities()
        for change in try lowering.changes() { lower(change) }
        checkJoins()
        lowerIndexes()
        checkRows()
    }

    func script(metadata: [UInt8], modelCache: [UInt8]?) throws -> StoreScript {
        guard obstacles.isEmpty else {
            throw MigrationError(
                .unsupported, "This migration cannot run in place: \(obstacles.joined(separator: "; ")).",
                remedy: "Omit --in-place; then rows may be written.")
        }
        let all =
            lowering.dropTriggers() + lowering.dropObjects() + statements
            + HistoryLowering(lowering).making + primaryKeys
            + lowering.identity(metadata: metadata, modelCache: modelCache)
            + lowering.createTriggers()
        return StoreScript(statements: all, isInPlace: true)
    }

    /// Numbers stay, so that only names and new entities are written.
    private var primaryKeys: [StoreScript.Statement] {
        lowering.entityRows.map { row in
            let table = row.superNumber == 0 ? lowering.destination.table(forEntity: row.name) : nil
            let highest = """
                max(COALESCE((SELECT \(PrimaryKeyRow.highestSQL) FROM main.Z_PRIMARYKEY \
                WHERE Z_ENT = \(row.number)), 0), \
                \(table?.highestKeySQL ?? "0"))
                """
            return StoreLowering.number(row, highest: highest, replacing: true)
        }
    }

    // MARK: - Checks

    private mutating func checkEntities() {
        if let policy = lowering.mapping.entityMappings.compactMap(\.policy).first {
            obstacles.append("the policy \(policy) has to run")
        }
        for contribution in lowering.contributions where contribution.sourceNumber != contribution.destinationNumber {
            obstacles.append("\(contribution.destination.name) gets another entity number")
        }
        for mapping in lowering.mapping.entityMappings where mapping.destinationEntityName == nil {
            obstacles.append("\(mapping.sourceEntityName ?? "") is removed")
        }
    }

    private mutating func checkJoins() {
        let present = lowering.source.joinTables.map(\.name)
        for change in lowering.joinChanges() where change.isRebuilt {
            if present.contains(change.table.name) {
                obstacles.append("the pairs of \(change.table.name) change")
            } else if case .rebuilt(let inserts) = change.kind, inserts.isEmpty {
                statements.append(.createTable(change.table.name, change.table.sql))
            } else {
                obstacles.append("\(change.table.name) has to be filled")
            }
        }
        let wanted = Set(lowering.destination.joinTables.map(\.name))
        obstacles += present.filter { !wanted.contains($0) }.map { "the table \($0) leaves" }
    }

    private mutating func checkRows() {
        if !lowering.derivedUpdates().isEmpty { obstacles.append("a derived attribute has to be computed") }
        obstacles += lowering.keptObjects.obstacles
        if !HistoryLowering(lowering).rewriting.isEmpty { obstacles.append("persistent history has to be rewritten") }
        if !lowering.destination.virtualTables.isEmpty { obstacles.append("the store has R-tree indexes") }
    }

    // MARK: - Statements

    private mutating func lower(_ change: TableChange) {
        let name = change.table.name
        switch change.kind {
        case .untouched: return
        case .updated(let columns, let leaving):
            obstacles += columns.map { "\(name).\($0.column) gets new values" }
            if !leaving.isEmpty { obstacles.append("rows of \(name) leave") }
        case .rebuilt(let fills): lower(fills, of: change.table)
        }
    }

    private mutating func lower(_ fills: [TableChange.Fill], of table: EntityTable) {
        guard let fill = fills.first else {
            statements.append(.createTable(table.name, table.sql))
            return
        }
        guard fill.source == table.name, fills.count == 1, fill.isWhole else {
            obstacles.append("rows move from \(fill.source) to \(table.name)")
            return
        }
        guard table.constraints == lowering.source.table(named: table.name)?.constraints else {
            obstacles.append("the uniqueness of \(table.name) changes")
            return
        }
        lowerColumns(fill.columns, of: table)
    }

    private mutating func lowerColumns(_ assignments: [TableChange.Assignment], of table: EntityTable) {
        guard let old = lowering.source.table(named: table.name) else { return }
        var unused = Set(old.columns.filter { $0.role != .primaryKey }.map(\.name))
        let types = Dictionary(table.columns.map { ($0.name, $0.type) }, uniquingKeysWith: { first, _ in first })
        // Renames first: a new column may take a name that becomes free.
        var additions: [StoreScript.Statement] = []
        defer { statements += additions }
        for assignment in assignments {
            let column = assignment.column
            switch assignment.source {
            case .column(let from):
                unused.remove(from)
                if old.columns.first(where: { $0.name == from })?.type != types[column] {
                    obstacles.append("\(table.name).\(column) changes its type")
                }
                guard from != column else { continue }
                renamedColumns[table.name, default: [:]][from] = column
                statements.append(.renameColumn(from, to: column, of: table.name))
            case .literal(.null): additions.append(.addColumn(column, types[column] ?? "", to: table.name))
            case .literal, .expression: obstacles.append("\(table.name).\(column) has to be filled")
            }
        }
        obstacles += unused.sorted().map { "the column \(table.name).\($0) leaves" }
    }

    /// Whether the store has an index of the same columns, under the names that they had.
    private func isRenamed(_ index: IndexDefinition) -> Bool {
        let renames = renamedColumns[index.table, default: [:]]
        return lowering.catalogue.entries.contains { entry in
            entry.kind == .index && entry.tableName == index.table && entry.isUnique == index.isUnique
                && entry.sql.map { $0.listedNames.map { renames[$0, default: $0] } == index.sql.listedNames } == true
        }
    }

    private mutating func lowerIndexes() {
        let present = Set(lowering.catalogue.entries.compactMap(\.sql))
        let fresh = Set(lowering.source.tables.map(\.name) + lowering.source.joinTables.map(\.name))
        for index in lowering.destination.indexes where !present.contains(index.sql) {
            if !fresh.contains(index.table) {
                statements.append(.createIndex(index))
            } else if !isRenamed(index) {
                obstacles.append("the index \(index.name) has to be built")
            }
        }
    }
}

extension String {
    /// The names and marks of the first list of a statement, and what comes after it.
    fileprivate var listedNames: [String] { sqlTokens.map(\.name).drop { $0 != "(" }.map { $0 } }
}
