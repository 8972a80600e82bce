import MoultModel
import MoultSQLite

extension DeferredLowering {
    mutating func lower(_ table: EntityTable) {
        guard let from = origins.first(where: { $0.value == table.name })?.key,
            let old = lowering.source.table(named: from)
        else { return isUndoing ? takeBack(table) : make(table.name, table.sql) }
        guard table.constraints == old.constraints else {
            obstacles.append("the uniqueness of \(table.name) changes")
            return
        }
        // A column that is still to be dropped counts too.
        let names = Set(old.columns.map(\.name)).union(table.columns.map(\.name))
        guard names.count <= StoreLayout.columnLimit else {
            obstacles.append("\(table.name) would have \(names.count) columns until the old ones are dropped")
            return
        }
        let before = statements.count
        rename(from, to: table.name)
        let leaving = lowerColumns(of: table, from: old)
        guard statements.count > before || lowering.catalogue.table(from)?.sql != table.sql else { return }
        let members = lowering.contributions(toTableOf: table.rootEntityName)
        tasks.append(
            DeferredTask(
                .rebuildTable, table.name, of: table.name, columns: leaving,
                rows: lowering.rows(of: members.map(\.source.name)),
                indexes: lowering.destination.indexes(of: table.name).count))
    }

    mutating func make(_ name: String, _ sql: String) {
        guard !taken.contains(name.uppercased()) else {
            obstacles.append("the name \(name) is taken")
            return
        }
        taken.insert(name.uppercased())
        statements.append(.createTable(name, sql))
    }

    mutating func rename(_ from: String, to name: String) {
        guard from != name else { return }
        guard !taken.contains(name.uppercased()) else {
            obstacles.append("the name \(name) is taken")
            return
        }
        taken.remove(from.uppercased())
        taken.insert(name.uppercased())
        statements.append(.renameTable(from, to: name, "Rename the table \(from) to \(name)."))
    }

    // MARK: - Columns

    /// - Returns: the removed columns, by their names in the older version.
    private mutating func lowerColumns(of table: EntityTable, from old: EntityTable) -> [String] {
        var kept: [(column: String, from: String)] = []
        var added: [(column: EntityTable.Column, value: SQLiteValue)] = []
        var used: Set<String> = []
        for column in table.columns where column.role != .primaryKey {
            switch origin(of: column, in: table) {
            case .column(let from) where used.contains(from):
                obstacles.append("\(table.name).\(column.name) is a copy of \(from)")
            case .column(let from) where old.columns.first(where: { $0.name == from })?.type != column.type:
                obstacles.append("\(table.name).\(column.name) changes its type")
            case .column(let from):
                kept.append((column.name, from))
                used.insert(from)
            case .literal(let value) where isUndoing:
                if let old = takeBack(column, of: table, old, value) {
                    kept.append(old)
                    used.insert(old.from)
                }
            case .literal(let value): added.append((column, value))
            case .filled, .converted, .expression, nil:
                obstacles.append("\(table.name).\(column.name) has to be filled")
            }
        }
        let leaving = old.columns.filter { $0.role != .primaryKey && !used.contains($0.name) }.map(\.name)
        setAside(leaving, of: table, old)
        renameColumns(kept.filter { $0.column != $0.from }, of: table.name, old)
        for (column, value) in added {
            statements.append(.addColumn(column.name, column.type, standard: value, to: table.name))
        }
        return leaving.map { DeferredName.original(of: $0) ?? $0 }
    }

    /// Returns the origin of a column's values; nil if its rows would have to be written. The origin is a column of the
    /// same table, or a constant that SQLite reads from the table's text for each row.
    private func origin(of column: EntityTable.Column, in table: EntityTable) -> ColumnSource? {
        let members = lowering.contributions(toTableOf: table.rootEntityName).filter {
            lowering.isPart(column.role, of: $0)
        }
        var values: Set<ColumnSource> = []
        for member in members {
            guard
                let value = lowering.value(of: column, in: table, member) ?? lowering.missingOrder(column.role, member)
            else { return nil }
            values.insert(value)
        }
        guard values.count < 2 else { return nil }
        if case .literal(let value)? = values.first, !value.hasLiteral { return nil }
        return values.first ?? .null
    }

    /// Renames leftover columns whose names the new version needs; all others keep their names.
    private mutating func setAside(_ leaving: [String], of table: EntityTable, _ old: EntityTable) {
        let wanted = Set(table.columns.map { $0.name.uppercased() })
        var names = Set(old.columns.map { $0.name.uppercased() }).union(wanted)
        for name in leaving where wanted.contains(name.uppercased()) {
            let other = DeferredName.make(for: name, avoiding: names)
            names.insert(other.uppercased())
            statements.append(
                .renameColumn(name, to: other, of: table.name, "Set the column \(name) of \(table.name) aside."))
        }
    }

    /// Renames columns. Two columns may swap names, so a column whose new name is still in use is renamed by way of a
    /// third name.
    private mutating func renameColumns(
        _ renames: [(column: String, from: String)], of table: String, _ old: EntityTable
    ) {
        let present = Set(renames.map { $0.from.uppercased() })
        var names = Set(old.columns.map { $0.name.uppercased() })
        var last: [StoreScript.Statement] = []
        for (column, from) in renames {
            guard present.contains(column.uppercased()) else {
                last.append(.renameColumn(from, to: column, of: table))
                continue
            }
            let other = DeferredName.make(for: column, avoiding: names)
            names.insert(other.uppercased())
            let sentence = "Rename the column \(from) of \(table) to \(column)."
            statements.append(.renameColumn(from, to: other, of: table, sentence))
            last.append(.renameColumn(other, to: column, of: table, sentence))
        }
        statements += last
    }
}

extension StoreLowering {
    /// Returns NULL if an order column has no lists to order; nil if an order would have to be created.
    fileprivate func missingOrder(_ role: EntityTable.Column.Role, _ contribution: RowSource) -> ColumnSource? {
        let isEmpty =
            switch role {
            case .order(let entity, let name): links(entity, name, of: contribution).isEmpty
            case .inverselessOrder(let entity, let name):
                inverselessLinks(.init(entity: entity, name: name), contribution).isEmpty
            default: false
            }
        return isEmpty ? .null : nil
    }
}

/// Undoing a migration while work is pending, by restoring what it has set aside.
extension DeferredLowering {
    /// Restores the table of an entity that only the older version has.
    mutating func takeBack(_ table: EntityTable) {
        guard let name = leftover([table.name]) else { return }
        rename(name, to: table.name)
        tasks.append(DeferredTask(.rebuildTable, table.name, of: table.name))
        for column in table.columns { clearDangling(column, of: table) }
    }

    /// Restores the table of a relationship that only the older version has, without pairs whose objects are gone.
    mutating func takeBack(_ join: JoinTable) {
        guard let name = leftover(join.names) else { return }
        rename(name, to: join.name)
        tasks.append(DeferredTask(.rebuildTable, join.name, of: join.name))
        for column in join.columns {
            guard case .source(let reference) = column.role,
                let target = lowering.destination.table(forEntity: reference.entity)?.name
            else { continue }
            settling.append(
                .init(
                    .delete, join.name, reads: [target],
                    """
                    DELETE FROM main.\(join.name.quotedName) WHERE \(column.name.quotedName) NOT IN \
                    (SELECT Z_PK FROM main.\(target.quotedName))
                    """, "Leave out pairs of \(join.name) whose objects are gone.", rows: .unknown))
        }
    }

    /// - Parameter originals: the possible former names of the table.
    private mutating func leftover(_ originals: [String]) -> String? {
        let all = Set(originals.map { $0.uppercased() })
        let names = lowering.catalogue.leftoverTables.filter {
            DeferredName.original(of: $0).map { all.contains($0.uppercased()) } == true
        }
        guard names.count == 1 else {
            let name = originals.first ?? ""
            obstacles.append(names.isEmpty ? "the table \(name) is gone" : "several tables were \(name)")
            return nil
        }
        return names.first
    }

    /// Restores the column of a property that only the older version has.
    ///
    /// - Parameter value: the value for objects that were created since.
    mutating func takeBack(
        _ column: EntityTable.Column, of table: EntityTable, _ old: EntityTable, _ value: SQLiteValue
    ) -> (column: String, from: String)? {
        let names = old.leftovers(of: column)
        guard names.count == 1, let from = names.first else {
            obstacles.append(
                names.isEmpty
                    ? "the column \(table.name).\(column.name) is gone"
                    : "several columns were \(table.name).\(column.name)")
            return nil
        }
        if value != .null, case .attribute(let name, _) = column.role,
            let entity = lowering.destination.model.entity(name)
        {
            let numbers = lowering.destination.numbers(ofEntityAndDescendants: entity)
            settling.append(
                .init(
                    .update, table.name,
                    """
                    UPDATE main.\(table.name.quotedName) SET \(column.name.quotedName) = \(value.literal) \
                    WHERE \(column.name.quotedName) IS NULL AND Z_ENT IN (\(numbers.sqlList))
                    """, "Give objects that were made since their \(column.name).", rows: .unknown))
        }
        clearDangling(column, of: table)
        return (column.name, from)
    }

    /// Clears references to destinations that were deleted without knowledge of the relationship.
    private mutating func clearDangling(_ column: EntityTable.Column, of table: EntityTable) {
        let name: String?
        switch column.role {
        case .toOne(let entity, let relationship):
            name = lowering.destination.model.entity(entity)?.relationship(relationship)?.destinationEntityName
        case .inverselessToMany(let entity, _): name = entity
        default: return
        }
        guard let target = name.flatMap({ lowering.destination.table(forEntity: $0)?.name }) else { return }
        let key = column.name.quotedName
        settling.append(
            .init(
                .update, table.name, reads: [target],
                """
                UPDATE main.\(table.name.quotedName) SET \(key) = NULL WHERE \(key) IS NOT NULL \
                AND \(key) NOT IN (SELECT Z_PK FROM main.\(target.quotedName))
                """, "Clear \(column.name) of \(table.name) where its object is gone.", rows: .unknown))
    }
}

extension EntityTable {
    /// Returns the columns that may be what a deferred migration has left of a column of the older version.
    fileprivate func leftovers(of column: Column) -> [String] {
        columns.filter { other in
            other.role == .unknown && other.type == column.type
                && (DeferredName.original(of: other.name) ?? other.name).uppercased() == column.name.uppercased()
        }.map(\.name)
    }
}

extension StoreLowering {
    /// Whether a column is what a deferred migration has left of a to-one relationship whose links the source has
    /// elsewhere: it contains former copies of them.
    ///
    /// A column of keys contains copies if the destination takes the links from the rows of their other end. A column of
    /// entity numbers always does, because each number follows from the key next to it.
    func repeatsLinks(_ column: String, of table: String) -> Bool {
        guard let old = source.table(named: table) else { return false }
        let original = DeferredName.original(of: column) ?? column
        func hasNumber(_ entity: String, _ name: String) -> Bool {
            EntityTable.Column.Role.toOneEntity(entity: entity, name: name).mayBeNamed(original)
        }
        let isBesideKey = old.columns.contains { other in
            if case .toOne(let entity, let name) = other.role { hasNumber(entity, name) } else { false }
        }
        return isBesideKey
            || changes.contains { change in
                let members = change.contributions.filter { source.table(for: $0.source)?.name == table }
                return change.table.columns.contains { new in
                    guard case .toOne(let entity, let name) = new.role else { return false }
                    let isNumber = hasNumber(entity, name)
                    let owners = members.filter { isPart(new.role, of: $0) }
                    guard isNumber || old.leftovers(of: new) == [column], !owners.isEmpty else { return false }
                    return owners.allSatisfy { owner in
                        let links = links(entity, name, of: owner)
                        return !links.isEmpty && (isNumber || links.allSatisfy { $0.pairs.row == .destination })
                    }
                }
            }
    }
}

extension ModelVersions {
    /// Whether a column of an entity's table can only be that of a derived attribute whose values follow from others.
    func derives(_ column: String) -> Bool {
        let original = DeferredName.original(of: column) ?? column
        func isNamed(_ role: EntityTable.Column.Role) -> Bool { role.mayBeNamed(original) }
        let entities = versions.flatMap(\.wholeModel.entities)
        let attributes = entities.flatMap { entity in
            entity.attributes.flatMap(\.leaves).filter {
                $0.isStored && isNamed(.attribute(entity: entity.name, name: $0.name))
            }
        }
        let isOfLinks = entities.contains { entity in
            entity.relationships.contains { !$0.isToMany && isNamed(.toOne(entity: entity.name, name: $0.name)) }
        }
        return !isOfLinks && !attributes.isEmpty
            && attributes.allSatisfy { $0.derivation.map { DerivationShape($0.expression) != .now } == true }
    }
}
