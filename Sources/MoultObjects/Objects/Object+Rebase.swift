import MoultModel

extension Object {
    /// Sets the committed values of an object deleted here to the store's current ones, which a rollback then restores.
    func rebaseDeleted(onto stored: ObjectSnapshot) {
        for position in shape.properties.indices where !kind.transient.contains(position) {
            if kind.links[position]?.isToMany == true { continue }
            committed[position] = stored.values[position]
        }
        takeVersion(of: stored)
    }

    /// Sets the committed values to the store's current ones, and decides for each property whose value stays.
    ///
    /// A list is always merged from the store's contents and the additions and removals made here, whatever the policy:
    /// it must agree with the objects at the other end, which may not be in conflict. The policy only decides its
    /// order.
    /// - Parameter keepsOurs: receives the position, whether the property was changed here, and whether it was changed
    ///   in the store.
    func rebase(
        onto stored: ObjectSnapshot, in context: ObjectContext,
        keepsOurs: (_ position: Int, _ isOurs: Bool, _ isTheirs: Bool) -> Bool
    ) throws {
        for link in kind.links.compactMap({ $0 }) where link.isKeptByInverse { forgetList(link) }
        for position in kind.shape.properties.indices {
            guard let link = kind.links[position] else {
                rebaseAttribute(position, stored.values[position], keepsOurs)
                continue
            }
            if link.isKeptByInverse || kind.transient.contains(position) { continue }
            try rebase(link, onto: stored, in: context, keepsOurs)
        }
        takeVersion(of: stored)
    }

    private func rebaseAttribute(_ position: Int, _ theirs: ObjectValue?, _ keepsOurs: (Int, Bool, Bool) -> Bool) {
        if kind.transient.contains(position) { return }
        let (ours, base) = (values[position], committed[position])
        let isKept = !kind.derived.contains(position) && keepsOurs(position, ours != base, base != theirs)
        if !isKept { values[position] = theirs }
        committed[position] = theirs
        if !isKept, ours != theirs { kind.noteChange?(self, position) }
    }

    private func rebase(
        _ link: RelationshipLink, onto stored: ObjectSnapshot, in context: ObjectContext,
        _ keepsOurs: (Int, Bool, Bool) -> Bool
    ) throws {
        let position = link.position
        let theirs = stored.values[position]
        if link.isToMany { return try rebaseList(link, in: context, keepsOurs) }
        let base = committed[position]
        let isOurs = values[position].map { differs($0, base, at: position) } ?? false
        let isTheirs = theirs.map { differs($0, base, at: position) } ?? true
        committed[position] = theirs
        if !keepsOurs(position, isOurs, isTheirs) { try take(theirs, link, in: context) }
    }

    private func rebaseList(
        _ link: RelationshipLink, in context: ObjectContext, _ keepsOurs: (Int, Bool, Bool) -> Bool
    ) throws {
        let position = link.position
        // A list that was never read is read on demand.
        guard case .toMany(let ours)? = values[position] else { return }
        var base: [ObjectID] = []
        if case .toMany(let ids)? = committed[position] { base = ids }
        let theirs = try context.source.destinations(of: link.name, owners: [identity])[identity] ?? []
        committed[position] = .toMany(theirs)
        let merge = ListMerge(base: base, ours: ours, theirs: theirs)
        context.forgetUnchanged(among: merge.changedThere)
        // Without an inverse, only this object holds the relationship.
        let isGivenUp = link.inverseName == nil && !keepsOurs(position, true, false)
        let leads = keepsOurs(position, merge.isReordered(ours), merge.isReordered(theirs))
        let merged = isGivenUp ? theirs : merge.result(oursLeads: leads) { !context.isElsewhere($0, than: self, link) }
        if merged != ours { replaceList(link, merged) }
    }

    private func take(_ value: ObjectValue?, _ link: RelationshipLink, in context: ObjectContext) throws {
        switch value {
        case .toOne(let id)?: try setDestination(link, id, in: context)
        case .toMany(let ids)?: try setList(link, ids, in: context)
        default: break
        }
    }

    /// Reduces a list to the changes made to it.
    private func forgetList(_ link: RelationshipLink) {
        guard case .toMany(let ours)? = values[link.position], case .toMany(let base)? = committed[link.position] else {
            return
        }
        values[link.position] = nil
        committed[link.position] = nil
        let (new, old) = (Set(ours), Set(base))
        guard new != old else { return }
        deltas[link.position] = ListDelta(added: ours.filter { !old.contains($0) }, removed: old.subtracting(new))
    }

    /// Restores committed values, at both ends of relationships.
    func takeBack(_ positions: [Int], in context: ObjectContext) throws {
        for position in positions {
            guard let link = kind.links[position] else {
                if let value = committed[position] { values[position] = value }
                continue
            }
            if deltas[position] != nil { _ = try list(link) }
            guard let value = values[position], differs(value, committed[position], at: position) else { continue }
            try take(committed[position], link, in: context)
        }
    }
}

extension ObjectContext {
    /// Makes unchanged objects read the store's contents again.
    fileprivate func forgetUnchanged(among ids: Set<ObjectID>) {
        for case let object? in ids.map({ registry[$0]?.object })
        where !object.isPending && !object.state.contains(.detached) {
            object.becomeFault()
        }
    }

    /// Whether an object was deleted here, or its own end of a relationship now leads elsewhere.
    fileprivate func isElsewhere(_ id: ObjectID, than owner: Object, _ link: RelationshipLink) -> Bool {
        guard let object = registry[id]?.object, object.isPending else { return false }
        if object.state.contains(.deleted) { return true }
        guard let inverse = link.inverseName, !link.isInverseToMany, !object.committed.isEmpty,
            let position = object.shape.position(of: inverse), let value = object.values[position]
        else { return false }
        return value != object.committed[position] && value != .toOne(owner.identity)
    }
}

/// A merge of two changed versions of a list. The result has what either side added and lacks what either removed.
struct ListMerge {
    private let base: Set<ObjectID>
    private let order: [ObjectID]
    private let ours: [ObjectID]
    private let theirs: [ObjectID]

    init(base: [ObjectID], ours: [ObjectID], theirs: [ObjectID]) {
        self.base = Set(base)
        order = base
        self.ours = ours
        self.theirs = theirs
    }

    /// The objects that the other side added or removed.
    var changedThere: Set<ObjectID> { base.symmetricDifference(theirs) }

    /// Whether every change of the other side was also made here, for example through the other ends of the
    /// relationship.
    var isUnchangedThere: Bool { !isReordered(theirs) && changedThere.isSubset(of: base.symmetricDifference(ours)) }

    /// Whether the remaining elements of a side are in another order than before.
    func isReordered(_ side: [ObjectID]) -> Bool {
        let kept = Set(side)
        return side.filter(base.contains) != order.filter(kept.contains)
    }

    /// - Parameters:
    ///   - oursLeads: whether the result has our order; otherwise it has theirs. An addition of the other list follows
    ///     the element that precedes it there.
    ///   - isWanted: called for each addition of the other side.
    func result(oursLeads: Bool, isWanted: (ObjectID) -> Bool = { _ in true }) -> [ObjectID] {
        let (lead, other) = oursLeads ? (ours, theirs) : (theirs, ours)
        let (leading, following) = (Set(lead), Set(other))
        func stays(_ id: ObjectID) -> Bool {
            if base.contains(id) { return following.contains(id) }
            return oursLeads || following.contains(id) || isWanted(id)
        }
        var result = lead.filter(stays)
        var present = Set(result)
        var previous: ObjectID?
        for id in other {
            if present.contains(id) {
                previous = id
                continue
            }
            guard !base.contains(id), !leading.contains(id), !oursLeads || isWanted(id) else { continue }
            if let previous, previous != result.last, let place = result.firstIndex(of: previous) {
                result.insert(id, at: place + 1)
            } else {
                result.insert(id, at: previous == nil ? 0 : result.count)
            }
            present.insert(id)
            previous = id
        }
        return result
    }
}
