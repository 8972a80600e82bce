import MoultModel
import MoultSQLite

extension StoreLayout {
    /// The layout of a real store: what `model` needs, found by name among the tables and columns that are there.
    ///
    /// The store may hold a part of the model's entities (a configuration): those that its metadata name. Whatever the
    /// model does not explain is kept as `unknown` and told in ``findings``; so is a missing column, with the severity
    /// `error`.
    ///
    /// - Parameters:
    ///   - snapshot: the store.
    ///   - model: the model that made the store, as recognition found it.
    /// - Throws: `storeUnknown` if the store has none of the model's entities; `storeCorrupted` if an entity has no
    ///   number or no table.
    package init(actual snapshot: StoreSnapshot, model: ManagedObjectModel) throws {
        var findings: [Finding] = []
        let numbering = try EntityNumbering(actual: snapshot, model: model, findings: &findings)
        let reading = try LayoutReading(snapshot, model: model, numbering: numbering)
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

    /// Indexes that the model does not ask for, left by earlier migrations, and such as it asks for in vain.
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
    /// Deferred work is not a fault.
    fileprivate var asDeferred: Finding {
        guard code == "column-unknown" else { return self }
        return Finding(
            code: "column-deferred", severity: .note, place: place,
            message: "The column belongs to an older version and is still to be dropped.",
            remedy: "\(.finish) drops it.")
    }
}

extension StoreSnapshot {
    /// The indexes of a layout's tables.
    func indexes(of layout: StoreLayout) -> [IndexDefinition] {
        let tables = Set(layout.tables.map(\.name) + layout.joinTables.map(\.name))
        return catalogue.entries.compactMap { entry in
            guard entry.kind == .index, let sql = entry.sql, tables.contains(entry.tableName) else { return nil }
            return IndexDefinition(
                name: entry.name, table: entry.tableName, isUnique: entry.isUnique, sql: sql)
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
