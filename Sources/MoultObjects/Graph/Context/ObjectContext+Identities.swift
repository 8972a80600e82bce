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
            for group in groups {
                let identities = NewIdentities(
                    try group.store.permanentIDs(for: group.ids).map { (given: $0, permanent: $1) })
                root.give(identities)
                root.replaceDestinations(identities)
            }
        }
    }

    private var outermost: ObjectContext { parent?.outermost ?? self }

    private func storeForNew(_ object: Object) throws -> ObjectStore {
        if let store = coordinator.stores(holding: object.entityName).first { return store }
        throw coordinator.noStore(holding: object.entityName)
    }

    /// Gives objects their new identities in the place of temporary ones, here and in every child context.
    func give(_ identities: NewIdentities) {
        guard !identities.isEmpty else { return }
        recorder?.noteIdentities(identities.permanent)
        for (old, new) in identities.pairs {
            if let entry = registry.removeValue(forKey: old) {
                registry[new] = entry
                entry.object?.identity = new
            }
            if !assignedStores.isEmpty, let store = assignedStores.removeValue(forKey: old) {
                assignedStores[new] = store
            }
        }
        for child in children.compactMap(\.object) { child.give(identities) }
    }

    /// Has relationships lead to the new identities.
    func replaceDestinations(_ identities: NewIdentities) {
        guard !identities.isEmpty else { return }
        // Only a changed object can lead to one that was never saved; in a child, the change may be the parent's.
        let holders = parent == nil ? changed : registry.values.compactMap(\.object)
        for object in holders { object.replaceDestinations(identities) }
        for child in children.compactMap(\.object) { child.replaceDestinations(identities) }
    }
}

/// The permanent identities of objects that had temporary ones.
final class NewIdentities {
    let pairs: [(given: ObjectID, permanent: ObjectID)]
    /// By temporary identity; made once a relationship leads to one.
    private(set) lazy var permanent = Dictionary(pairs.lazy.map { ($0.given, $0.permanent) }) { first, _ in first }

    init(_ pairs: [(given: ObjectID, permanent: ObjectID)]) {
        self.pairs = pairs.allSatisfy(\.given.isTemporary) ? pairs : pairs.filter(\.given.isTemporary)
    }

    var isEmpty: Bool { pairs.isEmpty }

    subscript(id: ObjectID) -> ObjectID? { id.isTemporary ? permanent[id] : nil }
}

extension Object {
    fileprivate func replaceDestinations(_ identities: NewIdentities) {
        guard !kind.relationships.isEmpty, !values.isEmpty else { return }
        let isShared = !isPending
        if isShared { committed = [] }
        for position in kind.relationships {
            if let new = Self.replaced(values[position], identities) { values[position] = new }
            if !committed.isEmpty, let new = Self.replaced(committed[position], identities) {
                committed[position] = new
            }
            if let delta = deltas[position] {
                deltas[position] = ListDelta(
                    added: delta.added.map { identities[$0] ?? $0 },
                    removed: Set(delta.removed.map { identities[$0] ?? $0 }))
            }
        }
        if isShared { committed = values }
    }

    private static func replaced(_ value: ObjectValue?, _ identities: NewIdentities) -> ObjectValue? {
        switch value {
        case .toOne(let id?)?: identities[id].map { .toOne($0) }
        case .toMany(let ids)? where ids.contains(where: { $0.isTemporary }):
            .toMany(ids.map { identities[$0] ?? $0 })
        default: nil
        }
    }
}
