import MoultModel
import MoultSQLite

extension DeferredWork {
    /// What goes with a task, counted.
    ///
    /// - Parameter connection: the store, as `main`.
    package func losses(of task: DeferredTask, over connection: Connection) throws -> [MigrationLoss] {
        switch task.kind {
        case .dropIndex, .makeIndex: return []
        case .dropTable:
            let name = DeferredName.original(of: task.name) ?? task.name
            return task.rows == 0 ? [] : [MigrationLoss(.rows, .unexplained, entity: name, count: task.rows)]
        case .rebuildTable:
            let table = actual.tables.first { $0.name == task.name }
            return try (table?.columns ?? []).filter { $0.role == .unknown }.compactMap { column in
                let count = try connection.integer(
                    "SELECT count(\(column.name.quotedName)) FROM main.\(task.name.quotedName)")
                guard let count, count > 0 else { return nil }
                return MigrationLoss(
                    .values, .unexplained, entity: task.name,
                    property: DeferredName.original(of: column.name) ?? column.name, count: count)
            }
        }
    }
}
