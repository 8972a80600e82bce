import MoultModel
import MoultObjects
import MoultSQLite
import MoultStore

// What the objects' own values do not say: links without an inverse that lead to them, and the order of lists.

extension QuarantineRestorer {
    /// Makes the owner's relationship lead to the object again, where it leads to no other by now.
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
        // Of a list the members' rows have the numbers, which may all be given again where two were the same.
        try ledger.noteChange(of: relationship.isToMany ? present : [owner], [relationship.name])
    }

    // MARK: - The third pass: the order of lists

    /// Takes the numbers away that will be given back, so that none stands in another's way.
    func clearSeats(_ entry: Int64, _ object: QuarantinedObject) throws {
        try forEachSeat(entry, object) { list, member, owner, _ in
            try list.clear(member, inListOf: owner, on: connection)
        }
    }

    /// Gives every member of a list the number that it had.
    func takeSeats(_ entry: Int64, _ object: QuarantinedObject) throws {
        try forEachSeat(entry, object) { list, member, owner, number in
            try list.put(member, inListOf: owner, at: number, on: connection)
        }
    }

    private func forEachSeat(
        _ entry: Int64, _ object: QuarantinedObject,
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
