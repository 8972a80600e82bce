import MoultModel

extension ObjectContext {
    /// Makes the changes of this context unsaved changes of its parent.
    ///
    /// What was changed here goes over what the parent changed, property by property; a list has what either added and
    /// lacks what either took away. An object that the parent has deleted stays deleted.
    func save(into parent: ObjectContext) throws -> SavedChanges {
        var saved = SavedChanges()
        for object in changed where object.state.contains(.inserted) && !object.state.contains(.deleted) {
            parent.take(new: object, try parent.kind(object.entityName))
            saved.inserted.insert(object.identity)
        }
        for object in changed where !object.state.contains(.deleted) {
            let values = object.changes(over: object.kind.persistent + object.kind.transient)
            if values.isEmpty, object.deltas.isEmpty { continue }
            guard let own = try parent.loaded(object.identity), !own.state.contains(.deleted) else { continue }
            try own.take(values, of: object)
            if !object.state.contains(.inserted) { saved.updated.insert(object.identity) }
        }
        for object in changed where object.state.contains(.deleted) {
            saved.deleted.insert(object.identity)
            if let own = try parent.loaded(object.identity) { try parent.delete(own) }
        }
        try parent.settle()
        for object in changed {
            if object.state.contains(.deleted) {
                registry[object.identity] = nil
                object.detach()
            } else {
                object.commit()
            }
        }
        changed = []
        return saved
    }

    private func take(new object: Object, _ kind: ObjectKind) {
        let own = Object(new: object.identity, kind)
        register(own)
        own.noteUpdate()
    }
}

extension Object {
    /// Sets values that a child context has saved, both ends of every relationship kept.
    fileprivate func take(_ values: [String: ObjectValue], of object: Object) throws {
        let context = try kind.liveContext()
        for (name, value) in values {
            let position = try kind.position(of: name)
            guard let link = kind.links[position] else {
                if self.values[position] != value { put(value, at: position) }
                continue
            }
            switch value {
            case .toOne(let id): try setDestination(link, id, in: context)
            case .toMany(let ids) where !link.isKeptByInverse:
                var base: [ObjectID] = []
                if !object.committed.isEmpty, case .toMany(let ids)? = object.committed[position] { base = ids }
                let merge = ListMerge(base: base, ours: ids, theirs: try list(link))
                let merged = merge.isUnchangedThere ? ids : merge.result(oursLeads: merge.isReordered(ids))
                try setList(link, merged, in: context)
            default: break
            }
        }
    }
}
