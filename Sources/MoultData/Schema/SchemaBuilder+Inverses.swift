import MoultModel

extension SchemaBuilder {
    /// Gives both sides of every pair each other's name: those that a model names, then those that can only belong
    /// together.
    mutating func pairRelationships() {
        pairNamed()
        pairObvious()
    }

    private mutating func pairNamed() {
        for (entity, inverses) in namedInverses.sorted(by: { $0.key.precedesInByteOrder($1.key) }) {
            for (name, path) in inverses.sorted(by: { $0.key.precedesInByteOrder($1.key) }) {
                guard let relationship = entities[entity]?.relationshipsByName[name] else { continue }
                let place = "\(entity).\(name)"
                guard let (owner, inverse) = property(path, of: relationship.destination) else {
                    faults.append(
                        .modelInvalid(
                            "\(place) names an inverse that is not a relationship of \(relationship.destination).",
                            place: place, remedy: "Name a relationship of \(relationship.destination) as its inverse."))
                    continue
                }
                setInverse(inverse, of: name, in: entity, place: place)
                setInverse(name, of: inverse, in: owner, place: place)
            }
        }
    }

    /// The relationship behind a key path, and the entity of the lineage that declares it.
    private func property(_ path: AnyKeyPath, of entity: String) -> (owner: String, name: String)? {
        guard let name = types[entity]?.schemaMetadata.namesByKeyPath[path] ?? inherited(path, of: entity) else {
            return nil
        }
        var current: String? = entity
        while let owner = current {
            if entities[owner]?.relationshipsByName[name] != nil { return (owner, name) }
            current = entities[owner]?.superentityName
        }
        return nil
    }

    /// A key path that begins at a parent of the entity's class.
    private func inherited(_ path: AnyKeyPath, of entity: String) -> String? {
        var current = entities[entity]?.superentityName
        while let parent = current {
            if let name = types[parent]?.schemaMetadata.namesByKeyPath[path] { return name }
            current = entities[parent]?.superentityName
        }
        return nil
    }

    private mutating func setInverse(_ inverse: String, of name: String, in entity: String, place: String) {
        guard let owner = entities[entity], let position = owner.own.firstIndex(where: { $0.name == name }),
            case .relationship(var relationship) = owner.own[position]
        else { return }
        if let other = relationship.inverseName, other != inverse {
            faults.append(
                .modelInvalid(
                    "\(entity).\(name) would have two inverses, \(other) and \(inverse).", place: place,
                    remedy: "Name each relationship as the inverse of one other."))
            return
        }
        relationship.inverseName = inverse
        owner.own[position] = .relationship(relationship)
    }

    /// Pairs relationships without inverse where each of two entities has exactly one that leads to the other.
    private mutating func pairObvious() {
        let names = entities.keys.sorted { $0.precedesInByteOrder($1) }
        for entity in names {
            for other in names where entity.precedesInByteOrder(other) {
                let there = open(from: entity, to: other)
                let back = open(from: other, to: entity)
                guard there.count == 1, back.count == 1, let first = there.first, let second = back.first else {
                    continue
                }
                setInverse(second, of: first, in: entity, place: "\(entity).\(first)")
                setInverse(first, of: second, in: other, place: "\(other).\(second)")
            }
        }
    }

    private func open(from entity: String, to other: String) -> [String] {
        (entities[entity]?.relationshipsByName.values).map { relationships in
            relationships.filter { $0.destination == other && $0.inverseName == nil }.map(\.name)
        } ?? []
    }
}
