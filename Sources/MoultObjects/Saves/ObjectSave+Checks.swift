import MoultBasics
import MoultModel
import MoultSQLite

extension ObjectSave {
    /// Assigns a key to every new object.
    func giveKeys() throws {
        insertedKeys.reserveCapacity(changes.inserted.count)
        outcome.inserted.reserveCapacity(changes.inserted.count)
        for insertion in changes.inserted {
            let id = insertion.id
            let entity = try store.columns(of: id.entityName)
            guard insertion.values.count == entity.places.count else {
                throw MigrationError(
                    .internal,
                    "\(Quantity.count(insertion.values.count, "value was", plural: "values were")) given for \(Quantity.count(entity.places.count, "property", plural: "properties")).",
                    place: id.description, remedy: "Report this as a bug.")
            }
            let key: Int64
            if !id.isTemporary {
                key = try store.key(of: id)
            } else if let promised = store.reserved[id] {
                key = promised.key
            } else {
                key = try writer.keys.next(for: entity.root, table: entity.table)
                noteFresh(key, entity.root)
            }
            insertedKeys.append(key)
            outcome.inserted.append((id, store.id(entity.shape.entity.name, key: key)))
        }
    }

    private func noteFresh(_ key: Int64, _ root: String) {
        guard let place = freshKeys.firstIndex(where: { $0.root == root }) else {
            return freshKeys.append((root, key...key))
        }
        freshKeys[place].keys = freshKeys[place].keys.lowerBound...key
    }

    /// The rows that the save names, except those whose keys it has assigned itself.
    var namedRows: [RowKey: RowState] {
        var rows: [RowKey: RowState] = [:]
        func name(_ id: ObjectID, _ key: Int64, _ state: RowState) {
            guard let root = writer.columns(of: id.entityName)?.root else { return }
            let row = RowKey(root: root, key: key)
            if !isFresh(row) { rows[row] = state }
        }
        for (insertion, key) in zip(changes.inserted, insertedKeys) { name(insertion.id, key, .inserted) }
        for update in changes.updated { name(update.id, update.id.key, update.values.isEmpty ? .present : .updated) }
        for deletion in changes.deleted { name(deletion.id, deletion.id.key, .deleted) }
        return rows
    }

    /// Returns the state of a row; nil for a row that the save neither names nor has looked up.
    func state(of row: RowKey) -> RowState? { isFresh(row) ? .inserted : rows[row] }

    private func isFresh(_ row: RowKey) -> Bool {
        freshKeys.contains { $0.keys.contains(row.key) && $0.root == row.root }
    }

    /// Returns the key of an object that is saved or part of this save.
    func key(of id: ObjectID) throws -> Int64 {
        guard id.isTemporary else { return try store.key(of: id) }
        if let key = newKeys[id] ?? store.reserved[id]?.key { return key }
        throw MigrationError(
            .usage, "A relationship leads to a new object that is not part of the save.", place: id.description,
            remedy: "Save both objects together.")
    }

    // MARK: - Versions

    /// Compares the versions on which the changes are based with the stored ones.
    func readVersions() throws {
        let stored = try storedVersions(changes.updated.map(\.id) + changes.deleted.map(\.id))
        for (place, deletion) in changes.deleted.enumerated() {
            let entity = try store.columns(of: deletion.id.entityName)
            let version = stored[changes.updated.count + place]
            if let expected = deletion.version, expected != version {
                try addConflict(deletion.id, expected: expected)
            } else if version != nil {
                deletions.append(PendingDeletion(id: deletion.id, entity: entity))
            }
        }
        updates.reserveCapacity(changes.updated.count)
        for (place, update) in changes.updated.enumerated() {
            let entity = try store.columns(of: update.id.entityName)
            guard let version = stored[place], update.version == nil || update.version == version else {
                try addConflict(update.id, expected: update.version ?? 0)
                continue
            }
            guard !update.values.isEmpty else { continue }
            updates.append(
                PendingUpdate(id: update.id, entity: entity, version: version, values: try values(update, entity)))
        }
    }

    private func addConflict(_ id: ObjectID, expected: Int64) throws {
        let stored = try store.snapshots(of: [id]).first
        conflicts.append(.version(id, expected: expected, stored: stored))
    }

    /// Returns the values in the order of the shape.
    private func values(_ update: ObjectChanges.Update, _ entity: EntityColumns) throws
        -> [(position: Int, value: ObjectValue)]
    {
        switch update.values {
        case .positioned(let values): return values
        case .named(let values):
            return try values.map { name, value in
                guard let position = entity.shape.position(of: name) else {
                    throw MigrationError(
                        .usage, "\(entity.shape.entity.name) has no property \(name).",
                        place: "\(entity.shape.entity.name).\(name)", remedy: "Name one of the entity's properties.")
                }
                return (position, value)
            }.sorted { $0.position < $1.position }
        }
    }

    /// Returns the `Z_OPT` of each object; nil for an object that does not exist.
    private func storedVersions(_ ids: [ObjectID]) throws -> [Int64?] {
        var versions = [Int64?](repeating: nil, count: ids.count)
        for (entityName, runs) in Dictionary(grouping: ids.entityRuns, by: \.name) {
            let places = runs.flatMap(\.places).sorted { ids[$0].key < ids[$1].key }
            let keys = try places.map { try store.key(of: ids[$0]) }
            if let twice = zip(keys, keys.dropFirst()).first(where: ==) {
                throw MigrationError(
                    .internal, "An object is named twice in one save.", place: "\(entityName) \(twice.0)",
                    remedy: "Report this as a bug.")
            }
            var next = 0
            try forEachVersion(try store.columns(of: entityName), keys) { key, version in
                while next < keys.count, keys[next] < key { next += 1 }
                if next < keys.count, keys[next] == key { versions[places[next]] = version }
            }
        }
        return versions
    }

    /// Calls `body` for the rows of ascending keys, in that order; possibly also for other rows between the first and
    /// the last.
    private func forEachVersion(
        _ entity: EntityColumns, _ keys: [Int64], _ body: (_ key: Int64, _ version: Int64) throws -> Void
    ) throws {
        guard let first = keys.first, let last = keys.last else { return }
        let query = "SELECT Z_PK, Z_OPT FROM \(entity.table.quotedName) WHERE Z_ENT = \(entity.number) AND Z_PK"
        // In such a dense range, a scan is faster than a search for each key.
        guard keys.count > 16, last &- first >= 0, last &- first < 2 * Int64(keys.count) else {
            return try writer.forEachRow("\(query) IN (?) ORDER BY Z_PK", keys: keys) {
                try body($0.integer(0), $0.integer(1))
            }
        }
        let statement = try writer.statement("\(query) BETWEEN ? AND ? ORDER BY Z_PK")
        try statement.bind(first, at: 1)
        try statement.bind(last, at: 2)
        defer { statement.reset() }
        while try statement.step() { try body(statement.integer(0), statement.integer(1)) }
    }

    // MARK: - Destinations

    /// Checks that every relationship leads to an object of the right entity that will exist, and records which lists
    /// are set.
    func checkDestinations() throws {
        for insertion in changes.inserted {
            let entity = try store.columns(of: insertion.id.entityName)
            for position in entity.relationshipPositions {
                if let value = insertion.values[position] { try check(value, at: position, of: insertion.id, entity) }
            }
        }
        for update in updates {
            for (position, value) in update.values where entity(update, hasRelationshipAt: position) {
                try check(value, at: position, of: update.id, update.entity)
            }
        }
    }

    private func entity(_ update: PendingUpdate, hasRelationshipAt position: Int) -> Bool {
        switch update.entity.places[position] {
        case .toOne, .toMany: true
        case .none, .attribute: false
        }
    }

    private func check(_ value: ObjectValue, at position: Int, of id: ObjectID, _ entity: EntityColumns) throws {
        switch (entity.places[position], value) {
        case (.toOne, .toOne(nil)): break
        case (.toOne(_, _, let relationship), .toOne(let destination?)):
            try check(destination, of: id, relationship)
        case (.toMany(let relationship), .toMany(let members)):
            for member in members { try check(member, of: id, relationship) }
            if members.unique().count < members.count {
                throw MigrationError(
                    .dataConflict, "\(relationship.place) names an object twice.", place: id.description,
                    remedy: "Name each object once.")
            }
            if !members.isEmpty || !id.isTemporary {
                givenLists.insert(ListKey(list: relationship.reference, owner: try key(of: id)))
            }
        default:
            throw MigrationError(
                .dataConflict, "\(entity.place(position)) cannot hold \(value.kindPhrase).", place: id.description,
                remedy: "Give a value of the property's own kind.")
        }
    }

    private func check(_ destination: ObjectID, of id: ObjectID, _ relationship: StoredRelationship) throws {
        guard relationship.accepts(destination.entityName) else { throw relationship.mismatch(destination.entityName) }
        let row = RowKey(root: relationship.destinationRoot, key: try key(of: destination))
        switch try state(of: row) ?? lookUp(row, table: relationship.destination.table) {
        case .inserted, .updated, .present: break
        case .deleted, .missing:
            conflicts.append(
                .missingDestination(of: id, relationship: relationship.reference.name, destination))
        }
    }

    private func lookUp(_ row: RowKey, table: String) throws -> RowState {
        let statement = try writer.statement("SELECT 1 FROM \(table.quotedName) WHERE Z_PK = ?")
        try statement.bind(row.key, at: 1)
        defer { statement.reset() }
        let state: RowState = try statement.step() ? .present : .missing
        rows[row] = state
        return state
    }
}

extension RandomAccessCollection<ObjectID> where Index == Int {
    /// The ranges of consecutive objects of one entity. Most saves have few.
    var entityRuns: [(name: String, places: Range<Int>)] {
        var runs: [(name: String, places: Range<Int>)] = []
        var last: ObjectID.Origin?
        for (place, id) in zip(indices, self) {
            if id.origin === last {
                runs[runs.count - 1].places = runs[runs.count - 1].places.lowerBound..<place + 1
            } else {
                last = id.origin
                runs.append((id.entityName, place..<place + 1))
            }
        }
        return runs
    }
}
