import MoultModel

extension StoreLayout {
    /// Creates the layout that Core Data gives a new store of `model`.
    ///
    /// - Parameters:
    ///   - framework: the level of the framework that writes (`NSPersistenceFrameworkVersion`), 230 to 1526.
    ///   - history: whether the store has the tables of persistent history.
    ///   - stored: the names that an existing store has chosen where the model leaves them open.
    /// - Throws: `unsupported` if two tables would have one name, or the level is none that was seen.
    package init(
        model: ManagedObjectModel, framework: Int = FrameworkLevel.newest.number, history: Bool = false
    ) throws {
        try self.init(model: model, framework: framework, history: history, keeping: StoredNames())
    }

    init(model: ManagedObjectModel, framework: Int, history: Bool, keeping stored: StoredNames) throws {
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
}
