import MoultModel
import MoultPlan
import MoultSQLite

/// Lowers a mapping to statements on the store itself that update its schema immediately without changing a row of an
/// object. Columns are added and renamed, tables are renamed, and parts that the new version does not have are left
/// behind as tasks.
///
/// Work that has to write rows is reported as an obstacle; the whole migration is then done at once.
struct DeferredLowering {
    let lowering: StoreLowering
    /// Whether to undo an earlier deferred migration by restoring what it has set aside.
    let isUndoing: Bool
    /// The reasons why nothing can be deferred; empty if work can be.
    var obstacles: [String] = []
    /// The deferred tasks known before the migration; their size in bytes is measured afterwards.
    var tasks: [DeferredTask] = []
    /// Sentences about work that is done immediately although its duration depends on the store's size.
    var notes: [String] = []
    var statements: [StoreScript.Statement] = []
    /// The statements that make restored values consistent with later changes.
    var settling: [StoreScript.Statement] = []
    /// All names, in capitals, in the catalogue and those that the statements introduce.
    var taken: Set<String>
    /// The destination tables that contain rows of the source, by the source table's name.
    private(set) var origins: [String: String] = [:]
    private let history: HistoryLowering

    init(_ lowering: StoreLowering, isUndoing: Bool = false) {
        self.lowering = lowering
        self.isUndoing = isUndoing
        taken = Set(lowering.catalogue.entries.map { $0.name.uppercased() })
        history = HistoryLowering(lowering)
        checkEntities()
        findOrigins()
        setTablesAside()
        for table in lowering.destination.tables { lower(table) }
        lowerJoins()
        lowerIndexes()
        checkRest()
    }

    /// Whether tasks remain after the statements have run.
    var leavesWork: Bool { !tasks.isEmpty }

    /// - Parameter metadata: the metadata, which mark work as pending if ``leavesWork``.
    func script(metadata: [UInt8], modelCache: [UInt8]?) -> StoreScript {
        let all =
            lowering.respellTables() + lowering.dropTriggers() + lowering.dropObjects() + statements
            + history.statements + lowering.primaryKeysInPlace(isUndoing: isUndoing)
            + lowering.identity(metadata: metadata, modelCache: modelCache)
            + lowering.createTriggers()
        var script = StoreScript(statements: all, isInPlace: true, historyColumns: history.columns, transforms: [])
        script.isDeferred = !isUndoing
        return script
    }

    // MARK: - Origins of rows

    private mutating func checkEntities() {
        if let policy = lowering.mapping.entityMappings.compactMap(\.policy).first {
            obstacles.append("the policy \(policy) has to run")
        }
        let contributions = lowering.contributions
        for contribution in contributions where contribution.sourceNumber != contribution.destinationNumber {
            obstacles.append("\(contribution.destination.name) gets another entity number")
        }
        for contribution in contributions where contribution.shift != 0 || contribution.values.condition != nil {
            obstacles.append("the objects of \(contribution.destination.name) are picked or get new keys")
        }
        let sources = Dictionary(grouping: contributions, by: \.source.name).filter { $0.value.count > 1 }
        obstacles += sources.keys.sorted().map { "the objects of \($0) become objects of several entities" }
    }

    private mutating func findOrigins() {
        for contribution in lowering.contributions {
            guard let from = lowering.source.table(for: contribution.source)?.name,
                let table = lowering.destination.table(for: contribution.destination)?.name
            else { continue }
            if let known = origins[from], known != table { obstacles.append("the rows of \(from) part") }
            origins[from] = table
        }
        for (table, sources) in Dictionary(grouping: origins, by: \.value) where sources.count > 1 {
            obstacles.append("rows of \(sources.map(\.key).sorted().joined(separator: " and ")) meet in \(table)")
        }
        for mapping in lowering.mapping.entityMappings where mapping.destinationEntityName == nil {
            guard let name = mapping.sourceEntityName, lowering.rowCounts[name, default: 0] > 0,
                let table = lowering.source.table(forEntity: name)?.name, origins[table] != nil
            else { continue }
            obstacles.append("the objects of \(name) leave \(table), which others keep")
        }
    }

    /// Renames tables that the new version does not use; they keep their rows.
    private mutating func setTablesAside() {
        let joins = lowering.joinChanges.filter(\.keepsPairs).map(\.table.name)
        let leaving =
            lowering.source.tables.map(\.name).filter { origins[$0] == nil }
            + lowering.source.joinTables.map(\.name).filter { !joins.contains($0) }
        for name in leaving {
            let other = leftoverName(for: name)
            statements.append(.renameTable(name, to: other, "Set the table \(name) aside."))
            taken.remove(name.uppercased())
            let entities = lowering.source.model.entities.map(\.name).filter {
                lowering.source.table(forEntity: $0)?.name == name
            }
            tasks.append(DeferredTask(.dropTable, other, of: other, rows: lowering.rows(of: entities)))
        }
    }

    /// Reserves a name for a table or column to set aside.
    private mutating func leftoverName(for name: String) -> String {
        let other = DeferredName.make(for: name, avoiding: taken)
        taken.insert(other.uppercased())
        return other
    }

    /// Returns the reason why the whole migration takes less time than these statements; nil if it does not, or if
    /// there is no choice.
    ///
    /// For each ALTER TABLE, SQLite parses the text of every object in the catalogue again. With thousands of entities
    /// this takes minutes, but the migration on a copy, which creates new tables, takes seconds.
    func slowness(bytes: Int64) -> String? {
        let altering = statements.map { CostModel.parsing(for: $0.kind) }.filter { $0 > 0 }
        let objects = lowering.catalogue.entries.count
        let seconds = altering.reduce(0, +) * Double(objects)
        let rows = lowering.rowCounts.values.reduce(0.0) { $0 + Double($1) }
        let whole = CostModel.rebuilding(objects: objects, rows: rows, bytes: bytes)
        guard !isUndoing, seconds > whole else { return nil }
        return "the store has \(objects) tables and indexes, which SQLite reads again for each of "
            + "\(altering.count) changes: all at once takes less time"
    }

    // MARK: - Remaining work

    private mutating func checkRest() {
        if isUndoing {
            statements += settling + lowering.derivedUpdates(isUndoing: true)
        } else if !lowering.derivedUpdates().isEmpty {
            obstacles.append("a derived attribute has to be computed")
        }
        let trees = lowering.catalogue.entries.contains { $0.isVirtual && $0.name.hasPrefix("Z_RT_") }
        if trees || !lowering.destination.virtualTables.isEmpty { obstacles.append("the store has R-tree indexes") }
        if !lowering.cloudKitStatements().isEmpty { obstacles.append("CloudKit's records have to be rewritten") }
        obstacles += lowering.keptObjects.obstacles
        notes += history.statements.map(\.sentence)
    }

    mutating func lowerJoins() {
        for change in lowering.joinChanges {
            let table = change.table
            if case .untouched = change.kind { continue }
            if change.keepsPairs {
                tasks.append(DeferredTask(.rebuildTable, table.name, of: table.name))
            } else if case .rebuilt(let inserts) = change.kind, inserts.isEmpty {
                if isUndoing { takeBack(table) } else { make(table.name, table.sql) }
            } else {
                obstacles.append("\(table.name) has to be filled")
            }
        }
    }

    mutating func lowerIndexes() {
        let rebuilt = Set(tasks.filter { $0.kind == .rebuildTable }.map(\.name))
        let kept = Set(origins.values).union(lowering.joinChanges.filter(\.keepsPairs).map(\.table.name))
        let wanted = Set(lowering.destination.indexes.map(\.sql))
        let dropped = Set(lowering.keptObjects.drops(.index))
        let stale = lowering.catalogue.entries.filter { entry in
            // Core Data's own names begin with Z; any other index belongs to an app and is kept.
            entry.kind == .index && entry.sql.map { !wanted.contains($0) } == true && entry.name.hasPrefix("Z")
                && !dropped.contains(entry.name)
                && kept.contains(origins[entry.tableName] ?? entry.tableName)
        }
        for entry in stale {
            let table = origins[entry.tableName] ?? entry.tableName
            if entry.isUnique {
                // A unique index would continue to reject values that the new version allows.
                statements.append(.dropIndex(entry.name, of: entry.tableName, "Drop the index \(entry.name)."))
                taken.remove(entry.name.uppercased())
                notes.append("The index \(entry.name) is dropped, because it refuses values.")
            } else if !rebuilt.contains(table) {
                tasks.append(DeferredTask(.dropIndex, entry.name, of: table, rows: rows(of: table)))
            }
        }
        let present = Set(
            lowering.catalogue.entries.filter { kept.contains(origins[$0.tableName] ?? $0.tableName) }.compactMap(\.sql)
        )
        for index in lowering.destination.indexes where !present.contains(index.sql) {
            lower(index, isOnNewTable: !kept.contains(index.table), isRebuilt: rebuilt.contains(index.table))
        }
    }

    private mutating func lower(_ index: IndexDefinition, isOnNewTable: Bool, isRebuilt: Bool) {
        if isOnNewTable {
            // An index of a table that was set aside may have this name.
            if taken.contains(index.name.uppercased()) {
                statements.append(.dropIndex(index.name, of: index.table, "Drop the index \(index.name)."))
            }
            statements.append(.createIndex(index))
        } else if index.isUnique {
            obstacles.append("the index \(index.name) has to be built, because it keeps values unique")
        } else if !isRebuilt {
            tasks.append(DeferredTask(.makeIndex, index.name, of: index.table, rows: rows(of: index.table)))
        }
    }

    private func rows(of table: String) -> Int64 {
        lowering.rows(
            of: lowering.contributions.filter { lowering.destination.table(for: $0.destination)?.name == table }.map(
                \.source.name))
    }
}
