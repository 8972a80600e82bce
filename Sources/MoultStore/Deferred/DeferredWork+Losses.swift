import MoultModel
import MoultSQLite

extension DeferredWork {
    /// Returns the losses of a task, counted; with the first one also whatever an app has made since over something
    /// that leaves.
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

    /// Whether anything of an app's own goes with the tasks.
    package var losesObjects: Bool {
        let rebuilt = tasks.filter { $0.kind == .rebuildTable }.map(\.name)
        return definitions.losses.contains { rebuilt.contains($0.entityName) } || !objects.dropped.isEmpty
    }
}
