import MoultModel

/// The values of an object before its first change in an event.
struct EventOrigin {
    let object: Object
    /// Without what had not been read.
    fileprivate let values: PositionedValues
    fileprivate let deltas: [Int: ListDelta]
}

extension ObjectContext {
    /// Keeps what an object holds, before its first change of an event.
    func noteInEvent(_ object: Object) {
        guard origins[ObjectIdentifier(object)] == nil else { return }
        origins[ObjectIdentifier(object)] = EventOrigin(object: object, values: object.values, deltas: object.deltas)
    }

    /// The objects that were changed in the event, by assignments or by the other end of a relationship, in no order.
    package var changedInEvent: [Object] { lock.withLock { origins.values.map(\.object) } }

    /// Ends an event: what changes from now on belongs to the next.
    package func endEvent() { lock.withLock { origins = [:] } }
}

extension Object {
    /// Returns the earlier values of the stored properties that have changed in the event, by name; a to-many
    /// relationship whole. A list that did not change is not read.
    package func valuesBeforeEvent() throws -> [String: ObjectValue] {
        try kind.lock.withLock {
            guard let origin = kind.context?.origins[ObjectIdentifier(self)] else { return [:] }
            var result: [String: ObjectValue] = [:]
            for position in kind.persistent {
                if let link = kind.links[position], link.isToMany, deltas[position] != nil { _ = try list(link) }
                guard !origin.values.shares(position, with: values), let now = values[position] else { continue }
                let before = origin.values[position] ?? origin.list(at: position) ?? committed[position]
                guard differs(now, before, at: position) else { continue }
                result[kind.shape.properties[position].name] = before ?? .attribute(nil)
            }
            return result
        }
    }
}

extension EventOrigin {
    /// A list of which only the changes were known.
    fileprivate func list(at position: Int) -> ObjectValue? {
        guard let delta = deltas[position], case .toMany(let ids)? = object.committed[position] else { return nil }
        return .toMany(delta.applied(to: ids))
    }
}
