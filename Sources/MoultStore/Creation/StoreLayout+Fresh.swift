import MoultBasics
import MoultModel
import MoultSQLite

extension StoreLayout {
    /// Creates the layout that Core Data gives a new store of `model`.
    ///
    /// - Parameters:
    ///   - framework: the framework level of the writer (`NSPersistenceFrameworkVersion`), 230 to 1526.
    ///   - history: whether the store has the tables of persistent history.
    ///   - stored: the names chosen by an existing store where the model leaves them open.
    /// - Throws: `unsupported` if two tables would have the same name, or if the level is not a known one.
    package init(
        model: ManagedObjectModel, framework: Int = FrameworkLevel.newest.number, history: Bool = false
    ) throws {
        try self.init(model: model, framework: framework, history: history, keeping: PhysicalNames())
    }

    init(model: ManagedObjectModel, framework: Int, history: Bool, keeping stored: PhysicalNames) throws {
        let level = FrameworkLevel(framework)
        try Self.check(level, history: history)
        let numbering = EntityNumbering(of: model)
        let roots = numbering.entities.filter { $0.superentityName == nil }
        let tables = roots.map {
            EntityTable(root: $0, in: model, numbering: numbering, level: level, keeping: stored)
        }
        let joinTables = JoinTable.all(of: model, numbering: numbering, keeping: stored)
        for table in tables { try Self.checkWidth(table) }
        try Self.checkNames(tables.map(\.name) + joinTables.map(\.name))
        let bare = StoreLayout(
            model: model, level: level, entityNumbers: numbering.numbers, tables: tables, joinTables: joinTables)
        let indexes = IndexDefinition.all(of: bare, numbering: numbering)
        let rTrees = RTreeIndex.all(of: bare, numbering: numbering)
        let derived = DerivedTriggers(of: bare, numbering: numbering)
        let names = joinTables.filter { stored.isUncertain($0) }.map {
            $0.uncertainty(isKept: stored.owners.contains($0.owner))
        }
        self = bare.with(
            indexes: indexes.definitions, triggers: rTrees.flatMap(\.triggers) + derived.triggers,
            virtualTables: rTrees.map(\.table), hasHistory: history,
            noticed: indexes.findings + derived.findings + names + stored.columnFindings)
    }

    private static func check(_ level: FrameworkLevel, history: Bool) throws {
        guard level >= .oldest, level <= .newest else {
            throw MigrationError(
                .unsupported, "No stores of the framework level \(level.number) are known.",
                place: "NSPersistenceFrameworkVersion",
                remedy: "Choose a level from \(FrameworkLevel.oldest.number) to \(FrameworkLevel.newest.number).")
        }
        if history, !level.hasPersistentHistory {
            throw MigrationError(
                .unsupported, "Framework level \(level.number) has no persistent history.",
                place: "NSPersistenceFrameworkVersion", remedy: "Choose a level of 851 or later, or omit the history.")
        }
    }

    /// SQLite's limit SQLITE_MAX_COLUMN, which Core Data does not change.
    static let columnLimit = 2_000

    private static func checkWidth(_ table: EntityTable) throws {
        guard table.columns.count > columnLimit else { return }
        throw MigrationError(
            .unsupported,
            "The table \(table.name) of \(table.rootEntityName) and its sub-entities would have "
                + "\(table.columns.count) columns; SQLite holds \(columnLimit).", place: table.rootEntityName,
            remedy:
                "Move attributes into an entity of a to-one relationship, or give its sub-entities tables "
                + "of their own by removing their parent.")
    }

    private static func checkNames(_ names: [String]) throws {
        var seen = Set(StoreSnapshot.coreTables)
        guard let twice = names.first(where: { !seen.insert($0).inserted }) else { return }
        throw MigrationError(
            .unsupported, "Two tables of this model would both be named \(twice).", place: twice,
            remedy: "Rename one of the entities or relationships, whose names differ only in case.")
    }

    /// The statements that create a new store's tables, indexes and triggers, in the order of Core Data's catalogue.
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

    /// The statements of the tables and their indexes, in groups of at most a few hundred tables.
    var tableGroups: [[String]] {
        let all = tables.map { (name: $0.name, sql: $0.sql) } + joinTables.map { (name: $0.name, sql: $0.sql) }
        return stride(from: 0, to: all.count, by: 250).map { start in
            tablesWithIndexes([Array(all[start..<min(start + 250, all.count)])])
        }
    }

    private func tablesWithIndexes(_ groups: [[(name: String, sql: String)]]) -> [String] {
        let byTable = Dictionary(grouping: indexes, by: \.table)
        return groups.flatMap { $0.flatMap { table in [table.sql] + (byTable[table.name] ?? []).map(\.sql) } }
    }

    /// The tables of every store, with the same SQL in every version.
    private var coreTables: [String] {
        let always = [
            "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
            "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
        ]
        return level.hasModelCache ? always + ["CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)"] : always
    }

    /// The rows of `Z_PRIMARYKEY` in a store without objects, including those of persistent history if enabled.
    package var primaryKeyRows: [PrimaryKeyRow] {
        let own = entityNumbers.map { name, number in
            let parent = model.entity(name)?.superentityName.flatMap { entityNumbers[$0] }
            return PrimaryKeyRow(number: number, name: name, superNumber: parent ?? 0, max: 0)
        }
        return own.sorted { $0.number < $1.number } + (hasHistory ? PersistentHistory(of: self).primaryKeyRows : [])
    }
}

extension String {
    /// The name as Core Data writes it: bare, or quoted where SQLite would not parse it as one name.
    package var sqlName: String {
        let isBare = utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "$"), 0x80...:
                true
            default: false
            }
        }
        guard isBare, let first = utf8.first else { return quotedName }
        return first == UInt8(ascii: "$") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) ? quotedName : self
    }

    /// Returns whether the SQL contains the name as a whole word, bare or quoted.
    package func names(_ name: String) -> Bool {
        if contains(name.quotedName) { return true }
        return split { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == "$") }.contains { $0 == name }
    }
}

extension [String] {
    /// The names, separated by commas.
    package var sqlList: String { map(\.sqlName).joined(separator: ", ") }
}
