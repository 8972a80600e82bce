import MoultBasics
import MoultModel
import MoultSQLite

/// The work that a deferred migration has left in a store: the differences between its tables and those of a new store
/// of its version.
///
/// No list of tasks is stored that could be lost or become outdated. Work done by another tool is simply no longer a
/// task. Core Data's own key in the metadata indicates that work is pending.
package struct DeferredWork: Sendable {
    /// The tasks in the order of execution; those that free space come first.
    package private(set) var tasks: [DeferredTask]
    /// The current store, followed by a new store of its version.
    package let actual: StoreLayout
    package let fresh: StoreLayout
    let snapshot: StoreSnapshot
    /// The definitions that an app has added to the tables by hand.
    let definitions: KeptDefinitions
    /// The objects of an app that contradict the final state of the store.
    let objects: UserSchemaObjects
    let triggers: [Catalogue.Entry]
    /// All names in the catalogue, in capitals.
    let names: Set<String>

    /// - Parameters:
    ///   - version: the version of the store.
    ///   - connection: the store; if given, the tasks are measured, which reads the tables and indexes they affect.
    /// - Throws: `deferredWork` if another tool has deferred work in an unknown way.
    package init(_ snapshot: StoreSnapshot, version: ModelVersion, measuredOver connection: Connection? = nil) throws {
        self.snapshot = snapshot
        let version = try version.held(by: snapshot.hashes)
        actual = try StoreLayout(actual: snapshot, model: version.model)
        let bare = try StoreLayout(
            model: version.model, framework: snapshot.framework.number, history: snapshot.hasHistory,
            keeping: PhysicalNames(of: actual))
        definitions = try KeptDefinitions(
            actual, to: bare, version: version.name,
            roots: Dictionary(actual.tables.map { ($0.rootEntityName, $0.rootEntityName) }) { first, _ in first },
            isPending: true)
        fresh = bare.adding(definitions)
        try Self.check(snapshot, actual, fresh)
        let tasks = snapshot.metadata.hasDeferredWork ? Self.tasks(snapshot.catalogue, actual, fresh) : []
        objects =
            tasks.isEmpty
            ? UserSchemaObjects() : try UserSchemaObjects(snapshot.catalogue, from: actual, to: fresh, isPending: true)
        triggers = snapshot.catalogue.entries.filter { $0.kind == .trigger && $0.sql != nil }
        names = Set(snapshot.catalogue.entries.map { $0.name.uppercased() })
        self.tasks =
            try connection.map { [fresh] in try Self.measure(tasks, snapshot.catalogue, fresh, over: $0) } ?? tasks
    }

    /// Returns the remaining work after a task that the connection has just done.
    ///
    /// - Returns: nil if, according to the catalogue, the task is still to be done.
    package func without(_ task: DeferredTask, doneOver connection: Connection) throws -> DeferredWork? {
        let sql = try connection.rows(
            "SELECT sql FROM main.sqlite_master WHERE type IN ('table', 'index') AND name = ?", [.text(task.name)]
        ) { $0.text(0) ?? "" }.first
        let isDone =
            switch task.kind {
            case .dropTable, .dropIndex: sql == nil
            case .rebuildTable: sql == freshSQL(task.name)
            case .makeIndex: sql == freshIndex(task.name)?.sql
            }
        guard isDone else { return nil }
        var left = self
        if let place = left.tasks.firstIndex(where: { $0.kind == task.kind && $0.name == task.name }) {
            left.tasks.remove(at: place)
        }
        return left
    }

    private static func check(_ snapshot: StoreSnapshot, _ actual: StoreLayout, _ fresh: StoreLayout) throws {
        if let fault = actual.findings.first(where: { $0.severity == .error }) {
            throw MigrationError(
                .storeCorrupted, fault.message, place: fault.place, remedy: MigrationError.damagedStoreRemedy)
        }
        guard actual.entityNumbers == fresh.entityNumbers else {
            throw snapshot.unknownWork("its entities have other numbers than those of a fresh store")
        }
    }

    private static func tasks(_ catalogue: Catalogue, _ actual: StoreLayout, _ fresh: StoreLayout) -> [DeferredTask] {
        let rebuilt = rebuiltTables(catalogue, actual, fresh)
        let names = Set(rebuilt.map(\.name))
        let wanted = Set(fresh.indexes.map(\.sql))
        let kept = Set(fresh.tables.map(\.name) + fresh.joinTables.map(\.name)).subtracting(names)
        let stale = catalogue.entries.filter { entry in
            entry.kind == .index && kept.contains(entry.tableName) && entry.name.hasPrefix("Z")
                && entry.sql.map { !wanted.contains($0) } == true
        }
        let present = Set(catalogue.entries.compactMap(\.sql))
        return catalogue.leftoverTables.map { DeferredTask(.dropTable, $0, of: $0) }
            + stale.map { DeferredTask(.dropIndex, $0.name, of: $0.tableName) }
            + rebuilt
            + fresh.indexes.filter { kept.contains($0.table) && !present.contains($0.sql) }.map {
                DeferredTask(.makeIndex, $0.name, of: $0.table)
            }
    }

    private static func rebuiltTables(_ catalogue: Catalogue, _ actual: StoreLayout, _ fresh: StoreLayout)
        -> [DeferredTask]
    {
        let tables = fresh.tables.filter { catalogue.table($0.name)?.sql != $0.sql }.map { table in
            let columns = actual.table(named: table.name)?.columns.filter { $0.role == .unknown } ?? []
            return DeferredTask(
                .rebuildTable, table.name, of: table.name,
                columns: columns.map { DeferredName.original(of: $0.name) ?? $0.name })
        }
        return tables
            + fresh.joinTables.filter { catalogue.table($0.name)?.sql != $0.sql }.map {
                DeferredTask(.rebuildTable, $0.name, of: $0.name)
            }
    }

    private static func measure(
        _ tasks: [DeferredTask], _ catalogue: Catalogue, _ fresh: StoreLayout, over connection: Connection
    ) throws -> [DeferredTask] {
        let renaming = DeferredTask.secondsOfRename(in: catalogue)
        return try tasks.map { task in
            var task = task
            task.rows = try connection.integer("SELECT count(*) FROM main.\(task.table.quotedName)") ?? 0
            task.bytes = try connection.bytes(of: task.kind == .dropIndex ? task.name : task.table)
            task.indexes =
                task.kind == .rebuildTable
                ? fresh.indexes(of: task.table).count : catalogue.indexes(of: task.name).count
            task.aside = min(task.secondsOfCopy, renaming)
            return task
        }
    }
}

extension Catalogue {
    /// The tables that deferred migrations have set aside.
    package var leftoverTables: [String] { tables.map(\.name).filter(DeferredName.isOne) }
}

extension Connection {
    /// Returns the size of a table or an index in the file; nil if this SQLite was built without the required option.
    package func bytes(of name: String) throws -> Int64? {
        try attempt {
            try integer("SELECT pgsize FROM dbstat WHERE name = ? AND aggregate = TRUE", [.text(name)])
        } ?? nil
    }
}

extension StoreSnapshot {
    /// Checks for deferred work of other tools.
    ///
    /// - Throws: `deferredWork` if another tool seems to have set aside tables that Moult does not know.
    package func checkDeferredWork() throws {
        guard metadata.hasDeferredWork else { return }
        let roots = Set(entityRows.filter { $0.superNumber == 0 }.map { "Z" + $0.name.uppercased() })
        let strange = catalogue.tables.map(\.name).first { name in
            let own = Set((columns[name] ?? []).map(\.name))
            return own.isSuperset(of: ["Z_PK", "Z_ENT"]) && !name.hasPrefix("A") && !DeferredName.isOne(name)
                && !roots.contains(name.uppercased())
        }
        if let strange { throw unknownWork("it has the table \(strange)") }
    }

    fileprivate func unknownWork(_ what: String) -> MigrationError {
        MigrationError(
            .deferredWork,
            "A lightweight migration of this store has put work off in a way that Moult does not know: \(what).",
            place: path,
            remedy: "Open the store once with the app that migrated it and let it finish the deferred work.")
    }
}

extension DeferredWork {
    /// Returns the counted losses of a task. Those of the first task include objects that an app has since created on
    /// removed parts.
    ///
    /// - Parameter connection: the store, as `main`.
    package func losses(of task: DeferredTask, over connection: Connection) throws -> [MigrationLoss] {
        try objects.losses(to: "", over: connection) + values(of: task, over: connection)
    }

    private func values(of task: DeferredTask, over connection: Connection) throws -> [MigrationLoss] {
        switch task.kind {
        case .dropIndex, .makeIndex: return []
        case .dropTable:
            let name = DeferredName.original(of: task.name) ?? task.name
            return task.rows == 0 ? [] : [MigrationLoss(.rows, .unexplained, entity: name, count: task.rows)]
        case .rebuildTable:
            let columns =
                actual.table(named: task.name)?.columns.filter { $0.role == .unknown }.map(\.name)
                ?? actual.joinTable(named: task.name)?.columns.filter { $0.role == .unknown }.map(\.name) ?? []
            let repeated = try repeatedLinks(in: task.name, over: connection)
            let values = try connection.valueCounts(of: columns, in: task.name).filter { $0.count > 0 }
            return repeated
                + values.map { column, count in
                    MigrationLoss(
                        .values, .unexplained, entity: task.name, property: DeferredName.original(of: column) ?? column,
                        count: count)
                } + definitions.losses.filter { $0.entityName == task.name }
        }
    }

    private func repeatedLinks(in table: String, over connection: Connection) throws -> [MigrationLoss] {
        guard let join = actual.joinTable(named: table), join.mayRepeat else { return [] }
        let count = try connection.integer(
            "SELECT count(*) FROM main.\(table.quotedName) AS s WHERE \(join.isRepeated("s"))")
        guard let count, count > 0 else { return [] }
        return [MigrationLoss(.links, .repeated, entity: join.owner.entity, property: join.owner.name, count: count)]
    }

    /// Whether the tasks remove any objects of an app.
    package var losesObjects: Bool {
        let rebuilt = tasks.filter { $0.kind == .rebuildTable }.map(\.name)
        return definitions.losses.contains { rebuilt.contains($0.entityName) } || !objects.dropped.isEmpty
    }
}
