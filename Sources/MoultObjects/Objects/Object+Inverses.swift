import MoultBasics
import MoultModel

// Keeps both ends of a relationship consistent. Callers hold the lock, and all objects belong to the same context.

extension Object {
    // MARK: - Reading

    func destination(_ link: RelationshipLink) throws -> ObjectID? {
        if case .toOne(let id)? = partialValue(link.position) { return id }
        try fire()
        switch values[link.position] {
        case .toOne(let id)?: return id
        default:
            throw MigrationError(
                .dataConflict, "The store's value of \(kind.entityName).\(link.name) leads to no entity.",
                place: "\(identity).\(link.name)", remedy: "Set another destination, or repair the store.")
        }
    }

    func list(_ link: RelationshipLink) throws -> [ObjectID] {
        try fire()
        if case .toMany(let ids)? = values[link.position] { return ids }
        try kind.liveContext().readLists(link.name, of: [self])
        if case .toMany(let ids)? = values[link.position] { return ids }
        return []
    }

    /// Sets a list to the store's contents, with the changes made to it before it was read.
    func fillList(at position: Int, _ ids: [ObjectID]) {
        let delta = deltas.removeValue(forKey: position)
        putRead(.toMany(delta?.applied(to: ids) ?? ids), asStored: .toMany(ids), at: position)
    }

    // MARK: - To-one

    func setDestination(_ link: RelationshipLink, _ new: ObjectID?, in context: ObjectContext) throws {
        try fire()
        let old = knownDestination(link)
        if old == new, values[link.position] != nil { return }
        guard let inverse = link.inverseName else { return put(.toOne(new), at: link.position) }
        // If the row of the destination is gone, nothing is changed.
        let arriving = try new.map { try context.required($0) }
        let leaving = try old.flatMap { try context.loaded($0) }
        for other in [leaving, arriving] { try other?.readEnd(inverse, in: context) }
        put(.toOne(new), at: link.position)
        try leaving?.unlink(identity, from: inverse, in: context)
        try arriving?.link(identity, to: inverse, in: context)
    }

    // MARK: - To-many

    func append(_ object: Object, to link: RelationshipLink, in context: ObjectContext) throws {
        guard let inverse = link.inverseName else {
            if try !list(link).contains(object.identity) { try include(object.identity, in: link) }
            return
        }
        try object.fire()
        let other = try object.kind.link(inverse, isToMany: link.isInverseToMany)
        guard !link.isInverseToMany else {
            if try list(link).contains(object.identity) { return }
            try object.readEnd(other, in: context)
            try include(object.identity, in: link)
            if object !== self || inverse != link.name { try object.include(identity, in: other) }
            return
        }
        // The other end has the answer without a search of the list.
        let owner = object.knownDestination(other)
        if owner == identity { return }
        try object.readEnd(other, in: context)
        try include(object.identity, in: link)
        object.put(.toOne(identity), at: other.position)
        if let owner { try context.loaded(owner)?.exclude(object.identity, from: link.name) }
    }

    func remove(_ id: ObjectID, from link: RelationshipLink, in context: ObjectContext) throws {
        if let inverse = link.inverseName, let object = try context.loaded(id) {
            let other = try object.kind.link(inverse, isToMany: link.isInverseToMany)
            if link.isInverseToMany {
                guard try list(link).contains(id) else { return }
                if object !== self || inverse != link.name { try object.exclude(identity, from: inverse) }
            } else {
                guard try object.destination(other) == identity else { return }
                try readBeforeChange(link)
                object.put(.toOne(nil), at: other.position)
            }
        } else if try !list(link).contains(id) {
            return
        }
        try exclude(id, from: link.name)
    }

    func setList(_ link: RelationshipLink, _ ids: [ObjectID], in context: ObjectContext) throws {
        let present = try list(link)
        let wanted = ids.unique()
        if present == wanted { return }
        let (old, new) = present.isEmpty ? ([], []) : (Set(present), Set(wanted))
        let changed = present.isEmpty ? wanted : Array(old.symmetricDifference(new))
        try context.fill(faultsAmong: changed.map { try context.object(with: $0) })
        let arriving = try wanted.filter { !old.contains($0) }.map { try context.required($0) }
        if let inverse = link.inverseName {
            let leaving = try present.filter { !new.contains($0) }.compactMap { try context.loaded($0) }
            for other in leaving + arriving { try other.readEnd(inverse, in: context) }
        }
        for id in present where !new.contains(id) { try remove(id, from: link, in: context) }
        for object in arriving { try append(object, to: link, in: context) }
        replaceList(link, wanted)
    }

    // MARK: - One end only

    /// Sets the value at this end only.
    func put(_ value: ObjectValue, at position: Int) {
        noteUpdate()
        values[position] = value
        kind.noteChange?(self, position)
    }

    func replaceList(_ link: RelationshipLink, _ ids: [ObjectID]) { put(.toMany(ids), at: link.position) }

    /// Adds a destination at this end only; a destination that a to-one relationship loses is unlinked at its end.
    func link(_ id: ObjectID, to name: String, in context: ObjectContext) throws {
        try fire()
        let link = kind.links[try kind.position(of: name)]
        guard let link else { return }
        guard !link.isToMany else { return try include(id, in: link) }
        let displaced = knownDestination(link)
        if displaced == id { return }
        put(.toOne(id), at: link.position)
        if let displaced, displaced != id, let inverse = link.inverseName, let object = try context.loaded(displaced) {
            try object.unlink(identity, from: inverse, in: context)
        }
    }

    /// Removes `id` at this end only.
    func unlink(_ id: ObjectID, from name: String, in context: ObjectContext) throws {
        try fire()
        guard let link = kind.links[try kind.position(of: name)] else { return }
        if link.isToMany {
            try exclude(id, from: name)
        } else if knownDestination(link) == id {
            put(.toOne(nil), at: link.position)
        }
    }

    private func include(_ id: ObjectID, in link: RelationshipLink) throws {
        try fire()
        try readBeforeChange(link)
        noteUpdate()
        if case .toMany(var ids)? = values[link.position] {
            // Take the list out and put it back, so that it is not copied.
            values[link.position] = nil
            // A list read after the other end changed may contain the object already, unless the object was never
            // saved.
            if id.isTemporary || !ids.contains(id) { ids.append(id) }
            values[link.position] = .toMany(ids)
        } else {
            deltas[link.position, default: ListDelta()].include(id)
        }
        kind.noteChange?(self, link.position)
    }

    /// Reads a list whose full contents are needed before a change.
    private func readBeforeChange(_ link: RelationshipLink) throws {
        guard link.isOrdered || kind.recorder != nil else { return }
        _ = try list(link)
        kind.recorder?.noteList(of: self, at: link.position)
    }

    /// Returns the destination of an object that has been read. A stored value that leads to no entity counts as none.
    func knownDestination(_ link: RelationshipLink) -> ObjectID? {
        if case .toOne(let id)? = values[link.position] { id } else { nil }
    }

    /// Reads what a change at this end needs, also of an object that this end gives up. After an error of reading,
    /// neither end has changed.
    private func readEnd(_ name: String, in context: ObjectContext) throws {
        try fire()
        if let link = kind.links[try kind.position(of: name)] { try readEnd(link, in: context) }
    }

    private func readEnd(_ link: RelationshipLink, in context: ObjectContext) throws {
        if link.isToMany { return try readBeforeChange(link) }
        guard let inverse = link.inverseName,
            let owner = try knownDestination(link).flatMap({ try context.loaded($0) }),
            let other = owner.kind.links[try owner.kind.position(of: inverse)], other.isToMany
        else { return }
        try owner.readBeforeChange(other)
    }

    func exclude(_ id: ObjectID, from name: String) throws { try exclude([id], from: name) }

    func exclude(_ gone: Set<ObjectID>, from name: String) throws {
        try fire()
        guard let link = kind.links[try kind.position(of: name)] else { return }
        try readBeforeChange(link)
        if case .toMany(var ids)? = values[link.position] {
            noteUpdate()
            values[link.position] = nil
            if gone.count == 1, let first = gone.first, let place = ids.firstIndex(of: first) {
                ids.remove(at: place)
            } else {
                ids.removeAll { gone.contains($0) }
            }
            values[link.position] = .toMany(ids)
        } else {
            noteUpdate()
            deltas[link.position, default: ListDelta()].exclude(gone)
        }
        kind.noteChange?(self, link.position)
    }
}
