import MoultModel
import MoultObjects
import MoultSQLite
import MoultStore

// The second pass: every object exists, and gets its links back.

extension QuarantineRestorer {
    func link(_ entry: Int64, _ object: MoultObjects.QuarantinedObject) throws {
        guard let position = places[OldIdentity(object.entity, object.key)], candidates[position].entry == entry,
            candidates[position].refusal == nil
        else { return }
        do {
            try link(position, object)
            for link in try object.incoming() { try lead(link, to: position) }
        } catch  where Self.isOfObject(error) {
            try refuse(position, Self.reason(error))
        }
    }

    private func link(_ position: Int, _ object: MoultObjects.QuarantinedObject) throws {
        let id = candidates[position].id
        let shape = try store.columns(of: id.entityName).shape
        var values: [String: ObjectValue] = [:]
        var led: [(relationship: RelationshipDescription, inverse: RelationshipDescription?, ids: [ObjectID])] = []
        for (name, value) in try object.values() {
            guard case .relationship(let relationship, let inverse)? = shape[name], !relationship.isTransient else {
                continue
            }
            let olds: [ObjectID]
            switch value {
            case .attribute: continue
            case .toOne(let id): olds = id.map { [$0] } ?? []
            case .toMany(let ids): olds = ids
            }
            var ids = try olds.compactMap { try destination($0, of: relationship, inverse, position) }
            // An object restored before this one may have become its destination already.
            if relationship.isToMany {
                ids += try store.destinations(of: name, owners: [id])[id]?.filter { !ids.contains($0) } ?? []
            }
            if relationship.isRequired, ids.isEmpty {
                throw Refusal("\(name) is required and leads to another object's destination")
            }
            guard !ids.isEmpty else { continue }
            values[name] = relationship.isToMany ? .toMany(ids) : .toOne(ids[0])
            led.append((relationship, inverse, ids))
        }
        guard !values.isEmpty else { return }
        var changes = ObjectChanges()
        changes.updated = [ObjectChanges.Update(id: id, version: nil, values: values)]
        changes.keepsVersions = true
        _ = try store.save(changes)
        for link in led {
            // The other end is a column of the destination's row: the inverse's, or that of a relationship without an
            // inverse.
            if let inverse = link.inverse {
                if !inverse.isToMany { try ledger.noteChange(of: link.ids, [inverse.name]) }
            } else if link.relationship.isToMany {
                try ledger.noteChange(of: link.ids, [link.relationship.name])
            }
        }
    }

    /// Returns the current destination of a link; if it is missing or has another owner, records a lost link and
    /// returns nil.
    private func destination(
        _ old: ObjectID, of relationship: RelationshipDescription, _ inverse: RelationshipDescription?, _ position: Int
    ) throws -> ObjectID? {
        let name = "\(relationship.name) to \(old.entityName) \(old.key)"
        guard let present = try present(OldIdentity(old)), accepts(relationship, present) else {
            candidates[position].lostLinks.append("\(name), which does not exist")
            return nil
        }
        guard try isFree(present, relationship, inverse, for: candidates[position].id) else {
            candidates[position].lostLinks.append("\(name), which belongs to another object now")
            return nil
        }
        return present
    }

    /// Whether no other object has the destination, if it can have only one owner.
    func isFree(
        _ destination: ObjectID, _ relationship: RelationshipDescription, _ inverse: RelationshipDescription?,
        for id: ObjectID
    ) throws -> Bool {
        if let inverse {
            guard !inverse.isToMany else { return true }
            return try store.destinations(of: inverse.name, owners: [destination])[destination]?
                .allSatisfy { $0 == id } ?? true
        }
        guard let entity = store.model.entity(id.entityName),
            case .inverseless(let table, let column, _)? = store.layout.storage(
                ofRelationship: relationship.name, in: entity)
        else { return true }
        let owner = try connection.value(
            "SELECT \(column.quotedName) FROM \(table.quotedName) WHERE Z_PK = ?", [.integer(destination.key)])
        return owner == .null || owner == .integer(id.key)
    }

    func accepts(_ relationship: RelationshipDescription, _ id: ObjectID) -> Bool {
        guard let entity = store.model.entity(id.entityName),
            let target = store.model.entity(relationship.destinationEntityName)
        else { return false }
        return store.model.isKind(entity, of: target)
    }
}

// Data outside the objects' own values: links to them without an inverse, and the order of lists.

extension QuarantineRestorer {
    /// Makes the owner's relationship lead to the object again, unless another object has taken its place.
    func lead(_ link: ObjectSurroundings.IncomingLink, to position: Int) throws {
        let id = candidates[position].id
        let name = "the link \(link.relationship) of \(link.owner.entityName) \(link.owner.key)"
        guard let owner = try present(OldIdentity(link.owner)), let entity = store.model.entity(owner.entityName),
            let relationship = store.model.relationship(link.relationship, of: entity), !relationship.isTransient,
            store.model.inverse(of: relationship) == nil, accepts(relationship, id)
        else { return candidates[position].lostLinks.append("\(name), which does not exist") }
        let present = try store.destinations(of: relationship.name, owners: [owner])[owner] ?? []
        guard !present.contains(id) else { return }
        guard relationship.isToMany ? try isFree(id, relationship, nil, for: owner) : present.isEmpty else {
            return candidates[position].lostLinks.append("\(name), which leads to another object now")
        }
        var changes = ObjectChanges()
        changes.keepsVersions = true
        let value: ObjectValue = relationship.isToMany ? .toMany(present + [id]) : .toOne(id)
        changes.updated = [.init(id: owner, version: nil, values: [relationship.name: value])]
        _ = try store.save(changes)
        // The members' rows hold the numbers of a list; the save may renumber them all if two were the same.
        try ledger.noteChange(of: relationship.isToMany ? present : [owner], [relationship.name])
    }

    // MARK: - The third pass: the order of lists

    /// Clears the numbers about to be restored, so that none conflicts with another.
    func clearSeats(_ entry: Int64, _ object: MoultObjects.QuarantinedObject) throws {
        try forEachSeat(entry, object) { list, member, owner, _ in
            try list.clear(member, inListOf: owner, on: connection)
        }
    }

    /// Restores the number of every member of a list.
    func takeSeats(_ entry: Int64, _ object: MoultObjects.QuarantinedObject) throws {
        try forEachSeat(entry, object) { list, member, owner, number in
            try list.put(member, inListOf: owner, at: number, on: connection)
        }
    }

    private func forEachSeat(
        _ entry: Int64, _ object: MoultObjects.QuarantinedObject,
        _ body: (ListPlace, _ member: Int64, _ owner: Int64, _ number: Int64) throws -> Void
    ) throws {
        guard let position = places[OldIdentity(object.entity, object.key)], candidates[position].entry == entry,
            candidates[position].refusal == nil, let entity = store.model.entity(object.entity)
        else { return }
        let key = candidates[position].id.key
        for seat in try object.seats() {
            guard let relationship = store.model.relationship(seat.relationship, of: entity),
                let end = try present(OldIdentity(seat.end))?.key,
                let list = seat.isOwn
                    ? ListPlace(in: relationship, of: entity, store)
                    : ListPlace(inInverseOf: relationship, of: entity, store)
            else { continue }
            try body(list, seat.isOwn ? end : key, seat.isOwn ? key : end, seat.number)
        }
        for link in try object.incoming() {
            guard let number = link.place, let owner = try present(OldIdentity(link.owner)),
                let entity = store.model.entity(owner.entityName),
                let relationship = store.model.relationship(link.relationship, of: entity),
                let list = ListPlace(in: relationship, of: entity, store)
            else { continue }
            try body(list, key, owner.key, number)
        }
    }
}
