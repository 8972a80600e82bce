import MoultModel

/// The owner that keeps the rows of a store in memory, which is but a copy of them.
package protocol RowOwner: AnyObject {
    /// Keeps the changes of objects before the copy takes them: what throws keeps the save from being written.
    ///
    /// - Parameter areWritten: which of the objects have changes of their own rows; their versions have been compared.
    ///   Of others only lists have changed, which the other ends keep.
    /// - Returns: the identities of new objects by their temporary ones.
    func save(_ objects: [Object], areWritten: [Bool], of context: ObjectContext) throws -> [ObjectID: ObjectID]

    /// Called when the copy has taken them too.
    func didSave()

    /// Deletes everything.
    func erase() throws
}

extension ObjectCoordinator {
    /// Writes into the copy of its rows what their owner holds by now, and has contexts take it in.
    package func copy(_ changes: ObjectChanges, into store: ObjectStore) throws {
        try lock.withLock {
            _ = try store.save(changes)
            let saved = SavedChanges(
                inserted: Set(changes.inserted.map(\.id)), updated: Set(changes.updated.map(\.id)),
                deleted: Set(changes.deleted.map(\.id)))
            for context in liveContexts { context.mergeIfAutomatic(saved) }
        }
    }
}
