import MoultModel

@testable import MoultObjects

extension OperationRun {
    func perform(_ operation: Operation) throws {
        switch operation.kind {
        case .insert: try insert(operation)
        case .setAttribute: try setAttribute(operation)
        case .setToOne: try setToOne(operation)
        case .clearToOne: try clearToOne(operation)
        case .add: try add(operation)
        case .remove: try remove(operation)
        case .insertAt: try insertAt(operation)
        case .move: try move(operation)
        case .setToMany: try setToMany(operation)
        case .delete: try delete(operation)
        case .save: try actor == .child && operation.numbers[0] % 2 == 0 ? endChild() : save()
        case .rollback: try rollback()
        case .refresh: try refresh(operation)
        case .refreshAll: try refreshAll()
        case .reset: try reset()
        case .forget: handles = handles.filter { $0.key % 2 == operation.number(0, below: 2) }
        case .obtainPermanentIDs: try obtainPermanentIDs(operation)
        case .reopen: if actor != .child { try reopenSaved(operation) }
        case .fetch: try fetch(operation)
        case .count: try count(operation)
        case .fetchBySQL: try fetchSaved(operation)
        case .look: try compare("unsaved")
        case .change: try changeActor(operation)
        case .beginChild: try beginChild()
        case .denied: try denied(operation)
        case .missing: try missing(operation)
        case .conflict: try conflict(operation)
        case .duplicate: try duplicate(operation)
        }
    }

    func save() throws {
        note("save")
        try context.save()
        if actor == .child {
            parent = current
        } else {
            stored = current
            stale = actor == .other ? [.main, .second] : stale.union([.other])
            if actor == .other { stale.remove(.other) }
            try learnIDs()
        }
        try compare("after a save")
    }

    /// Remembers the identities of what is saved.
    func learnIDs() throws {
        for (ref, object) in handles where stored.records[ref] != nil {
            let id = object.id
            guard !id.isTemporary else { throw Mismatch(description: "\(ref) is saved and has a temporary identity") }
            if let known = ids[ref], known != id { throw Mismatch(description: "\(ref) was \(known) and is \(id)") }
            ids[ref] = id
        }
        ids = ids.filter { stored.records[$0.key] != nil }
    }

    func rollback() throws {
        note("rollback")
        context(actor)?.rollback()
        current = base
        handles = handles.filter { base.records[$0.key] != nil }
        try compare("after a rollback")
    }

    private func context(_ actor: Actor) -> ObjectContext? { contexts[actor] }

    /// With changes kept where it has any; one without may forget all it holds.
    func refresh(_ operation: Operation) throws {
        guard let ref = operation.pick(0, current.refs), base.records[ref] != nil else { return }
        let object = try object(ref, operation)
        note("refresh \(ref)")
        try context.refresh(object, mergingChanges: object.hasChanges || operation.numbers[1] % 2 == 0)
    }

    func refreshAll() throws {
        note("refreshAll")
        try context.refreshAll()
    }

    func reset() throws {
        note("reset")
        try context.reset()
        current = base
        handles = [:]
        try compare("after a reset")
    }

    func obtainPermanentIDs(_ operation: Operation) throws {
        guard actor != .child else { return }
        let new = current.refs.filter { base.records[$0] == nil }
        let objects = try new.prefix(3).map { try object($0, operation) }
        note("obtainPermanentIDs \(new.prefix(3))")
        try context.obtainPermanentIDs(for: objects)
        for object in objects where object.id.isTemporary {
            throw Mismatch(description: "\(object.id) is still temporary")
        }
    }

    func reopenSaved(_ operation: Operation) throws {
        if operation.numbers[0] % 3 != 0 { try save() }
        note("reopen")
        try reopen()
        if operation.numbers[1] % 8 == 0 { try checkFile() }
    }

    // MARK: - Who is at work

    /// Another context goes on, once everything is saved.
    func changeActor(_ operation: Operation) throws {
        if actor == .child { try endChild() }
        try save()
        actor = operation.pick(0, [.main, .second, .other]) ?? .main
        handles = [:]
        note("change")
        if stale.remove(actor) != nil { try context.refreshAll() }
        try compare("in another context")
    }

    /// A child goes on from what the first context holds, saved or not.
    func beginChild() throws {
        guard actor == .main, let main = contexts[.main] else { return }
        parent = current
        handles = [:]
        actor = .child
        contexts[.child] = ObjectContext(parent: main)
        note("beginChild")
        try compare("in a child")
    }

    /// The child saves into its parent, which goes on with it.
    func endChild() throws {
        try save()
        note("endChild")
        handles = [:]
        contexts[.child] = nil
        actor = .main
        current = parent ?? stored
        parent = nil
        try compare("in the parent, after its child's save")
    }
}
