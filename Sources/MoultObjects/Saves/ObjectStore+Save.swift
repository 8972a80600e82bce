import MoultBasics
import MoultModel
import MoultSQLite

extension ObjectStore {
    /// Writes all changes in one transaction.
    ///
    /// The changes may name both ends of a relationship, or only one; the other then follows. Deleting an object also
    /// removes its relationships from the store, so that nothing leads to it afterwards.
    ///
    /// - Parameter handingOver: called when the changes are known to be free of conflicts, before they are written;
    ///   returns the identities of new objects.
    /// - Throws: `SaveConflicts` with every conflict, or a `MigrationError`; nothing is written then.
    package func save(
        _ changes: ObjectChanges, handingOver: (() throws -> [ObjectID: ObjectID])? = nil
    ) throws -> SaveOutcome {
        let count = changes.inserted.count + changes.updated.count + changes.deleted.count
        let outcome = try withRoom(for: count) {
            try writing(author: changes.author, contextName: changes.contextName) {
                if let handingOver {
                    try ObjectSave(changes, in: self).check()
                    reserved.merge(try handingOver()) { $1 }
                }
                return try ObjectSave(changes, in: self).run()
            }
        }
        if !reserved.isEmpty { for (given, _) in outcome.inserted { reserved[given] = nil } }
        return outcome
    }

    /// Runs a save of many objects with a cache of 8 MiB, unless another size has been set. Pages that do not fit into
    /// the cache are written and read again during the save, above all those of indexes.
    private func withRoom<Result>(for count: Int, _ body: () throws -> Result) throws -> Result {
        count >= 1_000 ? try connection.withCache(ofKibibytes: 8_192, body) : try body()
    }

    /// Returns the identities that new objects will have when they are saved, and reserves them.
    package func permanentIDs(for temporary: [ObjectID]) throws -> [ObjectID: ObjectID] {
        if temporary.contains(where: { reserved[$0] == nil }) {
            let made = try writing {
                var made: [ObjectID: ObjectID] = [:]
                for id in temporary where reserved[id] == nil && made[id] == nil {
                    let entity = try columns(of: id.entityName)
                    let key = try writer.keys.next(for: entity.root, table: entity.table)
                    made[id] = self.id(id.entityName, key: key)
                }
                return made
            }
            reserved.merge(made) { first, _ in first }
        }
        return Dictionary(
            temporary.compactMap { id in reserved[id].map { (id, $0) } }, uniquingKeysWith: { first, _ in first })
    }

    /// Runs `body` in a write transaction, which commits when `body` returns and rolls back when it throws. Inside
    /// another transaction, `body` becomes a part of that one.
    ///
    /// - Parameters:
    ///   - author: the transaction author, for persistent history.
    ///   - contextName: the name of the context, for persistent history.
    ///   - body: makes the changes, and reports them to ``history``.
    /// - Throws: `readOnly`; `fileNotFound` if the file was removed or replaced; `storeAhead` if another process has
    ///   migrated the store; `locked` if another connection wrote for longer than the busy timeout.
    package func writing<Result>(
        author: String? = nil, contextName: String? = nil, _ body: () throws -> Result
    ) throws -> Result {
        guard !isReadOnly else {
            throw MigrationError(
                .readOnly, "The store was opened for reading only.", place: path, remedy: "Open it for writing.")
        }
        if isWriting { return try writingInside(body) }
        try checkFile()
        isWriting = true
        defer { isWriting = false }
        writer.begin()
        recomputed.rows = []
        openDeletions = [:]
        history?.begin(author: author, contextName: contextName)
        try writer.statement("BEGIN IMMEDIATE").run()
        do {
            // The process that moved or replaced the file may have held the lock until now.
            try checkFile()
            try checkSchema()
            let result = try body()
            try writer.keys.write()
            try writer.external.synchronise()
            var isCommitted: Bool? = true
            defer { writer.external.finish(committed: isCommitted) }
            try commit { isCommitted = $0 }
            deletions.merge(openDeletions, uniquingKeysWith: +)
            return result
        } catch {
            // SQLite may have rolled back already, for instance when the disk is full.
            if connection.isInTransaction { try? connection.execute("ROLLBACK") }
            writer.external.finish(committed: false)
            throw error
        }
    }

    /// - Parameter failed: called with nil while the outcome is uncertain, and with false once it is certain that
    ///   nothing is saved.
    /// - Throws: SQLite's error, or one that says that the outcome is uncertain.
    private func commit(_ failed: (Bool?) -> Void) throws {
        do {
            try writer.statement("COMMIT").run()
        } catch {
            failed(nil)
            if connection.isInTransaction { try? connection.execute("ROLLBACK") }
            try settle(after: error)
            failed(false)
            throw error
        }
    }

    /// Invalidates a failed commit. If the synchronisation of a WAL fails, the WAL holds the whole transaction: this
    /// connection has rolled it back, but the next process would take it for committed. Another transaction replaces it
    /// in the WAL.
    private func settle(after error: any Error) throws {
        guard (try? connection.text("PRAGMA journal_mode")) ?? "wal" == "wal" else { return }
        do {
            let version = try connection.integer("PRAGMA main.user_version") ?? 0
            try connection.transaction { try connection.execute("PRAGMA main.user_version = \(version)") }
        } catch let obstacle {
            let known = error as? MigrationError
            throw MigrationError(
                known?.code ?? .inputOutput,
                "The disk failed while changes were committed. All of them will be in the store, or none; which, will be "
                    + "known when the disk works again.", place: path,
                remedy: "Repair the disk. Then look whether the changes are in the store, before you make them again.",
                cause: known?.cause ?? "\(obstacle)")
        }
    }

    private func writingInside<Result>(_ body: () throws -> Result) throws -> Result {
        recomputed.rows = []
        let (deleted, files) = (openDeletions, writer.external.mark)
        try writer.statement("SAVEPOINT inside").run()
        do {
            let result = try body()
            try writer.statement("RELEASE inside").run()
            return result
        } catch {
            openDeletions = deleted
            writer.external.undo(since: files)
            if connection.isInTransaction { try? connection.execute("ROLLBACK TO inside; RELEASE inside") }
            throw error
        }
    }

    /// Deletes every object, regardless of delete rules; the store, its identity and its history stay.
    ///
    /// - Returns: the deleted objects.
    package func erase() throws -> [ObjectID] {
        try writing {
            let roots = Set(layout.entityNumbers.keys.compactMap { model.entity($0).map { model.root(of: $0).name } })
            var changes = ObjectChanges()
            for root in roots.inByteOrder() {
                let ids = try fetchIDs(ObjectFetch(entityName: root))
                changes.deleted += ids.map { ObjectChanges.Deletion(id: $0, version: nil) }
            }
            _ = try ObjectSave(changes, in: self).run()
            return changes.deleted.map(\.id)
        }
    }
}

extension ObjectCoordinator {
    /// Deletes every object of every store. Contexts forget their objects, and observers are notified. Stores whose
    /// rows have another owner come first, because only there the deletion may fail.
    package func erase() throws {
        var erased: Set<ObjectID> = []
        // Even after an error, some stores may be empty by now.
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

/// The owner of a store's rows, for a store in memory that only holds a copy of them.
package protocol RowOwner: AnyObject {
    /// Saves the changes of objects before the copy does. If this throws, nothing is saved.
    ///
    /// - Parameter areWritten: whether each object has changes in its own row; their versions have been compared. Of
    ///   the other objects, only lists stored at the other ends have changed.
    /// - Returns: the identities of new objects, by temporary identity.
    func save(_ objects: [Object], areWritten: [Bool], of context: ObjectContext) throws -> [ObjectID: ObjectID]

    /// Called after the copy has been saved too.
    func didSave()

    /// Deletes everything.
    func erase() throws
}

extension ObjectCoordinator {
    /// Writes the owner's current rows into the store's copy of them, and merges the changes into contexts.
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
