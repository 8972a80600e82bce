import MoultEngine
import MoultModel
import MoultObjects
import MoultSQLite
import MoultStore

extension RepairRun {
    private static let batchSize = 500

    // MARK: - Numbers

    /// Gives a row the number of the only entity that it can belong to. If several are possible, it gets the first
    /// one's, so that it can be read, and is quarantined.
    func number(_ table: String, _ entities: [String], _ fault: RepairFault) throws {
        let keys = try connection.rows("SELECT key FROM temp.moult_fault ORDER BY key") { $0.integer(0) }
        var unclear: [Int64] = []
        for key in keys {
            let fitting = try entities.filter { try fits(key, of: table, $0) }
            guard let first = fitting.first, let number = objects.layout.entityNumbers[first] else { continue }
            try connection.run(
                "INSERT OR IGNORE INTO temp.moult_fixed VALUES (?, ?, 'Z_ENT')", [.text(table), .integer(key)])
            try connection.run(
                "UPDATE main.\(table.quotedName) SET Z_ENT = ? WHERE Z_PK = ?",
                [.integer(Int64(number)), .integer(key)])
            if fitting.count > 1 { unclear.append(key) }
        }
        try leave(unclear, table)
        try quarantineLeaving("The entity number of the object was none of its table's.", fault)
    }

    /// Whether every value of the row belongs to the entity.
    private func fits(_ key: Int64, of table: String, _ name: String) throws -> Bool {
        let layout = objects.layout
        guard let entity = layout.model.entity(name), let columns = layout.table(for: entity)?.columns else {
            return false
        }
        let foreign = columns.filter { column in
            switch column.role {
            case .attribute(let declaring, _), .toOne(let declaring, _), .toOneEntity(let declaring, _),
                .order(let declaring, _):
                declaring != name && !layout.model.superentities(of: entity).contains { $0.name == declaring }
            default: false
            }
        }
        guard !foreign.isEmpty else { return true }
        let empty = foreign.map { "\($0.name.quotedName) IS NULL" }.conditions(joinedBy: "AND")
        return try connection.integer(
            "SELECT 1 FROM main.\(table.quotedName) WHERE Z_PK = ? AND \(empty)", [.integer(key)]) == 1
    }

    // MARK: - Duplicates

    /// Merges duplicates. Links to a removed object are redirected to the one that stays, except those of one-to-one
    /// relationships, whose other end already has one, or had none.
    func merge(_ entityName: String, _ fault: RepairFault) throws {
        guard let entity = objects.layout.model.entity(entityName), let table = objects.layout.table(for: entity)?.name
        else { return }
        let keys = try connection.rows("SELECT key FROM temp.moult_fault ORDER BY key") { $0.integer(0) }
        // Keep the objects as they were, with all their data.
        try keep(keys, table, "Another object has the same \(fault.place).", fault)
        try connection.run(
            "INSERT OR IGNORE INTO temp.moult_new SELECT \(table.quotedLiteral), other FROM temp.moult_fault")
        for owner in objects.layout.model.entities {
            for relationship in owner.relationships where !relationship.isTransient {
                try lead(relationship, of: owner, to: table)
            }
        }
        try delete(keys, table, fault)
    }

    private func lead(_ relationship: RelationshipDescription, of owner: EntityDescription, to table: String) throws {
        let layout = objects.layout
        let target = layout.table(forEntity: relationship.destinationEntityName)?.name
        switch layout.storage(ofRelationship: relationship.name, in: owner) {
        case .foreignKey(let rows, let column, let entityColumn)? where target == table:
            guard layout.model.inverse(of: relationship)?.isToMany ?? true else { return }
            try lead(rows, column, entityColumn, relationship.name, table, inverse: relationship.inverseName)
        case .inverseless(let rows, let column, _)? where layout.table(for: owner)?.name == table:
            try lead(rows, column, nil, relationship.name, table, inverse: relationship.name)
        case .joinTable(let rows, let own, let other, _, _, _)?:
            let source = layout.table(for: owner)?.name
            if source == table {
                try tellEnds(of: rows, own, relationship.name, table, other, inverse: relationship.inverseName, target)
                try lead(pairs: rows, own)
            }
            if target == table {
                try tellEnds(of: rows, other, relationship.inverseName, table, own, inverse: relationship.name, source)
                try lead(pairs: rows, other)
            }
        default: return
        }
    }

    private func lead(
        _ rows: String, _ column: String, _ entityColumn: String?, _ property: String, _ table: String, inverse: String?
    ) throws {
        let condition = "\(column.quotedName) IN (SELECT key FROM temp.moult_fault)"
        try note(property, of: rows, where: condition)
        // The lists of the objects that stay are longer now.
        if let inverse {
            try tell(
                inverse, of: table,
                where: """
                    Z_PK IN (SELECT f.other FROM temp.moult_fault AS f WHERE f.key IN \
                    (SELECT \(column.quotedName) FROM main.\(rows.quotedName)))
                    """)
        }
        let keeper = "(SELECT f.other FROM temp.moult_fault AS f WHERE f.key = r.\(column.quotedName))"
        let number = entityColumn.map {
            ", \($0.quotedName) = (SELECT t.Z_ENT FROM main.\(table.quotedName) AS t WHERE t.Z_PK = \(keeper))"
        }
        try connection.run(
            """
            UPDATE main.\(rows.quotedName) AS r SET \(column.quotedName) = \(keeper)\(number ?? ""), \
            Z_OPT = \(Self.nextVersion) WHERE \(condition)
            """)
    }

    /// Records both ends of the pairs that lose an end: the objects that stay, and the other objects.
    private func tellEnds(
        of pairs: String, _ column: String, _ property: String?, _ table: String, _ otherColumn: String,
        inverse: String?, _ other: String?
    ) throws {
        let rows = "main.\(pairs.quotedName) AS r JOIN temp.moult_fault AS f ON f.key = r.\(column.quotedName)"
        if let property { try tell(property, of: table, where: "Z_PK IN (SELECT f.other FROM \(rows))") }
        guard let inverse, let other else { return }
        try tell(inverse, of: other, where: "Z_PK IN (SELECT r.\(otherColumn.quotedName) FROM \(rows))")
    }

    private func lead(pairs table: String, _ column: String) throws {
        try connection.run(
            """
            UPDATE OR IGNORE main.\(table.quotedName) AS r SET \(column.quotedName) = (SELECT f.other FROM \
            temp.moult_fault AS f WHERE f.key = r.\(column.quotedName)) \
            WHERE \(column.quotedName) IN (SELECT key FROM temp.moult_fault)
            """)
    }

    // MARK: - Orphans

    func quarantineOrphans(_ table: String, _ fault: RepairFault) throws {
        try leave(try connection.rows("SELECT key FROM temp.moult_fault") { $0.integer(0) }, table)
        try addDependents()
        try quarantineLeaving("There is no object for its \(fault.place), which is required.", fault)
    }

    private func leave(_ keys: [Int64], _ table: String) throws {
        for key in keys {
            try connection.run(
                "INSERT OR IGNORE INTO temp.moult_leaving VALUES (?, ?, 0)", [.text(table), .integer(key)])
        }
    }

    /// Adds the objects that cannot exist without an object being removed, and the objects that depend on those.
    private func addDependents() throws {
        let layout = objects.layout
        var level: Int64 = 0
        var before: Int64 = -1
        while before != connection.totalChanges {
            before = connection.totalChanges
            level += 1
            for entity in layout.model.entities {
                let numbers = layout.numbers(ofEntityAndDescendants: entity).map(String.init).joined(separator: ", ")
                for relationship in entity.relationships where !relationship.isOptional && !relationship.isToMany {
                    guard
                        case .foreignKey(let table, let column, _)? = layout.storage(
                            ofRelationship: relationship.name, in: entity),
                        let target = layout.table(forEntity: relationship.destinationEntityName)?.name
                    else { continue }
                    try connection.run(
                        """
                        INSERT OR IGNORE INTO temp.moult_leaving SELECT \(table.quotedLiteral), r.Z_PK, \(level) \
                        FROM main.\(table.quotedName) AS r WHERE r.Z_ENT IN (\(numbers)) AND EXISTS (SELECT 1 FROM \
                        temp.moult_leaving AS l WHERE l.tbl = \(target.quotedLiteral) \
                        AND l.key = r.\(column.quotedName))
                        """)
                }
            }
        }
    }

    /// Quarantines all objects being removed, then deletes them, dependent objects first.
    private func quarantineLeaving(_ reason: String, _ fault: RepairFault) throws {
        let leaving = try connection.rows(
            "SELECT tbl, key FROM temp.moult_leaving ORDER BY level DESC, tbl, key"
        ) { (table: $0.text(0) ?? "", key: $0.integer(1)) }
        for (table, group) in Dictionary(grouping: leaving, by: \.table).sorted(by: { $0.key < $1.key }) {
            try keep(group.map(\.key), table, reason, fault)
        }
        try delete(leaving.map { ($0.table, $0.key) }, fault)
        try connection.execute("DELETE FROM temp.moult_leaving")
    }

    // MARK: - The quarantine

    private func keep(_ keys: [Int64], _ table: String, _ reason: String, _ fault: RepairFault) throws {
        for start in stride(from: 0, to: keys.count, by: Self.batchSize) {
            guard !site.isCancelled() else { throw site.cancellation }
            let ids = try ids(Array(keys[start..<min(start + Self.batchSize, keys.count)]), table)
            try quarantine.add(ids, of: objects, reason: reason, by: "repair \(fault.rule.rawValue)")
        }
    }

    private func delete(_ keys: [Int64], _ table: String, _ fault: RepairFault) throws {
        try delete(keys.map { (table, $0) }, fault)
    }

    private func delete(_ rows: [(table: String, key: Int64)], _ fault: RepairFault) throws {
        for start in stride(from: 0, to: rows.count, by: Self.batchSize) {
            guard !site.isCancelled() else { throw site.cancellation }
            let batch = rows[start..<min(start + Self.batchSize, rows.count)]
            var changes = ObjectChanges()
            (changes.author, changes.contextName) = (Self.author, "repair \(fault.rule.rawValue)")
            changes.deleted = try batch.flatMap { try ids([$0.key], $0.table) }.map { .init(id: $0, version: nil) }
            _ = try objects.save(changes)
            for (table, key) in batch {
                try connection.run(
                    "INSERT OR IGNORE INTO temp.moult_gone VALUES (?, ?)", [.text(table), .integer(key)])
            }
        }
    }

    private func ids(_ keys: [Int64], _ table: String) throws -> [ObjectID] {
        let list = keys.map(String.init).joined(separator: ", ")
        return try connection.rows(
            "SELECT Z_PK, Z_ENT FROM main.\(table.quotedName) WHERE Z_PK IN (\(list)) ORDER BY Z_PK"
        ) { row in
            objects.layout.entityName(number: Int(clamping: row.integer(1))).map {
                objects.id($0, key: row.integer(0))
            }
        }.compactMap { $0 }
    }
}
