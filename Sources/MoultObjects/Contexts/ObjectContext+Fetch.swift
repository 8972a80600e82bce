import MoultBasics
import MoultModel

extension ObjectContext {
    /// Returns the objects that match a fetch, as if the pending changes had been saved.
    ///
    /// - Throws: `unknownKey` for an entity or key path that is not in the model.
    package func fetch(_ fetch: ObjectFetch) throws -> [Object] {
        try lock.withLock {
            var objects: [Object] = []
            try self.fetch(fetch) { objects.append($0) }
            return objects
        }
    }

    /// Fetches objects as ``fetch(_:)`` does, and calls `body` for each as soon as it is created, while it is still in
    /// the processor's cache.
    package func fetch(_ fetch: ObjectFetch, _ body: (Object) throws -> Void) throws {
        try lock.withLock {
            forgetIdle()
            noteReads(of: fetch)
            try settle()
            guard !fetch.prefetched.isEmpty else { return try forEachFound(fetch, body) }
            var objects: [Object] = []
            try forEachFound(fetch) { objects.append($0) }
            try prefetch(fetch.prefetched, of: objects)
            try objects.forEach(body)
        }
    }

    private func forEachFound(_ fetch: ObjectFetch, _ body: (Object) throws -> Void) throws {
        if let pending = try PendingChanges(fetch, in: self) {
            return try faults(try pending.fetchIDs(), fetch).forEach(body)
        }
        guard fetch.batchSize == 0 else { return try faults(try source.fetchIDs(fetch), fetch).forEach(body) }
        let snapshots = try source.fetchSnapshots(fetch)
        makeRoom(for: snapshots.count)
        guard fetch.properties.isEmpty else { return try partlyRead(snapshots).forEach(body) }
        try adopt(snapshots, body)
    }

    private func adopt(_ snapshots: consuming [ObjectSnapshot], _ body: (Object) throws -> Void) throws {
        let isEmpty = registry.isEmpty
        let before = registrations
        // Each snapshot is moved into its object. Copies would be released one by one later, when they are out of the
        // cache. The array's own `reverse()` would copy too.
        snapshots.withUnsafeMutableBufferPointer { $0.reverse() }
        var adopted = 0
        while let snapshot = snapshots.popLast() {
            // The body may have created other objects.
            try body(adopt(snapshot, isKnownNew: isEmpty && registrations == before + adopted))
            adopted += 1
        }
    }

    /// Returns objects of which only some properties were read: faults that hold those values.
    private func partlyRead(_ snapshots: [ObjectSnapshot]) throws -> [Object] {
        let objects = try snapshots.map { snapshot in
            let object = try object(with: snapshot.id)
            object.setPartialValues(snapshot)
            return object
        }
        shareBatches(objects, size: Self.batchSize)
        return objects
    }

    private func faults(_ ids: [ObjectID], _ fetch: ObjectFetch) throws -> [Object] {
        let objects = try ids.map { try object(with: $0) }
        if fetch.batchSize > 0 {
            shareBatches(objects, size: fetch.batchSize)
        } else {
            try fill(faultsAmong: objects)
        }
        return objects
    }

    /// Returns the identities of the objects that ``fetch(_:)`` finds.
    package func fetchIDs(_ fetch: ObjectFetch) throws -> [ObjectID] {
        try lock.withLock {
            forgetIdle()
            noteReads(of: fetch)
            try settle()
            return try PendingChanges(fetch, in: self)?.fetchIDs() ?? source.fetchIDs(fetch)
        }
    }

    /// Returns the objects with the given identities, read together. An object whose row is gone stays a fault.
    package func batch(_ ids: [ObjectID]) throws -> [Object] {
        try lock.withLock {
            forgetIdle()
            let objects = try ids.map { try object(with: $0) }
            try fill(faultsAmong: objects)
            return objects
        }
    }

    /// Returns the number of objects that ``fetch(_:)`` finds.
    package func count(_ fetch: ObjectFetch) throws -> Int {
        try lock.withLock {
            noteReads(of: fetch)
            try settle()
            return try PendingChanges(fetch, in: self)?.fetchIDs().count ?? source.count(fetch)
        }
    }

    /// Returns dictionary results, of saved data only, as in Core Data.
    package func fetchRows(_ fetch: ObjectFetch) throws -> [FetchedRow] {
        try lock.withLock {
            noteReads(of: fetch)
            if fetch.columns.isEmpty { coordinator.reads?.noteAll(of: fetch, in: coordinator.model) }
            return try coordinator.fetchRows(fetch)
        }
    }

    /// Calls `body` for each object that a fetch finds. Objects that are neither held nor changed are released batch by
    /// batch, so that only the identities, 16 bytes each, stay in memory throughout.
    ///
    /// - Parameter fetch: its `batchSize`, or 1000 if that is zero, is the number of objects in memory at a time.
    package func forEachObject(_ fetch: ObjectFetch, _ body: (Object) throws -> Void) throws {
        let ids = try fetchIDs(fetch)
        let size = fetch.batchSize > 0 ? fetch.batchSize : 1000
        for start in stride(from: 0, to: ids.count, by: size) {
            let batch = Array(ids[start..<min(start + size, ids.count)])
            try lock.withLock {
                let objects = try batch.map { try object(with: $0) }
                try fill(faultsAmong: objects)
                try prefetch(fetch.prefetched, of: objects)
                // The body may have deleted some of them in the meantime.
                for object in objects where object.state.isDisjoint(with: [.fault, .deleted, .detached]) {
                    try body(object)
                }
            }
        }
        lock.withLock { prefetched = [] }
    }
}

// MARK: - Reading as a parent context

extension ObjectContext: ObjectSource {
    func snapshots(of ids: [ObjectID]) throws -> [ObjectSnapshot] {
        let objects = try ids.map { try object(with: $0, always: true) }
        try fill(faultsAmong: objects)
        return objects.filter { $0.state.isDisjoint(with: [.fault, .deleted, .detached]) }.map(\.snapshot)
    }

    func destinations(of relationship: String, owners: [ObjectID]) throws -> [ObjectID: [ObjectID]] {
        let objects = try owners.map { try object(with: $0) }
        try readLists(relationship, of: objects)
        var result: [ObjectID: [ObjectID]] = [:]
        try settle()
        for object in objects {
            // The app reads the list in the child alone.
            let link = try object.kind.link(relationship, isToMany: true)
            object.kind.noteReading(link.position)
            result[object.identity] = try object.list(link)
        }
        return result
    }

    func isSpread(_ fetch: ObjectFetch) -> Bool { false }

    func fetchSnapshots(_ fetch: ObjectFetch) throws -> [ObjectSnapshot] {
        try self.fetch(fetch).compactMap { object in
            try object.fire()
            return object.snapshot
        }
    }
}

extension Object {
    /// The state that a child context sees, with unsaved changes. Lists are read on demand.
    fileprivate var snapshot: ObjectSnapshot {
        var seen = values
        for case let link? in kind.links where link.isToMany { seen[link.position] = nil }
        return ObjectSnapshot(id: identity, version: version, values: seen)
    }
}

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

    /// Returns the destination of a to-one relationship. A fault is held until the next fetch, so that walking to it
    /// again does not read it again.
    func destination(with id: ObjectID) throws -> Object {
        let object = try object(with: id)
        if object.state.contains(.fault) { walked.add(object) }
        return object
    }

    /// Fills the faults among these objects. Those whose rows are gone stay faults.
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

    /// Reads a to-many relationship with one query, for those objects that have not read it yet.
    func readLists(_ name: String, of objects: [Object]) throws {
        let waiting = try objects.filter { object in
            try object.fire()
            return object.values[try object.kind.position(of: name)] == nil
        }
        guard !waiting.isEmpty else { return }
        let lists = try source.destinations(of: name, owners: waiting.map(\.identity))
        for object in waiting { object.fillList(at: try object.kind.position(of: name), lists[object.identity] ?? []) }
    }

    /// Reads the derived attributes of an object, and of the objects saved with it, again.
    func readDerived(of object: Object) throws {
        let ids = (object.batch?.ids ?? [object.identity])
        for snapshot in try source.snapshots(of: ids) {
            guard let object = registry[snapshot.id]?.object, !object.state.contains(.fault) else { continue }
            object.takeDerived(from: snapshot)
        }
    }

    /// Prefetches the objects that key paths reach, so that walking the paths needs no further queries.
    ///
    /// - Throws: `unknownKey` for a path that does not consist of relationships.
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
        // A sub-entity may have relationships that the fetched entity does not have.
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
        let isShared = isShared
        if isShared { committed = [] }
        for position in kind.derived {
            values[position] = snapshot.values[position]
            if !isShared, position < committed.count { committed[position] = snapshot.values[position] }
        }
        if isShared { committed = values }
        batch = nil
    }
}
