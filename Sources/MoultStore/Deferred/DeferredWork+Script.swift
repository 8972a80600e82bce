import MoultModel
import MoultSQLite

extension DeferredWork {
    /// The statements of one task, in one transaction on the store itself.
    package struct Script: Sendable {
        /// Up to where the old rows and the new ones are both there.
        package let making: StoreScript
        /// What lies in both then; nil where the task makes no table anew.
        package let rebuilt: Rebuilt?
        /// From where the old ones are gone.
        package let leaving: StoreScript
        /// Whether objects of an app go with the task.
        package let dropsObjects: Bool
    }

    /// A table that was made anew beside the old one.
    package struct Rebuilt: Sendable {
        package struct Column: Sendable {
            package let name: String
            package let origin: String
            /// The entity numbers of the rows that have it; nil for all.
            package let numbers: [Int]?
        }

        package let table: String
        package let old: String
        package let keys: [Column]
        package let columns: [Column]
    }

    /// - Throws: `internal` for a task of another store.
    package func script(for task: DeferredTask) throws -> Script {
        let objects = try objects()
        let gone = Set(objects.dropped.map(\.entry))
        let triggers = snapshot.catalogue.entries.filter { $0.kind == .trigger && $0.sql != nil }
        let away = triggers.map(StoreScript.Statement.dropTrigger)
        let back = triggers.filter { !gone.contains($0) }.compactMap { StoreScript.Statement.putBack($0) }
        let (making, rebuilt, leaving) = try parts(of: task, without: gone)
        return Script(
            making: StoreScript(statements: away + objects.dropStatements + making, isInPlace: true), rebuilt: rebuilt,
            leaving: StoreScript(statements: leaving + back, isInPlace: true), dropsObjects: !gone.isEmpty)
    }

    /// - Parameter gone: the app's own objects that go.
    private func parts(of task: DeferredTask, without gone: Set<Catalogue.Entry>) throws -> (
        making: [StoreScript.Statement], rebuilt: Rebuilt?, leaving: [StoreScript.Statement]
    ) {
        switch task.kind {
        case .dropTable:
            return ([], nil, [.dropTable(task.name, task.sentence, rows: .counted(task.rows))])
        case .dropIndex:
            return ([], nil, [.dropIndex(task.name, of: task.table, task.sentence, rows: .counted(task.rows))])
        case .makeIndex:
            guard let index = freshIndex(task.name) else { break }
            return ([], nil, [.init(.createIndex, index.table, index.sql, task.sentence, rows: .counted(task.rows))])
        case .rebuildTable:
            guard let rebuilt = rebuilt(task.name), let sql = freshSQL(task.name) else { break }
            return (making(rebuilt, sql, task), rebuilt, leaving(rebuilt, task, without: gone))
        }
        throw MigrationError(
            .internal, "The task is none of this store: \(task.sentence)", place: task.name,
            remedy: "Report this to Moult with the model.")
    }

    private func making(_ rebuilt: Rebuilt, _ sql: String, _ task: DeferredTask) -> [StoreScript.Statement] {
        let all = rebuilt.keys + rebuilt.columns
        let names = all.map(\.name.quotedName).joined(separator: ", ")
        let values = all.map { column in
            let origin = "s.\(column.origin.quotedName)"
            return column.numbers.map { "CASE WHEN s.Z_ENT IN (\($0.sqlList)) THEN \(origin) END" } ?? origin
        }
        return [
            .renameTable(rebuilt.table, to: rebuilt.old, "Set the old table \(rebuilt.table) aside."),
            .createTable(rebuilt.table, sql),
            .init(
                .fill, rebuilt.table, reads: [rebuilt.old],
                """
                INSERT INTO main.\(rebuilt.table.quotedName) (\(names)) SELECT \(values.joined(separator: ", ")) \
                FROM main.\(rebuilt.old.quotedName) AS s ORDER BY s.rowid
                """, "Copy the rows of \(rebuilt.table).", rows: .counted(task.rows)),
        ]
    }

    private func leaving(
        _ rebuilt: Rebuilt, _ task: DeferredTask, without gone: Set<Catalogue.Entry>
    ) -> [StoreScript.Statement] {
        let ours = fresh.indexes.filter { $0.table == rebuilt.table }
        let names = Set(ours.map(\.name))
        // An index that is somebody else's goes with the old table and has to come back.
        let foreign = snapshot.catalogue.entries.filter { entry in
            entry.kind == .index && entry.tableName == rebuilt.table && !names.contains(entry.name)
                && !entry.name.hasPrefix("Z") && !gone.contains(entry)
        }.compactMap { StoreScript.Statement.putBack($0) }
        return [.dropTable(rebuilt.old, task.sentence)]
            + ours.map { .createIndex($0, rows: .counted(task.rows)) } + foreign
    }

    func freshSQL(_ name: String) -> String? { fresh.table(named: name)?.sql ?? fresh.joinTable(named: name)?.sql }

    func freshIndex(_ name: String) -> IndexDefinition? { fresh.indexes.first { $0.name == name } }
}

// MARK: - Which column comes from which

extension DeferredWork {
    private func rebuilt(_ name: String) -> Rebuilt? {
        let taken = Set(snapshot.catalogue.entries.map { $0.name.uppercased() })
        let old = DeferredName.make(for: name, avoiding: taken)
        if let table = fresh.table(named: name),
            let before = actual.table(named: name)
        {
            let columns = table.columns.compactMap { column in
                before.column(column.role).map {
                    Rebuilt.Column(name: column.name, origin: $0, numbers: numbers(of: column.role, in: table))
                }
            }
            return Rebuilt(
                table: name, old: old, keys: columns.filter { $0.name == "Z_PK" },
                columns: columns.filter { $0.name != "Z_PK" })
        }
        guard let join = fresh.joinTable(named: name),
            let before = actual.joinTable(named: name)
        else { return nil }
        let columns = join.columns.compactMap { column in
            before.column(column.role).map { Rebuilt.Column(name: column.name, origin: $0, numbers: nil) }
        }
        let keys = Set(join.keyColumns)
        return Rebuilt(
            table: name, old: old, keys: columns.filter { keys.contains($0.name) },
            columns: columns.filter { !keys.contains($0.name) })
    }

    /// The numbers of the entities whose rows have a column; nil where all of the table's have it.
    private func numbers(of role: EntityTable.Column.Role, in table: EntityTable) -> [Int]? {
        let name: String
        switch role {
        case .primaryKey, .entity, .optimisticLock, .unknown: return nil
        case .attribute(let entity, _), .toOne(let entity, _), .toOneEntity(let entity, _), .order(let entity, _):
            name = entity
        case .inverselessToMany(let entity, let relationship), .inverselessOrder(let entity, let relationship):
            name = fresh.model.entity(entity)?.relationship(relationship)?.destinationEntityName ?? entity
        }
        guard let owner = fresh.model.entity(name), let root = fresh.model.entity(table.rootEntityName) else {
            return nil
        }
        let numbers = fresh.numbers(ofEntityAndDescendants: owner)
        return numbers == fresh.numbers(ofEntityAndDescendants: root) ? nil : numbers
    }
}
