import MoultBasics
import MoultModel

extension ObjectContext {
    /// Returns the object with an identity: the one in the context, or a new fault.
    ///
    /// - Parameter id: the identity, or the temporary one that the object had before its save, if the app has seen it
    ///   here.
    /// - Throws: `unknownKey` for an entity that is not in the model; `objectGone` for an identity of a store that is
    ///   not open here, and for a temporary identity of another context.
    package func object(with id: ObjectID) throws -> Object { try object(with: id, always: false) }

    /// Returns the object with an identity.
    ///
    /// - Parameter always: whether the identity of no object gives a fault too, which cannot be filled.
    package func object(with id: ObjectID, always: Bool) throws -> Object {
        try lock.withLock {
            if let known = registry[id]?.object { return known }
            if id.isTemporary, let now = seenIDs[id], now != id { return try object(with: now, always: always) }
            if always {
                // Its store is looked up when the fault is filled.
            } else if id.isTemporary {
                guard let parent, parent.knows(id) else {
                    throw MigrationError(
                        .objectGone, "\(id) is a temporary identity of another context, or of an object that is gone.",
                        place: id.description,
                        remedy: "Save the object in the context in which it was inserted, and use its new identity.")
                }
            } else {
                _ = try coordinator.store(of: id)
            }
            let object = Object(id, try kind(id.entityName))
            register(object)
            return object
        }
    }

    private func knows(_ temporary: ObjectID) -> Bool {
        registry[temporary]?.object != nil || parent?.knows(temporary) == true
    }

    /// Returns the object with an identity, read from the store unless its values are in memory.
    ///
    /// - Throws: `objectGone` if it does not exist.
    package func existingObject(with id: ObjectID) throws -> Object {
        try lock.withLock {
            try settle()
            let object = try object(with: id)
            try object.fire()
            guard !object.state.contains(.deleted) else { throw object.gone("It is deleted in this context.") }
            return object
        }
    }

    /// Returns the object with an identity if the context has it.
    package func registeredObject(for id: ObjectID) -> Object? { lock.withLock { registry[id]?.object } }

    package var registeredObjects: [Object] { lock.withLock { registry.values.compactMap(\.object) } }

    /// Inserts a new object with default values.
    ///
    /// - Parameters:
    ///   - store: the store in which to save it; by default the first store that holds its entity.
    ///   - id: the temporary identity that the object has already.
    /// - Throws: `unknownKey` for an entity that is not in the model, `usage` for an abstract one.
    package func insert(_ entityName: String, into store: ObjectStore? = nil, as id: ObjectID? = nil) throws -> Object {
        try lock.withLock {
            let kind = try kind(entityName)
            guard !kind.shape.entity.isAbstract else {
                throw MigrationError(
                    .usage, "\(entityName) is abstract: it has no objects.", place: entityName,
                    remedy: "Insert an object of one of its sub-entities.")
            }
            let object = Object(new: id ?? Self.newTemporaryID(kind), kind)
            if let store { try assign(object, to: store) }
            if let id { seenIDs[id] = id }
            register(object)
            object.noteUpdate()
            return object
        }
    }

    /// Sets the store in which a new object is saved.
    package func assign(_ object: Object, to store: ObjectStore) throws {
        try lock.withLock {
            guard coordinator.stores.contains(where: { $0 === store }), store.shape(of: object.entityName) != nil,
                object.identity.isTemporary
            else {
                throw MigrationError(
                    .usage, "\(object.identity) cannot be saved in \(store.path).", place: object.identity.description,
                    remedy: "Give a new object, and a store that is open here and whose configuration has its entity.")
            }
            assignedStores[object.identity] = store
        }
    }

    /// Returns the objects with the given identities, in that order. Those not in memory become faults of one batch.
    func objects(with ids: [ObjectID]) throws -> [Object] {
        let objects = try ids.map { try object(with: $0) }
        shareBatches(objects, size: Self.batchSize)
        return objects
    }

    /// The default number of faults that are filled together.
    static let batchSize = 256

    func shareBatches(_ objects: [Object], size: Int) {
        let faults = objects.filter { $0.state.contains(.fault) && $0.batch == nil }
        guard faults.count > 1 else { return }
        for start in stride(from: 0, to: faults.count, by: max(size, 1)) {
            let part = faults[start..<min(start + max(size, 1), faults.count)]
            let batch = FaultBatch(part.map(\.identity))
            for object in part { object.batch = batch }
        }
    }

    /// Returns the object of a snapshot. An object that already has values keeps them.
    ///
    /// - Parameter isKnownNew: whether the context is known to hold no object with that identity.
    func adopt(_ snapshot: consuming ObjectSnapshot, isKnownNew: Bool = false) throws -> Object {
        if !isKnownNew, let known = registry[snapshot.id]?.object {
            if known.state.contains(.fault) { known.fill(snapshot) }
            return known
        }
        let object = Object(snapshot, try kind(snapshot.id.entityName))
        register(object)
        return object
    }

    func register(_ object: Object) {
        makeRoom(for: 1)
        registrations += 1
        registry[object.identity] = WeakReference(object)
    }

    /// Removes dead entries instead of growing the registry, if there are many. Until then, the entries of released
    /// objects stay, so that releasing a hundred thousand objects at once costs nothing here.
    func makeRoom(for count: Int) {
        guard registry.count + count > registry.capacity else { return }
        forgetDead()
        if count > 1 { registry.reserveCapacity(registry.count + count) }
    }

    /// Forgets objects held only for speed, before a fetch or a save.
    func forgetIdle() {
        walked.forget()
        forgetDead(from: 4_096)
        guard seenIDs.count > seenLimit else { return }
        seenIDs = seenIDs.filter { registry[$0.value]?.object != nil }
        seenLimit = max(Self.leastSeen, 2 * seenIDs.count)
    }

    /// The number of temporary identities that are kept at least, also of objects that are no longer in memory.
    static let leastSeen = 10_000

    /// Removes dead entries if they are more than half of the registry. Each keeps its object's memory allocated.
    private func forgetDead(from least: Int = 0) {
        let dead = kinds.values.reduce(0) { $0 + $1.deadObjects }
        guard dead > max(least, registry.count / 2) else { return }
        registry = registry.filter { $0.value.object != nil }
        for kind in kinds.values { kind.deadObjects = 0 }
    }

    // MARK: - Changes

    package var hasChanges: Bool { lock.withLock { changed.contains { $0.hasChanges } } }

    package var insertedObjects: [Object] { changes { $0.isInserted } }
    package var updatedObjects: [Object] { changes { $0.isUpdated } }
    package var deletedObjects: [Object] { changes { $0.isDeleted } }

    private func changes(_ isWanted: (Object) -> Bool) -> [Object] {
        lock.withLock {
            _ = try? settle()
            return changed.filter(isWanted)
        }
    }

    // MARK: - Checks

    /// Checks that an object may be a destination of another object's relationship.
    func check(_ object: Object, for link: RelationshipLink, of owner: Object, isLeaving: Bool = false) throws {
        let place = "\(owner.entityName).\(link.name)"
        guard object.kind.context === self, !object.state.contains(.detached) else {
            throw MigrationError(
                .usage, "\(place) was given an object of another context, or one that has left its context.",
                place: place, remedy: "Use this context's object(with:) for the identity of the object.")
        }
        guard link.leads(to: object.entityName) else {
            throw owner.wrongType(link.name, "It leads to \(link.destination), not to \(object.entityName).")
        }
        if isLeaving { return }
        guard !object.state.contains(.deleted) else {
            throw MigrationError(
                .usage, "\(place) was given \(object.identity), which is deleted.", place: place,
                remedy: "Give an existing object.")
        }
        if let one = object.identity.store, let other = owner.identity.store, one != other {
            throw MigrationError(
                .externalRelationship, "\(owner.identity) and \(object.identity) are of different stores.",
                place: place, remedy: "Keep both in one store; keep a URI where a reference must leave it.")
        }
    }

    /// Returns the object with an identity, with its values; nil if its row is gone.
    func loaded(_ id: ObjectID) throws -> Object? {
        do {
            return try required(id)
        } catch let error as MigrationError where error.code == .objectGone {
            return nil
        }
    }

    func required(_ id: ObjectID) throws -> Object {
        let object = try object(with: id)
        try object.fire()
        return object
    }

    /// Gives new objects the identities under which they will be saved.
    package func obtainPermanentIDs(for objects: [Object]) throws {
        try lock.withLock {
            var groups: [(store: ObjectStore, ids: [ObjectID])] = []
            for object in objects where object.identity.isTemporary {
                let store = try store(for: object)
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

    /// Replaces the temporary identities of objects, here and in every child context.
    func give(_ identities: NewIdentities) {
        guard !identities.isEmpty else { return }
        recorder?.noteIdentities(identities.permanent)
        for (old, new) in identities.pairs {
            if let entry = registry.removeValue(forKey: old) {
                registry[new] = entry
                entry.object?.identity = new
            }
            if !seenIDs.isEmpty, seenIDs[old] != nil { seenIDs[old] = new }
            if !assignedStores.isEmpty, let store = assignedStores.removeValue(forKey: old) {
                assignedStores[new] = store
            }
        }
        for child in children.compactMap(\.object) { child.give(identities) }
    }

    /// Replaces temporary identities in relationships.
    func replaceDestinations(_ identities: NewIdentities) {
        guard !identities.isEmpty else { return }
        // Only a changed object can refer to one that was never saved; in a child, the change may be the parent's.
        let holders = parent == nil ? changed : registry.values.compactMap(\.object)
        for object in holders { object.replaceDestinations(identities) }
        for child in children.compactMap(\.object) { child.replaceDestinations(identities) }
    }
}

extension Object {
    /// The identity, for the app. The context remembers a temporary one, which leads to the object also after its save.
    package var seenID: ObjectID {
        kind.lock.withLock {
            if identity.isTemporary, !state.contains(.detached) { kind.context?.seenIDs[identity] = identity }
            return identity
        }
    }

    /// Whether no relationship of an object can lead to this one: it has left its context, the context is gone, or it is
    /// in the same context, and is deleted or has no row.
    package func isLost(to other: Object) -> Bool {
        kind.lock.withLock {
            guard let context else { return true }
            guard context === other.kind.context else { return false }
            guard isChangeable else { return true }
            do { try fire() } catch { return (error as? MigrationError)?.code == .objectGone }
            return false
        }
    }
}

/// The permanent identities of objects that had temporary ones.
final class NewIdentities {
    let pairs: [(given: ObjectID, permanent: ObjectID)]
    /// The permanent identities by temporary one; built on first use.
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
        let isShared = isShared
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
