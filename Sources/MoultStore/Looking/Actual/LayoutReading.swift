import MoultModel

/// Reads the tables of an existing store into a layout, with what they lack.
struct LayoutReading {
    private(set) var tables: [EntityTable] = []
    private(set) var joinTables: [JoinTable] = []
    var gaps = SchemaGaps()
    private(set) var findings: [Finding] = []

    /// - Throws: `storeCorrupted` if a table has no key.
    init(_ snapshot: StoreSnapshot, model: ManagedObjectModel, numbering: EntityNumbering) throws {
        var catalogue = CatalogueTables(snapshot)
        let rows = Dictionary(grouping: snapshot.entityRows, by: \.number)
        for root in numbering.roots(in: model) {
            let expected = EntityTable(root: root, in: model, numbering: numbering, level: snapshot.framework)
            let row = numbering.numbers[root.name].flatMap { rows[$0]?.first }
            let formerNames = [row?.name, root.renamingIdentifier].compactMap { $0 }
            var missing: [EntityTable.Column] = []
            let table = try EntityTable(
                expected, formerNames: formerNames, in: &catalogue, missing: &missing, findings: &findings)
            if let table {
                tables.append(table)
                gaps.columns += missing.map { SchemaGaps.Column(table: table.name, column: $0) }
            } else {
                gaps.tables.append(expected)
            }
        }
        let joins = JoinTable.all(of: model, numbering: numbering).filter { join in
            join.relationships.allSatisfy { numbering.numbers[$0.entity] != nil }
        }
        for (expected, table) in zip(joins, JoinTable.matching(joins, in: &catalogue, gaps: &gaps, findings: &findings))
        {
            if let table { joinTables.append(table) } else { gaps.joinTables.append(expected) }
        }
        findings += catalogue.unexplained()
    }

    /// The tables with what is missing, in the order of their entities' numbers.
    func completed(_ numbering: EntityNumbering) -> (tables: [EntityTable], joinTables: [JoinTable]) {
        let missing = Dictionary(grouping: gaps.columns + gaps.keys, by: \.table)
        let filled = tables.map { table in
            let added = (missing[table.name] ?? []).map(\.column)
            return added.isEmpty
                ? table
                : EntityTable(
                    name: table.name, rootEntityName: table.rootEntityName, columns: table.columns + added,
                    constraints: table.constraints, sql: table.sql)
        }
        let joins = joinTables.map { join in
            let added = (missing[join.name] ?? []).compactMap(\.column.joinColumn)
            return added.isEmpty
                ? join : JoinTable(name: join.name, owner: join.owner, columns: join.columns + added, sql: join.sql)
        }
        let numbers = numbering.numbers
        return (
            (filled + gaps.tables).sorted { numbers[$0.rootEntityName] ?? 0 < numbers[$1.rootEntityName] ?? 0 },
            joins + gaps.joinTables
        )
    }
}

extension EntityTable.Column {
    /// The column of a join table that it stands for.
    fileprivate var joinColumn: JoinTable.Column? {
        switch role {
        case .order(let entity, let name):
            JoinTable.Column(name: self.name, role: .order(RelationshipReference(entity: entity, name: name)))
        case .toOne(let entity, let name):
            JoinTable.Column(name: self.name, role: .source(RelationshipReference(entity: entity, name: name)))
        default: nil
        }
    }
}
