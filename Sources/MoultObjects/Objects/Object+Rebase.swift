import MoultModel

extension Object {
    /// Takes what the store holds by now as committed, of an object that is deleted here. A rollback shows it.
    func rebaseDeleted(onto stored: ObjectSnapshot) {
        for position in shape.properties.indices where !kind.transient.contains(position) {
            if kind.links[position]?.isToMany == true { continue }
            committed[position] = stored.values[position]
        }
        version = stored.version
    }

    /// Takes what the store holds by now as committed, and decides of each property whose value stays.
    ///
    /// A list is put together from the store's and what was added and taken here, whatever the policy: it says what the
    /// objects at the other end say, which may be in no conflict. Of its order it is decided.
    /// - Parameter keepsOurs: asked with the position, whether it was changed here, and whether it was in the store.
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
        version = stored.version
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
        // What was never read is read when it is asked for.
        guard case .toMany(let ours)? = values[position] else { return }
        var base: [ObjectID] = []
        if case .toMany(let ids)? = committed[position] { base = ids }
        let theirs = try context.source.destinations(of: link.name, owners: [identity])[identity] ?? []
        committed[position] = .toMany(theirs)
        let merge = ListMerge(base: base, ours: ours, theirs: theirs)
        context.forgetUnchanged(among: merge.changedThere)
        // Without another end, nothing but this object says what it leads to.
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

    /// Keeps of a list only what was changed of it.
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

    /// Puts committed values back, at both ends of relationships.
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
    /// Has unchanged objects read again what the store holds.
    fileprivate func forgetUnchanged(among ids: Set<ObjectID>) {
        for case let object? in ids.map({ registry[$0]?.object })
        where !object.isPending && !object.state.contains(.detached) {
            object.becomeFault()
        }
    }

    /// Whether an object was deleted here, or led somewhere else by its own end of a relationship.
    fileprivate func isElsewhere(_ id: ObjectID, than owner: Object, _ link: RelationshipLink) -> Bool {
        guard let object = registry[id]?.object, object.isPending else { return false }
        if object.state.contains(.deleted) { return true }
        guard let inverse = link.inverseName, !link.isInverseToMany, !object.committed.isEmpty,
            let position = object.shape.position(of: inverse), let value = object.values[position]
        else { return false }
        return value != object.committed[position] && value != .toOne(owner.identity)
    }
}

/// A list that two sides have changed: it has what either added, and lacks what either took away.
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

    /// The objects that the other side added or took away.
    var changedThere: Set<ObjectID> { base.symmetricDifference(theirs) }

    /// Whether all that the other side has changed was changed here too, as by the other ends of the relationship.
    var isUnchangedThere: Bool { !isReordered(theirs) && changedThere.isSubset(of: base.symmetricDifference(ours)) }

    /// Whether what a side left stands in another order than before.
    func isReordered(_ side: [ObjectID]) -> Bool {
        let kept = Set(side)
        return side.filter(base.contains) != order.filter(kept.contains)
    }

    /// - Parameters:
    ///   - oursLeads: whose order it has. An addition of the other side stands behind what it stands behind there.
    ///   - isWanted: asked for each addition of the other side.
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
