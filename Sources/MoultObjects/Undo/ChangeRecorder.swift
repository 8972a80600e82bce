import MoultModel

/// Gathers what the changes of a context replace, so that they can be taken back: one ``ChangeStep`` at a time.
///
/// It notes an object before its first change of a step. Relationships that are changed while it records are read first,
/// so that every list is known whole.
final class ChangeRecorder {
    fileprivate struct Origin {
        let object: Object
        let isThere: Bool
        /// Empty of an object that was a fault.
        var values: PositionedValues
    }

    /// Takes each step; called under the lock of the context's tree.
    let register: (ChangeStep) -> Void
    /// Whether changes are not recorded: those that a merge brings, and those that a save makes.
    var isPaused = false
    /// The permanent identities of temporary ones since recording began: steps name objects by the identities of their
    /// time.
    private var permanent: [ObjectID: ObjectID] = [:]
    /// The changes made by the end of new objects whose values others took, by object.
    private var upserts: [ObjectIdentifier: ChangeStep] = [:]
    private var origins: [Origin] = []
    private var places: [ObjectIdentifier: Int] = [:]

    init(_ register: @escaping (ChangeStep) -> Void) { self.register = register }

    /// Notes what an object holds; called before each change of it.
    func note(_ object: Object) {
        guard !isPaused, places[ObjectIdentifier(object)] == nil else { return }
        places[ObjectIdentifier(object)] = origins.count
        origins.append(Origin(object: object, isThere: object.isThere, values: object.values))
    }

    /// Notes a list that is about to change and was read after its object was noted.
    func noteList(of object: Object, at position: Int) {
        guard !isPaused, let place = places[ObjectIdentifier(object)], origins[place].isThere,
            position < origins[place].values.count, origins[place].values[position] == nil
        else { return }
        origins[place].values[position] = object.values[position]
    }

    func noteIdentities(_ identities: [ObjectID: ObjectID]) { permanent.merge(identities) { $1 } }

    /// Keeps what `body` changes, to be taken back with the insertion of the object that it ends.
    func noteUpsert(of object: Object, _ body: () throws -> Void) rethrows {
        let wasPaused = isPaused
        isPaused = false
        defer { isPaused = wasPaused }
        try body()
        upserts[ObjectIdentifier(object)] = takeStep()
    }

    /// Removes and returns the changes made by the end of an object whose values another took.
    func takeUpsert(of object: Object) -> ChangeStep? { upserts.removeValue(forKey: ObjectIdentifier(object)) }

    func forget() {
        upserts = [:]
        origins = []
        places = [:]
        permanent = [:]
    }

    /// Takes the changes since the last step; nil if nothing changed.
    func takeStep() -> ChangeStep? {
        guard !origins.isEmpty else { return nil }
        let noted = origins
        origins = []
        places = [:]
        let changes = noted.compactMap { origin -> ChangeStep.Change? in
            let object = origin.object
            // Nothing is known of a fault whose row was gone.
            if origin.isThere, !object.isThere, object.values.isEmpty { return nil }
            let before = origin.isThere ? origin.whole : nil
            let after = object.isThere ? object.values : nil
            if let before, let after, !object.hasDifference(before, after) { return nil }
            return before == nil && after == nil ? nil : .init(object: object, before: before, after: after)
        }
        return changes.isEmpty ? nil : ChangeStep(changes: changes)
    }

    /// A value with the identities that its objects have by now.
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
        /// Nil where the object was not there.
        let before: PositionedValues?
        /// Nil where it is no longer there.
        let after: PositionedValues?

        var reversal: Reversal { before == nil ? .insertion : after == nil ? .deletion : .update }
    }

    let changes: [Change]

    /// The kind of change to an object that an undo takes back.
    package enum Reversal {
        case insertion, deletion, update
    }
}

extension ChangeRecorder.Origin {
    /// The values; what had not been read of an object that was deleted is known by now.
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
    /// Whether it is an object of its context, and not deleted; one that is being inserted is not there yet.
    var isThere: Bool {
        if !state.isDisjoint(with: [.detached, .deleted]) { return false }
        return !state.contains(.inserted) || state.contains(.listed)
    }

    fileprivate func hasDifference(_ before: PositionedValues, _ after: PositionedValues) -> Bool {
        (kind.persistent + kind.transient).contains { hasDifference(before, after, at: $0) }
    }

    /// A list that was read in between is no difference.
    func hasDifference(_ before: PositionedValues, _ after: PositionedValues, at position: Int) -> Bool {
        guard !before.shares(position, with: after), let old = before[position], let new = after[position] else {
            return false
        }
        return differs(new, old, at: position)
    }
}

extension ObjectContext {
    /// Has every change noted, so that it can be taken back; nil ends it.
    ///
    /// - Parameter register: takes each group of changes, which ``takeBack(_:)`` takes back.
    package func recordChanges(_ register: ((ChangeStep) -> Void)?) {
        lock.withLock {
            takeChangeStep()
            recorder = register.map(ChangeRecorder.init)
        }
    }

    /// Ends a group of changes: what changes from now on is taken back by itself.
    package func takeChangeStep() {
        lock.withLock {
            guard let recorder else { return }
            // A deletion that cannot be followed yet is followed later, and is a part of a later step.
            _ = try? settle()
            if let step = recorder.takeStep() { recorder.register(step) }
        }
    }

    /// Puts the objects of a step back into the state before it. That is a change like any other: it is recorded as a
    /// step of its own, and the next save writes it.
    ///
    /// An object whose deletion was saved is inserted again under its identity. One that others have deleted is left out.
    /// - Returns: the objects of the step, each with what was taken back.
    /// - Throws: an error of reading.
    package func takeBack(_ step: ChangeStep) throws -> [(Object, ChangeStep.Reversal)] {
        try lock.withLock {
            try settle()
            var leaving: [Object] = []
            let upserts = step.changes.reversed().compactMap { change in
                change.reversal == .insertion && !change.object.isThere ? recorder?.takeUpsert(of: change.object) : nil
            }
            let changes = upserts.flatMap(\.changes) + step.changes
            // An object that the step has changed and that is gone was deleted by others.
            for change in changes where change.object.isThere || change.after == nil {
                if let values = change.before {
                    try change.object.take(values, over: change.object.isThere ? change.after : nil, in: self)
                } else {
                    leaving.append(change.object)
                }
            }
            try remove(leaving)
            forgetEqualChanges()
            takeChangeStep()
            return changes.map { ($0.object, $0.reversal) }
        }
    }

    /// Deletes objects whose delete rules are not followed: what they led to is a part of the step too.
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
                // They lead back no more, which a rule that denies the deletion would not see.
                for case let link? in object.kind.links where link.deleteRule == .deny {
                    object.values[link.position] = link.isToMany ? .toMany([]) : .toOne(nil)
                }
            }
        }
    }

    /// Objects that hold again what the store holds have no changes.
    private func forgetEqualChanges() {
        for object in changed where object.state.isDisjoint(with: [.inserted, .deleted, .fault]) {
            guard object.deltas.isEmpty, object.changedPositions(object.kind.persistent + object.kind.transient).isEmpty
            else { continue }
            object.state.subtract([.updated, .listed])
        }
        changed.removeAll { !$0.state.contains(.listed) }
    }

    /// Runs what ends a new object in favour of another, so that an undo of the insertion takes that back too.
    func recordingUpsert(of object: Object, _ body: () throws -> Void) rethrows {
        guard let recorder else { return try body() }
        try recorder.noteUpsert(of: object, body)
    }

    /// Runs what changes objects without being a change that anybody could take back.
    func withoutRecording<Result>(_ body: () throws -> Result) rethrows -> Result {
        guard let recorder, !recorder.isPaused else { return try body() }
        takeChangeStep()
        recorder.isPaused = true
        defer { recorder.isPaused = false }
        return try body()
    }
}

extension Object {
    /// Holds these values from now on, where they differ from `others`.
    fileprivate func take(_ target: PositionedValues, over others: PositionedValues?, in context: ObjectContext) throws
    {
        if !isThere {
            kind.recorder?.note(self)
            if state.contains(.detached) { attach(in: context) } else { state.remove(.deleted) }
        } else if state.contains(.fault) {
            guard try context.loaded(identity) != nil else { return }
        }
        var isChanged = false
        for position in kind.persistent + kind.transient {
            guard let value = target[position].map({ kind.recorder?.current($0) ?? $0 }), values[position] != value,
                others.map({ hasDifference($0, target, at: position) }) ?? true
            else { continue }
            if let link = kind.links[position], link.isToMany { _ = try list(link) }
            kind.recorder?.noteList(of: self, at: position)
            put(value, at: position)
            isChanged = true
        }
        if isChanged || state.contains(.inserted) { noteUpdate() }
    }

    /// Comes back into its context as a new object, under the identity that it had.
    private func attach(in context: ObjectContext) {
        state = .inserted
        committed = []
        deltas = [:]
        version = 0
        context.register(self)
        noteUpdate()
    }
}
