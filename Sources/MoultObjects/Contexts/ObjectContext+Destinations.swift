import MoultModel

// Destinations that are gone. A save leaves them out of relationships, and so does an undo.

extension ObjectContext {
    /// Leaves out of the relationships that have changed what is deleted here, and what a parent has deleted or does not
    /// find: no save writes a link to it. Reads what a save into a parent needs before it changes anything there.
    ///
    /// - Returns: the values before, each with its object and position.
    func leaveOutDeleted() throws -> [(Object, Int, ObjectValue)] {
        guard parent != nil || hasDiscardedNew || changed.contains(where: { $0.state.contains(.deleted) }) else {
            return []
        }
        let gained = changed.filter { !$0.state.contains(.deleted) }.flatMap { object in
            object.gainedDestinations.map { (object: object, link: $0.link, ids: $0.ids) }
        }
        let gone = try goneDestinations(among: gained.reduce(into: []) { $0.formUnion($1.ids) })
        hasDiscardedNew = hasDiscardedNew && !gone.isEmpty
        guard !gone.isEmpty else { return [] }
        return try withoutRecording {
            try gained.compactMap { object, link, ids in
                let lost = gone.intersection(ids)
                guard !lost.isEmpty, let value = object.values[link.position] else { return nil }
                try object.loseDestinations(lost, of: link.name)
                return (object, link.position, value)
            }
        }
    }

    private func goneDestinations(among ids: Set<ObjectID>) throws -> Set<ObjectID> {
        let own = ids.filter { id in
            registry[id]?.object?.state.contains(.deleted) ?? (id.isTemporary && parent == nil)
        }
        guard let parent else { return own }
        try parent.settle()
        let others = ids.filter { !own.contains($0) && registry[$0]?.object?.state.contains(.inserted) != true }
        return own.union(try parent.missing(among: others))
    }

    /// Returns the identities of objects that are deleted, have left the context, or have no row.
    func missing(among ids: Set<ObjectID>) throws -> Set<ObjectID> {
        let objects = try ids.map { (id: $0, object: try object(with: $0, always: true)) }
        try fill(faultsAmong: objects.map(\.object))
        return Set(objects.filter { !$0.object.state.isDisjoint(with: [.fault, .deleted, .detached]) }.map(\.id))
    }
}

extension Object {
    /// The destinations that its relationships have gained, except in lists that are stored at the other ends.
    fileprivate var gainedDestinations: [(link: RelationshipLink, ids: Set<ObjectID>)] {
        changedPositions(kind.relationships).compactMap { position, _ in
            guard let link = kind.links[position], !link.isKeptByInverse else { return nil }
            var ids = Set(destinationIDs(link))
            if !committed.isEmpty, case .toMany(let before)? = committed[position] { ids.subtract(before) }
            return ids.isEmpty ? nil : (link, ids)
        }
    }
}
