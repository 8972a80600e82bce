import MoultModel

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
