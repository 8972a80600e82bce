import MoultModel

@testable import MoultObjects

extension OperationRun {
    /// An object of the actor by its number, found in the way that the number of tries says.
    func object(_ ref: Int, _ operation: Operation) throws -> Object {
        if let known = handles[ref] { return known }
        let found: Object
        if let id = ids[ref], operation.numbers[5] % 2 == 0, base.records[ref] != nil {
            found = try context.object(with: id)
        } else {
            var fetch = ObjectFetch(
                entityName: current.records[ref]?.entity ?? "Person",
                predicate: .comparison(.init(.keyPath("ref"), .equal, .constant(.integer(Int64(ref))))))
            fetch.limit = 1
            guard let object = try context.fetch(fetch).first else {
                throw Mismatch(description: "object \(ref) is not found by a fetch")
            }
            found = object
        }
        handles[ref] = found
        return found
    }

    func insert(_ operation: Operation) throws {
        let entity = operation.pick(0, Company.entities) ?? "Person"
        let ref = newRef()
        note("insert \(entity) \(ref)")
        try insert(ref, entity, operation)
    }

    /// With some attributes set, and one that is unique.
    func insert(_ ref: Int, _ entity: String, _ operation: Operation) throws {
        let object = try context.insert(entity)
        current.insert(ref, entity)
        handles[ref] = object
        try object.setAttribute("ref", .integer(Int64(ref)))
        for (position, attribute) in Company.attributes(of: entity).enumerated() where attribute.name != "name" {
            try set(ref, attribute.name, operation.value(for: attribute.type, position % 6), object)
        }
        if entity == "Label" { try set(ref, "name", .string("label \(ref)"), object) }
        if entity == "Project" { try set(ref, "title", .string("project \(ref)"), object) }
    }

    func set(_ ref: Int, _ name: String, _ value: AttributeValue?, _ object: Object) throws {
        try object.setAttribute(name, value)
        current.set(ref, name, value)
    }

    func setAttribute(_ operation: Operation) throws {
        guard let ref = operation.pick(0, current.refs), let entity = current.records[ref]?.entity else { return }
        let attributes = Company.attributes(of: entity).filter {
            !(entity == "Label" && $0.name == "name") && !(entity == "Project" && $0.name == "title")
        }
        guard let attribute = operation.pick(1, attributes) else { return }
        let value = operation.value(for: attribute.type, 2)
        note("setAttribute \(entity) \(ref).\(attribute.name)")
        try set(ref, attribute.name, value, object(ref, operation))
    }

    /// An object with a relationship of a kind, and the objects that it may lead to.
    private func choose(_ operation: Operation, _ isWanted: (Company.Link) -> Bool) -> (Int, Company.Link, [Int])? {
        guard let ref = operation.pick(0, current.refs), let entity = current.records[ref]?.entity,
            let link = operation.pick(1, Company.links(of: entity).filter(isWanted))
        else { return nil }
        return (ref, link, current.refs(of: link.destination))
    }

    func setToOne(_ operation: Operation) throws {
        guard let (ref, link, candidates) = choose(operation, { !$0.isToMany }),
            let other = operation.pick(2, candidates)
        else { return }
        note("setToOne \(ref).\(link.name) = \(other)")
        try object(ref, operation).setToOne(link.name, object(other, operation))
        current.setLinks(ref, link, [other])
    }

    func clearToOne(_ operation: Operation) throws {
        guard let (ref, link, _) = choose(operation, { !$0.isToMany }) else { return }
        note("clearToOne \(ref).\(link.name)")
        try object(ref, operation).setToOne(link.name, nil)
        current.setLinks(ref, link, [])
    }

    func add(_ operation: Operation) throws {
        guard let (ref, link, candidates) = choose(operation, \.isToMany), let other = operation.pick(2, candidates)
        else { return }
        note("add \(other) to \(ref).\(link.name)")
        try object(ref, operation).add(object(other, operation), to: link.name)
        current.link(ref, link, other)
    }

    func remove(_ operation: Operation) throws {
        guard let (ref, link, _) = choose(operation, \.isToMany),
            let other = operation.pick(2, current.destinations(ref, link.name).sorted())
        else { return }
        note("remove \(other) from \(ref).\(link.name)")
        try object(ref, operation).remove(object(other, operation), from: link.name)
        current.unlink(ref, link, other)
    }

    func insertAt(_ operation: Operation) throws {
        guard let (ref, link, candidates) = choose(operation, \.isOrdered), let other = operation.pick(2, candidates)
        else { return }
        let others = current.destinations(ref, link.name).filter { $0 != other }
        let place = operation.number(3, below: others.count + 1)
        note("insertAt \(place) \(other) in \(ref).\(link.name)")
        try object(ref, operation).insert(object(other, operation), in: link.name, at: place)
        current.place(ref, link, other, at: place)
    }

    func move(_ operation: Operation) throws {
        guard let (ref, link, _) = choose(operation, \.isOrdered) else { return }
        let list = current.destinations(ref, link.name)
        guard list.count > 1 else { return }
        let (source, target) = (operation.number(2, below: list.count), operation.number(3, below: list.count))
        note("move \(source) to \(target) in \(ref).\(link.name)")
        try object(ref, operation).move(in: link.name, from: source, to: target)
        current.place(ref, link, list[source], at: target)
    }

    func setToMany(_ operation: Operation) throws {
        guard let (ref, link, candidates) = choose(operation, \.isToMany) else { return }
        var generator = SeededGenerator(seed: operation.numbers[3])
        let wanted = Array(candidates.shuffled(using: &generator).prefix(operation.number(2, below: 5)))
        note("setToMany \(ref).\(link.name) = \(wanted)")
        try object(ref, operation).setToMany(link.name, wanted.map { try object($0, operation) })
        current.setLinks(ref, link, wanted)
    }

    func delete(_ operation: Operation) throws {
        guard let ref = operation.pick(0, current.refs), !isDenied(ref) else { return }
        note("delete \(current.records[ref]?.entity ?? "") \(ref)")
        try clearWhatNoRuleClears(ref, operation)
        let doomed = current.doomed(by: ref)
        try context.delete(object(ref, operation))
        current.delete(ref)
        for one in doomed { handles[one] = nil }
    }

    /// No Action leaves it to the program to keep the other end right.
    private func clearWhatNoRuleClears(_ ref: Int, _ operation: Operation) throws {
        for one in current.doomed(by: ref) {
            for locker in current.destinations(one, "locker") where current.records[one]?.entity != "Locker" {
                try object(locker, operation).setToOne("holder", nil)
                current.setLinks(locker, Company.link("holder", of: "Locker"), [])
            }
        }
    }

    /// A new object is just dropped; no rule is asked.
    func isDenied(_ ref: Int) -> Bool { current.isDenied(ref) && base.records[ref] != nil }
}

extension Reference {
    var refs: [Int] { records.keys.sorted() }
}
