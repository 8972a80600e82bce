import MoultBasics
import MoultModel

// Delete rules are followed once for a series of deletions: before the next access to anything that they may change.

extension ObjectContext {
    /// Deletes an object at the next save, with every object that its delete rules reach.
    ///
    /// A deny rule is checked at the save, by which time the objects that prevent the deletion may be deleted too.
    /// - Throws: `usage` for an object of another context.
    package func delete(_ object: Object) throws {
        try lock.withLock {
            guard object.kind.context === self, !object.state.contains(.detached) else {
                throw MigrationError(
                    .usage, "\(object.identity) is of another context, or has left its context.",
                    place: object.identity.description,
                    remedy: "Use this context's object(with:) for the identity of the object.")
            }
            guard !object.state.contains(.deleted) else { return }
            pendingDeletions.append(object)
            markDeleted(object)
        }
    }

    /// Takes back the deletion of an object, or inserts a new object again that has left the context. It is related to
    /// the same objects as before, as far as they are still there and related to no other. What its delete rules have
    /// deleted stays deleted.
    ///
    /// - Returns: whether the object was deleted, or had left the context.
    package func insertAgain(_ object: Object) throws -> Bool {
        try lock.withLock {
            guard object.kind.context === self else { return false }
            recorder?.note(object)
            if object.state.contains(.detached), !object.state.contains(.fault), object.identity.isTemporary {
                object.attach(in: self)
            } else if object.state.contains(.deleted) {
                object.state.remove(.deleted)
                if let place = pendingDeletions.firstIndex(where: { $0 === object }) {
                    pendingDeletions.remove(at: place)
                    return true
                }
            } else {
                return false
            }
            try relate(object)
            return true
        }
    }

    /// Relates an object again to those that it leads to, as far as they are still there and related to no other.
    func relate(_ object: Object) throws {
        for case let link? in object.kind.links { try relate(object, by: link) }
    }

    /// Restores the other ends of a relationship.
    private func relate(_ object: Object, by link: RelationshipLink) throws {
        var lost: Set<ObjectID> = []
        for id in object.destinationIDs(link) {
            let other = id.isTemporary ? registry[id]?.object : try loaded(id)
            let isThere = try other.map { try !$0.state.contains(.deleted) && link.takesBack(object, at: $0) } ?? false
            if !isThere { lost.insert(id) }
            guard isThere, let inverse = link.inverseName else { continue }
            try other?.link(object.identity, to: inverse, in: self)
            try other?.restorePlace(of: object.identity, in: inverse)
        }
        if !lost.isEmpty { try object.loseDestinations(lost, of: link.name) }
    }

    func markDeleted(_ object: Object) {
        recorder?.note(object)
        object.state.insert(.deleted)
        if !object.state.contains(.listed) {
            object.state.insert(.listed)
            changed.append(object)
        }
    }

    /// Follows the delete rules of objects deleted since the last call, and ends an undoable group of changes:
    /// `processPendingChanges`.
    package func processPendingChanges() throws {
        try lock.withLock {
            try settle()
            takeChangeStep()
        }
    }

    func settle() throws {
        guard !pendingDeletions.isEmpty else { return }
        var wave = pendingDeletions
        pendingDeletions = []
        var deleted: [Object] = []
        do {
            while !wave.isEmpty {
                wave = try readForDeletion(wave)
                deleted += wave
                wave = try cascade(from: wave)
            }
            try nullify(deleted)
        } catch {
            // Nothing is nullified yet, so the next attempt starts over.
            pendingDeletions = deleted + wave
            throw error
        }
        if tracksEvents { for object in deleted { noteInEvent(object) } }
        for object in deleted where object.state.contains(.inserted) { discard(object) }
    }

    /// Reads everything that the rules need, with one query per relationship, and leaves out objects whose rows are
    /// gone.
    private func readForDeletion(_ objects: [Object]) throws -> [Object] {
        for object in objects where coordinator.hasLostStore(object) { discard(object) }
        let objects = objects.filter { !coordinator.hasLostStore($0) }
        try fill(faultsAmong: objects)
        let present = objects.filter { !$0.state.contains(.fault) }
        for object in objects where object.state.contains(.fault) { discard(object) }
        for (_, same) in Dictionary(grouping: present, by: \.entityName) {
            guard let kind = same.first?.kind else { continue }
            for case let link? in kind.links where link.isToMany && (link.isFollowedOnDeletion || recorder != nil) {
                try readLists(link.name, of: same)
            }
        }
        return present
    }

    private func cascade(from objects: [Object]) throws -> [Object] {
        var next: [Object] = []
        for object in objects {
            for case let link? in object.kind.links where link.deleteRule == .cascade {
                for id in object.destinationIDs(link) { next.append(try self.object(with: id)) }
            }
        }
        return next.filter { destination in
            guard !destination.state.contains(.deleted) else { return false }
            markDeleted(destination)
            return true
        }
    }

    /// Removes deleted objects from the relationships of the objects that stay.
    func nullify(_ deleted: [Object], followingRules: Bool = true) throws {
        var leaving: [ObjectID: [String: Set<ObjectID>]] = [:]
        for object in deleted {
            let takesAll = !followingRules || object.state.contains(.inserted)
            for case let link? in object.kind.links where takesAll || link.deleteRule == .nullify {
                guard let inverse = link.inverseName else { continue }
                for id in object.destinationIDs(link) {
                    leaving[id, default: [:]][inverse, default: []].insert(object.identity)
                }
            }
        }
        let staying = try leaving.keys.map { try self.object(with: $0) }.filter { !$0.state.contains(.deleted) }
        try fill(faultsAmong: staying)
        let present = staying.filter { !$0.state.contains(.fault) }
        // The lists that change are read first: after an error of reading, nothing has changed.
        for (_, same) in Dictionary(grouping: present, by: \.entityName) {
            guard let kind = same.first?.kind else { continue }
            for case let link? in kind.links where link.isToMany && (link.isOrdered || recorder != nil) {
                try readLists(link.name, of: same.filter { leaving[$0.identity]?[link.name] != nil })
            }
        }
        for object in present {
            for (name, ids) in leaving[object.identity] ?? [:] { try object.loseDestinations(ids, of: name) }
        }
    }

    /// Removes an object from the context for good. Its place among the changed objects is kept until many have left, so
    /// that none of them is searched for.
    func discard(_ object: Object) {
        registry[object.identity] = nil
        assignedStores[object.identity] = nil
        if object.identity.isTemporary { hasDiscardedNew = true }
        if tracksEvents, object.state.contains(.inserted) { noteInEvent(object) }
        let isListed = object.state.contains(.listed)
        object.detach()
        guard isListed else { return }
        object.state.insert(.listed)
        discarded += 1
        if discarded > changed.count / 2 { forgetUnchanged() }
    }
}

extension RelationshipLink {
    /// Whether the other end is free for an object: in a list, or with no other object.
    fileprivate func takesBack(_ object: Object, at other: Object) throws -> Bool {
        guard let inverseName, !isInverseToMany,
            let inverse = other.kind.links[try other.kind.position(of: inverseName)]
        else { return true }
        let present = try other.destination(inverse)
        return present == nil || present == object.identity
    }

    fileprivate var isFollowedOnDeletion: Bool {
        deleteRule != .noAction && (deleteRule != .nullify || inverseName != nil)
    }
}

extension Object {
    /// Returns the destinations that have been read.
    func destinationIDs(_ link: RelationshipLink) -> [ObjectID] {
        guard link.position < values.count else { return [] }
        switch values[link.position] {
        case .toOne(let id?)?: return [id]
        case .toMany(let ids)?: return ids
        default: return []
        }
    }

    /// Moves a destination back to its committed place in an ordered relationship, if the others are as committed.
    fileprivate func restorePlace(of id: ObjectID, in name: String) throws {
        guard let link = kind.links[try kind.position(of: name)], link.isOrdered, !committed.isEmpty,
            case .toMany(let ids)? = values[link.position], case .toMany(let before)? = committed[link.position],
            before.contains(id), ids.filter({ $0 != id }) == before.filter({ $0 != id })
        else { return }
        replaceList(link, before)
    }

    func loseDestinations(_ ids: Set<ObjectID>, of name: String) throws {
        guard let link = kind.links[try kind.position(of: name)] else { return }
        if link.isToMany { return try exclude(ids, from: name) }
        try fire()
        if let id = knownDestination(link), ids.contains(id) { put(.toOne(nil), at: link.position) }
    }
}
