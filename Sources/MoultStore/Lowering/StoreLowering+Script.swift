import MoultBasics
import MoultModel
import MoultSQLite

extension StoreLowering {
    /// Returns all statements in order: drop triggers, then change tables, joins, indexes, orders, derived values,
    /// history and the store's identity, and finally recreate triggers.
    func script(metadata: [UInt8], modelCache: [UInt8]?) throws -> StoreScript {
        let (tables, joins) = (changes, joinChanges)
        let history = HistoryLowering(self)
        let rebuilt = Set(tables.filter(\.isRebuilt).map(\.table.name) + joins.filter(\.isRebuilt).map(\.table.name))
        let kept = Set(destination.tables.map(\.name) + destination.joinTables.map(\.name)).subtracting(rebuilt)
        let updated = tables.filter { !$0.isRebuilt }
        var statements = respellTables() + dropTriggers() + dropObjects()
        statements += dropIndexes(on: updated, kept: kept)
        statements += dropTables(keeping: kept)
        let fills = tables.flatMap(fill) + joins.flatMap(fill)
        let pairs = sortedPairs(for: fills)
        statements += pairs.making + fills + pairs.dropping
        let indexes = createIndexes(tables, dropped: droppedIndexes(on: updated, kept: kept).map(\.name), kept: kept)
        let (orders, derived) = (makeOrders(tables, joins), derivedUpdates())
        statements += orders + indexes + derived
        let (virtual, cloudKit) = (rebuildVirtualTables(tables) + rebuildSearch(tables), cloudKitStatements())
        if choice == .inPlace {
            try refuse(
                tables, joins,
                dropTables(keeping: kept) + orders + indexes.filter { kept.contains($0.table) } + derived + virtual
                    + history.rewriting + cloudKit)
        }
        statements += virtual + history.statements + cloudKit
        statements += choice == .inPlace ? primaryKeysInPlace() : primaryKeys()
        statements += identity(metadata: metadata, modelCache: modelCache)
        // An app's trigger may reject or ignore writes to Core Data's own tables.
        statements += createTriggers()
        var script = StoreScript(
            statements: statements, historyColumns: history.columns,
            transforms: contributions.flatMap(\.values.functions))
        script.kept = StoreScript.Kept(definitions: ownDefinitions, objects: keptObjects)
        if choice == .inPlace {
            script.place = .catalogue
        } else if virtual.isEmpty, cloudKit.isEmpty, keepsTables(tables, joins) {
            script.place = .store
        }
        return script
    }

    /// Returns statements that rewrite the SQL of Core Data's tables in SQLite's own form, which SQLite needs to alter
    /// and drop them.
    func respellTables() -> [StoreScript.Statement] {
        let known = Set(source.tables.map(\.name) + source.joinTables.map(\.name) + StoreSnapshot.historyTables)
        return catalogue.tables.filter { known.contains($0.name) || $0.name.hasPrefix("Z_") }.compactMap { entry in
            entry.respelled.map { .respell(entry, as: $0) }
        }
    }

    /// An app's own definitions in each table that is kept.
    var ownDefinitions: [String: UserTableAdditions] {
        let all = changes.map { ($0.table.name, $0.way.own) } + joinChanges.map { ($0.table.name, $0.own) }
        return Dictionary(all.filter { $0.1 != UserTableAdditions() }, uniquingKeysWith: { first, _ in first })
    }

    /// - Parameter others: the other statements that read or write rows.
    /// - Throws: `unsupported` if a change of the catalogue alone is not enough, with every reason.
    private func refuse(_ tables: [TableChange], _ joins: [JoinChange], _ others: [StoreScript.Statement]) throws {
        let present = Set(source.joinTables.map(\.name))
        let ways =
            tables.filter { !$0.isOfCatalogue }.map { TableStrategy($0) }
            + joins.map { TableStrategy($0, isNew: !present.contains($0.table.name)) }.filter { $0.kind == .rebuilt }
        let reasons = ways.map(\.sentence) + others.map(\.sentence) + keptObjects.obstacles.map { "Impossible: \($0)." }
        guard !reasons.isEmpty else { return }
        throw MigrationError(
            .unsupported, "This migration cannot run in place. \(reasons.joined(separator: " "))",
            remedy: "Omit \(option: .inPlace); then rows may be written.")
    }

    // MARK: - Tables

    private func dropTables(keeping kept: Set<String>) -> [StoreScript.Statement] {
        let owned = source.tables.map(\.name) + source.joinTables.map(\.name)
        let known = Set(owned + keptObjects.drops(.table))
        // A destination table that the source's model does not explain would cause a conflict.
        let inTheWay = (destination.tables.map(\.name) + destination.joinTables.map(\.name)).filter { name in
            catalogue.table(name) != nil && !known.contains(name)
        }
        return (owned + inTheWay + catalogue.leftoverTables).filter { !kept.contains($0) }.map {
            .dropTable($0, "Drop the old table \($0).", rows: reach(ofRows: $0))
        }
    }

    /// Returns the maximum number of rows in a source table; unknown for a join table.
    private func reach(ofRows table: String) -> StoreScript.RowCount {
        source.table(named: table) == nil ? .unknown : .atMost(rows(of: source.entities(inTable: table)))
    }

    private func fill(_ change: TableChange) -> [StoreScript.Statement] {
        let name = change.table.name
        let count = rows(of: change.contributions.map(\.source.name))
        switch change.kind {
        case .untouched: return []
        case .updated(let columns, let leaving):
            let alter = alter(change)
            var statements: [StoreScript.Statement] = []
            if !leaving.isEmpty {
                statements.append(
                    .init(
                        .delete, name, "DELETE FROM main.\(name.quotedName) WHERE Z_ENT IN (\(leaving.sqlList))",
                        "Leave out the rows of removed entities in \(name).", rows: reach(ofRows: name)))
            }
            statements += alter.before
            if !columns.isEmpty {
                let set = columns.map { column -> SQLText in "\(name: column.column) = \(column.source.sql)" }
                let list = columns.map(\.column).joined(separator: ", ")
                let limits = columns.compactMap(\.limit)
                let hasLimit = limits.count == columns.count
                let condition: SQLText = hasLimit ? " WHERE (\(limits.conditions(joinedBy: "OR")))" : ""
                statements.append(
                    .init(
                        .update, name,
                        text: "UPDATE main.\(name: name) AS s SET \(set.joined(separator: ", "))\(condition)",
                        "Update \(list) of \(name).", rows: .counted(count),
                        keys: .init(table: "main.\(name.quotedName)", hasCondition: hasLimit),
                        columns: columns.map(\.column)))
            }
            return statements + alter.after
        case .rebuilt(let fills):
            return [.createTable(name, change.table.sql)] + fills.map { insert($0, into: name) }
        }
    }

    /// - Parameter limit: a further condition on a row `s`; nil to use only that of the fill.
    package func insert(_ fill: TableChange.Fill, into table: String, limit: SQLText? = nil) -> StoreScript.Statement {
        let names = ["Z_PK"] + fill.columns.map(\.column)
        let key: SQLText = fill.shift == 0 ? "s.Z_PK" : "s.Z_PK + \(fill.shift)"
        let values = [key] + fill.columns.map(\.source.sql)
        let conditions: [SQLText] = [fill.condition.map { "(\($0))" }, limit].compactMap { $0 }
        let condition: SQLText = conditions.isEmpty ? "" : " WHERE \(conditions.conditions(joinedBy: "AND"))"
        return .init(
            .fill, table,
            text: """
                INSERT INTO main.\(name: table) (\(names: names)) \
                SELECT \(values.joined(separator: ", ")) FROM source.\(table: fill.source) AS s\(condition)
                """, "Copy the rows of \(fill.source) into \(table).", rows: .counted(rows(of: fill.entities)),
            keys: .init(table: "source.\(fill.source.quotedName)", hasCondition: !conditions.isEmpty))
    }

    private func fill(_ change: JoinChange) -> [StoreScript.Statement] {
        guard case .rebuilt(let inserts) = change.kind else { return [] }
        let (name, reach) = (change.table.name, reach(of: change.table))
        return [.createTable(name, change.table.sql)] + inserts.map { copyPairs($0, into: name, rows: reach) }
    }

    package func copyPairs(_ insert: JoinChange.Insert, into table: String, rows: StoreScript.RowCount = .unknown)
        -> StoreScript.Statement
    {
        .init(.fill, table, text: insert.sql, "Copy the pairs of \(table).", rows: rows)
    }

    /// Returns the maximum number of pairs in a join table. Each row of an entity table contributes at most one. The
    /// number is unknown if pairs come from join tables, whose rows are not counted.
    private func reach(of table: JoinTable) -> StoreScript.RowCount {
        let pairs = links(of: table.owner).map(\.pairs)
        let tables = Set(pairs.filter { $0.row != .neither && $0.path == nil }.map(\.table))
        guard pairs.allSatisfy({ tables.contains($0.table) }) else { return .unknown }
        return .atMost(rows(of: tables.flatMap(source.entities(inTable:))))
    }

    /// Returns statements that order the lists in tables to which no policy adds members.
    private func makeOrders(_ tables: [TableChange], _ joins: [JoinChange]) -> [StoreScript.Statement] {
        let complete = tables.filter { change in
            carriers(toTableOf: change.table.rootEntityName).allSatisfy { $0.mapping.policy == nil }
        }
        let all =
            complete.flatMap { change in change.ordersToMake.map { (change.table.name, $0.order, $0.key) } }
            + joins.flatMap { change in change.ordersToMake.map { (change.table.name, $0.order, $0.key) } }
        return all.map(Self.makeOrder)
    }

    // MARK: - Indexes

    /// Returns the indexes of kept tables that a new store does not have, or that an update would have to maintain.
    private func droppedIndexes(on updated: [TableChange], kept: Set<String>) -> [Catalogue.Entry] {
        guard choice != .inPlace else { return [] }
        let expected = Set(destination.indexes.map(\.sql))
        let leaving = Set(keptObjects.drops(.index))
        let columns = Dictionary(
            updated.map { change -> (String, Set<String>) in
                guard case .updated(let columns, _) = change.kind else { return (change.table.name, []) }
                let gone = change.alteration.dropped + change.alteration.renamed.map(\.from)
                return (change.table.name, Set((columns.map(\.column) + gone).map { $0.uppercased() }))
            }, uniquingKeysWith: { $0.union($1) })
        return catalogue.entries.filter { entry in
            guard entry.kind == .index, let sql = entry.sql, kept.contains(entry.tableName),
                !leaving.contains(entry.name)
            else { return false }
            let isAsked = expected.contains(sql) || keptObjects.keeps(.index, entry.name)
            guard isAsked, let changed = columns[entry.tableName], !changed.isEmpty else { return !isAsked }
            // The names in a list or an expression.
            return sql.names(changed)
        }
    }

    private func dropIndexes(on updated: [TableChange], kept: Set<String>) -> [StoreScript.Statement] {
        droppedIndexes(on: updated, kept: kept).map {
            .dropIndex($0.name, of: $0.tableName, "Take the index \($0.name) away.")
        }
    }

    /// Returns whether the store has an index of the same columns under their former names.
    private func isRenamed(_ index: IndexDefinition, _ tables: [TableChange]) -> Bool {
        guard choice == .inPlace, let change = tables.first(where: { $0.table.name == index.table }) else {
            return false
        }
        let renames = Dictionary(change.alteration.renamed.map { ($0.from, $0.to) }) { first, _ in first }
        return catalogue.indexes(of: index.table).contains { entry in
            entry.isUnique == index.isUnique
                && entry.sql.map { $0.listedNames.map { renames[$0, default: $0] } == index.sql.listedNames } == true
        }
    }

    private func createIndexes(_ tables: [TableChange], dropped: [String], kept: Set<String>) -> [StoreScript.Statement]
    {
        let gone = Set(dropped + keptObjects.drops(.index))
        let present = Set(
            catalogue.entries.filter { $0.kind == .index && kept.contains($0.tableName) && !gone.contains($0.name) }
                .compactMap(\.sql))
        let fresh = destination.indexes.filter { !present.contains($0.sql) && !isRenamed($0, tables) }.map {
            StoreScript.Statement.createIndex($0, rows: reach(ofIndexOn: $0.table))
        }
        let owned = Set(source.tables.map(\.name) + source.joinTables.map(\.name))
        let others = keptObjects.entries(.index).compactMap { entry -> StoreScript.Statement? in
            guard owned.contains(entry.tableName), let sql = entry.sql, !present.contains(sql) else { return nil }
            return .putBack(entry, rows: reach(ofIndexOn: entry.tableName))
        }
        return fresh + others
    }

    /// Returns the maximum number of rows in a destination table.
    private func reach(ofIndexOn name: String) -> StoreScript.RowCount {
        if let table = destination.joinTable(named: name) { return reach(of: table) }
        guard let table = destination.table(named: name) else { return .unknown }
        let carriers = carriers(toTableOf: table.rootEntityName)
        // A policy may create any number of objects.
        guard carriers.allSatisfy({ $0.mapping.policy == nil }) else { return .unknown }
        return .atMost(rows(of: carriers.map(\.source.name)))
    }

    // MARK: - Triggers and R-trees

    func dropTriggers() -> [StoreScript.Statement] {
        catalogue.entries.filter { $0.kind == .trigger }.map { .dropTrigger($0) }
    }

    /// Returns statements that create Core Data's triggers as in a new store, and all others with their own SQL.
    func createTriggers() -> [StoreScript.Statement] {
        destination.triggers.map { .createTrigger($0) } + keptObjects.entries(.trigger).compactMap { .putBack($0) }
    }

    /// Returns statements that drop objects in conflict with the new version, with a table's indexes before the table.
    func dropObjects() -> [StoreScript.Statement] { keptObjects.dropStatements }

    private func rebuildVirtualTables(_ changes: [TableChange]) -> [StoreScript.Statement] {
        let leaving = Set(keptObjects.drops(.table))
        let old = catalogue.tables.filter { entry in
            entry.name.hasPrefix("Z_RT_") && entry.isVirtual && !keptObjects.keeps(.table, entry.name)
                && !leaving.contains(entry.name)
        }
        return old.map { .dropTable($0.name, "Take the R-tree \($0.name) away.") }
            + destination.virtualTables.flatMap(\.statements) + keptObjects.trees.flatMap { refill($0, changes) }
    }

    /// Returns statements that fill an undeclared R-tree with the rows its own trigger would insert.
    ///
    /// The trigger itself is not run, because it may not write to a virtual table if the schema is not trusted.
    private func refill(_ tree: Catalogue.Entry, _ changes: [TableChange]) -> [StoreScript.Statement] {
        guard let trigger = keptObjects.entries(.trigger).first(where: { $0.name == tree.name + "_INSERT" }),
            let change = changes.first(where: { $0.table.name == trigger.tableName }), !keepsValues(change),
            let row = trigger.sql.flatMap({ RTreeIndex.insertedRow(into: tree.name, by: $0) })
        else { return [] }
        let table = trigger.tableName.quotedName
        return [
            .init(
                .delete, tree.name, "DELETE FROM main.\(tree.name.quotedName)", "Empty the R-tree \(tree.name).",
                rows: .unknown),
            .init(
                .fill, tree.name, reads: [trigger.tableName],
                """
                INSERT INTO main.\(tree.name.quotedName) (\(row.columns)) SELECT \(row.values) FROM main.\(table) AS NEW
                """, "Fill the R-tree \(tree.name).", rows: .unknown),
        ]
    }

    // MARK: - Identity of the store

    private func primaryKeys() -> [StoreScript.Statement] {
        let clear = StoreScript.Statement(
            .metadata, "Z_PRIMARYKEY",
            "DELETE FROM main.Z_PRIMARYKEY WHERE Z_ENT < \(Self.firstReservedNumber)", "Renumber the entities.")
        return [clear] + entityRows.map { Self.number($0, highest: highestKey($0)) }
    }

    /// Returns statements that keep the entity numbers, and write only names and new entities. The counters of kept
    /// rows continue.
    ///
    /// - Parameter isUndoing: whether tables that were set aside are restored, with their keys.
    func primaryKeysInPlace(isUndoing: Bool = false) -> [StoreScript.Statement] {
        // A table without its key would keep the old row next to the new one.
        let hasKey = catalogue.table("Z_PRIMARYKEY")?.sql?.names(["PRIMARY", "UNIQUE"]) != false
        let carried = Set(contributions.map { destination.model.root(of: $0.destination).name })
        let leave = StoreScript.Statement(
            .metadata, "Z_PRIMARYKEY",
            """
            DELETE FROM main.Z_PRIMARYKEY WHERE Z_ENT < \(Self.firstReservedNumber) \
            AND Z_ENT NOT IN (\(entityRows.map(\.number).sqlList))
            """, "Take the numbers of removed entities away.")
        return [leave]
            + entityRows.map { row in
                guard row.superNumber == 0, let table = destination.table(forEntity: row.name) else {
                    return Self.number(row, highest: "0", replacing: hasKey)
                }
                let highest =
                    carried.contains(row.name) || formerRoot(of: row.name) == row.number
                    ? "SELECT \(PrimaryKeyRow.highestSQL) FROM main.Z_PRIMARYKEY WHERE Z_ENT = \(row.number)"
                    : isUndoing ? "SELECT max(Z_PK) FROM main.\(table.name.quotedName)" : "0"
                return Self.number(
                    row, highest: "max(COALESCE((\(highest)), 0), \(keptKey(row.name))\(table.highestKeySQL))",
                    replacing: hasKey)
            } + (hasKey ? [] : [keepLastNumbers])
    }

    /// A statement that keeps only the last written row of each number.
    private var keepLastNumbers: StoreScript.Statement {
        .init(
            .metadata, "Z_PRIMARYKEY",
            """
            DELETE FROM main.Z_PRIMARYKEY WHERE Z_ENT < \(Self.firstReservedNumber) \
            AND rowid NOT IN (SELECT max(rowid) FROM main.Z_PRIMARYKEY GROUP BY Z_ENT)
            """, "Take the former numbers of the entities away.")
    }

    /// The entities of the destination, without those of persistent history and CloudKit.
    var entityRows: [PrimaryKeyRow] { destination.primaryKeyRows.filter { $0.number < Self.firstReservedNumber } }

    /// - Parameter highest: the highest key ever assigned, as SQL.
    static func number(_ row: PrimaryKeyRow, highest: String, replacing: Bool = false) -> StoreScript.Statement {
        .init(
            .metadata, "Z_PRIMARYKEY",
            """
            INSERT \(replacing ? "OR REPLACE " : "")INTO main.Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) \
            VALUES (\(row.number), \(row.name.quotedLiteral), \(row.superNumber), \(highest))
            """, "Number the entity \(row.name) \(row.number).")
    }

    /// Returns the highest key ever assigned in the table that supplies a root entity's rows, or the highest key in use
    /// if the store's own counter is lower.
    private func highestKey(_ row: PrimaryKeyRow) -> String {
        guard row.superNumber == 0 else { return "0" }
        guard let table = destination.table(forEntity: row.name) else { return highestKeyGiven(row) }
        return "max(\(highestKeyGiven(row)), \(keptKey(row.name))\(table.highestKeySQL))"
    }

    /// Returns the highest key that an entity of a root's table may have had in an earlier state of the store, as the
    /// first of further arguments in SQL; empty if there is none.
    ///
    /// A root entity that the store does not have may have had another name there, one that a version before or after
    /// the destination gives it. It continues from the highest key of all entities that the store does not have.
    private func keptKey(_ root: String) -> String {
        guard !keptKeys.isEmpty else { return "" }
        let entities = destination.model.entities.filter { destination.model.root(of: $0).name == root }
        var keys = entities.flatMap { [keptKeys[$0.name], $0.renamingIdentifier.flatMap { keptKeys[$0] }] }
        if formerRoot(of: root) == nil {
            keys += keptKeys.filter { source.model.entity($0.key) == nil }.values.map { $0 }
        }
        return keys.compactMap(\.self).max().map { "\($0), " } ?? ""
    }

    private func highestKeyGiven(_ row: PrimaryKeyRow) -> String {
        if let highest = highestKeys[row.name] { return "\(highest)" }
        let carriers = carriers(toTableOf: row.name).map { source.model.root(of: $0.source).name }
        let roots = Set(carriers.compactMap { source.entityNumbers[$0] } + [formerRoot(of: row.name)].compactMap { $0 })
            .sorted()
        guard !roots.isEmpty else { return "0" }
        return """
            COALESCE((SELECT max(\(PrimaryKeyRow.highestSQL)) FROM source.Z_PRIMARYKEY \
            WHERE Z_ENT IN (\(roots.sqlList))), 0)
            """
    }

    /// Returns the number that a root entity had as one, although no object of its table is left; nil if it had none.
    private func formerRoot(of name: String) -> Int? {
        let former = destination.model.entity(name)?.renamingIdentifier ?? name
        let old = source.model.entity(name) ?? source.model.entity(former)
        return old.flatMap { $0.superentityName == nil ? source.entityNumbers[$0.name] : nil }
    }

    func identity(metadata: [UInt8], modelCache: [UInt8]?) -> [StoreScript.Statement] {
        var statements = [
            StoreScript.Statement(
                .metadata, "Z_METADATA", "UPDATE main.Z_METADATA SET Z_PLIST = x'\(metadata.hexadecimal)'",
                "Write the new version's hashes."
            ).holdingValues()
        ]
        if catalogue.table("Z_MODELCACHE") != nil {
            let content = modelCache.map { "x'\($0.hexadecimal)'" } ?? "NULL"
            statements += [
                .init(
                    .metadata, "Z_MODELCACHE", "DELETE FROM main.Z_MODELCACHE", "Remove the old model from the store."),
                .init(
                    .metadata, "Z_MODELCACHE", "INSERT INTO main.Z_MODELCACHE (Z_CONTENT) VALUES (\(content))",
                    "Keep the new model in the store."),
            ]
        }
        return statements
    }

    /// The first number reserved for persistent history and CloudKit.
    static let firstReservedNumber = 16000
}

extension TableChange {
    /// Whether the change writes no rows.
    fileprivate var isOfCatalogue: Bool {
        switch kind {
        case .untouched: true
        case .updated(let columns, let leaving): columns.isEmpty && leaving.isEmpty && alteration.dropped.isEmpty
        case .rebuilt(let fills): fills.isEmpty
        }
    }

    var isRebuilt: Bool { if case .rebuilt = kind { true } else { false } }
}

extension JoinChange {
    var isRebuilt: Bool { if case .rebuilt = kind { true } else { false } }
}

extension String {
    /// The names and symbols of a statement from its first list on.
    fileprivate var listedNames: [String] { sqlTokens.map(\.name).drop { $0 != "(" }.map { $0 } }
}
