import MoultModel

/// A recorder of the values that changes in a context replace, for undo, one ``ChangeStep`` at a time.
///
/// It records an object before its first change of a step. A relationship that changes during recording is read first,
/// so that every list is known in full.
final class ChangeRecorder {
    fileprivate struct Origin {
        let object: Object
        let isThere: Bool
        /// The values; empty for an object that was a fault.
        var values: PositionedValues
    }

    /// Receives each step; called under the lock of the context's tree.
    let register: (ChangeStep) -> Void
    /// Removes every registered step.
    private let removeSteps: () -> Void
    /// Whether recording is paused, as it is during merges and saves.
    var isPaused = false
    /// The permanent identities that have replaced temporary ones since recording began. Steps use the identities that
    /// objects had at the time.
    private var permanent: [ObjectID: ObjectID] = [:]
    /// The changes made by merging a new object into another with the same unique values, by new object.
    private var upserts: [ObjectIdentifier: ChangeStep] = [:]
    private var origins: [Origin] = []
    private var places: [ObjectIdentifier: Int] = [:]

    init(_ register: @escaping (ChangeStep) -> Void, _ removeSteps: @escaping () -> Void) {
        (self.register, self.removeSteps) = (register, removeSteps)
    }

    /// Records the values of an object; called before each change to it.
    func note(_ object: Object) {
        guard !isPaused, places[ObjectIdentifier(object)] == nil else { return }
        places[ObjectIdentifier(object)] = origins.count
        origins.append(Origin(object: object, isThere: object.isThere, values: object.values))
    }

    /// Records a list that is about to change and was read after its object was recorded.
    func noteList(of object: Object, at position: Int) {
        guard !isPaused, let place = places[ObjectIdentifier(object)], origins[place].isThere,
            position < origins[place].values.count, origins[place].values[position] == nil
        else { return }
        origins[place].values[position] = object.values[position]
    }

    func noteIdentities(_ identities: [ObjectID: ObjectID]) { permanent.merge(identities) { $1 } }

    /// Records the changes that `body` makes, to be undone with the insertion of the object that it deletes.
    func noteUpsert(of object: Object, _ body: () throws -> Void) rethrows {
        let wasPaused = isPaused
        isPaused = false
        defer { isPaused = wasPaused }
        try body()
        upserts[ObjectIdentifier(object)] = takeStep()
    }

    /// Removes and returns the changes made by merging a new object into another.
    func takeUpsert(of object: Object) -> ChangeStep? { upserts.removeValue(forKey: ObjectIdentifier(object)) }

    func forget() {
        upserts = [:]
        origins = []
        places = [:]
        permanent = [:]
    }

    /// Forgets the changes, and every step too.
    func withdraw() {
        forget()
        removeSteps()
    }

    /// Returns the changes since the last step, and begins a new step; nil if nothing changed.
    func takeStep() -> ChangeStep? {
        guard !origins.isEmpty else { return nil }
        let noted = origins
        origins = []
        places = [:]
        let changes = noted.compactMap { origin -> ChangeStep.Change? in
            let object = origin.object
            // The values of a fault whose row was gone are unknown.
            if origin.isThere, !object.isThere, object.values.isEmpty { return nil }
            let before = origin.isThere ? origin.whole : nil
            let after = object.isThere ? object.values : nil
            if let before, let after, !object.hasDifference(before, after) { return nil }
            return before == nil && after == nil ? nil : .init(object: object, before: before, after: after)
        }
        return changes.isEmpty ? nil : ChangeStep(changes: changes)
    }

    /// Returns a value with the current identities of its objects.
    func current(_ value: ObjectValue) -> ObjectValue {
        switch value {
        case .attribute: value
        case .toOne(let id): .toOne(id.map { permanent[$0] ?? $0 })
        case .toMany(let ids): .toMany(ids.map { permanent[$0] ?? $0 })
        }
    }
}

/// The values that one group of changes replaced in the objects of a context.
package struct ChangeStep {
    struct Change {
        let object: Object
        /// Nil if the object did not exist.
        let before: PositionedValues?
        /// Nil if the object no longer exists.
        let after: PositionedValues?

        var reversal: Reversal { before == nil ? .insertion : after == nil ? .deletion : .update }
    }

    let changes: [Change]

    /// The kind of change to an object that an undo reverses.
    package enum Reversal {
        case insertion, deletion, update
    }
}

extension ChangeRecorder.Origin {
    /// The values. For a deleted object, values that had not been read are filled in from the deletion.
    fileprivate var whole: PositionedValues {
        if values.isEmpty { return object.values }
        guard !object.isThere else { return values }
        var whole = values
        for position in whole.indices where whole[position] == nil && position < object.values.count {
            whole[position] = object.values[position]
        }
        return whole
    }
}

extension Object {
    /// Whether it belongs to its context and is not deleted. An object that is just being inserted does not count yet.
    var isThere: Bool {
        if !state.isDisjoint(with: [.detached, .deleted]) { return false }
        return !state.contains(.inserted) || state.contains(.listed)
    }

    fileprivate func hasDifference(_ before: PositionedValues, _ after: PositionedValues) -> Bool {
        (kind.persistent + kind.transient).contains { hasDifference(before, after, at: $0) }
    }

    /// Whether the values at a position differ. A list that was only read in the meantime does not.
    func hasDifference(_ before: PositionedValues, _ after: PositionedValues, at position: Int) -> Bool {
        guard !before.shares(position, with: after), let old = before[position], let new = after[position] else {
            return false
        }
        return differs(new, old, at: position)
    }
}

extension ObjectContext {
    /// Records every change for undo; nil ends the recording.
    ///
    /// - Parameters:
    ///   - register: receives each group of changes, which ``takeBack(_:)`` undoes.
    ///   - removeSteps: called when the contents of a store were replaced, in which no earlier change may be undone.
    package func recordChanges(_ register: ((ChangeStep) -> Void)?, removeSteps: @escaping () -> Void = {}) {
        lock.withLock {
            takeChangeStep()
            recorder = register.map { ChangeRecorder($0, removeSteps) }
        }
    }

    /// Ends a group of changes: later changes are undone separately.
    package func takeChangeStep() {
        lock.withLock {
            guard let recorder else { return }
            // If a deletion's rules cannot be followed yet, it becomes a part of a later step.
            _ = try? settle()
            if let step = recorder.takeStep() { recorder.register(step) }
        }
    }

    /// Restores the objects of a step to their earlier state. This is a change like any other: it is recorded as a step
    /// of its own, and the next save writes it.
    ///
    /// An object whose deletion was saved is inserted again under its identity. An object that was deleted elsewhere is
    /// left out.
    /// - Returns: the objects of the step, each with the kind of change that was undone.
    /// - Throws: any error while reading objects.
    package func takeBack(_ step: ChangeStep) throws -> [(Object, ChangeStep.Reversal)] {
        try lock.withLock {
            try settle()
            var leaving: [Object] = []
            var gained: [(object: Object, link: RelationshipLink, ids: Set<ObjectID>)] = []
            let upserts = step.changes.reversed().compactMap { change in
                change.reversal == .insertion && !change.object.isThere ? recorder?.takeUpsert(of: change.object) : nil
            }
            let changes = upserts.flatMap(\.changes) + step.changes
            // An object that the step changed and that no longer exists was deleted elsewhere.
            for change in changes where change.object.isThere || change.after == nil {
                if let values = change.before {
                    let object = change.object
                    gained += try object.take(values, over: object.isThere ? change.after : nil, in: self)
                        .map { (object, $0.link, $0.ids) }
                } else {
                    leaving.append(change.object)
                }
            }
            try remove(leaving)
            // What was deleted elsewhere, or later without undo, cannot be led to again.
            let gone = try missing(among: gained.reduce(into: []) { $0.formUnion($1.ids) })
            for (object, link, ids) in gained where object.isThere && !gone.isDisjoint(with: ids) {
                try object.loseDestinations(gone.intersection(ids), of: link.name)
            }
            forgetEqualChanges()
            takeChangeStep()
            return changes.map { ($0.object, $0.reversal) }
        }
    }

    /// Deletes objects without following their delete rules, because the step contains their destinations too.
    private func remove(_ objects: [Object]) throws {
        let objects = try objects.filter { try loaded($0.identity) != nil }
        guard !objects.isEmpty else { return }
        for object in objects {
            for case let link? in object.kind.links where link.isToMany { _ = try object.list(link) }
            markDeleted(object)
        }
        try nullify(objects, followingRules: false)
        for object in objects {
            if object.state.contains(.inserted) {
                discard(object)
            } else {
                // The other ends no longer lead back, which a deny rule would not notice.
                for case let link? in object.kind.links where link.deleteRule == .deny {
                    object.values[link.position] = link.isToMany ? .toMany([]) : .toOne(nil)
                }
            }
        }
    }

    /// Removes objects from the changed ones if they are equal to the store again.
    private func forgetEqualChanges() {
        for object in changed where object.state.isDisjoint(with: [.inserted, .deleted, .fault]) {
            guard object.deltas.isEmpty, object.changedPositions(object.kind.persistent + object.kind.transient).isEmpty
            else { continue }
            object.state.subtract([.updated, .listed])
        }
        changed.removeAll { !$0.state.contains(.listed) }
    }

    /// Runs code that merges a new object into another, so that undoing the insertion undoes the merge too.
    func recordingUpsert(of object: Object, _ body: () throws -> Void) rethrows {
        guard let recorder else { return try body() }
        try recorder.noteUpsert(of: object, body)
    }

    /// Runs code whose changes to objects cannot be undone.
    func withoutRecording<Result>(_ body: () throws -> Result) rethrows -> Result {
        guard let recorder, !recorder.isPaused else { return try body() }
        takeChangeStep()
        recorder.isPaused = true
        defer { recorder.isPaused = false }
        return try body()
    }
}

extension Object {
    /// Sets these values where they differ from `others`.
    ///
    /// - Returns: the destinations that relationships have gained.
    fileprivate func take(
        _ target: PositionedValues, over others: PositionedValues?, in context: ObjectContext
    ) throws -> [(link: RelationshipLink, ids: Set<ObjectID>)] {
        if !isThere {
            kind.recorder?.note(self)
            if state.contains(.detached) { attach(in: context) } else { state.remove(.deleted) }
        } else if state.contains(.fault) {
            guard try context.loaded(identity) != nil else { return [] }
        }
        var gained: [(link: RelationshipLink, ids: Set<ObjectID>)] = []
        var isChanged = false
        for position in kind.persistent + kind.transient {
            guard let value = target[position].map({ kind.recorder?.current($0) ?? $0 }), values[position] != value,
                others.map({ hasDifference($0, target, at: position) }) ?? true
            else { continue }
            if let link = kind.links[position], link.isToMany { _ = try list(link) }
            kind.recorder?.noteList(of: self, at: position)
            if let link = kind.links[position] {
                let before = Set(destinationIDs(link))
                put(value, at: position)
                gained.append((link, Set(destinationIDs(link)).subtracting(before)))
            } else {
                put(value, at: position)
            }
            isChanged = true
        }
        if isChanged || state.contains(.inserted) { noteUpdate() }
        return gained
    }

    /// Returns to its context as a new object, under its earlier identity. It has no version, unless the store had its
    /// row: then a negative one.
    func attach(in context: ObjectContext) {
        // It may still have its place among the changed objects.
        state = state.intersection(.listed).union(.inserted)
        committed = []
        deltas = [:]
        version = identity.isTemporary ? 0 : -1
        context.register(self)
        noteUpdate()
    }
}
