import MoultModel
import MoultObjects
import MoultSQLite
import MoultStore

// The second pass: every object is there, and is led to those that it led to.

extension QuarantineRestorer {
    func link(_ entry: Int64, _ object: QuarantinedObject) throws {
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

    private func link(_ position: Int, _ object: QuarantinedObject) throws {
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
            // An object that went back before this one may be led to it already.
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
            // The other end is a column of the destination's row, its own or that of a relationship without an inverse.
            if let inverse = link.inverse {
                if !inverse.isToMany { try ledger.noteChange(of: link.ids, [inverse.name]) }
            } else if link.relationship.isToMany {
                try ledger.noteChange(of: link.ids, [link.relationship.name])
            }
        }
    }

    /// The present destination of a link; nil, and noted, where there is none or where it is another object's.
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

    /// Whether no other object has the destination, where only one can.
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
