import MoultModel
import MoultSQLite
import MoultStore

extension ObjectStore {
    /// The present state of objects, in the order asked; those that the store does not have are left out.
    package func snapshots(of ids: [ObjectID]) throws -> [ObjectSnapshot] {
        var found: [ObjectID: ObjectSnapshot] = [:]
        found.reserveCapacity(ids.count)
        try reading {
            for (entityName, ids) in Dictionary(grouping: ids, by: \.entityName) {
                let reader = try snapshotReader(of: entityName)
                let number = try columns(of: entityName).number
                let rows = "SELECT \(reader.selectList) FROM \(reader.table.quotedName) AS t WHERE t.Z_ENT = \(number)"
                try writer.forEachRow("\(rows) AND t.Z_PK IN (?)", keys: try ids.map(key)) { row in
                    let snapshot = try reader.snapshot(row)
                    found[snapshot.id] = snapshot
                }
            }
        }
        return ids.compactMap { found[$0] }
    }

    /// The destinations of a relationship for each of the owners, whose entities may differ.
    ///
    /// - Returns: an entry for each owner, in the order of an ordered relationship, otherwise by key.
    /// - Throws: `usage` for a relationship that is not stored.
    package func destinations(of relationship: String, owners: [ObjectID]) throws -> [ObjectID: [ObjectID]] {
        var found = Dictionary(owners.map { ($0, [ObjectID]()) }, uniquingKeysWith: { first, _ in first })
        try reading {
            for (entityName, owners) in Dictionary(grouping: found.keys, by: \.entityName) {
                guard let stored = try columns(of: entityName).relationship(relationship) else {
                    let place = "\(entityName).\(relationship)"
                    throw MigrationError(
                        .usage, "\(place) is not a stored relationship.", place: place,
                        remedy: "Name a relationship of \(entityName) that is not transient.")
                }
                try writer.forEachRow(destinationsQuery(of: stored), keys: try owners.map(key)) { row in
                    let owner = id(entityName, key: row.integer(0))
                    if let destination = stored.destination.reference(row, key: 1, entity: 2) {
                        found[owner]?.append(id(destination.entityName, key: destination.primaryKey))
                    }
                }
            }
        }
        return found
    }

    /// Returns the value in the column of an attribute or a to-one relationship, as an SQL literal that gives it back
    /// exactly; nil for NULL, and for what has no column. It is for values that are not what the model declares.
    package func storedLiteral(of name: String, in id: ObjectID) throws -> String? {
        guard let entity = model.entity(id.entityName) else { return nil }
        var place = layout.column(forAttribute: name, in: entity)
        if place == nil, case .foreignKey(_, let column, _)? = layout.storage(ofRelationship: name, in: entity) {
            place = column
        }
        guard let table = layout.table(for: entity)?.name, let column = place?.quotedName else { return nil }
        return try reading {
            try connection.text(
                """
                SELECT CASE typeof(\(column)) WHEN 'null' THEN NULL \
                WHEN 'text' THEN 'CAST(x''' || hex(\(column)) || ''' AS TEXT)' ELSE quote(\(column)) END \
                FROM \(table.quotedName) WHERE Z_PK = ?
                """, [.integer(id.key)])
        }
    }

    private func destinationsQuery(of relationship: StoredRelationship) throws -> String {
        let destination = relationship.destination
        guard case .foreignKey(let table, let column, let entityColumn) = relationship.storage else {
            return try relationship.storage.destinationsQuery(destination, schema: "main") { "\($0) IN (?)" }
        }
        let columns = destination.columns(key: column, entity: entityColumn, of: "t", schema: "main")
        return "SELECT t.Z_PK, \(columns.joined(separator: ", ")) FROM \(table.quotedName) AS t WHERE t.Z_PK IN (?)"
    }

    private func snapshotReader(of entityName: String) throws -> SnapshotReader {
        if let reader = readers[entityName] { return reader }
        let reader = try SnapshotReader(of: entityName, includingSubentities: false, in: self)
        readers[entityName] = reader
        return reader
    }
}
