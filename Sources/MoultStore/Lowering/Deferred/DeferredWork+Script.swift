import MoultBasics
import MoultModel
import MoultSQLite

extension DeferredWork {
    /// The statements of one task, in one transaction on the store itself.
    package struct Script: Sendable {
        /// Copies the old rows, if that is faster than renaming their table; nil otherwise.
        package let copying: StoreScript?
        /// The statements up to the point where both the old and the new rows exist.
        package let making: StoreScript
        /// The table with both the old and the new rows at that point; nil if the task rebuilds no table.
        package let rebuilt: Rebuilt?
        /// The statements that remove the old rows, and those that follow.
        package let leaving: StoreScript
        /// Whether the task drops objects of an app.
        package let dropsObjects: Bool
    }

    /// A table that was rebuilt while the old one still exists.
    package struct Rebuilt: Sendable {
        package struct Column: Sendable {
            package let name: String
            package let origin: String
            /// The entity numbers of the rows that use the column; nil for all.
            package let numbers: [Int]?
        }

        package let table: String
        package let old: String
        package let keys: [Column]
        package let columns: [Column]
        /// Whether `old` is a copy rather than the renamed table itself.
        let isCopied: Bool
        /// The condition for rows of a join table that are removed as duplicate pairs, as SQL over a row `s` of `old`;
        /// nil for none.
        package var repeated: String?

        /// The copy of the old rows, with unchanged columns.
        package var copy: Rebuilt {
            func same(_ columns: [Column]) -> [Column] {
                columns.map { Column(name: $0.origin, origin: $0.origin, numbers: nil) }
            }
            return Rebuilt(table: old, old: table, keys: same(keys), columns: same(columns), isCopied: true)
        }
    }

    /// - Throws: `internal` for a task of another store.
    package func script(for task: DeferredTask) throws -> Script {
        let gone = Set(objects.dropped.map(\.entry))
        let away = triggers.map(StoreScript.Statement.dropTrigger)
        let back = triggers.filter { !gone.contains($0) }.compactMap { StoreScript.Statement.putBack($0) }
        let (making, rebuilt, leaving) = try parts(of: task, without: gone)
        return Script(
            copying: rebuilt.flatMap { $0.isCopied ? StoreScript(statements: copying($0), isInPlace: true) : nil },
            making: StoreScript(statements: away + objects.dropStatements + making, isInPlace: true), rebuilt: rebuilt,
            leaving: StoreScript(statements: leaving + back, isInPlace: true), dropsObjects: !gone.isEmpty)
    }

    /// - Parameter gone: the app's own objects that are dropped.
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
            guard let rebuilt = rebuilt(task), let sql = freshSQL(task.name) else { break }
            return (making(rebuilt, sql, task), rebuilt, leaving(rebuilt, task, without: gone))
        }
        throw MigrationError(
            .internal, "The task is none of this store: \(task.sentence)", place: task.name,
            remedy: "Report this as a bug, with the model.")
    }

    private func making(_ rebuilt: Rebuilt, _ sql: String, _ task: DeferredTask) -> [StoreScript.Statement] {
        let all = rebuilt.keys + rebuilt.columns
        let names = all.map(\.name.quotedName).joined(separator: ", ")
        let values = all.map { column in
            let origin = "s.\(column.origin.quotedName)"
            return column.numbers.map { "CASE WHEN s.Z_ENT IN (\($0.sqlList)) THEN \(origin) END" } ?? origin
        }
        return [
            rebuilt.isCopied
                ? .dropTable(rebuilt.table, "Set the old table \(rebuilt.table) aside.")
                : .renameTable(rebuilt.table, to: rebuilt.old, "Set the old table \(rebuilt.table) aside."),
            .createTable(rebuilt.table, sql),
            .init(
                .fill, rebuilt.table, reads: [rebuilt.old],
                """
                INSERT INTO main.\(rebuilt.table.quotedName) (\(names)) SELECT \(values.joined(separator: ", ")) \
                FROM main.\(rebuilt.old.quotedName) AS s\(rebuilt.repeated.map { " WHERE NOT (\($0))" } ?? "") \
                ORDER BY s.rowid
                """, "Copy the rows of \(rebuilt.table).", rows: .counted(task.rows)),
        ]
    }

    /// Copies the old rows. Columns without a type store every value unchanged.
    private func copying(_ rebuilt: Rebuilt) -> [StoreScript.Statement] {
        let names = (rebuilt.copy.keys + rebuilt.copy.columns).map(\.name.quotedName)
        let list = names.joined(separator: ", ")
        let isKeyed = rebuilt.keys.count == 1
        let columns = isKeyed ? ([names[0] + " INTEGER PRIMARY KEY"] + names.dropFirst()).joined(separator: ", ") : list
        return [
            .init(
                .createTable, rebuilt.old, "CREATE TABLE main.\(rebuilt.old.quotedName) (\(columns))",
                "Make a copy of \(rebuilt.table)."),
            .init(
                .fill, rebuilt.old, reads: [rebuilt.table],
                """
                INSERT INTO main.\(rebuilt.old.quotedName) (\(list)) SELECT \(list) FROM main.\(rebuilt.table.quotedName) \
                ORDER BY rowid
                """, "Copy the old rows of \(rebuilt.table)."),
        ]
    }

    private func leaving(
        _ rebuilt: Rebuilt, _ task: DeferredTask, without gone: Set<Catalogue.Entry>
    ) -> [StoreScript.Statement] {
        let ours = fresh.indexes(of: rebuilt.table)
        let names = Set(ours.map(\.name))
        // An app's own index is dropped with the old table and has to be recreated.
        let foreign = snapshot.catalogue.indexes(of: rebuilt.table).filter { entry in
            !names.contains(entry.name) && !entry.name.hasPrefix("Z") && !gone.contains(entry)
        }.compactMap { StoreScript.Statement.putBack($0) }
        return [.dropTable(rebuilt.old, task.sentence)]
            + ours.map { .createIndex($0, rows: .counted(task.rows)) } + foreign
    }

    func freshSQL(_ name: String) -> String? { fresh.table(named: name)?.sql ?? fresh.joinTable(named: name)?.sql }

    func freshIndex(_ name: String) -> IndexDefinition? { fresh.indexes.first { $0.name == name } }

    // MARK: - Origins of columns

    private func rebuilt(_ task: DeferredTask) -> Rebuilt? {
        let name = task.name
        let old = DeferredName.make(for: name, avoiding: names)
        let isCopied = task.secondsOfCopy < DeferredTask.secondsOfRename(in: snapshot.catalogue)
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
                columns: columns.filter { $0.name != "Z_PK" }, isCopied: isCopied)
        }
        guard let join = fresh.joinTable(named: name), let before = actual.joinTable(named: name) else { return nil }
        let columns = join.columns.compactMap { column in
            before.column(column.role).map { Rebuilt.Column(name: column.name, origin: $0, numbers: nil) }
        }
        let keys = Set(join.keyColumns)
        let aside = JoinTable(name: old, owner: before.owner, columns: before.columns)
        return Rebuilt(
            table: name, old: old, keys: columns.filter { keys.contains($0.name) },
            columns: columns.filter { !keys.contains($0.name) },
            isCopied: isCopied && !before.mayRepeat, repeated: before.mayRepeat ? aside.isRepeated("s") : nil)
    }

    /// Returns the numbers of the entities whose rows use a column; nil if all entities of the table do.
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
