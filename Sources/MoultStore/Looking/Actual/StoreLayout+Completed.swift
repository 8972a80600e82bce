import MoultModel
import MoultSQLite

extension StoreLayout {
    /// The layout that a real store has once its gaps are filled: as ``init(actual:model:)``, with what is missing as a
    /// new store has it.
    ///
    /// ``findings`` name each missing table and column, with the severity `error`.
    ///
    /// - Parameter gaps: gets what is missing.
    /// - Throws: `storeUnknown` if the store has none of the model's entities; `storeCorrupted` if a table has no key,
    ///   or where the entity of a number or a table is not known.
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

    /// By names alone where something is missing: then no number or table is assigned by elimination.
    private static func reading(
        _ snapshot: StoreSnapshot, _ model: ManagedObjectModel, _ findings: inout [Finding]
    ) throws -> (EntityNumbering, LayoutReading) {
        var found: [Finding] = []
        if let numbering = try? EntityNumbering(actual: snapshot, model: model, findings: &found),
            let reading = try? LayoutReading(snapshot, model: model, numbering: numbering),
            !reading.gaps.breaksReading
        {
            findings = found
            return (numbering, reading)
        }
        var missing: [PrimaryKeyRow] = []
        let numbering = try EntityNumbering(
            completing: snapshot, model: model, missing: &missing, findings: &findings)
        var reading = try LayoutReading(snapshot, model: model, numbering: numbering)
        reading.gaps.numbers = missing
        return (numbering, reading)
    }
}

extension SchemaGaps {
    /// Adds the indexes that the store lacks, and the triggers and R-trees that went with a missing table or column.
    fileprivate mutating func addObjects(
        of layout: StoreLayout, _ numbering: EntityNumbering, _ snapshot: StoreSnapshot
    ) throws {
        history = HistoryGaps(PersistentHistory(of: layout), in: snapshot)
        strangers = snapshot.catalogue.strangers(named: tableNames.union(history.tables.map(\.name)))
        // What a deferred migration has left to do is nothing that is missing.
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
