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
