import MoultBasics
import MoultModel

extension ObjectContext {
    /// Whether the save can be tried again: the policy has an answer, or all conflicts concern new objects to upsert.
    func resolves(_ conflicts: [SaveConflicts.Conflict]) -> Bool {
        conflicts.allSatisfy { conflict in
            guard upserting != nil || mergePolicy != .error, case .constraint(_, let ids, let stored) = conflict else {
                return mergePolicy != .error
            }
            let objects = contenders(ids)
            guard stayingEntity(objects, stored) == nil else { return false }
            let saved = objects.filter { !$0.state.contains(.inserted) }
            return upserting == nil || saved.count + (stored == nil ? 0 : 1) < 2
        }
    }

    private func contenders(_ ids: [ObjectID]) -> [Object] {
        ids.compactMap { registry[$0]?.object }.filter { $0.isPending && !$0.state.contains(.deleted) }
    }

    /// Returns the entity of the object that would stay, if it lacks properties of an object that would be merged into
    /// it. A row keeps its entity, so those values would be lost.
    private func stayingEntity(_ objects: [Object], _ stored: ObjectSnapshot?) -> String? {
        let takesOver = mergePolicy == .mergeByPropertyObjectTrump || mergePolicy == .overwrite
        guard upserting != nil || takesOver else { return nil }
        guard let keeper = stored?.id.entityName ?? keeper(among: objects)?.entityName else { return nil }
        for object in objects where object.state.contains(.inserted) || stored != nil {
            let goes = object.state.contains(.inserted) && !deletesKeeper(isStored: stored != nil)
            let (staying, going) = goes ? (keeper, object.entityName) : (object.entityName, keeper)
            if !isEntity(staying, below: going) { return staying }
        }
        return nil
    }

    private func isEntity(_ name: String, below ancestor: String) -> Bool {
        if name == ancestor { return true }
        let model = coordinator.model
        guard let entity = model.entity(name), let other = model.entity(ancestor) else { return false }
        return model.isKind(entity, of: other)
    }

    /// Whether a new object replaces the store's.
    private func deletesKeeper(isStored: Bool) -> Bool { isStored && upserting == nil && mergePolicy == .overwrite }

    /// Changes the objects in conflict according to the merge policy, so that the save can be tried again.
    func resolve(_ conflicts: [SaveConflicts.Conflict]) throws {
        for conflict in conflicts {
            switch conflict {
            case .version(let id, _, let stored):
                guard let object = registry[id]?.object else { continue }
                try resolve(object, stored)
            case .constraint(let properties, let ids, let stored):
                try resolveConstraint(properties, ids, stored)
            case .missingDestination(let id, let name, let destination):
                guard let object = registry[id]?.object, object.isPending else { continue }
                try object.unlink(destination, from: name, in: self)
                if let gone = registry[destination]?.object, !gone.isPending { try drop(gone) }
            }
        }
    }

    // MARK: - Versions

    private func resolve(_ object: Object, _ stored: ObjectSnapshot?) throws {
        // An object whose row is gone cannot be changed, whatever the policy.
        guard let stored else { return try drop(object) }
        let policy = mergePolicy
        if object.state.contains(.deleted) {
            if policy == .mergeByPropertyObjectTrump || policy == .overwrite {
                object.version = stored.version
                return
            }
            object.state.remove(.deleted)
            object.noteUpdate()
        }
        try object.rebase(onto: stored, in: self) { _, isOurs, isTheirs in
            switch policy {
            case .mergeByPropertyStoreTrump: isOurs && !isTheirs
            case .mergeByPropertyObjectTrump: isOurs
            case .overwrite: true
            case .rollback, .error: false
            }
        }
        if object.changedPositions(object.kind.persistent).isEmpty, object.deltas.isEmpty {
            object.state.remove(.updated)
        }
    }

    // MARK: - Constraints

    private func resolveConstraint(_ properties: [String], _ ids: [ObjectID], _ stored: ObjectSnapshot?) throws {
        var objects = contenders(ids)
        guard let keeper = try keeper(among: objects, stored) else { return }
        objects.removeAll { $0 === keeper }
        for object in objects {
            if object.state.contains(.inserted) {
                try give(object, to: keeper, isStored: stored != nil)
            } else if mergePolicy == .mergeByPropertyObjectTrump || mergePolicy == .overwrite, stored != nil {
                try replace(keeper, by: object)
            } else {
                let positions =
                    try mergePolicy == .rollback
                    ? Array(object.shape.properties.indices) : properties.map { try object.kind.position(of: $0) }
                try object.takeBack(positions, in: self)
            }
        }
        try settle()
    }

    /// Returns the object that stays: the store's if there is one, otherwise one of those in the save.
    private func keeper(among objects: [Object], _ stored: ObjectSnapshot?) throws -> Object? {
        guard let stored else { return keeper(among: objects) }
        if let known = registry[stored.id]?.object, !known.isPending, known.version != stored.version {
            known.becomeFault()
        }
        let object = try adopt(stored)
        try object.fire()
        return object
    }

    /// Returns the object that was saved before, if any; otherwise the first or the last, by policy. Upserts, and
    /// policies that favour the object, prefer those whose entity has the properties of all.
    private func keeper(among objects: [Object]) -> Object? {
        if let saved = objects.first(where: { !$0.state.contains(.inserted) }) { return saved }
        let able = objects.filter { one in objects.allSatisfy { isEntity(one.entityName, below: $0.entityName) } }
        let candidates = able.isEmpty ? objects : able
        if upserting != nil { return candidates.first }
        switch mergePolicy {
        case .mergeByPropertyObjectTrump, .overwrite: return candidates.last
        case .mergeByPropertyStoreTrump, .rollback, .error: return objects.first
        }
    }

    /// Deletes a new object in favour of one with the same unique values.
    private func give(_ object: Object, to keeper: Object, isStored: Bool) throws {
        if let upserting {
            return try recordingUpsert(of: object) {
                try keeper.takeAll(object, in: self)
                upserting(object, keeper)
                try delete(object)
                try settle()
            }
        }
        if deletesKeeper(isStored: isStored) { return try replace(keeper, by: object) }
        switch mergePolicy {
        case .mergeByPropertyObjectTrump, .overwrite:
            // Of two new objects, the later one stays, with its own values.
            try keeper.takeOver(object, winning: isStored, in: self)
        case .mergeByPropertyStoreTrump:
            try keeper.takeOver(object, winning: false, in: self)
        case .rollback, .error:
            break
        }
        try delete(object)
    }

    /// Deletes the store's object in favour of one in the save, which takes over its relationships, so that the
    /// deletion does not cascade.
    private func replace(_ keeper: Object, by object: Object) throws {
        guard !keeper.state.contains(.deleted) else { return }
        try object.inherit(from: keeper, in: self)
        try delete(keeper)
    }

    // MARK: - The error

    func conflictError(_ conflicts: [SaveConflicts.Conflict]) -> MergeConflictError {
        MergeConflictError(
            conflicts: conflicts.map { conflict in
                switch conflict {
                case .version(let id, let expected, let stored):
                    described([id], [], expected, stored)
                case .constraint(let properties, let ids, let stored):
                    described(ids, properties, nil, stored, stayingEntity(contenders(ids), stored))
                case .missingDestination(let id, let name, let destination):
                    MergeConflictError.Conflict(
                        objects: [id], constraint: [], expectedVersion: nil, storedID: destination, storedVersion: nil,
                        ours: [name: .toOne(destination)], stored: [:])
                }
            })
    }

    private func described(
        _ ids: [ObjectID], _ constraint: [String], _ expected: Int64?, _ stored: ObjectSnapshot?,
        _ stayingEntity: String? = nil
    ) -> MergeConflictError.Conflict {
        let (ours, theirs) = differences(ids.first.flatMap { registry[$0]?.object }, stored)
        return MergeConflictError.Conflict(
            objects: ids, constraint: constraint, expectedVersion: expected, storedID: stored?.id,
            storedVersion: stored?.version, ours: ours, stored: theirs, stayingEntity: stayingEntity)
    }

    private func differences(_ object: Object?, _ stored: ObjectSnapshot?) -> (
        [String: ObjectValue], [String: ObjectValue]
    ) {
        guard let object, !object.values.isEmpty else { return ([:], [:]) }
        var (ours, theirs): ([String: ObjectValue], [String: ObjectValue]) = ([:], [:])
        for position in object.kind.persistent where object.kind.links[position]?.isToMany != true {
            let name = object.shape.properties[position].name
            let other = stored.flatMap { $0.id.entityName == object.entityName ? $0.values[position] : nil }
            guard object.values[position] != other else { continue }
            ours[name] = object.values[position]
            theirs[name] = other
        }
        return (ours, theirs)
    }
}

extension Object {
    /// Takes over the values that were set on another object, and its relationships.
    ///
    /// - Parameter winning: whether the other object's values replace the present ones.
    fileprivate func takeOver(_ other: Object, winning: Bool, in context: ObjectContext) throws {
        for (name, value) in other.changes(over: other.kind.persistent) {
            guard let position = shape.position(of: name) else { continue }
            switch (kind.links[position], value) {
            case (nil, .attribute):
                if winning, values[position] != value { put(value, at: position) }
            case (let link?, .toOne(let id?)):
                if try winning || destination(link) == nil { try setDestination(link, id, in: context) }
            case (let link?, .toMany(let ids)):
                for id in ids where id != identity { try append(context.required(id), to: link, in: context) }
            default: break
            }
        }
    }

    /// Takes over everything that a new object holds: its values, defaults included, and its relationships.
    fileprivate func takeAll(_ other: Object, in context: ObjectContext) throws {
        let owned = other.kind.persistent.filter { other.kind.links[$0] == nil }
        for name in owned.map({ other.shape.properties[$0].name }) {
            guard let position = shape.position(of: name), let place = other.shape.position(of: name),
                let value = other.values[place], values[position] != value
            else { continue }
            put(value, at: position)
        }
        try takeOver(other, winning: true, in: context)
    }

    /// Takes over the destinations of an object about to be deleted, and empties its relationships. Existing to-one
    /// destinations of this object stay.
    fileprivate func inherit(from other: Object, in context: ObjectContext) throws {
        for case let link? in other.kind.links where !other.kind.transient.contains(link.position) {
            let own = shape.position(of: link.name).flatMap { kind.links[$0] }
            if link.isToMany {
                for id in try other.list(link) where id != identity && id != other.identity {
                    guard let own, let object = try context.loaded(id) else { continue }
                    try append(object, to: own, in: context)
                }
                try other.setList(link, [], in: context)
            } else if let id = try other.destination(link) {
                try other.setDestination(link, nil, in: context)
                guard let own, id != identity, id != other.identity, try destination(own) == nil,
                    try context.loaded(id) != nil
                else { continue }
                try setDestination(own, id, in: context)
            }
        }
    }
}

/// A policy for conflicts between a save and the current contents of the store: `NSMergePolicy`.
package enum MergePolicy: Sendable, Hashable, CaseIterable {
    /// Saves nothing and throws ``MergeConflictError`` with the values of both sides (`NSErrorMergePolicy`).
    case error
    /// Property by property, keeps what changed in the store in the meantime, and saves the other changes.
    case mergeByPropertyStoreTrump
    /// Property by property, saves what changed in the context, and takes the rest from the store.
    case mergeByPropertyObjectTrump
    /// Replaces the whole object in the store with the one in the context.
    case overwrite
    /// Discards the context's changes to an object in conflict.
    case rollback
}

/// An error for a save whose objects have changed in the store, when the policy is to report conflicts. Nothing was
/// written.
package struct MergeConflictError: Error, Sendable, CustomStringConvertible {
    package let conflicts: [Conflict]

    /// One object that cannot be saved, both versions side by side.
    package struct Conflict: Sendable, Hashable {
        /// The objects of this context: one, or all that share a constraint's values.
        package let objects: [ObjectID]
        /// The properties of the uniqueness constraint; empty for a conflict of versions.
        package let constraint: [String]
        /// The `Z_OPT` on which the changes were based; nil for a constraint.
        package let expectedVersion: Int64?
        /// The object that the store holds now; nil if the row is gone, or if all objects of a constraint are in the
        /// save. If `storedVersion` is nil too, a destination that the store does not have.
        package let storedID: ObjectID?
        package let storedVersion: Int64?
        /// For each property that differs, the value of the first object in the context; ``stored`` has the store's
        /// value.
        package let ours: [String: ObjectValue]
        package let stored: [String: ObjectValue]
        /// The entity of the object that would stay, if it lacks properties of an object that would be merged into it.
        package var stayingEntity: String?
    }

    /// Core Data's constant and number: 133021 if any conflict is about a constraint, otherwise 133020.
    package var coreData: (constant: String, number: Int) {
        conflicts.contains { !$0.constraint.isEmpty }
            ? ("NSManagedObjectConstraintMergeError", 133021) : ("NSManagedObjectMergeError", 133020)
    }

    /// The conflicts, with Core Data's constant and number.
    package var message: String {
        "\(conflicts.map(\.description).joined(separator: " ")) (\(coreData.constant) \(coreData.number))"
    }

    /// The remedy for a context with merge policies; nil if no policy helps: the conflict then says what to do.
    package var remedy: String? {
        conflicts.contains { $0.stayingEntity != nil }
            ? nil : "Refresh the objects and save again, or choose a merge policy."
    }

    package var description: String { message + (remedy.map { " \($0)" } ?? "") }
}

extension MergeConflictError.Conflict: CustomStringConvertible {
    package var description: String {
        let object = objects.map(\.description).joined(separator: ", ")
        if !constraint.isEmpty {
            let other = storedID.map { " as \($0) in the store" } ?? ""
            let names = constraint.joined(separator: ", ")
            let sentence = "\(object) would have the same \(names)\(other)."
            guard let stayingEntity else { return sentence }
            return "\(sentence) An object of \(stayingEntity) cannot hold the values of both: give one of them another "
                + "\(names), or delete one of them in this save."
        }
        if let storedID, storedVersion == nil {
            return "\(ours.keys.joined()) of \(object) leads to \(storedID), which is gone from the store."
        }
        guard let storedVersion else { return "\(object) was changed here, and its row is gone from the store." }
        // The conflict holds the values, for callers that need them; the description may end up in a log.
        let names = ours.keys.filter { ours[$0] != stored[$0] }.inByteOrder()
            .joined(separator: ", ")
        return "\(object) was changed here over version \(expectedVersion ?? 0), and the store holds version "
            + "\(storedVersion) (\(names))."
    }
}
