import MoultModel

extension ObjectStore {
    /// Deletes every object, whatever the delete rules; the store, its identity and its history stay.
    package func erase() throws {
        try writing {
            let roots = Set(layout.entityNumbers.keys.compactMap { model.entity($0).map { model.root(of: $0).name } })
            var changes = ObjectChanges()
            for root in roots.sorted(by: { $0.precedesInByteOrder($1) }) {
                let ids = try fetchIDs(ObjectFetch(entityName: root))
                changes.deleted += ids.map { ObjectChanges.Deletion(id: $0, version: nil) }
            }
            _ = try ObjectSave(changes, in: self).run()
        }
    }
}

extension ObjectCoordinator {
    /// Deletes every object of every store; contexts forget what they have. What somebody else keeps the rows of is first:
    /// only there it may fail.
    package func erase() throws {
        try lock.withLock {
            let stores = try usableStores()
            defer { for context in liveContexts { context.reset() } }
            for store in stores where store.owner != nil {
                try store.owner?.erase()
                try store.erase()
            }
            for store in stores where store.owner == nil { try store.erase() }
        }
    }
}
