import MoultModel
import MoultSQLite

/// The way back while work is pending: what was left takes its place again.
extension DeferredLowering {
    /// The table of an entity that the older version has and the newer one has not.
    mutating func takeBack(_ table: EntityTable) {
        guard let name = leftover([table.name]) else { return }
        rename(name, to: table.name)
        tasks.append(DeferredTask(.rebuildTable, table.name, of: table.name))
        for column in table.columns { clearDangling(column, of: table) }
    }

    /// The table of a relationship that the older version has and the newer one has not; pairs whose objects are gone
    /// stay behind.
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

    /// - Parameter originals: what the table may have been called.
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

    /// The column of a property that the older version has and the newer one has not.
    ///
    /// - Parameter value: what objects get that were made since.
    mutating func takeBack(
        _ column: EntityTable.Column, of table: EntityTable, _ old: EntityTable, _ value: SQLiteValue
    ) -> (column: String, from: String)? {
        let names = old.columns.filter { other in
            other.role == .unknown && other.type == column.type
                && (DeferredName.original(of: other.name) ?? other.name).uppercased() == column.name.uppercased()
        }
        guard names.count == 1, let from = names.first?.name else {
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

    /// A destination may have been deleted by those who do not know the relationship.
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
