import MoultModel

extension ObjectContext {
    /// Fills a fault and, in the same query, the others of its batch.
    ///
    /// - Throws: `objectGone` if its row is gone.
    func fire(_ object: Object) throws {
        let batch = object.batch.map { $0.ids.filter { registry[$0]?.object?.state.contains(.fault) == true } }
        try fill(batch ?? [object.identity])
        if object.state.contains(.fault) {
            object.batch = nil
            throw object.gone("Its row is not in the store.")
        }
    }

    /// The destination of a to-one relationship. One that has to be read is held until the next fetch, so that a walk
    /// that comes back to it does not read it again.
    func destination(with id: ObjectID) throws -> Object {
        let object = try object(with: id)
        if object.state.contains(.fault) { walked.add(object) }
        return object
    }

    /// Fills the faults among these; those whose rows are gone stay what they are.
    func fill(_ ids: [ObjectID]) throws {
        for snapshot in try source.snapshots(of: ids) {
            guard let object = registry[snapshot.id]?.object, object.state.contains(.fault) else { continue }
            object.fill(snapshot)
        }
    }

    func fill(faultsAmong objects: [Object]) throws {
        let faults = objects.filter { $0.state.contains(.fault) && !$0.state.contains(.detached) }
        if !faults.isEmpty { try fill(faults.map(\.identity)) }
    }

    /// Reads a to-many relationship of objects that have not read it, by one query.
    func readLists(_ name: String, of objects: [Object]) throws {
        let waiting = try objects.filter { object in
            try object.fire()
            return object.values[try object.kind.position(of: name)] == nil
        }
        guard !waiting.isEmpty else { return }
        let lists = try source.destinations(of: name, owners: waiting.map(\.identity))
        for object in waiting {
            object.fillList(at: try object.kind.position(of: name), lists[object.identity] ?? [])
        }
    }

    /// Reads derived attributes again, of an object and of the others that were saved with it.
    func readDerived(of object: Object) throws {
        let ids = (object.batch?.ids ?? [object.identity])
        for snapshot in try source.snapshots(of: ids) {
            guard let object = registry[snapshot.id]?.object, !object.state.contains(.fault) else { continue }
            object.takeDerived(from: snapshot)
        }
    }

    /// Reads ahead what key paths lead to, so that walking them asks the store no more.
    ///
    /// - Throws: `unknownKey` for a path that is none of relationships.
    func prefetch(_ paths: [String], of objects: [Object]) throws {
        guard !paths.isEmpty else { return }
        var reached: [Object] = []
        for path in paths {
            var front = objects
            for name in path.split(separator: ".").map(String.init) {
                front = try destinations(of: name, from: front)
                reached += front
            }
        }
        prefetched = reached
    }

    private func destinations(of name: String, from objects: [Object]) throws -> [Object] {
        // A sub-entity may have what the fetched entity has not.
        let owners = try objects.filter { try $0.kind.links[$0.kind.position(of: name)] != nil }
        try fill(faultsAmong: try owners.filter { try $0.partialValue($0.kind.position(of: name)) == nil })
        let lists = try owners.filter { try $0.kind.links[$0.kind.position(of: name)]?.isToMany == true }
        try readLists(name, of: lists)
        var ids: [ObjectID] = []
        for object in owners {
            switch object.values[try object.kind.position(of: name)] {
            case .toOne(let id?)?: ids.append(id)
            case .toMany(let list)?: ids += list
            default: break
            }
        }
        let found = try ids.unique().map { try self.object(with: $0) }
        try fill(faultsAmong: found)
        return found
    }
}

extension Object {
    func takeDerived(from snapshot: ObjectSnapshot) {
        let isShared = state.isDisjoint(with: [.inserted, .updated, .deleted])
        if isShared { committed = [] }
        for position in kind.derived {
            values[position] = snapshot.values[position]
            if !isShared, position < committed.count { committed[position] = snapshot.values[position] }
        }
        if isShared { committed = values }
        batch = nil
    }
}
