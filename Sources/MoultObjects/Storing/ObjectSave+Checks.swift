import MoultModel
import MoultSQLite

extension ObjectSave {
    /// Gives every new object its key.
    func giveKeys() throws {
        newKeys.reserveCapacity(changes.inserted.count)
        rows.reserveCapacity(changes.inserted.count + changes.updated.count + changes.deleted.count)
        outcome.permanentIDs.reserveCapacity(changes.inserted.count)
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
            } else {
                key = try store.reserved[id]?.key ?? writer.keys.next(for: entity.root, table: entity.table)
                outcome.permanentIDs[id] = permanentID(entity.shape.entity.name, key)
                newKeys[id] = key
            }
            try name(id, RowKey(root: entity.root, key: key), .inserted)
        }
    }

    func permanentID(_ entityName: String, _ key: Int64) -> ObjectID {
        ObjectID(store: store.identifier, entityName: entityName, key: key)
    }

    /// The key of an object that is saved or part of this save.
    func key(of id: ObjectID) throws -> Int64 {
        guard id.isTemporary else { return try store.key(of: id) }
        if let key = newKeys[id] ?? store.reserved[id]?.key { return key }
        throw MigrationError(
            .usage, "A relationship leads to a new object that is not part of the save.", place: id.description,
            remedy: "Save both objects together.")
    }

    private func name(_ id: ObjectID, _ row: RowKey, _ state: RowState) throws {
        guard rows.updateValue(state, forKey: row) == nil else {
            throw MigrationError(
                .internal, "An object is named twice in one save.", place: id.description,
                remedy: "Report this as a bug.")
        }
    }

    // MARK: - Versions

    /// Compares the versions that the changes were made over with the stored ones.
    func readVersions() throws {
        let stored = try storedVersions(changes.updated.map(\.id) + changes.deleted.map(\.id))
        for (place, deletion) in changes.deleted.enumerated() {
            let entity = try store.columns(of: deletion.id.entityName)
            try name(deletion.id, RowKey(root: entity.root, key: try store.key(of: deletion.id)), .deleted)
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
            let isEmpty = update.values.isEmpty
            try name(
                update.id, RowKey(root: entity.root, key: try store.key(of: update.id)), isEmpty ? .present : .updated)
            guard let version = stored[place], update.version == nil || update.version == version else {
                try addConflict(update.id, expected: update.version ?? 0)
                continue
            }
            guard !isEmpty else { continue }
            updates.append(
                PendingUpdate(id: update.id, entity: entity, version: version, values: try values(update, entity)))
        }
    }

    private func addConflict(_ id: ObjectID, expected: Int64) throws {
        let stored = try store.snapshots(of: [id]).first
        conflicts.append(.version(id, expected: expected, stored: stored))
    }

    /// The values in the order of the shape.
    private func values(_ update: ObjectChanges.Update, _ entity: EntityColumns) throws
        -> [(position: Int, value: ObjectValue)]
    {
        try update.values.map { name, value in
            guard let position = entity.shape.position(of: name) else {
                throw MigrationError(
                    .usage, "\(entity.shape.entity.name) has no property \(name).",
                    place: "\(entity.shape.entity.name).\(name)", remedy: "Name one of the entity's properties.")
            }
            return (position, value)
        }.sorted { $0.position < $1.position }
    }

    /// `Z_OPT` of each of the objects; nil for one that is not there.
    private func storedVersions(_ ids: [ObjectID]) throws -> [Int64?] {
        var places: [String: [Int64: Int]] = [:]
        for (place, id) in ids.enumerated() { places[id.entityName, default: [:]][try store.key(of: id)] = place }
        var versions = [Int64?](repeating: nil, count: ids.count)
        for (entityName, places) in places {
            let entity = try store.columns(of: entityName)
            let query = "SELECT Z_PK, Z_OPT FROM \(entity.table.quotedName) WHERE Z_ENT = \(entity.number)"
            try writer.forEachRow("\(query) AND Z_PK IN (?)", keys: places.keys.sorted()) { row in
                if let place = places[row.integer(0)] { versions[place] = row.integer(1) }
            }
        }
        return versions
    }

    // MARK: - Destinations

    /// Checks that every relationship leads to an object of the right entity that will be there, and notes which lists
    /// are given.
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
            if Set(members).count < members.count {
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
        guard relationship.accepts(destination.entityName) else {
            throw relationship.mismatch(destination.entityName)
        }
        let row = RowKey(root: relationship.destinationRoot, key: try key(of: destination))
        switch try rows[row] ?? lookUp(row, table: relationship.destination.table) {
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
