import MoultModel
import TestSupport

extension HistoryEditor {
    mutating func freeEntityName() -> String? {
        let taken = Set((model.entities + start.entities).flatMap { [$0.name, $0.renamingIdentifier ?? $0.name] })
        return Self.entityNames.filter { !taken.contains($0) }.randomElement(using: &random)
    }

    /// - Parameter isMarked: whether it is the other configuration's, and has objects; nil for either.
    @discardableResult
    mutating func addEntity(isMarked: Bool? = nil) -> Bool {
        guard let name = freeEntityName() else { return false }
        var entity = HistoryModel.Entity(id: newID(), name: name)
        let isOther = isDivided && (isMarked ?? isLikely(1, in: 2))
        let near = model.entities.filter { !isDivided || model.isMarked($0.id) == isOther }
        entity.parent = !isPlain && isLikely(1, in: 2) ? near.randomElement(using: &random)?.id : nil
        entity.isEmpty = !isPlain && isMarked == nil && isLikely(1, in: 6)
        entity.isAbstract = entity.isEmpty && isLikely(1, in: 2)
        if isOther { model.others?.append(entity.id) }
        model.entities.append(entity)
        touched.insert(entity.id)
        entitiesChanged = true
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            guard let name = freeName(around: entity.id) else { break }
            _ = add(path(to: name, ofEntityAt: model.entities.count - 1), toEntityAt: model.entities.count - 1)
        }
        return true
    }

    mutating func someEntity(where isFit: (HistoryModel.Entity) -> Bool = { _ in true }) -> Int? {
        model.entities.indices.filter { !touched.contains(model.entities[$0].id) && isFit(model.entities[$0]) }
            .randomElement(using: &random)
    }

    /// With its relationships, never one with entities below it.
    mutating func removeEntity() -> Bool {
        let parents = Set(model.entities.compactMap(\.parent))
        guard model.entities.count > 2, let position = someEntity(where: { !parents.contains($0.id) }) else {
            return false
        }
        let entity = model.entities[position]
        var next = model
        next.links.removeAll { link in
            link.ends.contains { $0.entity == entity.id } || link.destination == entity.id
        }
        guard !next.isNeeded(entity.id) else { return false }
        next.entities.remove(at: position)
        model = next
        touched.insert(entity.id)
        entitiesChanged = true
        return true
    }

    mutating func renameEntity() -> Bool {
        guard let position = someEntity(), let name = freeEntityName() else { return false }
        let old = model.entities[position]
        model.entities[position].name = name
        // A class has no identifier, so Moult asks.
        let identifier = isLikely(1, in: 2) ? old.name : old.renamingIdentifier ?? old.name
        model.entities[position].renamingIdentifier = isPlain ? nil : identifier
        touched.insert(old.id)
        entitiesChanged = true
        return true
    }

    /// Out of its hierarchy, or below another one of it; what cannot be inferred is refused later.
    mutating func changeParent() -> Bool {
        guard !isPlain, let position = someEntity() else { return false }
        let entity = model.entities[position]
        let tree = Set(model.tree(of: entity.id).map(\.id))
        // Whoever leaves may be the destination that another one has to have.
        guard !model.links.contains(where: { $0.isRequired && (tree.contains($0.end.entity) || tree.contains($0.far)) })
        else { return false }
        let below = Set(model.family(of: entity.id).map(\.id))
        let goals = model.tree(of: entity.id).map { Optional($0.id) }.filter { !below.contains($0 ?? -1) } + [nil]
        guard let goal = goals.randomElement(using: &random), goal != entity.parent else { return false }
        let before = Set(model.lineage(entity.id).flatMap(\.attributes).map(\.id))
        let old = model
        model.entities[position].parent = goal
        let after = Set(model.lineage(entity.id).flatMap(\.attributes).map(\.id))
        for attribute in old.lineage(entity.id).flatMap(\.attributes)
        where before.subtracting(after).contains(attribute.id) {
            for member in below { departed[Departure(entity: member, name: attribute.description.name)] = attribute }
        }
        touched.insert(entity.id)
        entitiesChanged = true
        return true
    }

    mutating func changeAbstract() -> Bool {
        guard let position = someEntity(where: \.isEmpty) else { return false }
        model.entities[position].isAbstract.toggle()
        touched.insert(model.entities[position].id)
        return true
    }

    /// Makes another version of what is otherwise the same.
    mutating func changeModifier() -> Bool {
        guard !isPlain, let position = model.entities.indices.randomElement(using: &random) else { return false }
        model.entities[position].modifier = model.entities[position].modifier == nil ? "2" : nil
        return true
    }

    /// Changes what no version hash sees.
    mutating func changeNote() -> Bool {
        guard let position = model.entities.indices.randomElement(using: &random) else { return false }
        model.entities[position].note = (model.entities[position].note ?? "") + "n"
        return true
    }
}
