import MoultModel

@testable import MoultObjects

// Scenes whose end Core Data's rules foresee: a save that must be refused, or that meets another's.

extension OperationRun {
    /// A deletion that a rule denies: the save is refused, and a rollback brings everything back.
    func denied(_ operation: Operation) throws {
        guard actor != .child, let ref = operation.pick(0, current.refs.filter(isDenied)) else { return }
        note("denied \(ref)")
        try context.delete(object(ref, operation))
        do {
            try context.save()
            throw Mismatch(description: "the deletion of \(ref) was not denied")
        } catch let error as ValidationErrors {
            guard error.violations.contains(where: { $0.rule == .relationshipDeniedDelete }) else {
                throw Mismatch(description: "the deletion was refused for another reason: \(error)")
            }
        }
        try rollback()
    }

    /// A required value that is missing: the save is refused, and what is pending stays.
    func missing(_ operation: Operation) throws {
        guard let ref = operation.pick(0, current.refs(of: "Project")) else { return }
        note("missing \(ref)")
        let project = try object(ref, operation)
        try project.setAttribute("title", nil)
        do {
            try context.save()
            throw Mismatch(description: "a project without a title was saved")
        } catch let error as ValidationErrors {
            guard error.violations.allSatisfy({ $0.rule == .missingMandatoryProperty && $0.property == "title" }) else {
                throw Mismatch(description: "refused for another reason: \(error)")
            }
        }
        let title = AttributeValue.string("titled \(operation.number(1, below: 100))")
        try set(ref, "title", title, project)
        try compare("after a refused save")
    }

    /// Two contexts change one object; the second to save has a policy.
    func conflict(_ operation: Operation) throws {
        guard actor != .child else { return }
        try save()
        let (mine, theirs): (Actor, Actor) =
            operation.numbers[0] % 2 == 0 ? (actor, actor == .other ? .main : .other) : (.other, .main)
        guard let ref = operation.pick(1, stored.refs(of: "Person")), let ours = contexts[mine],
            let other = contexts[theirs], let id = try identity(of: ref)
        else { return }
        for actor in [mine, theirs] where stale.remove(actor) != nil { try contexts[actor]?.refreshAll() }
        let policy = operation.pick(2, MergePolicy.allCases) ?? .error
        let (first, second) = (
            operation.pick(3, Self.attributes) ?? "age", operation.pick(4, Self.attributes) ?? "name"
        )
        note("conflict \(ref): \(mine) sets \(first), \(theirs) \(second), \(policy)")

        let (here, there) = (try ours.object(with: id), try other.object(with: id))
        let before = stored.records[ref]?.values ?? [:]
        let (newHere, newThere) = (
            distinct(operation, first, before[first], 1), distinct(operation, second, before[second], 2)
        )
        try here.setAttribute(first, newHere)
        try there.setAttribute(second, newThere)
        try other.save()
        stored.set(ref, second, newThere)
        ours.mergePolicy = policy
        defer { ours.mergePolicy = .error }
        do {
            try ours.save()
            guard policy != .error else { throw Mismatch(description: "a conflict was not reported") }
            switch policy {
            case .mergeByPropertyObjectTrump: stored.set(ref, first, newHere)
            case .mergeByPropertyStoreTrump: if first != second { stored.set(ref, first, newHere) }
            case .overwrite:
                stored.set(ref, second, before[second])
                stored.set(ref, first, newHere)
            case .rollback, .error: break
            }
        } catch is MergeConflictError where policy == .error {
            ours.rollback()
        }
        try meetAgain(mine)
    }

    private static let attributes = ["name", "age", "score", "isActive"]

    /// A value that differs from the present one, and from the other side's.
    private func distinct(_ operation: Operation, _ name: String, _ present: AttributeValue?, _ side: Int64)
        -> AttributeValue?
    {
        switch name {
        case "isActive": present == .boolean(true) ? .boolean(false) : .boolean(true)
        case "name": .string("name \(log.count) of \(side)")
        case "age": .integer(1_000_000 + Int64(log.count) * 2 + side)
        default: .double(1e12 + Double(log.count) * 2 + Double(side))
        }
    }

    /// Every context forgets what it holds, and the actor goes on with what the store holds.
    private func meetAgain(_ next: Actor) throws {
        for actor in [Actor.main, .second, .other] { try contexts[actor]?.refreshAll() }
        stale = []
        actor = next
        current = stored
        handles = [:]
        try compare("after a conflict")
    }

    private func identity(of ref: Int) throws -> ObjectID? {
        if let id = ids[ref] { return id }
        let fetch = ObjectFetch(
            entityName: stored.records[ref]?.entity ?? "",
            predicate: .comparison(.init(.keyPath("ref"), .equal, .constant(.integer(Int64(ref))))))
        ids[ref] = try context.fetchIDs(fetch).first
        return ids[ref]
    }

    /// A new object with the values that must be unique: the policy says who stays.
    func duplicate(_ operation: Operation) throws {
        guard actor != .child else { return }
        try save()
        guard let old = operation.pick(0, stored.refs(of: "Label")), let name = stored.records[old]?.values["name"]
        else { return }
        let policy = operation.pick(1, MergePolicy.allCases) ?? .error
        let ref = newRef()
        note("duplicate \(ref) of \(old), \(policy)")
        let context = try context
        try insert(ref, "Label", operation)
        try set(ref, "name", name, object(ref, operation))
        try set(ref, "value", .integer(Int64(ref)), object(ref, operation))
        context.mergePolicy = policy
        defer { context.mergePolicy = .error }
        do {
            try context.save()
            guard policy != .error else { throw Mismatch(description: "a duplicate was saved") }
        } catch let error as MergeConflictError where policy == .error {
            guard error.coreData.number == 133021 else { throw Mismatch(description: "another conflict: \(error)") }
            context.rollback()
        }
        if policy == .mergeByPropertyObjectTrump || policy == .overwrite {
            stored.records[ref] = current.records[ref]
            stored.records[old] = nil
            ids[old] = nil
        }
        try meetAgain(actor)
    }
}
