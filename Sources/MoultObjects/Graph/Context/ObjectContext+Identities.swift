import MoultModel

extension ObjectContext {
    /// Gives new objects the identities that they will be saved under.
    package func obtainPermanentIDs(for objects: [Object]) throws {
        try lock.withLock {
            var groups: [(store: ObjectStore, ids: [ObjectID])] = []
            for object in objects where object.identity.isTemporary {
                let store = try assignedStores[object.identity] ?? storeForNew(object)
                if let place = groups.firstIndex(where: { $0.store === store }) {
                    groups[place].ids.append(object.identity)
                } else {
                    groups.append((store, [object.identity]))
                }
            }
            let root = outermost
            for group in groups { root.replace(try group.store.permanentIDs(for: group.ids)) }
        }
    }

    private var outermost: ObjectContext { parent?.outermost ?? self }

    private func storeForNew(_ object: Object) throws -> ObjectStore {
        if let store = coordinator.stores(holding: object.entityName).first { return store }
        throw coordinator.noStore(holding: object.entityName)
    }

    /// Puts new identities in the place of temporary ones, here and in every child context.
    func replace(_ identities: [ObjectID: ObjectID]) {
        guard !identities.isEmpty else { return }
        recorder?.noteIdentities(identities)
        for (old, new) in identities {
            if let entry = registry.removeValue(forKey: old) {
                registry[new] = entry
                entry.object?.identity = new
            }
            if let store = assignedStores.removeValue(forKey: old) { assignedStores[new] = store }
        }
        // Only a changed object can lead to one that was never saved; in a child, the change may be the parent's.
        let holders = parent == nil ? changed : registry.values.compactMap(\.object)
        for object in holders { object.replace(identities) }
        for child in children.compactMap(\.context) { child.replace(identities) }
    }
}

extension Object {
    fileprivate func replace(_ identities: [ObjectID: ObjectID]) {
        guard !kind.relationships.isEmpty, !values.isEmpty else { return }
        let isShared = !isPending
        if isShared { committed = [] }
        for position in kind.relationships {
            if let new = Self.replaced(values[position], identities) { values[position] = new }
            if !committed.isEmpty, let new = Self.replaced(committed[position], identities) {
                committed[position] = new
            }
            if let delta = deltas?[position] {
                deltas?[position] = ListDelta(
                    added: delta.added.map { identities[$0] ?? $0 },
                    removed: Set(delta.removed.map { identities[$0] ?? $0 }))
            }
        }
        if isShared { committed = values }
    }

    private static func replaced(_ value: ObjectValue?, _ identities: [ObjectID: ObjectID]) -> ObjectValue? {
        switch value {
        case .toOne(let id?)?: identities[id].map { .toOne($0) }
        case .toMany(let ids)? where ids.contains(where: { $0.isTemporary }):
            .toMany(ids.map { identities[$0] ?? $0 })
        default: nil
        }
    }
}
