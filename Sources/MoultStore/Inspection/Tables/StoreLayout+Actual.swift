import MoultBasics
import MoultModel
import MoultSQLite

extension StoreLayout {
    /// Creates the layout of an existing store, by finding the tables and columns that `model` needs by name.
    ///
    /// The store may contain only the entities of a configuration: those named in its metadata. Tables and columns that
    /// the model does not explain are kept as `unknown` and reported in ``findings``. Missing columns are reported with
    /// the severity `error`.
    ///
    /// - Parameters:
    ///   - snapshot: the store.
    ///   - model: the model that created the store, as determined by recognition.
    /// - Throws: `storeUnknown` if the store has none of the model's entities; `storeCorrupted` if an entity has no
    ///   number or no table.
    package init(actual snapshot: StoreSnapshot, model: ManagedObjectModel) throws {
        var findings: [Finding] = []
        let numbering = try EntityNumbering(actual: snapshot, model: model, findings: &findings)
        let reading = try LayoutReader(snapshot, model: model, numbering: numbering)
        try reading.gaps.requireTables()
        let bare = StoreLayout(
            model: model, level: snapshot.framework, entityNumbers: numbering.numbers, tables: reading.tables,
            joinTables: reading.joinTables)
        findings += reading.findings
        if snapshot.metadata.hasDeferredWork { findings = findings.map(\.asDeferred) }
        self = bare.with(
            indexes: snapshot.indexes(of: bare), triggers: snapshot.catalogue.triggerDefinitions,
            virtualTables: snapshot.catalogue.virtualTables, hasHistory: snapshot.hasHistory, noticed: findings,
            actualNumbering: numbering)
    }

    /// Returns findings for indexes left by earlier migrations, which the model does not declare, and for declared
    /// indexes that are missing.
    func indexFindings(_ numbering: EntityNumbering) -> [Finding] {
        let expected = Set(IndexDefinition.all(of: self, numbering: numbering).definitions.map(\.name))
        let found = Set(indexes.map(\.name))
        let left = indexes.map(\.name).filter { !expected.contains($0) }.map { name in
            Finding(
                code: "index-left-over", severity: .note, place: name,
                message: "The model has no index \(name); an earlier migration may have left it.")
        }
        let missing = expected.subtracting(found).sorted().map { name in
            Finding(
                code: "index-missing", severity: .note, place: name,
                message: "The index \(name) of the model is missing in the store.")
        }
        return left + missing
    }
}

extension Finding {
    /// The finding for a column that deferred work will drop, which is not a fault.
    fileprivate var asDeferred: Finding {
        guard code == "column-unknown" else { return self }
        return Finding(
            code: "column-deferred", severity: .note, place: place,
            message: "The column belongs to an older version and is still to be dropped.",
            remedy: "\(.finish) drops it.")
    }
}

extension StoreSnapshot {
    /// Returns the indexes of a layout's tables.
    func indexes(of layout: StoreLayout) -> [IndexDefinition] {
        let tables = Set(layout.tables.map(\.name) + layout.joinTables.map(\.name))
        return catalogue.entries.compactMap { entry in
            guard entry.kind == .index, let sql = entry.sql, tables.contains(entry.tableName) else { return nil }
            return IndexDefinition(name: entry.name, table: entry.tableName, isUnique: entry.isUnique, sql: sql)
        }
    }
}

extension Catalogue {
    var triggerDefinitions: [TriggerDefinition] {
        entries.compactMap { entry in
            guard entry.kind == .trigger, let sql = entry.sql else { return nil }
            return TriggerDefinition(name: entry.name, table: entry.tableName, sql: sql)
        }
    }

    var virtualTables: [VirtualTable] {
        tables.filter(\.isVirtual).compactMap { entry in
            entry.sql.map { VirtualTable(name: entry.name, sql: $0, fillStatement: nil) }
        }
    }
}

extension StoreLayout {
    /// Creates the layout that an existing store has once its gaps are filled: like ``init(actual:model:)``, with
    /// missing parts as in a new store.
    ///
    /// ``findings`` name each missing table and column, with the severity `error`.
    ///
    /// - Parameter gaps: receives the missing parts.
    /// - Throws: `storeUnknown` if the store has none of the model's entities; `storeCorrupted` if a table has no key,
    ///   or if the entity of a number or a table is not known.
    package init(completing snapshot: StoreSnapshot, model: ManagedObjectModel, gaps: inout SchemaGaps) throws {
        var findings: [Finding] = []
        let (numbering, reading) = try Self.reading(snapshot, model, &findings)
        let completed = reading.completed(numbering)
        let bare = StoreLayout(
            model: model, level: snapshot.framework, entityNumbers: numbering.numbers, tables: completed.tables,
            joinTables: completed.joinTables)
        gaps = reading.gaps
        try gaps.addObjects(of: bare, numbering, snapshot)
        self = bare.with(
            indexes: snapshot.indexes(of: bare), triggers: snapshot.catalogue.triggerDefinitions,
            virtualTables: snapshot.catalogue.virtualTables, hasHistory: snapshot.hasHistory,
            noticed: findings + gaps.findings + reading.findings)
    }

    /// Reads the layout. If anything is missing, it assigns no number or table by elimination, only by name.
    private static func reading(
        _ snapshot: StoreSnapshot, _ model: ManagedObjectModel, _ findings: inout [Finding]
    ) throws -> (EntityNumbering, LayoutReader) {
        var found: [Finding] = []
        if let numbering = try? EntityNumbering(actual: snapshot, model: model, findings: &found),
            let reading = try? LayoutReader(snapshot, model: model, numbering: numbering),
            !reading.gaps.breaksReading
        {
            findings = found
            return (numbering, reading)
        }
        var missing: [PrimaryKeyRow] = []
        let numbering = try EntityNumbering(completing: snapshot, model: model, missing: &missing, findings: &findings)
        var reading = try LayoutReader(snapshot, model: model, numbering: numbering)
        reading.gaps.numbers = missing
        return (numbering, reading)
    }
}

extension SchemaGaps {
    /// Adds the indexes that the store lacks, and the triggers and R-trees lost together with a table or column.
    fileprivate mutating func addObjects(
        of layout: StoreLayout, _ numbering: EntityNumbering, _ snapshot: StoreSnapshot
    ) throws {
        history = HistoryGaps(PersistentHistory(of: layout), in: snapshot)
        strangers = snapshot.catalogue.strangers(named: tableNames.union(history.tables.map(\.name)))
        // The remaining work of a deferred migration is not a gap.
        if !snapshot.metadata.hasDeferredWork {
            let history = snapshot.keepsHistory ? PersistentHistory(of: layout).indexes : []
            let own = IndexDefinition.all(of: layout, numbering: numbering).definitions
            try addIndexes(own + history, snapshot.catalogue)
        }
        let present = Set(snapshot.catalogue.entries.map(\.name))
        guard breaksReading else { return }
        let rTrees = RTreeIndex.all(of: layout, numbering: numbering)
        let made = Set(tableNames).union(columns.map(\.table))
        triggers = (rTrees.flatMap(\.triggers) + DerivedTriggers(of: layout, numbering: numbering).triggers)
            .filter { trigger in
                !present.contains(trigger.name)
                    && (made.contains(trigger.table) || made.contains { trigger.sql.names($0) })
            }
        virtualTables = rTrees.map(\.table).filter { table in
            !present.contains(table.name) && triggers.contains { $0.sql.names(table.name) }
        }
    }
}

extension StoreLayout {
    /// Creates the layout of a damaged store from its readable catalogue. Missing tables and columns are left out.
    ///
    /// - Parameters:
    ///   - numbers: the readable entity numbers, by the entities' names.
    package init(
        damaged catalogue: Catalogue, columns: TableColumns, numbers: [String: Int],
        model: ManagedObjectModel, framework: Int
    ) {
        let level = FrameworkLevel(framework)
        let numbering = EntityNumbering(of: model, known: numbers)
        var tables = CatalogueTables(catalogue, columns: columns)
        var findings: [Finding] = []
        let entityTables = numbering.roots(in: model).compactMap { root in
            var missing: [EntityTable.Column] = []
            return try? EntityTable(
                EntityTable(root: root, in: model, numbering: numbering, level: level), formerNames: [], in: &tables,
                missing: &missing, findings: &findings)
        }
        self.init(
            model: model, level: level, entityNumbers: numbering.numbers, tables: entityTables,
            joinTables: JoinTable.remaining(JoinTable.all(of: model, numbering: numbering), in: &tables))
    }
}

extension JoinTable {
    /// The relationships whose pairs the table stores; they identify the same table in another store.
    package var ends: Set<RelationshipReference> { Set(relationships) }
}

extension EntityNumbering {
    /// Uses the known numbers if every entity has one; otherwise those of a new store.
    fileprivate init(of model: ManagedObjectModel, known: [String: Int]) {
        let fresh = EntityNumbering(of: model)
        let numbers = known.filter { fresh.numbers[$0.key] != nil }
        guard Set(numbers.values).count == fresh.entities.count else {
            self = fresh
            return
        }
        self.init(
            entities: fresh.entities.sorted { numbers[$0.name, default: 0] < numbers[$1.name, default: 0] },
            numbers: numbers)
    }
}
