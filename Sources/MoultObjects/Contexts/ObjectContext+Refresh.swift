import MoultBasics
import MoultModel

extension ObjectContext {
    /// Discards every change since the last save; new objects leave the context.
    package func rollback() {
        lock.withLock {
            recorder?.forget()
            walked.forget()
            forgetFailedReads { _ in true }
            let objects = changed
            changed = []
            pendingDeletions = []
            assignedStores = [:]
            for object in objects {
                if object.state.contains(.detached) {
                    object.state.remove(.listed)
                } else if object.state.contains(.inserted) {
                    registry[object.identity] = nil
                    object.detach()
                } else {
                    object.revert()
                    if object.isOfReplacedRow { object.becomeFault() }
                }
            }
        }
    }

    /// Forgets every object. Objects that the app still holds can no longer be used.
    package func reset() {
        lock.withLock {
            recorder?.forget()
            let objects = registry.values.compactMap(\.object)
            let (unsaved, ahead) = (changed, prefetched)
            walked.forget()
            forgetFailedReads { _ in true }
            changed = []
            pendingDeletions = []
            assignedStores = [:]
            seenIDs = [:]
            prefetched = []
            registry = [:]
            for kind in kinds.values { kind.deadObjects = 0 }
            for object in unsaved { object.state.remove(.listed) }
            for object in objects {
                object.detach()
                object.state.formUnion([.fault, .reset])
            }
            withExtendedLifetime((unsaved, ahead)) {}
        }
    }

    /// Reads an object again from the store, or from the parent.
    ///
    /// - Parameter mergingChanges: whether the context's changes stay, property by property; otherwise they are
    ///   discarded, at both ends of relationships.
    /// - Throws: `objectGone` if the row of an object with changes is gone.
    package func refresh(_ object: Object, mergingChanges: Bool) throws {
        try lock.withLock {
            try settle()
            guard object.kind.context === self, object.state.isDisjoint(with: [.detached, .inserted]) else { return }
            guard object.isPending else { return object.becomeFault() }
            guard mergingChanges else {
                try withoutRecording { try discardChanges(of: object) }
                object.becomeFault()
                return
            }
            guard !object.state.contains(.deleted) else { return }
            guard let stored = try source.snapshots(of: [object.identity]).first else {
                throw object.gone("Its row is not in the store.")
            }
            try withoutRecording { try object.rebase(onto: stored, in: self) { _, isOurs, _ in isOurs } }
        }
    }

    /// Takes back what changes of an object have changed at the other ends of its relationships.
    private func discardChanges(of object: Object) throws {
        let wasDeleted = object.state.remove(.deleted) != nil
        // Relationships from other contents are not restored.
        if object.isOfReplacedRow { return try leaveRelationships(object) }
        try object.takeBack(object.kind.relationships, in: self)
        if wasDeleted { try relate(object) }
    }

    /// Reads the unchanged objects that are in memory again, from the store or the parent. An object whose row is gone
    /// leaves the context with its values.
    package func readUnchangedAgain() throws {
        try lock.withLock {
            try settle()
            let known = registry.values.compactMap(\.object).filter {
                !$0.isPending && $0.state.isDisjoint(with: [.fault, .detached])
            }
            guard !known.isEmpty else { return }
            var gone = Dictionary(known.map { ($0.identity, $0) }) { first, _ in first }
            for snapshot in try source.snapshots(of: known.map(\.identity)) {
                guard let object = gone.removeValue(forKey: snapshot.id) else { continue }
                if object.version != snapshot.version {
                    object.becomeFault()
                    object.fill(snapshot)
                } else {
                    object.forgetLists()
                }
            }
            for object in gone.values { try drop(object) }
        }
    }

    /// Refreshes every object of the context; changes stay.
    package func refreshAll() throws {
        try lock.withLock {
            try settle()
            walked.forget()
            for object in registry.values.compactMap(\.object) { try refresh(object, mergingChanges: true) }
        }
    }

    // MARK: - Changes from elsewhere

    /// Merges the changes that another context or process saved. The context's own changes stay, property by property.
    package func merge(_ saved: SavedChanges) throws {
        try lock.withLock {
            try settle()
            walked.forget()
            try withoutRecording { try take(saved) }
            for child in children.compactMap(\.object) { child.mergeIfAutomatic(saved) }
        }
    }

    private func take(_ saved: SavedChanges) throws {
        for id in saved.updated.union(saved.inserted) {
            guard let object = registry[id]?.object, !(settings.keepsConflicts && object.isPending) else { continue }
            object.discardPartialValues()
            guard !object.state.contains(.fault) else { continue }
            if object.state.contains(.deleted) {
                // A pending deletion also stays when the object was changed elsewhere.
                if let stored = try source.snapshots(of: [id]).first { object.rebaseDeleted(onto: stored) }
                continue
            }
            do {
                try refresh(object, mergingChanges: true)
            } catch let error as MigrationError where error.code == .objectGone {
                try drop(object)
            }
        }
        for id in saved.deleted {
            guard let object = registry[id]?.object else { continue }
            // An object deleted on both sides is no conflict.
            let keeps = settings.keepsConflicts && object.isPending && !object.state.contains(.deleted)
            if !keeps { try drop(object) }
        }
        if !saved.deleted.isEmpty { forgetDestinations(saved.deleted) }
    }

    func mergeIfAutomatic(_ saved: SavedChanges) {
        // After a read error the objects stay as they were, and are read on demand.
        if automaticallyMergesChangesFromParent { try? merge(saved) }
    }

    func mergeElsewhere(_ saved: SavedChanges) {
        guard !saved.isEmpty else { return }
        for other in coordinator.liveContexts where other !== self { other.mergeIfAutomatic(saved) }
        for child in children.compactMap(\.object) { child.mergeIfAutomatic(saved) }
    }

    /// Removes an object whose row is gone from the context, and from the relationships of objects with changes.
    func drop(_ object: Object) throws {
        try leaveRelationships(object)
        discard(object)
    }

    /// Removes an object from the relationships of objects with changes.
    private func leaveRelationships(_ object: Object) throws {
        if object.state.contains(.fault) { return }
        for case let link? in object.kind.links {
            guard let inverse = link.inverseName else { continue }
            for case let other? in object.destinationIDs(link).map({ registry[$0]?.object })
            where !other.state.contains(.fault) && other.isPending && !other.state.contains(.deleted) {
                try other.unlink(object.identity, from: inverse, in: self)
            }
        }
    }

    /// Makes unchanged objects that refer to deleted ones read their relationships again.
    private func forgetDestinations(_ deleted: Set<ObjectID>) {
        for object in registry.values.compactMap(\.object) where !object.isPending {
            object.discardPartialValues()
            if object.state.contains(.fault) { continue }
            let leads = object.kind.links.contains { link in
                link.map { object.destinationIDs($0).contains(where: deleted.contains) } ?? false
            }
            if leads { object.becomeFault() }
        }
    }
}

extension Object {
    /// Makes an unchanged object read its lists again on demand.
    fileprivate func forgetLists() {
        let lists = kind.links.compactMap(\.self).filter { $0.isToMany && !kind.transient.contains($0.position) }
        forgetValues(at: lists.map(\.position))
    }
}
