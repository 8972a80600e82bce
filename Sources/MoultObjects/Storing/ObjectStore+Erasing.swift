import MoultModel

extension ObjectStore {
    /// Deletes every object, whatever the delete rules; the store, its identity and its history stay.
    ///
    /// - Returns: the objects.
    package func erase() throws -> [ObjectID] {
        try writing {
            let roots = Set(layout.entityNumbers.keys.compactMap { model.entity($0).map { model.root(of: $0).name } })
            var changes = ObjectChanges()
            for root in roots.sorted(by: { $0.precedesInByteOrder($1) }) {
                let ids = try fetchIDs(ObjectFetch(entityName: root))
                changes.deleted += ids.map { ObjectChanges.Deletion(id: $0, version: nil) }
            }
            _ = try ObjectSave(changes, in: self).run()
            return changes.deleted.map(\.id)
        }
    }
}

extension ObjectCoordinator {
    /// Deletes every object of every store; contexts forget what they have, and observers are notified. What somebody else
    /// keeps the rows of is first: only there it may fail.
    package func erase() throws {
        var erased: Set<ObjectID> = []
        // Whatever has failed: some stores may be empty by now.
        defer {
            let observers = erased.isEmpty ? [] : lock.withLock { saveObservers }
            for observer in observers { observer(SavedChanges(deleted: erased)) }
        }
        try lock.withLock {
            let stores = try usableStores()
            defer { for context in liveContexts { context.reset() } }
            for store in stores where store.owner != nil {
                try store.owner?.erase()
                erased.formUnion(try store.erase())
            }
            for store in stores where store.owner == nil { erased.formUnion(try store.erase()) }
        }
    }
}
