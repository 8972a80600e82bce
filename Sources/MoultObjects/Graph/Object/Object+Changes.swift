import MoultModel

extension Object {
    /// Returns the values that were set since the last save and differ from it, by property; a to-many relationship
    /// whole.
    package func changedValues() throws -> [String: ObjectValue] {
        try kind.lock.withLock {
            try kind.context?.settle()
            for link in kind.links.compactMap({ $0 }) where deltas[link.position] != nil { _ = try list(link) }
            return changes(over: kind.persistent + kind.transient)
        }
    }

    /// Returns the values that the store, or the parent context, holds of these properties, by name; of all by default.
    /// Empty for a new object.
    package func committedValues(_ names: [String]? = nil) throws -> [String: ObjectValue] {
        try kind.lock.withLock {
            try fire()
            guard !state.contains(.inserted) else { return [:] }
            let positions = try names?.map { try kind.position(of: $0) } ?? Array(kind.shape.properties.indices)
            var result: [String: ObjectValue] = [:]
            for position in positions {
                kind.noteReading(position)
                if let link = kind.links[position], link.isToMany, committed[position] == nil { _ = try list(link) }
                result[kind.shape.properties[position].name] = committed[position]
            }
            return result
        }
    }

    /// The values at positions that differ from what is committed; of a new object, from its defaults.
    func changes(over positions: [Int]) -> [String: ObjectValue] {
        let changes = changedPositions(positions).map { (kind.shape.properties[$0.position].name, $0.value) }
        return Dictionary(changes) { first, _ in first }
    }

    /// The same by position, in the order of the positions.
    func changedPositions(_ positions: [Int]) -> [(position: Int, value: ObjectValue)] {
        guard !state.contains(.fault), !state.isDisjoint(with: [.inserted, .updated]) else { return [] }
        let base = state.contains(.inserted) ? kind.newValues : committed
        var result: [(position: Int, value: ObjectValue)] = []
        // Of a row, only what was set can differ.
        let set = values.positionsSet(over: base)?.filter(positions.contains)
        if let set { result.reserveCapacity(set.count) }
        for position in set ?? positions {
            guard let value = values[position], differs(value, base[position], at: position)
            else { continue }
            result.append((position, value))
        }
        return result
    }

    /// The order of a relationship without order is no difference.
    func differs(_ value: ObjectValue, _ other: ObjectValue?, at position: Int) -> Bool {
        if value == other { return false }
        guard let link = kind.links[position], link.isToMany, !link.isOrdered,
            case .toMany(let one) = value, case .toMany(let two)? = other
        else { return true }
        return one.count != two.count || Set(one) != Set(two)
    }

    /// Puts the committed values back; both ends of a relationship are put back one by one.
    func revert() {
        deltas = [:]
        state.subtract([.updated, .deleted, .listed])
        values = committed
        kind.noteChange?(self, nil)
    }

    /// Makes the present values those that the store holds.
    func commit() {
        deltas = [:]
        state.subtract([.inserted, .updated, .listed])
        committed = values
    }
}
