import MoultModel

extension ObjectContext {
    /// The objects that a fetch finds, as they would be found after a save of the present changes.
    ///
    /// - Throws: `unknownKey` for an entity or key path that the model has not.
    package func fetch(_ fetch: ObjectFetch) throws -> [Object] {
        try lock.withLock {
            var objects: [Object] = []
            try self.fetch(fetch) { objects.append($0) }
            return objects
        }
    }

    /// As ``fetch(_:)``, with `body` called for each object just after it was made: what is made of it then finds it
    /// close at hand.
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
        // Each is moved into its object; copies would be released one by one afterwards, cold. An array's own reversal
        // copies too.
        snapshots.withUnsafeMutableBufferPointer { $0.reverse() }
        var adopted = 0
        while let snapshot = snapshots.popLast() {
            // The body may have had other objects made.
            try body(adopt(snapshot, isKnownNew: isEmpty && registrations == before + adopted))
            adopted += 1
        }
    }

    /// Objects of which only some properties were read: faults that know these.
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

    /// The identities of what ``fetch(_:)`` finds.
    package func fetchIDs(_ fetch: ObjectFetch) throws -> [ObjectID] {
        try lock.withLock {
            forgetIdle()
            noteReads(of: fetch)
            try settle()
            return try PendingChanges(fetch, in: self)?.fetchIDs() ?? source.fetchIDs(fetch)
        }
    }

    /// The objects of identities, read together; one whose row is gone stays a fault.
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

    /// Dictionary results: of what is saved only, as Core Data has it.
    package func fetchRows(_ fetch: ObjectFetch) throws -> [[String: ExpressionValue]] {
        try lock.withLock {
            noteReads(of: fetch)
            if fetch.columns.isEmpty { coordinator.reads?.noteAll(of: fetch, in: coordinator.model) }
            return try coordinator.fetchRows(fetch)
        }
    }

    /// Calls `body` for each object that a fetch finds. What is not held or changed is released batch by batch, so that
    /// only the identities, 16 bytes each, stay in memory for long.
    ///
    /// - Parameter fetch: its `batchSize`, or 1000, tells how many objects are there at a time.
    package func forEachObject(_ fetch: ObjectFetch, _ body: (Object) throws -> Void) throws {
        let ids = try fetchIDs(fetch)
        let size = fetch.batchSize > 0 ? fetch.batchSize : 1000
        for start in stride(from: 0, to: ids.count, by: size) {
            let batch = Array(ids[start..<min(start + size, ids.count)])
            try lock.withLock {
                let objects = try batch.map { try object(with: $0) }
                try fill(faultsAmong: objects)
                try prefetch(fetch.prefetched, of: objects)
                // The body may have deleted some in the meantime.
                for object in objects where object.state.isDisjoint(with: [.fault, .deleted, .detached]) {
                    try body(object)
                }
            }
        }
        lock.withLock { prefetched = [] }
    }
}

// MARK: - A parent's view of it

extension ObjectContext: ObjectSource {
    func snapshots(of ids: [ObjectID]) throws -> [ObjectSnapshot] {
        let objects = try ids.map { try object(with: $0) }
        try fill(faultsAmong: objects)
        return objects.filter { $0.state.isDisjoint(with: [.fault, .deleted, .detached]) }.map(\.snapshot)
    }

    func destinations(of relationship: String, owners: [ObjectID]) throws -> [ObjectID: [ObjectID]] {
        let objects = try owners.map { try object(with: $0) }
        try readLists(relationship, of: objects)
        var result: [ObjectID: [ObjectID]] = [:]
        for object in objects { result[object.identity] = try object.toManyIDs(relationship) }
        return result
    }

    func isSpread(over entityName: String) -> Bool { false }

    func fetchSnapshots(_ fetch: ObjectFetch) throws -> [ObjectSnapshot] {
        try self.fetch(fetch).compactMap { object in
            try object.fire()
            return object.snapshot
        }
    }
}

extension Object {
    /// The state that a child context sees: unsaved changes included, lists read when they are asked for.
    fileprivate var snapshot: ObjectSnapshot {
        var seen = values
        for case let link? in kind.links where link.isToMany { seen[link.position] = nil }
        return ObjectSnapshot(id: identity, version: version, values: seen)
    }
}
