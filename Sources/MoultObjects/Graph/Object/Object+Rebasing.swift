import MoultModel

extension Object {
    /// Takes what the store holds by now as committed, and decides of each property whose value stays.
    ///
    /// A list that the other end keeps is put together from the store's and what was added and taken here.
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
        var theirs = stored.values[position]
        if link.isToMany {
            // What was never read is read when it is asked for.
            guard values[position] != nil else { return }
            theirs = .toMany(try context.source.destinations(of: link.name, owners: [identity])[identity] ?? [])
        }
        let base = committed[position]
        let isOurs = values[position].map { differs($0, base, at: position) } ?? false
        let isTheirs = theirs.map { differs($0, base, at: position) } ?? true
        committed[position] = theirs
        if !keepsOurs(position, isOurs, isTheirs) { try take(theirs, link, in: context) }
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
